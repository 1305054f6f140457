/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a capture. The caller fills blocks; a thread of its own compresses and writes them, so
 * that the ring buffer is emptied at full speed. The blocks are few: when the disk is too slow the
 * caller waits, the ring fills, and the BPF program counts what it could not deliver.
 */
#include "src/collector/capture.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "src/collector/capture_session.h"

#define BLOCK_BYTES (1u << 20)
#define BLOCKS 64 /* 0.4 s of a million kernels a second; a busy disk makes us wait for 0.2 s */
#define BLOCK_AGE_NS 1000000000ull
#define LEVEL 1 /* of zstd: 0.7 GB/s, to a tenth and less; higher ones gain little */
/* With that many blocks waiting, unless it is for the disk: 2 GB/s, to two thirds. */
#define HURRY_BLOCKS 8
#define HURRY_LEVEL (-100)

struct block {
	struct block *next;
	__u32 type;
	__u64 since_ns; /* when the first byte came */
	size_t bytes, room;
	char data[];
};

struct capture_writer {
	char *path, *partial;
	int fd;
	pthread_t thread;
	pthread_mutex_t lock; /* all below; nothing is taken under it */
	pthread_cond_t work;  /* for the thread: something queued, or done */
	pthread_cond_t room;  /* for the caller: a block is free again */
	struct block *current;
	struct block *first, *last; /* queued */
	unsigned int queued;
	struct block *spare;
	unsigned int blocks; /* of BLOCK_BYTES that exist */
	__u32 fired;	     /* bit n: a batch of probe n came */
	bool done;
	int err;
	__u64 written;
	/* The thread's own: */
	bool disk_is_slow; /* the last block took longer to write than to compress */
	ZSTD_CCtx *zstd;
	char *packed;
	size_t packed_room;
};

static __u64 now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (__u64)t.tv_sec * 1000000000ull + (__u64)t.tv_nsec;
}

static struct block *block_new(__u32 type, size_t room)
{
	struct block *b = malloc(sizeof(*b) + room);

	if (b)
		*b = (struct block){.type = type, .room = room};
	return b;
}

static void blocks_free(struct block *b)
{
	struct block *next;

	for (; b; b = next) {
		next = b->next;
		free(b);
	}
}

/* Under the lock. */
static void writer_queue(struct capture_writer *w, struct block *b)
{
	b->next = NULL;
	if (w->last)
		w->last->next = b;
	else
		w->first = b;
	w->last = b;
	w->queued++;
	pthread_cond_signal(&w->work);
}

static int write_all(int fd, const void *data, size_t bytes)
{
	const char *at = data;

	while (bytes) {
		ssize_t n = write(fd, at, bytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		at += n;
		bytes -= (size_t)n;
	}
	return 0;
}

/* Header and frame go out in one write, so that a crash leaves whole chunks but for the last. */
static int writer_pack(struct capture_writer *w, const struct block *b, int level,
		       size_t *ret_bytes)
{
	size_t need = sizeof(struct capture_chunk) + ZSTD_compressBound(b->bytes) + 8;
	struct capture_chunk chunk = {CAPTURE_CHUNK_MAGIC, b->type, 0, b->bytes, 0, 0};
	size_t stored, padding;
	char *frame;

	if (need > w->packed_room) {
		char *larger = realloc(w->packed, need);

		if (!larger)
			return -ENOMEM;
		w->packed = larger;
		w->packed_room = need;
	}
	frame = w->packed + sizeof(chunk);
	stored = ZSTD_compressCCtx(w->zstd, frame, need - sizeof(chunk), b->data, b->bytes, level);
	if (ZSTD_isError(stored))
		return -ENOMEM;
	padding = -stored & 7;
	memset(frame + stored, 0, padding);
	chunk.stored_bytes = stored;
	chunk.crc32 = (__u32)crc32_z(0, (const void *)frame, stored);
	memcpy(w->packed, &chunk, sizeof(chunk));
	*ret_bytes = sizeof(chunk) + stored + padding;
	return 0;
}

static int writer_write(struct capture_writer *w, const struct block *b, int level, __u64 *written)
{
	__u64 start_ns = now_ns(), packed_ns;
	size_t bytes;
	int err = writer_pack(w, b, level, &bytes);

	packed_ns = now_ns();
	if (!err)
		err = write_all(w->fd, w->packed, bytes);
	if (err)
		return err;
	w->disk_is_slow = now_ns() - packed_ns > packed_ns - start_ns;
	*written += bytes;
	return 0;
}

/* Under the lock: the next block to write, after a wait for one; NULL when all is done. */
static struct block *writer_next(struct capture_writer *w)
{
	while (!w->first && !w->done) {
		__u64 until_ns = now_ns() + BLOCK_AGE_NS / 4;
		struct timespec until = {(time_t)(until_ns / 1000000000),
					 (long)(until_ns % 1000000000)};

		pthread_cond_timedwait(&w->work, &w->lock, &until);
		if (!w->first && w->current && now_ns() - w->current->since_ns >= BLOCK_AGE_NS) {
			writer_queue(w, w->current);
			w->current = NULL;
		}
	}
	if (w->first) {
		struct block *b = w->first;

		w->first = b->next;
		w->queued--;
		if (!w->first)
			w->last = NULL;
		return b;
	}
	return NULL;
}

static void *writer_run(void *arg)
{
	struct capture_writer *w = arg;
	struct block *b;

	pthread_mutex_lock(&w->lock);
	while ((b = writer_next(w))) {
		bool hurry = w->queued >= HURRY_BLOCKS && !w->disk_is_slow;
		__u64 written = w->written;
		int err = w->err;

		pthread_mutex_unlock(&w->lock);
		if (!err)
			err = writer_write(w, b, hurry ? HURRY_LEVEL : LEVEL, &written);
		pthread_mutex_lock(&w->lock);
		w->written = written;
		w->err = err;
		if (b->room == BLOCK_BYTES) {
			b->next = w->spare;
			w->spare = b;
			pthread_cond_signal(&w->room);
		} else {
			free(b);
		}
	}
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

/* Under the lock: an empty block for batches, after a wait for one. */
static int writer_renew(struct capture_writer *w)
{
	while (!w->spare && w->blocks == BLOCKS)
		pthread_cond_wait(&w->room, &w->lock);
	if (w->spare) {
		w->current = w->spare;
		w->spare = w->current->next;
	} else {
		w->current = block_new(CAPTURE_BATCHES, BLOCK_BYTES);
		if (!w->current)
			return -ENOMEM;
		w->blocks++;
	}
	w->current->bytes = 0;
	w->current->since_ns = now_ns();
	return 0;
}

int capture_batch(struct capture_writer *w, const struct cuprobe_batch_header *h, const void *data)
{
	size_t padded = ((size_t)h->bytes + 7) & ~(size_t)7, need = sizeof(*h) + padded;
	struct block *b;
	int err;

	if (need > BLOCK_BYTES)
		return -EMSGSIZE;
	pthread_mutex_lock(&w->lock);
	err = w->err;
	if (!err && w->current && need > w->current->room - w->current->bytes) {
		writer_queue(w, w->current);
		w->current = NULL;
	}
	if (!err && !w->current)
		err = writer_renew(w);
	if (!err) {
		b = w->current;
		memcpy(b->data + b->bytes, h, sizeof(*h));
		memcpy(b->data + b->bytes + sizeof(*h), data, h->bytes);
		memset(b->data + b->bytes + sizeof(*h) + h->bytes, 0, padded - h->bytes);
		b->bytes += need;
		w->fired |= h->probe < CUPROBE_PROBE_COUNT ? 1u << h->probe : 0;
	}
	pthread_mutex_unlock(&w->lock);
	return err;
}

/* A chunk of its own, behind the batches that came before it. */
static int writer_add(struct capture_writer *w, __u32 type, const void *data, size_t bytes)
{
	struct block *b = block_new(type, bytes);
	int err;

	if (!b)
		return -ENOMEM;
	if (bytes)
		memcpy(b->data, data, bytes);
	b->bytes = bytes;
	b->room = 0; /* not one of the BLOCKS */
	pthread_mutex_lock(&w->lock);
	if (w->current) {
		writer_queue(w, w->current);
		w->current = NULL;
	}
	err = w->err;
	writer_queue(w, b);
	pthread_mutex_unlock(&w->lock);
	return err;
}

int capture_process(struct capture_writer *w, const char *json, size_t bytes)
{
	return writer_add(w, CAPTURE_PROCESS, json, bytes);
}

int capture_symbols(struct capture_writer *w, const char *json, size_t bytes)
{
	return writer_add(w, CAPTURE_SYMBOLS, json, bytes);
}

int capture_losses(struct capture_writer *w, const struct cuprobe_loss_key *keys,
		   const struct cuprobe_loss *losses, size_t count)
{
	size_t each = sizeof(*keys) + sizeof(*losses);
	char *data;
	int err;

	if (!count)
		return 0;
	data = malloc(count * each);
	if (!data)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		memcpy(data + i * each, &keys[i], sizeof(*keys));
		memcpy(data + i * each + sizeof(*keys), &losses[i], sizeof(*losses));
	}
	err = writer_add(w, CAPTURE_LOSSES, data, count * each);
	free(data);
	return err;
}

int capture_cubin(struct capture_writer *w, __u64 crc, const void *image, size_t bytes)
{
	const struct capture_cubin head = {.crc = crc};
	char *data = malloc(sizeof(head) + bytes);
	int err;

	if (!data)
		return -ENOMEM;
	memcpy(data, &head, sizeof(head));
	memcpy(data + sizeof(head), image, bytes);
	err = writer_add(w, CAPTURE_CUBIN, data, sizeof(head) + bytes);
	free(data);
	return err;
}

static int writer_session(struct capture_writer *w, const struct session_info *info)
{
	size_t bytes;
	char *json = NULL;
	int err = session_info_write(info, &json, &bytes);

	if (!err)
		err = writer_add(w, CAPTURE_SESSION, json, bytes);
	free(json);
	return err;
}

__u64 capture_bytes(const struct capture_writer *w)
{
	struct capture_writer *writer = (struct capture_writer *)w;
	__u64 written;

	pthread_mutex_lock(&writer->lock);
	written = w->written;
	pthread_mutex_unlock(&writer->lock);
	return written;
}

static void writer_free(struct capture_writer *w)
{
	if (w->fd >= 0)
		close(w->fd);
	blocks_free(w->current);
	blocks_free(w->first);
	blocks_free(w->spare);
	ZSTD_freeCCtx(w->zstd);
	free(w->packed);
	free(w->partial);
	free(w->path);
	free(w);
}

/* Under sudo the file belongs to who called: without that, only root could look at it. */
static void give_to_caller(int fd)
{
	const char *uid = getenv("SUDO_UID"), *gid = getenv("SUDO_GID");

	if (geteuid() || !uid || !gid)
		return;
	if (fchown(fd, (uid_t)strtoul(uid, NULL, 10), (gid_t)strtoul(gid, NULL, 10)))
		return; /* root can read it all the same */
}

static int writer_open_file(struct capture_writer *w, const char *path)
{
	struct capture_header header = {
		.magic = CAPTURE_MAGIC,
		.version = CAPTURE_VERSION,
		.abi_version = CUPROBE_ABI_VERSION,
	};
	size_t room = strlen(path) + sizeof(CAPTURE_PARTIAL_SUFFIX);

	w->path = strdup(path);
	w->partial = malloc(room);
	w->zstd = ZSTD_createCCtx();
	if (!w->path || !w->partial || !w->zstd)
		return -ENOMEM;
	snprintf(w->partial, room, "%s" CAPTURE_PARTIAL_SUFFIX, path);
	w->fd = open(w->partial, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (w->fd < 0)
		return -errno;
	give_to_caller(w->fd);
	w->written = sizeof(header);
	return write_all(w->fd, &header, sizeof(header));
}

/* The thread takes no signals: they are the verb's. */
static int writer_start(struct capture_writer *w)
{
	pthread_condattr_t attr;
	sigset_t all, before;
	int err;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&w->work, &attr);
	pthread_condattr_destroy(&attr);
	pthread_cond_init(&w->room, NULL);
	pthread_mutex_init(&w->lock, NULL);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = -pthread_create(&w->thread, NULL, writer_run, w);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return err;
}

int capture_create(struct capture_writer **ret, const char *path, const struct session_info *info)
{
	struct capture_writer *w = calloc(1, sizeof(*w));
	int err;

	if (!w)
		return -ENOMEM;
	w->fd = -1;
	err = writer_open_file(w, path);
	if (!err)
		err = writer_start(w);
	if (err)
		goto fail;
	err = writer_session(w, info);
	if (err) {
		capture_close(w, info, false);
		return err;
	}
	*ret = w;
	return 0;
fail:
	if (w->fd >= 0)
		unlink(w->partial);
	writer_free(w);
	return err;
}

static int writer_finish(struct capture_writer *w)
{
	pthread_mutex_lock(&w->lock);
	if (w->current)
		writer_queue(w, w->current);
	w->current = NULL;
	w->done = true;
	pthread_cond_signal(&w->work);
	pthread_mutex_unlock(&w->lock);
	pthread_join(w->thread, NULL);
	return w->err;
}

int capture_close(struct capture_writer *w, const struct session_info *info, bool commit)
{
	struct session_info last = *info;
	int err = 0;

	if (!w)
		return 0;
	last.fired = w->fired;
	if (commit)
		err = writer_session(w, &last);
	if (!err && commit)
		err = writer_add(w, CAPTURE_END, NULL, 0);
	err = writer_finish(w);
	/* The part of a chunk that a full disk left behind would only look like damage. */
	if (err && ftruncate(w->fd, (off_t)w->written))
		commit = false;
	if (commit && (!err || err == -ENOSPC)) {
		if (rename(w->partial, w->path) && !err)
			err = -errno;
	} else {
		unlink(w->partial);
	}
	writer_free(w);
	return err;
}
