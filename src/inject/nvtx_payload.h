/* SPDX-License-Identifier: Apache-2.0 */
/* Extended payloads, rendered as text while the memory they point to is the caller's to lend. */
#ifndef CUPROBE_INJECT_NVTX_PAYLOAD_H
#define CUPROBE_INJECT_NVTX_PAYLOAD_H

#include <stdbool.h>
#include <stddef.h>

#include <linux/types.h>

struct nvtx_payload;
struct nvtx_text;

/* What a payload says about its event beside being shown; only what is there is set. */
struct nvtx_payload_attributes {
	__u32 message_id;	   /* a registered string */
	struct nvtx_text *message; /* takes a message given as text */
	bool has_color, has_category;
	__u32 color, category;
	__u64 begin_ns, end_ns; /* when it was, if it is over; of a mark only the first */
};

/* Writes `{name: value, …}` for each payload; fields that are hidden or the message are left out.
 */
void cuprobe_nvtx_payload_render(struct nvtx_text *t, __u32 domain,
				 const struct nvtx_payload *payloads, size_t count,
				 struct nvtx_payload_attributes *attributes);

#endif
