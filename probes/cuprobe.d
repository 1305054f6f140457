/* SPDX-License-Identifier: Apache-2.0 */
/* One probe for each kind of data; all have the arguments described in include/cuprobe/abi.h. */
provider cuprobe {
	probe kernel(const void *data, unsigned int bytes, unsigned int count, unsigned long seq);
	probe graph(const void *data, unsigned int bytes, unsigned int count, unsigned long seq);
	probe memcpy(const void *data, unsigned int bytes, unsigned int count, unsigned long seq);
	probe memset(const void *data, unsigned int bytes, unsigned int count, unsigned long seq);
	probe memory(const void *data, unsigned int bytes, unsigned int count, unsigned long seq);
	probe sync(const void *data, unsigned int bytes, unsigned int count, unsigned long seq);
	probe api(const void *data, unsigned int bytes, unsigned int count, unsigned long seq);
	probe unified_memory(const void *data, unsigned int bytes, unsigned int count, unsigned long seq);
	probe overhead(const void *data, unsigned int bytes, unsigned int count, unsigned long seq);
	probe string(const void *data, unsigned int bytes, unsigned int count, unsigned long seq);
	probe info(const void *data, unsigned int bytes, unsigned int count, unsigned long seq);
	probe status(const void *data, unsigned int bytes, unsigned int count, unsigned long seq);
	probe nvtx(const void *data, unsigned int bytes, unsigned int count, unsigned long seq);
	probe launch(const void *data, unsigned int bytes, unsigned int count, unsigned long seq);
	probe stack(const void *data, unsigned int bytes, unsigned int count, unsigned long seq);
	probe module(const void *data, unsigned int bytes, unsigned int count, unsigned long seq);
	probe pc_sample(const void *data, unsigned int bytes, unsigned int count, unsigned long seq);
	/* Never fires: whoever attaches to it, or leaves it, has all definitions told again. */
	probe replay();
};
