// SPDX-License-Identifier: Apache-2.0
// Draws the flame graph, from the root at the top: a click on a frame zooms, a text or regular
// expression is searched for, Escape resets.
"use strict";
function flame(data) {
	const NS = "http://www.w3.org/2000/svg", ROW = 18, CHAR = 7.23, LEAST = 0.4;
	const HEAD = data.gone ? 90 : 72;
	const svg = document.getElementById("flame");
	const stride = data.diff ? 4 : 3;
	const nodes = [];
	let focus, pattern = null, frames;

	// Preorder with depths becomes a tree; x is where a node begins, in nanoseconds.
	function build() {
		const open = [], ends = [];

		for (let i = 0; i < data.nodes.length; i += stride) {
			const [depth, label, ns, other] = data.nodes.slice(i, i + stride);
			const parent = depth ? open[depth - 1] : null;
			const node = {depth, ns, other, parent, x: depth ? ends[depth - 1] : 0};

			[node.kind, node.text, node.detail] = label < 0 ? [0, "all", ""] : data.labels[label];
			node.last = nodes.length;
			open[depth] = node;
			ends[depth] = node.x;
			if (depth)
				ends[depth - 1] += ns;
			for (let up = node; up; up = up.parent)
				up.last = nodes.length;
			nodes.push(node);
		}
		focus = nodes[0];
	}

	function element(parent, name, attributes, text) {
		const e = document.createElementNS(NS, name);

		for (const key in attributes)
			e.setAttribute(key, attributes[key]);
		if (text !== undefined)
			e.textContent = text;
		parent.appendChild(e);
		return e;
	}

	function time(ns) {
		for (const [unit, size] of [["s", 1e9], ["ms", 1e6], ["µs", 1e3]]) {
			if (ns >= size)
				return (ns / size).toPrecision(4) + " " + unit;
		}
		return ns + " ns";
	}

	const share = (ns) => (nodes[0].ns ? 100 * ns / nodes[0].ns : 0).toFixed(2) + " %";
	const width = () => Math.max(400, svg.getBoundingClientRect().width || window.innerWidth);
	const cut = (text, room) => {
		const most = Math.floor(room / CHAR);

		return text.length <= most ? text : most < 4 ? "" : text.slice(0, most - 1) + "…";
	};

	// How much more or less than before: 1 is twice as much, or nothing any more.
	function change(node) {
		const most = Math.max(node.ns, node.other);

		return most ? (node.ns - node.other) / most : 0;
	}

	function describe(node) {
		const lines = [];

		for (let text = node.text; text; text = text.slice(110))
			lines.push(text.slice(0, 110));
		if (node.detail)
			lines.push(node.detail.slice(0, 110));
		lines.push(`${time(node.ns)} (${node.ns.toLocaleString("en")} ns), ${share(node.ns)} of all`);
		if (node.parent)
			lines.push(`${(100 * node.ns / (node.parent.ns || 1)).toFixed(2)} % of its caller`);
		if (data.diff)
			lines.push(`before: ${time(node.other)} (${node.other.toLocaleString("en")} ns), ` +
				`now ${node.ns < node.other ? "−" : "+"}${time(Math.abs(node.ns - node.other))}`);
		return lines.slice(0, 14);
	}

	function hideTip() {
		svg.querySelectorAll(".tip").forEach((tip) => tip.remove());
	}

	function showTip(node, event) {
		const box = svg.getBoundingClientRect(), lines = describe(node);
		const w = Math.max(...lines.map((l) => l.length)) * CHAR + 16, h = lines.length * 16 + 10;
		const x = Math.max(2, Math.min(event.clientX - box.left + 14, width() - w - 4));
		let y = event.clientY - box.top + 16;

		hideTip();
		if (event.clientY + h + 20 > window.innerHeight && y - h - 32 > 0)
			y -= h + 32;
		const tip = element(svg, "g", {class: "tip", transform: `translate(${x},${y})`});

		element(tip, "rect", {width: w, height: h, rx: 4});
		lines.forEach((line, i) => element(tip, "text", {x: 8, y: 13 + 16 * i}, line));
	}

	function drawFrame(node, x, w, outer) {
		const g = element(frames, "g", {
			class: "frame" + (outer ? " outer" : "") +
				(pattern && pattern.test(node.text) ? " found" : ""),
		});
		const y = HEAD + node.depth * ROW;
		let kind = data.kinds[node.kind], opacity = 1;

		if (data.diff) {
			opacity = Math.max(0.08, Math.min(1, Math.abs(change(node))));
			kind = change(node) < 0 ? "less" : change(node) > 0 ? "more" : "group";
		}
		element(g, "rect", {x, y, width: Math.max(w, 0.5), height: ROW - 1, rx: 2, class: kind,
			"fill-opacity": opacity});
		element(g, "text", {x: x + 4, y: y + ROW / 2}, cut(node.text, w - 6));
		g.addEventListener("click", () => zoom(node));
		g.addEventListener("mousemove", (event) => showTip(node, event));
		g.addEventListener("mouseleave", hideTip);
	}

	// The callers of what is zoomed to fill the width; what is under it is scaled to it.
	function draw() {
		const all = width(), scale = focus.ns ? all / focus.ns : 0;
		const from = nodes.indexOf(focus);
		let deepest = focus.depth;

		frames.replaceChildren();
		hideTip();
		for (let up = focus.parent; up; up = up.parent)
			drawFrame(up, 0, all, true);
		for (let i = from; i <= focus.last; i++) {
			const node = nodes[i], w = node.ns * scale;

			if (w < LEAST) {
				i = node.last; // nor is what is under it
				continue;
			}
			deepest = Math.max(deepest, node.depth);
			drawFrame(node, (node.x - focus.x) * scale, w, false);
		}
		svg.setAttribute("height", HEAD + (deepest + 2) * ROW);
	}

	function zoom(node) {
		focus = node;
		draw();
	}

	// What matches inside of what matches counts once.
	function search(text) {
		const field = svg.querySelector(".matched");
		let ns = 0;

		try {
			pattern = text ? new RegExp(text, "i") : null;
		} catch (error) {
			pattern = new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "i");
		}
		for (let i = 0; pattern && i < nodes.length; i++) {
			if (pattern.test(nodes[i].text)) {
				ns += nodes[i].ns;
				i = nodes[i].last;
			}
		}
		field.textContent = pattern ? `matched: ${share(ns)} (${time(ns)})` : "";
		draw();
	}

	function reset() {
		svg.querySelector("input").value = "";
		focus = nodes[0];
		search("");
	}

	function drawLegend() {
		const kinds = data.diff ? ["more", "less"] : data.kinds;
		let x = 8;

		for (const kind of kinds) {
			element(svg, "rect", {x, y: 52, width: 11, height: 11, rx: 2, class: kind});
			element(svg, "text", {x: x + 15, y: 58, class: "faint"}, kind);
			x += 15 + kind.length * CHAR + 16;
		}
	}

	function drawHead() {
		const right = element(svg, "g", {class: "right"});
		const holder = element(right, "foreignObject", {x: 62, y: 6, width: 215, height: 24});
		const input = document.createElementNS("http://www.w3.org/1999/xhtml", "input");
		const button = element(right, "g", {class: "button reset"});

		element(svg, "text", {x: 8, y: 17, "font-size": 14}, data.title);
		element(svg, "text", {x: 8, y: 38, class: "faint"}, data.subtitle);
		input.setAttribute("placeholder", "search (regular expression)");
		input.addEventListener("input", () => search(input.value));
		holder.appendChild(input);
		element(button, "rect", {x: 0, y: 7, width: 54, height: 22, rx: 3});
		element(button, "text", {x: 9, y: 18}, "reset");
		button.addEventListener("click", reset);
		element(right, "text", {x: 0, y: 58, class: "matched"}, "");
		drawLegend();
		if (data.gone)
			element(svg, "text", {x: 8, y: 77, class: "faint gone"}, data.gone);
	}

	function resize() {
		const before = width();

		draw();
		if (width() < before) // a scroll bar has come
			draw();
		svg.querySelector(".right").setAttribute("transform", `translate(${width() - 285},0)`);
	}

	build();
	drawHead();
	frames = element(svg, "g", {class: "frames"});
	resize();
	window.addEventListener("resize", resize);
	window.addEventListener("keydown", (event) => {
		if (event.key === "Escape")
			reset();
		if ((event.ctrlKey || event.metaKey) && event.key === "f") {
			event.preventDefault();
			svg.querySelector("input").focus();
		}
	});
}
