/* SPDX-License-Identifier: Apache-2.0 */
/* A table is small and written at once: a temporary name beside the final one is all it takes. */
#include "src/collector/destination.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int destination_open(struct destination *d, const char *path)
{
	int fd, err;

	*d = (struct destination){.file = stdout};
	if (!path || !strcmp(path, "-"))
		return 0;
	if (asprintf(&d->partial, "%s.XXXXXX", path) < 0)
		return -ENOMEM;
	d->path = path;
	fd = mkstemp(d->partial);
	d->file = fd < 0 ? NULL : fdopen(fd, "w");
	if (d->file)
		return 0;
	err = -errno;
	if (fd >= 0) {
		unlink(d->partial);
		close(fd);
	}
	free(d->partial);
	return err;
}

int destination_close(struct destination *d, bool commit)
{
	int err = 0;

	if (!d->path)
		return fflush(stdout) ? -errno : 0;
	if (fclose(d->file))
		err = -errno;
	if (!err && commit && rename(d->partial, d->path))
		err = -errno;
	if (err || !commit)
		unlink(d->partial);
	free(d->partial);
	return err;
}
