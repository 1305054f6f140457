/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/parca_kernels.h"

#include <string.h>

#include "src/inject/clock.h"
#include "src/inject/cupti_layout.h"
#include "src/inject/cupti_records.h"
#include "src/inject/notice.h"
#include "src/inject/parca.h"
#include "src/inject/parca_filter.h"
#include "src/inject/strings.h"

#define KERNEL_PROBES (PARCAGPU_BIT(activity_batch) | PARCAGPU_BIT(kernel_executed))
#define LEAVING_NS 1000000000ull
#define EARLY_MOST 4096u

struct kernel {
	struct parcagpu_kernel record;
	__u32 name; /* string id: the text may move until it is fired */
};

static struct kernel batch[PARCAGPU_BATCH];
static __u32 batch_count;
static struct kernel early[EARLY_MOST]; /* their launches have not returned yet */
static __u32 early_count;
static __u64 lost, lost_reported;

static bool filtering;
static __u64 listener_ns; /* when somebody was seen at cuda_correlation */

/* A consumer that leaves probe by probe is not to get others' kernels meanwhile. */
static bool somebody_is_told(__u32 attached)
{
	__u64 now = cuprobe_clock_now();

	if (attached & PARCAGPU_BIT(cuda_correlation))
		listener_ns = now;
	return listener_ns && now < listener_ns + LEAVING_NS;
}

bool cuprobe_parca_kernels_begin(void)
{
	__u32 attached = cuprobe_parcagpu->attached();

	if (!(attached & KERNEL_PROBES))
		return false;
	filtering = somebody_is_told(attached);
	return true;
}

static void names_resolve(void)
{
	for (__u32 i = 0; i < batch_count; i++)
		batch[i].record.name = cuprobe_strings_text(batch[i].name);
}

/* What is read beyond the last pointer has to be there, and point nowhere. */
static void batch_fire(void)
{
	static const struct parcagpu_kernel *pointers[PARCAGPU_BATCH];
	__u32 attached = cuprobe_parcagpu->attached();

	/* Whoever came to cuda_correlation meanwhile was not told of the launches of these. */
	if (!filtering && attached & PARCAGPU_BIT(cuda_correlation))
		batch_count = 0;
	if (!batch_count)
		return;
	names_resolve();
	for (__u32 i = 0; i < PARCAGPU_BATCH; i++)
		pointers[i] = i < batch_count ? &batch[i].record : NULL;
	if (attached & PARCAGPU_BIT(activity_batch))
		cuprobe_parcagpu->activity_batch(pointers, batch_count);
	for (__u32 i = 0; attached & PARCAGPU_BIT(kernel_executed) && i < batch_count; i++)
		cuprobe_parcagpu->kernel_executed(&batch[i].record);
	batch_count = 0;
}

static void batch_add(const struct kernel *k)
{
	if (batch_count == PARCAGPU_BATCH)
		batch_fire();
	batch[batch_count++] = *k;
}

/* A launch has one kernel, or it is one of a graph, which has any number and lives on. */
static void kernel_pass(const struct kernel *k)
{
	batch_add(k);
	if (!k->record.graph_id)
		cuprobe_parca_filter_remove(k->record.correlation);
}

static void kernel_wait(const struct kernel *k)
{
	if (early_count < EARLY_MOST)
		early[early_count++] = *k;
	else
		lost++;
}

static bool kernel_make(struct kernel *k, const __u8 *record)
{
	struct parcagpu_kernel *r = &k->record;

	memcpy(r, record, sizeof(*r));
	if (!cuprobe_record_times_move(&r->start_ns, &r->end_ns))
		return false;
	r->completed_ns = cuprobe_record_time(r->completed_ns);
	r->queued_ns = cuprobe_record_time(r->queued_ns);
	r->submitted_ns = cuprobe_record_time(r->submitted_ns);
	k->name = cuprobe_strings_id_shared(r->name);
	return true;
}

void cuprobe_parca_kernel(const __u8 *record)
{
	enum cuprobe_parca_launch_state launch = CUPROBE_PARCA_TOLD;
	struct kernel k;

	if (filtering)
		launch = cuprobe_parca_filter_look(cuprobe_kernel_correlation(record));
	if (launch == CUPROBE_PARCA_UNKNOWN || !kernel_make(&k, record))
		return;
	if (launch == CUPROBE_PARCA_TOLD)
		kernel_pass(&k);
	else
		kernel_wait(&k);
}

/* Those whose launch has failed meanwhile are dropped. */
static void early_look(void)
{
	__u32 left = 0;

	for (__u32 i = 0; i < early_count; i++) {
		enum cuprobe_parca_launch_state launch =
			cuprobe_parca_filter_look(early[i].record.correlation);

		if (launch == CUPROBE_PARCA_TOLD)
			kernel_pass(&early[i]);
		else if (launch == CUPROBE_PARCA_COMING)
			early[left++] = early[i];
	}
	early_count = left;
}

static void lost_report(void)
{
	if (lost < 2 * lost_reported || !lost)
		return;
	lost_reported = lost + 1;
	cuprobe_notice_message(CUPROBE_WARNING, 0, NULL,
			       "%llu kernels were not given to parcagpu:activity_batch: they came "
			       "before the call that launched them had returned",
			       lost);
}

void cuprobe_parca_kernels_fire(void)
{
	early_look();
	batch_fire();
	lost_report();
}
