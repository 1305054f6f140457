/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Capture files (.cup). Layout, all little-endian:
 *
 *	file header	struct capture_header, 64 bytes
 *	chunk ...	struct capture_chunk, 32 bytes, then `stored_bytes` bytes of payload,
 *			one zstd frame, padded with zeros to a multiple of 8
 *
 * Chunk types, and what their payload is once decompressed:
 *
 *	BATCHES	struct cuprobe_batch_header, its records, padding to 8 bytes; repeated
 *	SESSION	JSON text: struct session_info; the first chunk, and again at the end
 *	PROCESS	JSON text: one process (pid, start, command line, executable, maps with build ids)
 *	LOSSES	struct cuprobe_loss_key, struct cuprobe_loss; repeated; absolute figures, the last
 *		holds
 *	CUBIN	struct capture_cubin, and behind it the cubin; once for each checksum
 *	SYMBOLS	JSON text: what addresses in stacks of one process mean, see symbols.h
 *	END	empty: the recording was ended in good order
 *
 * A reader skips types it does not know. A file that ends in the middle of a chunk, or whose
 * checksum fails, is read up to the last whole chunk, and the reader says so.
 */
#ifndef CUPROBE_COLLECTOR_CAPTURE_H
#define CUPROBE_COLLECTOR_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>

#include "cuprobe/transport.h"

#define CAPTURE_MAGIC "CUPROBE\n"
#define CAPTURE_VERSION 1

enum capture_chunk_type {
	CAPTURE_SESSION = 1,
	CAPTURE_PROCESS = 2,
	CAPTURE_BATCHES = 3,
	CAPTURE_LOSSES = 4,
	CAPTURE_END = 5,
	CAPTURE_CUBIN = 6,
	CAPTURE_SYMBOLS = 7,
};

struct capture_header {
	char magic[8];
	__u32 version;	   /* CAPTURE_VERSION */
	__u32 abi_version; /* CUPROBE_ABI_VERSION of the writer */
	__u64 reserved[6];
};
CUPROBE_PINNED(struct capture_header, 64);

struct capture_chunk {
	__u32 magic; /* CAPTURE_CHUNK_MAGIC */
	__u32 type;
	__u64 stored_bytes;   /* of the zstd frame, without padding */
	__u64 original_bytes; /* once decompressed */
	__u32 crc32;	      /* of the stored bytes, IEEE 802.3 */
	__u32 reserved;
};
CUPROBE_PINNED(struct capture_chunk, 32);
#define CAPTURE_CHUNK_MAGIC 0x4b4e4843 /* "CHNK" */

struct capture_cubin {
	__u64 crc; /* as in struct cuprobe_module */
	__u64 reserved;
};
CUPROBE_PINNED(struct capture_cubin, 16);

/* When and how a recording was made. Strings belong to the holder. */
struct session_info {
	__u64 start_ns, end_ns;	  /* CLOCK_MONOTONIC; end 0 while it runs */
	__u64 realtime_offset_ns; /* CLOCK_REALTIME = CLOCK_MONOTONIC + this, at the start */
	char host[256];
	char kernel[128];
	char command[1024]; /* the cuprobe command line */
	__u32 probes;	    /* bit n: probe n was attached */
	__u32 fired;	    /* bit n: probe n fired; 0: not known */
	bool native_stacks; /* stacks are to be shown without Python frames */
};

/* False when none of the probe's records are to come. */
static inline bool session_info_may_have(const struct session_info *info, __u32 probe)
{
	__u32 probes = info && info->fired ? info->fired : info ? info->probes : 0;

	return !probes || probes & 1u << probe;
}

struct capture_writer;
/*
 * Creates `path` under the temporary name `path`.partial with mode 0600, and
 * under sudo for the user who called; -EEXIST when that is
 * there, from a recording that still runs or that was killed (it can be read as it is).
 * Compression runs on a thread of its own; a write error (ENOSPC, ...) is returned by the next
 * call and by close. What is a second old is in the file.
 */
#define CAPTURE_PARTIAL_SUFFIX ".partial"
int capture_create(struct capture_writer **ret, const char *path, const struct session_info *info);
int capture_batch(struct capture_writer *w, const struct cuprobe_batch_header *h, const void *data);
/* `json` describes a process, see PROCESS above. */
int capture_process(struct capture_writer *w, const char *json, size_t bytes);
/* `json` tells what addresses of a process mean, see SYMBOLS above. */
int capture_symbols(struct capture_writer *w, const char *json, size_t bytes);
int capture_losses(struct capture_writer *w, const struct cuprobe_loss_key *keys,
		   const struct cuprobe_loss *losses, size_t count);
int capture_cubin(struct capture_writer *w, __u64 crc, const void *image, size_t bytes);
__u64 capture_bytes(const struct capture_writer *w); /* written so far */
/*
 * Writes what is pending, the final session chunk, which says what fired, and END, and renames into
 * place. After a write error, or without `commit`, the temporary file is removed instead (ENOSPC:
 * what was written up to there is kept under the final name, readable without END, and the error is
 * returned).
 */
int capture_close(struct capture_writer *w, const struct session_info *info, bool commit);

struct capture_reader;
/*
 * `ret_info` is from the end of the file where that can be had, so that a reader knows beforehand
 * what there is. -EBADMSG: not a capture; -EPROTONOSUPPORT: of a newer version; -ENODATA: ends
 * before its first chunk; else what open(2) says.
 */
int capture_open(struct capture_reader **ret, const char *path, struct session_info *ret_info);
/*
 * Calls back in file order; every callback may be NULL and may stop by returning non-zero.
 * 0 at the end of a whole capture; -ENODATA when it ends early (everything readable was read).
 */
struct capture_handler {
	int (*batch)(void *arg, const struct cuprobe_batch_header *h, const void *data);
	int (*process)(void *arg, const char *json, size_t bytes);
	int (*losses)(void *arg, const struct cuprobe_loss_key *k, const struct cuprobe_loss *l);
	int (*cubin)(void *arg, __u64 crc, const void *image, size_t bytes);
	int (*symbols)(void *arg, const char *json, size_t bytes);
	/* Every whole chunk: position in the file, size of the file; for progress. */
	int (*progress)(void *arg, __u64 position, __u64 size);
	void *arg;
};
int capture_read(struct capture_reader *r, const struct capture_handler *h,
		 struct session_info *ret_info);
/* After -ENODATA: where the file ends, and how ("ends after 1234 bytes, inside a chunk"). */
const char *capture_trouble(const struct capture_reader *r);
void capture_free(struct capture_reader *r);

#endif
