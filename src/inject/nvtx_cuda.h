/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers by which records refer to CUDA objects, for handles that are being named. */
#ifndef CUPROBE_INJECT_NVTX_CUDA_H
#define CUPROBE_INJECT_NVTX_CUDA_H

#include <linux/types.h>

/*
 * Asked of the driver, because CUPTI may not be loaded yet and the handle may be gone later;
 * drivers since CUDA 12.0 can tell. CUPROBE_NO_ID where there is no answer.
 */
__u32 cuprobe_nvtx_cuda_context(void *context);
__u32 cuprobe_nvtx_cuda_stream(void *stream, __u32 *ret_context);

#endif
