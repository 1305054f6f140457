/* SPDX-License-Identifier: Apache-2.0 */
/* A provider parcagpu for tests: attached as told, and what is fired is kept. */
#ifndef CUPROBE_UNIT_PARCAGPU_FAKE_H
#define CUPROBE_UNIT_PARCAGPU_FAKE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "src/inject/parca.h"

#define FAKE_MOST 8192

static struct {
	__u32 attached;
	size_t launches, kernels, executed, batches, largest, events, event_batches, errors;
	char event[FAKE_MOST][256];
	char error[256];
	size_t pcs, pc_samples, maps, map_count, configs;
	struct parcagpu_pc pc[FAKE_MOST];
	char map[PARCAGPU_REASONS][PARCAGPU_REASON_BYTES];
	__u32 config[4];
	struct {
		__u32 correlation;
		__s32 cbid;
		char name[64];
	} launch[FAKE_MOST];
	struct parcagpu_kernel kernel[FAKE_MOST];
	char kernel_name[FAKE_MOST][64];
} parca;

static __u32 parca_attached(void)
{
	return parca.attached;
}

static void parca_launch(__u32 correlation, __s32 cbid, const char *name)
{
	assert_in_range(parca.launches, 0, FAKE_MOST - 1);
	parca.launch[parca.launches].correlation = correlation;
	parca.launch[parca.launches].cbid = cbid;
	strncpy(parca.launch[parca.launches++].name, name, 63);
}

static void parca_executed(const struct parcagpu_kernel *kernel)
{
	assert_non_null(kernel->name);
	parca.executed++;
}

/* Reads the pointers as they are read, up to the next multiple. */
static void parca_batch(const struct parcagpu_kernel *const *records, __u32 count)
{
	__u32 read = (count + PARCAGPU_POINTERS - 1) / PARCAGPU_POINTERS * PARCAGPU_POINTERS;

	assert_in_range(count, 1, PARCAGPU_BATCH);
	for (__u32 i = count; i < read; i++)
		assert_null(records[i]);
	for (__u32 i = 0; i < count; i++) {
		assert_in_range(parca.kernels, 0, FAKE_MOST - 1);
		parca.kernel[parca.kernels] = *records[i];
		strncpy(parca.kernel_name[parca.kernels++], records[i]->name, 63);
	}
	parca.batches++;
	if (count > parca.largest)
		parca.largest = count;
}

static void parca_events(const struct parcagpu_nvtx *const *events, __u32 count)
{
	assert_in_range(count, 1, PARCAGPU_NVTX_BATCH);
	for (__u32 i = 0; i < count; i++)
		memcpy(parca.event[parca.events++], events[i]->message,
		       strlen(events[i]->message) + 1);
	parca.event_batches++;
}

static void parca_error(__s32 code, const char *message, const char *component)
{
	char all[PARCAGPU_COMPONENT];

	(void)code;
	memcpy(parca.error, message, PARCAGPU_MESSAGE);
	memcpy(all, component, PARCAGPU_COMPONENT);
	assert_string_equal(all, "libcuprobe");
	parca.errors++;
}

static void parca_pc_batch(const struct parcagpu_pc *const *records, __u32 count)
{
	assert_in_range(count, 1, PARCAGPU_PC_BATCH);
	for (__u32 i = 0; i < count; i++) {
		assert_int_equal((uintptr_t)records[i]->stalls % 512, 0);
		assert_int_equal(records[i]->size, 64);
		parca.pc[parca.pcs] = *records[i];
		parca.pc_samples += records[i]->stalls[0].samples;
		parca.pcs++;
	}
}

static void parca_map(const char *names, __u32 count)
{
	assert_int_equal((uintptr_t)names % 4096, 0);
	memcpy(parca.map, names, sizeof(parca.map));
	parca.map_count = count;
	parca.maps++;
}

static void parca_config(__u32 device, __u32 factor, __u32 clock_khz, __u32 multiprocessors)
{
	parca.config[0] = device;
	parca.config[1] = factor;
	parca.config[2] = clock_khz;
	parca.config[3] = multiprocessors;
	parca.configs++;
}

static const struct parcagpu parca_fake = {
	.attached = parca_attached,
	.cuda_correlation = parca_launch,
	.kernel_executed = parca_executed,
	.activity_batch = parca_batch,
	.error = parca_error,
	.gpu_config = parca_config,
	.pc_sample_batch = parca_pc_batch,
	.stall_reason_map = parca_map,
	.nvtx_event_batch = parca_events,
};

/* To be called first: nothing was fired, and these are attached. */
static inline void parca_attach(__u32 probes)
{
	cuprobe_parcagpu = &parca_fake;
	memset(&parca, 0, sizeof(parca));
	parca.attached = probes;
	cuprobe_parca_look();
}

#endif
