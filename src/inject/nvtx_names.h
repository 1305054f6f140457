/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What NVTX clients define once and refer to later: registered strings, domains, categories, names
 * of threads and CUDA objects. Definitions are taken at any time, because a client makes them when
 * it starts and they could not be had again for a consumer that attaches later.
 *
 * Handles are numbers with a tag and never followed, so that a stale or foreign one does no harm.
 */
#ifndef CUPROBE_INJECT_NVTX_NAMES_H
#define CUPROBE_INJECT_NVTX_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cuprobe/abi.h"
#include "src/inject/nvtx_buffer.h"

#define NVTX_DOMAIN_TAG 0x6e760001u
#define NVTX_STRING_TAG 0x6e760002u
#define NVTX_RESOURCE_TAG 0x6e760003u
#define NVTX_SYNC_TAG 0x6e768000u /* plus the domain */

static inline void *cuprobe_nvtx_handle(__u32 tag, __u32 number)
{
	return (void *)((uintptr_t)tag << 32 | number);
}

/* 0, the default domain, for handles that are no domains. */
static inline __u32 cuprobe_nvtx_domain(const void *handle)
{
	uintptr_t value = (uintptr_t)handle;

	return value >> 32 == NVTX_DOMAIN_TAG && (__u32)value < CUPROBE_NVTX_DOMAINS ? (__u32)value
										     : 0;
}

/* The string id of a registered string; 0 for handles that are none. */
static inline __u32 cuprobe_nvtx_registered(const void *handle)
{
	uintptr_t value = (uintptr_t)handle;

	return value >> 32 == NVTX_STRING_TAG ? (__u32)value : 0;
}

/*
 * A synchronisation object is its domain and the string id of its name, or 0: nothing is kept of
 * it, so that programs may make any number of them.
 */
static inline void *cuprobe_nvtx_sync_handle(__u32 domain, __u32 name)
{
	return cuprobe_nvtx_handle(NVTX_SYNC_TAG + domain, name);
}

/* False for handles that are none. */
static inline bool cuprobe_nvtx_sync_find(const void *handle, __u32 *ret_domain, __u32 *ret_name)
{
	uintptr_t value = (uintptr_t)handle;
	__u32 domain = (__u32)(value >> 32) - NVTX_SYNC_TAG;

	if (domain >= CUPROBE_NVTX_DOMAINS)
		return false;
	*ret_domain = domain;
	*ret_name = (__u32)value;
	return true;
}

/* Each may be called from any thread. 0 where there is no room for more. */
__u32 cuprobe_nvtx_name_string(const char *text, size_t bytes);
__u32 cuprobe_nvtx_name_domain(const char *name, size_t bytes);
void cuprobe_nvtx_name_category(__u32 domain, __u32 category, const char *name, size_t bytes);
/* `info.name` is filled in here. */
void cuprobe_nvtx_name_object(struct cuprobe_info_name info, const char *name, size_t bytes);

/* Copies the text of a registered string, at most `room` bytes; returns its length there. */
size_t cuprobe_nvtx_name_copy(__u32 string, char *text, size_t room);

/*
 * The pump's, apart from the batches: takes one thing that has got a name since the last call, with
 * at most `room` bytes of that; false when there is none. And begins from the first one again.
 */
bool cuprobe_nvtx_names_next(struct cuprobe_info *ret, char *text, size_t room, size_t *ret_bytes);
void cuprobe_nvtx_names_again(void);

/* The pump's: what is to be defined again for a new consumer; and whether anything is. */
void cuprobe_nvtx_names_replay(void);
bool cuprobe_nvtx_names_pending(void);
/* Adds all that is pending to the batches of `string` and `info`. */
void cuprobe_nvtx_names_define(void);

#endif
