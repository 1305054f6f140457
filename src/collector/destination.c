/* SPDX-License-Identifier: Apache-2.0 */
/* What writes with stdio has the files that exports have. */
#include "src/collector/destination.h"

#include <errno.h>
#include <string.h>

#include "src/collector/output/file.h"

static ssize_t destination_write(void *out, const char *text, size_t bytes)
{
	output_put(out, text, bytes);
	return (ssize_t)bytes;
}

int destination_open(struct destination *d, const char *path)
{
	static const cookie_io_functions_t functions = {.write = destination_write};
	int err;

	*d = (struct destination){.file = stdout};
	if (!path || !strcmp(path, "-"))
		return 0;
	err = output_open(&d->out, path, 0);
	if (err)
		return err;
	d->file = fopencookie(d->out, "w", functions);
	if (d->file)
		return 0;
	output_close(d->out, false);
	return -ENOMEM;
}

int destination_close(struct destination *d, bool commit)
{
	int err, close_err;

	if (!d->out)
		return fflush(stdout) ? -errno : 0;
	err = fclose(d->file) ? -errno : 0;
	close_err = output_close(d->out, commit && !err);
	return err ? err : close_err;
}
