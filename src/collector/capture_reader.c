/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a capture chunk by chunk. The file may be cut anywhere, damaged, or made by somebody who
 * means harm: sizes are bounded before memory is taken, and nothing is believed before its
 * checksum.
 */
#include "src/collector/capture.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "src/collector/capture_session.h"

#define CHUNK_LARGEST (64u << 20)

struct buffer {
	char *data;
	size_t room;
};

struct capture_reader {
	int fd;
	__u64 position; /* end of the last whole chunk */
	__u64 size;
	struct capture_chunk chunk; /* the one that was read last */
	struct buffer stored, original;
	ZSTD_DCtx *zstd;
	struct session_info info;
	bool ended; /* END was seen */
	char trouble[160];
};

static int buffer_reserve(struct buffer *b, size_t bytes)
{
	char *data;

	if (b->data && bytes <= b->room)
		return 0;
	data = realloc(b->data, bytes ? bytes : 1);
	if (!data)
		return -ENOMEM;
	b->data = data;
	b->room = bytes;
	return 0;
}

/* Reads all of `bytes`; -ENODATA when the file ends before. */
static int read_all(int fd, void *data, size_t bytes)
{
	char *at = data;

	while (bytes) {
		ssize_t n = read(fd, at, bytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			return -ENODATA;
		at += n;
		bytes -= (size_t)n;
	}
	return 0;
}

static int reader_trouble(struct capture_reader *r, const char *what)
{
	snprintf(r->trouble, sizeof(r->trouble), "%s after %" PRIu64 " of %" PRIu64 " bytes", what,
		 (uint64_t)r->position, (uint64_t)r->size);
	return -ENODATA;
}

static int chunk_unpack(struct capture_reader *r)
{
	const struct capture_chunk *c = &r->chunk;
	size_t bytes;
	int err;

	if (crc32_z(0, (const void *)r->stored.data, c->stored_bytes) != c->crc32)
		return reader_trouble(r, "is damaged (wrong checksum)");
	err = buffer_reserve(&r->original, c->original_bytes);
	if (err)
		return err;
	bytes = ZSTD_decompressDCtx(r->zstd, r->original.data, c->original_bytes, r->stored.data,
				    c->stored_bytes);
	if (ZSTD_isError(bytes) || bytes != c->original_bytes)
		return reader_trouble(r, "is damaged (cannot be decompressed)");
	return 0;
}

/* Reads and checks one chunk; 1 when there is one, 0 at the end of a whole file. */
static int reader_next(struct capture_reader *r)
{
	struct capture_chunk *c = &r->chunk;
	size_t padded;
	int err;

	if (r->ended)
		return 0;
	err = read_all(r->fd, c, sizeof(*c));
	if (err == -ENODATA)
		return reader_trouble(r, "ends without its last chunk,");
	if (err)
		return err;
	if (c->magic != CAPTURE_CHUNK_MAGIC || c->stored_bytes > CHUNK_LARGEST ||
	    c->original_bytes > CHUNK_LARGEST)
		return reader_trouble(r, "is damaged (no chunk where one should be)");
	padded = (c->stored_bytes + 7) & ~(size_t)7;
	err = buffer_reserve(&r->stored, padded);
	if (!err)
		err = read_all(r->fd, r->stored.data, padded);
	if (err == -ENODATA)
		return reader_trouble(r, "ends inside a chunk,");
	if (!err)
		err = chunk_unpack(r);
	if (err)
		return err;
	r->position += sizeof(*c) + padded;
	return 1;
}

static int each_batch(struct capture_reader *r, const struct capture_handler *h)
{
	const char *at = r->original.data, *end = at + r->chunk.original_bytes;
	int err = 0;

	while (!err && at < end) {
		const struct cuprobe_batch_header *header = (const void *)at;
		size_t left = (size_t)(end - at);

		if (left < sizeof(*header) || header->bytes > left - sizeof(*header))
			return reader_trouble(r, "is damaged (batch larger than its chunk)");
		if (h->batch)
			err = h->batch(h->arg, header, header + 1);
		at += sizeof(*header) + (((size_t)header->bytes + 7) & ~(size_t)7);
	}
	return err;
}

static int each_loss(struct capture_reader *r, const struct capture_handler *h)
{
	const char *at = r->original.data, *end = at + r->chunk.original_bytes;
	struct cuprobe_loss_key key;
	struct cuprobe_loss loss;
	int err = 0;

	for (; !err && (size_t)(end - at) >= sizeof(key) + sizeof(loss);
	     at += sizeof(key) + sizeof(loss)) {
		memcpy(&key, at, sizeof(key));
		memcpy(&loss, at + sizeof(key), sizeof(loss));
		if (h->losses)
			err = h->losses(h->arg, &key, &loss);
	}
	return err;
}

static int one_cubin(struct capture_reader *r, const struct capture_handler *h)
{
	struct capture_cubin head;
	size_t bytes = r->chunk.original_bytes;

	if (bytes < sizeof(head))
		return reader_trouble(r, "is damaged (cubin smaller than its head)");
	memcpy(&head, r->original.data, sizeof(head));
	return h->cubin ? h->cubin(h->arg, head.crc, r->original.data + sizeof(head),
				   bytes - sizeof(head))
			: 0;
}

static int reader_handle(struct capture_reader *r, const struct capture_handler *h)
{
	switch (r->chunk.type) {
	case CAPTURE_SESSION:
		session_info_read(&r->info, r->original.data, r->chunk.original_bytes);
		return 0;
	case CAPTURE_PROCESS:
		return h->process ? h->process(h->arg, r->original.data, r->chunk.original_bytes)
				  : 0;
	case CAPTURE_SYMBOLS:
		return h->symbols ? h->symbols(h->arg, r->original.data, r->chunk.original_bytes)
				  : 0;
	case CAPTURE_BATCHES:
		return each_batch(r, h);
	case CAPTURE_LOSSES:
		return each_loss(r, h);
	case CAPTURE_CUBIN:
		return one_cubin(r, h);
	case CAPTURE_END:
		r->ended = true;
		return 0;
	default: /* of a newer version */
		return 0;
	}
}

int capture_read(struct capture_reader *r, const struct capture_handler *h,
		 struct session_info *ret_info)
{
	int err;

	while ((err = reader_next(r)) > 0) {
		err = reader_handle(r, h);
		if (!err && h->progress)
			err = h->progress(h->arg, r->position, r->size);
		if (err)
			break;
	}
	*ret_info = r->info;
	return err;
}

/* The file's header, and its first chunk, which must say when and how it was made. */
static int reader_begin(struct capture_reader *r)
{
	static const struct capture_handler nobody;
	struct capture_header header;
	int err = read_all(r->fd, &header, sizeof(header));

	if (err)
		return err == -ENODATA ? -EBADMSG : err;
	if (memcmp(header.magic, CAPTURE_MAGIC, sizeof(header.magic)) != 0)
		return -EBADMSG;
	if (header.version > CAPTURE_VERSION || header.abi_version > CUPROBE_ABI_VERSION)
		return -EPROTONOSUPPORT;
	r->position = sizeof(header);
	err = reader_next(r);
	if (err <= 0)
		return err ? err : -ENODATA;
	return r->chunk.type == CAPTURE_SESSION ? reader_handle(r, &nobody) : -EBADMSG;
}

/* Where the last session chunk begins, seen from the chunks' headers alone; 0: nowhere. */
static __u64 reader_last_session(const struct capture_reader *r)
{
	__u64 at = r->position, last = 0;
	struct capture_chunk c;

	while (pread(r->fd, &c, sizeof(c), (off_t)at) == sizeof(c) &&
	       c.magic == CAPTURE_CHUNK_MAGIC && c.stored_bytes <= CHUNK_LARGEST) {
		if (c.type == CAPTURE_SESSION)
			last = at;
		at += sizeof(c) + ((c.stored_bytes + 7) & ~(__u64)7);
	}
	return last;
}

/* What is known at the end is known at once, if the file is whole and not a pipe. */
static int reader_foresee(struct capture_reader *r)
{
	static const struct capture_handler nobody;
	__u64 here = r->position, last = reader_last_session(r);

	if (!last)
		return 0;
	if (lseek(r->fd, (off_t)last, SEEK_SET) < 0)
		return -errno;
	if (reader_next(r) > 0)
		reader_handle(r, &nobody);
	r->position = here;
	r->trouble[0] = '\0';
	return lseek(r->fd, (off_t)here, SEEK_SET) < 0 ? -errno : 0;
}

int capture_open(struct capture_reader **ret, const char *path, struct session_info *ret_info)
{
	struct capture_reader *r = calloc(1, sizeof(*r));
	struct stat st;
	int err = -ENOMEM;

	if (!r)
		return -ENOMEM;
	r->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (r->fd < 0 || fstat(r->fd, &st)) {
		err = -errno;
		goto fail;
	}
	r->size = (__u64)st.st_size;
	r->zstd = ZSTD_createDCtx();
	if (!r->zstd)
		goto fail;
	err = S_ISDIR(st.st_mode) ? -EISDIR : reader_begin(r);
	if (!err)
		err = reader_foresee(r);
	if (err)
		goto fail;
	*ret_info = r->info;
	*ret = r;
	return 0;
fail:
	capture_free(r);
	return err;
}

const char *capture_trouble(const struct capture_reader *r)
{
	return r->trouble;
}

void capture_free(struct capture_reader *r)
{
	if (!r)
		return;
	if (r->fd >= 0)
		close(r->fd);
	ZSTD_freeDCtx(r->zstd);
	free(r->stored.data);
	free(r->original.data);
	free(r);
}
