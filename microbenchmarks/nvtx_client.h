/* SPDX-License-Identifier: Apache-2.0 */
/* An NVTX client of its own in a shared object: nvtx.c compares two of them. */
#ifndef CUPROBE_MICROBENCHMARKS_NVTX_CLIENT_H
#define CUPROBE_MICROBENCHMARKS_NVTX_CLIENT_H

struct nvtx_client {
	void (*init)(void);
	void (*pairs)(long count); /* nvtxRangePushA, nvtxRangePop */
	void (*registered_pairs)(
		long count); /* in a domain, with a registered message and a colour */
};

#endif
