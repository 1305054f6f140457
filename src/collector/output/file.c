/* SPDX-License-Identifier: Apache-2.0 */
#include "src/collector/output/file.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "src/collector/output/behind.h"
#include "src/collector/output/text.h"

#define BUFFER_BYTES (64 * 1024)  /* stays in the cache on its way to the kernel */
#define BEHIND_BYTES (256 * 1024) /* large enough for a wake-up each not to matter */
#define TEXT_STEP 4096		  /* of a long text, into one piece of the buffer */
#define GZIP_LEVEL 1		  /* for traces, 6 is four times slower and saves a third */

/*
 * A gzip file with a head is one member, whose first block is stored, not compressed, and so can
 * be overwritten in place: gzip header, 5 bytes of block header, the head; then the rest as zlib
 * makes it, which knows nothing of the head, and the checksum of both.
 */
#define GZIP_HEADER_BYTES 10
#define STORED_BLOCK_BYTES 5

_Static_assert(TEXT_STEP *JSON_GROWTH + OUTPUT_ROW <= OUTPUT_ROOM, "a piece fits");

struct output_private {
	int fd;
	bool named;  /* `temporary` exists */
	bool direct; /* written in place, nothing to rename */
	bool gzip, deflating;
	size_t head_bytes;
	off_t head_at;
	uLong crc;   /* of what is behind the head */
	__u64 bytes; /* likewise, uncompressed */
	z_stream z;
	char *head;	       /* as written by output_head */
	struct behind *behind; /* writes and compresses; NULL: what is direct, once a flush */
	char *start;	       /* of the buffer that is being filled */
	char path[PATH_MAX], temporary[PATH_MAX + 16];
	char buffer[BUFFER_BYTES];
	unsigned char packed[BUFFER_BYTES];
};

static int write_all(struct output_private *p, const void *data, size_t bytes)
{
	const char *at = data;

	while (bytes) {
		ssize_t n = write(p->fd, at, bytes);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0) {
			at += n;
			bytes -= (size_t)n;
		}
	}
	return 0;
}

static int deflate_all(struct output_private *p, const char *data, size_t bytes, int flush)
{
	int err;

	p->z.next_in = (unsigned char *)data;
	p->z.avail_in = (unsigned int)bytes;
	p->crc = crc32(p->crc, p->z.next_in, p->z.avail_in);
	do {
		p->z.next_out = p->packed;
		p->z.avail_out = sizeof(p->packed);
		if (deflate(&p->z, flush) == Z_STREAM_ERROR)
			return -EIO;
		err = write_all(p, p->packed, sizeof(p->packed) - p->z.avail_out);
	} while (!p->z.avail_out && !err);
	return err;
}

static int write_out(void *private, const char *data, size_t bytes)
{
	struct output_private *p = private;

	p->bytes += bytes;
	return p->deflating ? deflate_all(p, data, bytes, Z_NO_FLUSH) : write_all(p, data, bytes);
}

void output_spill(struct output *o)
{
	struct output_private *p = o->private;
	size_t bytes = (size_t)(o->at - p->start);

	if (bytes && !o->err && p->behind) {
		o->err = behind_swap(p->behind, bytes, &p->start);
		o->end = p->start + BEHIND_BYTES;
	} else if (bytes && !o->err) {
		o->err = write_out(p, p->start, bytes);
	}
	o->at = p->start;
}

int output_flush(struct output *o)
{
	output_spill(o);
	if (o->private->behind && !o->err)
		o->err = behind_wait(o->private->behind);
	return o->err;
}

void output_put(struct output *o, const char *text, size_t bytes)
{
	while (bytes) {
		size_t step = bytes < OUTPUT_ROOM ? bytes : OUTPUT_ROOM;

		output_done(o, put_bytes(output_room(o, step), text, step));
		text += step;
		bytes -= step;
	}
}

char *output_text(struct output *o, char *p, const char *text, size_t bytes,
		  char *(*put)(char *p, const char *text, size_t bytes))
{
	while (bytes) {
		size_t step = bytes < TEXT_STEP ? bytes : TEXT_STEP;

		/* Not within a sequence of UTF-8. */
		while (step < bytes && step > 1 && ((unsigned char)text[step] & 0xc0) == 0x80)
			step--;
		output_done(o, p);
		p = put(output_room(o, step * JSON_GROWTH + OUTPUT_ROW), text, step);
		text += step;
		bytes -= step;
	}
	return p;
}

static int open_temporary(struct output_private *p)
{
	char *dir = strdup(p->path);
	int flags = O_WRONLY | O_CLOEXEC;

	if (!dir)
		return -ENOMEM;
	snprintf(p->temporary, sizeof(p->temporary), "%s.%d.tmp", p->path, (int)getpid());
	p->fd = open(dirname(dir), O_TMPFILE | flags, 0666);
	free(dir);
	if (p->fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == ENOENT)) {
		unlink(p->temporary);
		p->fd = open(p->temporary, O_CREAT | O_EXCL | flags, 0666);
		p->named = p->fd >= 0;
	}
	return p->fd < 0 ? -errno : 0;
}

static int open_direct(struct output_private *p, const char *path)
{
	p->direct = true;
	if (!strcmp(path, "-"))
		p->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
	else
		p->fd = open(path, O_WRONLY | O_CLOEXEC);
	return p->fd < 0 ? -errno : 0;
}

static int open_path(struct output_private *p, const char *path)
{
	struct stat st;

	p->fd = -1;
	if (!strcmp(path, "-") || (!stat(path, &st) && !S_ISREG(st.st_mode)))
		return open_direct(p, path);
	/* A link stays one: what it names is replaced. */
	if (!realpath(path, p->path)) {
		if (errno != ENOENT)
			return -errno;
		if (strlen(path) >= sizeof(p->path))
			return -ENAMETOOLONG;
		memcpy(p->path, path, strlen(path) + 1);
	}
	return open_temporary(p);
}

static int start_gzip(struct output_private *p)
{
	static const unsigned char header[GZIP_HEADER_BYTES] = {0x1f, 0x8b, Z_DEFLATED, [9] = 3};

	if (deflateInit2(&p->z, GZIP_LEVEL, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	p->deflating = true;
	p->crc = crc32(0, NULL, 0);
	return write_all(p, header, sizeof(header));
}

static int start_head(struct output_private *p)
{
	unsigned int n = (unsigned int)p->head_bytes;
	unsigned char block[STORED_BLOCK_BYTES] = {0, n & 0xff, n >> 8, ~n & 0xff, ~n >> 8 & 0xff};
	int err = 0;

	p->head = calloc(1, p->head_bytes);
	if (!p->head)
		return -ENOMEM;
	if (p->gzip)
		err = write_all(p, block, sizeof(block));
	p->head_at = lseek(p->fd, 0, SEEK_CUR);
	return err ? err : write_all(p, p->head, p->head_bytes);
}

static int start_buffer(struct output *o)
{
	struct output_private *p = o->private;
	size_t room = p->direct ? sizeof(p->buffer) : BEHIND_BYTES;
	int err = 0;

	p->start = p->buffer;
	if (!p->direct)
		err = behind_open(&p->behind, room, write_out, p, &p->start);
	o->at = p->start;
	o->end = p->start + room;
	return err;
}

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && !strcmp(text + n - m, end);
}

int output_open(struct output **ret, const char *path, size_t head_bytes)
{
	struct output *o = calloc(1, sizeof(*o));
	struct output_private *p = calloc(1, sizeof(*p));
	int err = -ENOMEM;

	if (!o || !p) {
		free(o);
		free(p);
		return err;
	}
	o->private = p;
	o->at = p->start = p->buffer;
	p->gzip = ends_with(path, ".gz");
	err = open_path(p, path);
	if (!err && p->gzip)
		err = start_gzip(p);
	if (!err && head_bytes && !p->direct) {
		p->head_bytes = head_bytes;
		err = start_head(p);
	}
	if (!err)
		err = start_buffer(o);
	if (err) {
		output_close(o, false);
		return err;
	}
	*ret = o;
	return 0;
}

bool output_has_head(const struct output *o)
{
	return o->private->head_bytes != 0;
}

void output_head(struct output *o, const char *text, size_t bytes)
{
	struct output_private *p = o->private;

	memset(p->head, ' ', p->head_bytes);
	p->head[p->head_bytes - 1] = '\n';
	memcpy(p->head, text, bytes < p->head_bytes ? bytes : p->head_bytes);
	if (!o->err && pwrite(p->fd, p->head, p->head_bytes, p->head_at) != (ssize_t)p->head_bytes)
		o->err = -EIO;
}

static int finish_gzip(struct output_private *p)
{
	unsigned char trailer[8];
	__u64 bytes = p->bytes + p->head_bytes;
	uLong crc = p->crc;
	int err = deflate_all(p, NULL, 0, Z_FINISH);

	if (p->head)
		crc = crc32_combine(crc32(0, (unsigned char *)p->head, (uInt)p->head_bytes), crc,
				    (z_off_t)p->bytes);
	for (int i = 0; i < 4; i++) {
		trailer[i] = (unsigned char)(crc >> 8 * i);
		trailer[i + 4] = (unsigned char)(bytes >> 8 * i);
	}
	return err ? err : write_all(p, trailer, sizeof(trailer));
}

static int give_name(struct output_private *p)
{
	char self[32];

	if (!p->named) {
		snprintf(self, sizeof(self), "/proc/self/fd/%d", p->fd);
		unlink(p->temporary);
		if (linkat(AT_FDCWD, self, AT_FDCWD, p->temporary, AT_SYMLINK_FOLLOW))
			return -errno;
		p->named = true;
	}
	if (rename(p->temporary, p->path))
		return -errno;
	p->named = false;
	return 0;
}

int output_close(struct output *o, bool commit)
{
	struct output_private *p;
	int err;

	if (!o)
		return 0;
	p = o->private;
	err = commit ? output_flush(o) : o->err;
	behind_free(p->behind);
	if (commit && !err && p->gzip)
		err = finish_gzip(p);
	if (commit && !err && !p->direct)
		err = give_name(p);
	if (p->fd >= 0 && close(p->fd) && commit && !err)
		err = -errno;
	if (p->named)
		unlink(p->temporary);
	if (p->deflating)
		deflateEnd(&p->z);
	free(p->head);
	free(p);
	free(o);
	return err;
}
