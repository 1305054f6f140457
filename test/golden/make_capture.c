/* SPDX-License-Identifier: Apache-2.0 */
/*
 * make_capture demo FILE | first FILE | big FILE EVENTS: writes a capture of synthetic events;
 * `first` is the demo without its second process.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/collector/capture.h"
#include "test/golden/synthetic.h"

static int to_capture(void *arg, const struct cuprobe_batch_header *h, const void *data)
{
	return capture_batch(arg, h, data);
}

/* What the addresses of demo_stack() mean. */
static const char symbols[] =
	"{\"pid\":1000,\"start_ns\":5000000000,\"image\":0,\"modules\":["
	"{\"start\":4198400,\"end\":4202496,\"offset\":4096,\"path\":\"/opt/demo/train\","
	"\"build_id\":\"0123456789abcdef0123456789abcdef01234567\"},"
	"{\"start\":139637976727552,\"end\":139637976735744,\"offset\":0,"
	"\"path\":\"/usr/lib/libcudart.so.13\",\"build_id\":\"\"},"
	"{\"start\":139637977776128,\"end\":139637977800704,\"offset\":8192,"
	"\"path\":\"/usr/lib/libnet.so\",\"build_id\":\"feed\"},"
	"{\"jit\":1,\"path\":\"/tmp/perf-1000.map\"}],"
	"\"symbols\":["
	"{\"pc\":4198401,\"module\":0,\"lines\":[{\"line\":0,\"function\":\"_start\"}]},"
	"{\"pc\":4198402,\"module\":0,\"lines\":["
	"{\"line\":7,\"function\":\"main\",\"file\":\"/opt/demo/main.c\"}]},"
	"{\"pc\":4198403,\"module\":0,\"lines\":["
	"{\"line\":9,\"function\":\"recurse\",\"file\":\"/opt/demo/main.c\"}]},"
	"{\"pc\":139637976731648,\"module\":1,\"lines\":["
	"{\"line\":0,\"function\":\"cudart_internal\"}]},"
	"{\"pc\":139637977780224,\"module\":2,\"lines\":["
	"{\"line\":3,\"function\":\"_ZN3net6insideEi\",\"file\":\"/opt/demo/net.h\"},"
	"{\"line\":8,\"function\":\"_ZN3net7forwardIfEEvPT_\","
	"\"file\":\"/opt/demo/net.cc\"}]},"
	"{\"pc\":139637977784320,\"module\":2,\"lines\":["
	"{\"line\":8,\"function\":\"_ZN3net7forwardIDF16_EEvPT_\","
	"\"file\":\"/opt/demo/net.cc\"}]},"
	"{\"pc\":139637977788416,\"module\":2,\"lines\":[]},"
	"{\"pc\":139637980921856,\"module\":3,\"lines\":["
	"{\"line\":0,\"function\":\"py::train.py:train\"}]}]}";

static int to_capture_first(void *arg, const struct cuprobe_batch_header *h, const void *data)
{
	return h->pid == 1000 ? capture_batch(arg, h, data) : 0;
}

/* That of test/cubin, which the demo's samples are of. */
static int write_cubin(struct capture_writer *w)
{
	static char image[64 << 10];
	FILE *file = fopen(SOURCE_DIR "/test/cubin/kernels.cubin", "rb");
	size_t bytes;

	if (!file)
		return -errno;
	bytes = fread(image, 1, sizeof(image), file);
	fclose(file);
	return capture_cubin(w, SYNTHETIC_CUBIN_CRC, image, bytes);
}

static int write_demo(struct capture_writer *w, const struct synthetic_target *target)
{
	static const char first[] = "{\"pid\":1000,\"start_ns\":5000000000,"
				    "\"command\":\"./train \\\"--x\\\" --epochs 3\","
				    "\"executable\":\"/opt/demo/train\"}";
	static const char second[] = "{\"pid\":2000,\"start_ns\":6000000000,"
				     "\"command\":\"./train --rank 1\","
				     "\"threads\":[[2001,70001],[2000,2000]]}";
	const struct cuprobe_loss_key key = {6000000000ull, 2000, CUPROBE_PROBE_kernel};
	const struct cuprobe_loss loss = {1, 4, 0, 0};
	int err = capture_process(w, first, sizeof(first) - 1);

	if (!err)
		err = capture_process(w, second, sizeof(second) - 1);
	if (!err)
		err = synthetic_demo(target);
	if (!err)
		err = capture_losses(w, &key, &loss, 1);
	if (!err)
		err = write_cubin(w);
	return err ? err : capture_symbols(w, symbols, sizeof(symbols) - 1);
}

int main(int argc, char **argv)
{
	bool big = argc == 4 && !strcmp(argv[1], "big");
	struct capture_writer *w;
	struct synthetic_target target = {to_capture, NULL};
	struct session_info info;
	int err;

	if (!big &&
	    (argc != 3 || (strcmp(argv[1], "demo") != 0 && strcmp(argv[1], "first") != 0))) {
		fputs("usage: make_capture demo FILE | first FILE | big FILE EVENTS\n", stderr);
		return 2;
	}
	if (!strcmp(argv[1], "first"))
		target.batch = to_capture_first;
	if (big)
		synthetic_big_info(&info, strtoull(argv[3], NULL, 10));
	else
		synthetic_demo_info(&info);
	err = capture_create(&w, argv[2], &info);
	if (!err) {
		target.arg = w;
		err = big ? synthetic_big(&target, strtoull(argv[3], NULL, 10))
			  : write_demo(w, &target);
		if (capture_close(w, &info, !err) && !err)
			err = -EIO;
	}
	if (err)
		fprintf(stderr, "make_capture: cannot write '%s': %s\n", argv[2], strerror(-err));
	return err != 0;
}
