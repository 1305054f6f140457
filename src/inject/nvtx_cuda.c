/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/nvtx_cuda.h"

#include <stddef.h>

#include "cuprobe/abi.h"
#include "src/inject/cuda_driver.h"

__u32 cuprobe_nvtx_cuda_context(void *context)
{
	int (*get_id)(void *context, unsigned long long *ret_id) =
		cuprobe_driver_function("cuCtxGetId");
	unsigned long long id;

	return get_id && !get_id(context, &id) ? (__u32)id : CUPROBE_NO_ID;
}

__u32 cuprobe_nvtx_cuda_stream(void *stream, __u32 *ret_context)
{
	int (*get_id)(void *stream, unsigned long long *ret_id) =
		cuprobe_driver_function("cuStreamGetId");
	int (*get_context)(void *stream, void **ret_context) =
		cuprobe_driver_function("cuStreamGetCtx");
	unsigned long long id;
	void *context;

	if (!get_id || !get_context || get_id(stream, &id) || get_context(stream, &context))
		return CUPROBE_NO_ID;
	*ret_context = cuprobe_nvtx_cuda_context(context);
	return (__u32)id;
}
