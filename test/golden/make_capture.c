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
	const struct cuprobe_loss_key key = {6000000000ull, 2000, CUPROBE_PROBE_kernel};
	const struct cuprobe_loss loss = {1, 4, 0, 0};
	int err = capture_process(w, synthetic_demo_first, strlen(synthetic_demo_first));

	if (!err)
		err = capture_process(w, synthetic_demo_second, strlen(synthetic_demo_second));
	if (!err)
		err = synthetic_demo(target);
	if (!err)
		err = capture_losses(w, &key, &loss, 1);
	if (!err)
		err = write_cubin(w);
	return err ? err
		   : capture_symbols(w, synthetic_demo_symbols, strlen(synthetic_demo_symbols));
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
