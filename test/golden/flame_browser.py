#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""flame_browser.py FILE [PICTURE.png]: opens a flame graph of the demo recording in headless Chromium, and uses it
with mouse and keyboard as people do; with --gone=TEXT one of two recordings, and looks for the TEXT. Exits with 77 where there is no Chromium. Talks its DevTools protocol over a
pipe, so that nothing else is needed."""

import argparse
import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile

BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
WIDTH = 1200


class Browser:
    def __init__(self, program, profile):
        ours_read, theirs_write = os.pipe()
        theirs_read, ours_write = os.pipe()
        arguments = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-pipe",
                     "--disable-dev-shm-usage", f"--user-data-dir={profile}", f"--window-size={WIDTH},700"]

        def pipes():
            low = [os.dup2(fd, fd + 100) for fd in (theirs_read, theirs_write)]
            os.dup2(low[0], 3)
            os.dup2(low[1], 4)

        self.process = subprocess.Popen([program, *arguments], preexec_fn=pipes, close_fds=False,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(theirs_read)
        os.close(theirs_write)
        self.read_fd, self.write_fd, self.rest, self.number = ours_read, ours_write, b"", 0
        self.session = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]

    def message(self):
        while b"\0" not in self.rest:
            data = os.read(self.read_fd, 1 << 16)
            if not data:
                sys.exit("the browser has gone")
            self.rest += data
        text, self.rest = self.rest.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, **params):
        self.number += 1
        request = {"id": self.number, "method": method, "params": params}
        if self.session:
            request["sessionId"] = self.session
        os.write(self.write_fd, json.dumps(request).encode() + b"\0")
        while True:
            reply = self.message()
            if reply.get("id") == self.number:
                if "error" in reply:
                    sys.exit(f"{method}: {reply['error']}")
                return reply["result"]

    def ask(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            sys.exit(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def mouse(self, kind, at):
        self.call("Input.dispatchMouseEvent", type=kind, x=at[0], y=at[1], button="left", clickCount=1)

    def click(self, at):
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            self.mouse(kind, at)

    def key(self, name, code):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=name, windowsVirtualKeyCode=code)

    def close(self):
        self.process.kill()
        self.process.wait()


# What is drawn: text, class, box of each frame. The text is cut where there is no room.
FRAMES = """[...document.querySelectorAll('.frame')].map((g) => {
    const b = g.querySelector('rect').getBoundingClientRect();
    return {text: g.querySelector('text').textContent, class: g.getAttribute('class'),
            kind: g.querySelector('rect').getAttribute('class'), x: b.x, width: b.width,
            at: [b.x + b.width / 2, b.y + b.height / 2]};
})"""

# The least contrast (WCAG 2) between the text and any kind of frame.
CONTRAST = """(() => {
    const light = (css) => css.match(/[\\d.]+/g).slice(0, 3).map((v) => v / 255)
        .map((v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
        .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
    const ratio = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const ink = light(getComputedStyle(document.querySelector('.frame text')).fill);
    return Math.min(...[...document.querySelectorAll('.frame rect')]
        .map((r) => ratio(ink, light(getComputedStyle(r).fill))));
})()"""

failures = []


def check(what, true):
    if not true:
        failures.append(what)
        print(f"FAILED: {what}")


def frames_of(browser):
    return {f["text"]: f for f in browser.ask(FRAMES)}


def matched(browser):
    return browser.ask("document.querySelector('.matched').textContent")


def use(browser):
    whole = frames_of(browser)
    for text, kind in (("main", "native"), ("Model.forward (models/net.py:17)", "python"), ("net::inside(int)", "inlined"),
                       ("py::train.py:train", "jit"), ("cudaGraphLaunch", "api"), ("CUDA Graph 4", "gpu"),
                       ("[unattributed]", "group")):
        check(f"{text} is drawn as {kind}", text in whole and whole[text]["kind"] == kind)
    check("the root has all of the width", whole["all"]["width"] >= WIDTH - 1)

    # A click zooms: the frame fills the width, its callers too, and what is beside it is gone.
    browser.click(whole["cudaGraphLaunch"]["at"])
    zoomed = frames_of(browser)
    check("a click zooms", zoomed["cudaGraphLaunch"]["width"] >= WIDTH - 1)
    check("callers stay, as such", "outer" in zoomed["main"]["class"] and zoomed["main"]["width"] >= WIDTH - 1)
    check("callees are scaled", zoomed["CUDA Graph 4"]["width"] >= WIDTH - 1)
    check("neighbours are gone", "[unattributed]" not in zoomed and "net::inside(int)" not in zoomed)
    browser.click(zoomed["main"]["at"])
    check("a click on a caller zooms out", "net::inside(int)" in frames_of(browser))

    # The pointer shows what a frame is.
    browser.mouse("mouseMoved", frames_of(browser)["CUDA Graph 4"]["at"])
    tip = browser.ask("[...document.querySelectorAll('.tip text')].map((t) => t.textContent)")
    check(f"a tooltip with time and share: {tip}", tip[:1] == ["CUDA Graph 4"] and
          any("153,000 ns" in line and "19.17 %" in line for line in tip))

    # The button resets.
    button = browser.ask("(() => { const b = document.querySelector('.reset').getBoundingClientRect();"
                         " return [b.x + b.width / 2, b.y + b.height / 2]; })()")
    browser.click(button)
    check("reset", frames_of(browser) == whole)

    # Typing searches; the share counts each nanosecond once.
    field = browser.ask("(() => { const b = document.querySelector('input').getBoundingClientRect();"
                        " return [b.x + b.width / 2, b.y + b.height / 2]; })()")
    browser.click(field)
    browser.call("Input.insertText", text="recurse|^CUDA graph")
    found = [t for t, f in frames_of(browser).items() if "found" in f["class"]]
    check(f"matching frames are marked: {found}", sorted(found) == ["CUDA Graph 4", "recurse"])
    share = round(100 * whole["main"]["width"] / whole["all"]["width"], 1)
    check(f"the matched share: {matched(browser)}", abs(float(matched(browser).split()[1]) - share) < 0.2)
    browser.call("Input.insertText", text="(")
    check("what is no regular expression is searched for as it is", matched(browser).startswith("matched: 0.00 %"))
    browser.key("Escape", 27)
    check("Escape resets", frames_of(browser) == whole and not matched(browser))

    # Light and dark.
    backgrounds = []
    for scheme in ("light", "dark"):
        browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        backgrounds.append(browser.ask("getComputedStyle(document.querySelector('svg')).backgroundColor"))
        contrast = browser.ask(CONTRAST)
        check(f"readable in {scheme}: contrast {contrast:.1f}", contrast >= 4.5)
    check(f"dark is another background: {backgrounds}", backgrounds[0] != backgrounds[1])
    browser.call("Emulation.setEmulatedMedia", features=[])


def compare(browser, gone):
    shown = browser.ask("""(() => { const t = document.querySelector('.gone'), b = t.getBoundingClientRect();
        return [t.textContent, b.top, b.bottom]; })()""")
    check(f"what is gone is told: {shown}", shown[0] == gone)
    legend, root = browser.ask("""[document.querySelector('.faint:not(.gone):not([y="38"])'),
        document.querySelector('.frame')].map((e) => e.getBoundingClientRect())
        .map((b) => [b.top, b.bottom])""")
    check("between legend and frames", legend[1] <= shown[1] and shown[2] <= root[0])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--gone")
    parser.add_argument("file")
    parser.add_argument("picture", nargs="?")
    args = parser.parse_args()
    program = next((p for p in map(shutil.which, BROWSERS) if p), None)
    if not program:
        print("SKIP: no Chromium: apt-get install chromium-headless-shell")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as profile:
        browser = Browser(program, profile)
        try:
            browser.call("Page.enable")
            browser.call("Page.navigate", url="file://" + os.path.abspath(args.file))
            while browser.ask("document.readyState") != "complete":
                pass
            if args.gone:
                compare(browser, args.gone)
            else:
                use(browser)
            if args.picture:
                picture = browser.call("Page.captureScreenshot", format="png")["data"]
                with open(args.picture, "wb") as out:
                    out.write(base64.b64decode(picture))
        finally:
            browser.close()
    sys.exit(bool(failures))


main()
