/* SPDX-License-Identifier: Apache-2.0 */
/* What libcuprobe.so exports. */
#ifndef CUPROBE_INJECT_INJECT_H
#define CUPROBE_INJECT_INJECT_H

#include <stdint.h>

struct nvtx_extension;

/* Called by the CUDA driver; 1: the library stays. Calls after the first do nothing. */
int InitializeInjection(void);

/*
 * Called by each NVTX client, from any thread, again and again and before CUDA or without it. 0:
 * the client goes on as if there were no injection.
 */
int InitializeInjectionNvtx2(const void *(*export_table)(uint32_t id));
int InitializeInjectionNvtxExtension(const struct nvtx_extension *extension);

#endif
