/* SPDX-License-Identifier: Apache-2.0 */
/* What the application calls its domains, categories, threads, streams, ... through NVTX. */
#ifndef CUPROBE_COLLECTOR_NVTX_NAMES_H
#define CUPROBE_COLLECTOR_NVTX_NAMES_H

#include "src/collector/map.h"

#include "cuprobe/abi.h"

struct process;

#define NVTX_NAMES_MOST (1u << 18) /* of one process and kind */

/* Zeroed is empty. */
struct nvtx_names {
	struct map domains;			      /* by id */
	struct map categories;			      /* by domain << 32 | id */
	struct map objects[CUPROBE_OBJECT_OTHER + 1]; /* by context << 32 | id */
};

/* Takes the info records of the three types; 0, -ENOMEM or -ENOSPC. */
int nvtx_names_add(struct nvtx_names *n, const struct cuprobe_info *info);
void nvtx_names_clear(struct nvtx_names *n);

/* Each NULL when there is no name. Valid as long as the model. */
const char *process_nvtx_domain(const struct process *p, __u32 domain);
const char *process_nvtx_category(const struct process *p, __u32 domain, __u32 category);
/* `context`: of a stream; else CUPROBE_NO_ID. */
const char *process_object_name(const struct process *p, enum cuprobe_object object, __u32 context,
				__u32 id);

/*
 * The payload as text, NULL when there is none. It may lie in `room`, else it is valid as long as
 * the model. Numbers are as in JSON, where they are finite.
 */
#define NVTX_PAYLOAD_ROOM 40
const char *nvtx_payload_text(const struct process *p, const struct cuprobe_nvtx *n,
			      char room[NVTX_PAYLOAD_ROOM]);

/* "push", "pop", ... */
const char *nvtx_kind_name(unsigned int kind);

#endif
