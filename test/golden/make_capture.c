/* SPDX-License-Identifier: Apache-2.0 */
/* make_capture demo FILE | big FILE EVENTS: writes a capture of synthetic events. */
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
	return err ? err : capture_losses(w, &key, &loss, 1);
}

int main(int argc, char **argv)
{
	bool big = argc == 4 && !strcmp(argv[1], "big");
	struct capture_writer *w;
	struct synthetic_target target = {to_capture, NULL};
	struct session_info info;
	int err;

	if (!big && (argc != 3 || strcmp(argv[1], "demo") != 0)) {
		fputs("usage: make_capture demo FILE | big FILE EVENTS\n", stderr);
		return 2;
	}
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
