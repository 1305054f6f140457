/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/nvtx_samples.h"

#include <string.h>

#include "src/inject/clock.h"
#include "src/inject/ledger.h"
#include "src/inject/nvtx_abi.h"
#include "src/inject/nvtx_counters.h"
#include "src/inject/nvtx_names.h"
#include "src/inject/nvtx_put.h"
#include "src/inject/nvtx_time.h"
#include "src/inject/nvtx_value.h"

/* NULL: return at once. What belongs to no counter that is known is counted. */
static const struct nvtx_counter *sample_enter(struct nvtx_entry *e, const struct nvtx_domain *d,
					       uint64_t id)
{
	const struct nvtx_counter *c;

	if (!cuprobe_nvtx_enter(e))
		return NULL;
	c = cuprobe_nvtx_counter_find(cuprobe_nvtx_domain(d), id);
	if (c)
		return c;
	cuprobe_ledger_lose(CUPROBE_PROBE_nvtx, 1);
	cuprobe_nvtx_leave(e);
	return NULL;
}

static void value_put(struct nvtx_entry *e, const struct nvtx_counter *c, __u32 name,
		      __u8 payload_type, __u64 value, __u64 time_ns)
{
	const struct nvtx_source s = {.kind = CUPROBE_NVTX_COUNTER,
				      .domain = c->domain,
				      .message_id = name,
				      .payload_type = payload_type,
				      .payload = value,
				      .time_ns = time_ns};

	cuprobe_nvtx_put(e, &s, 0);
}

static void series_put(struct nvtx_entry *e, const struct nvtx_counter *c,
		       const struct nvtx_series *s, const char *sample, __u64 time_ns)
{
	__u64 value = cuprobe_nvtx_value_number(sample + s->offset, s->bytes);
	__u8 type = CUPROBE_NVTX_PAYLOAD_U64;

	if (s->form == NVTX_FORM_REAL) {
		type = s->bytes == sizeof(float) ? CUPROBE_NVTX_PAYLOAD_FLOAT
						 : CUPROBE_NVTX_PAYLOAD_DOUBLE;
	} else if (s->form == NVTX_FORM_SIGNED) {
		type = CUPROBE_NVTX_PAYLOAD_S64;
		value = (__u64)cuprobe_nvtx_value_signed(value, s->bytes);
	}
	value_put(e, c, s->name, type, value, time_ns);
}

/* `time_ns` 0: now. */
static void sample_put(struct nvtx_entry *e, const struct nvtx_counter *c, const char *sample,
		       size_t bytes, __u64 time_ns)
{
	__u32 lost = c->left_out;

	for (__u32 i = 0; i < c->count; i++) {
		const struct nvtx_series *s = &c->series[i];

		if (s->bytes <= bytes && s->offset <= bytes - s->bytes)
			series_put(e, c, s, sample, time_ns);
		else
			lost++;
	}
	if (lost)
		cuprobe_ledger_lose(CUPROBE_PROBE_nvtx, lost);
}

void cuprobe_nvtx_sample_int64(struct nvtx_domain *d, uint64_t counter, int64_t value)
{
	struct nvtx_entry e;
	const struct nvtx_counter *c = sample_enter(&e, d, counter);

	if (!c)
		return;
	value_put(&e, c, c->name, CUPROBE_NVTX_PAYLOAD_S64, (__u64)value, 0);
	cuprobe_nvtx_leave(&e);
}

void cuprobe_nvtx_sample_float64(struct nvtx_domain *d, uint64_t counter, double value)
{
	struct nvtx_entry e;
	const struct nvtx_counter *c = sample_enter(&e, d, counter);
	__u64 bits;

	if (!c)
		return;
	memcpy(&bits, &value, sizeof(bits));
	value_put(&e, c, c->name, CUPROBE_NVTX_PAYLOAD_DOUBLE, bits, 0);
	cuprobe_nvtx_leave(&e);
}

void cuprobe_nvtx_sample(struct nvtx_domain *d, uint64_t counter, const void *sample, size_t bytes)
{
	struct nvtx_entry e;
	const struct nvtx_counter *c = sample_enter(&e, d, counter);

	if (!c)
		return;
	sample_put(&e, c, sample, sample ? bytes : 0, 0);
	cuprobe_nvtx_leave(&e);
}

void cuprobe_nvtx_sample_no_value(struct nvtx_domain *d, uint64_t counter, uint8_t reason)
{
	struct nvtx_entry e;
	const struct nvtx_counter *c = sample_enter(&e, d, counter);

	if (!c)
		return;
	for (__u32 i = 0; i < c->count; i++)
		value_put(&e, c, c->series[i].name,
			  reason == NVTX_NO_VALUE_ZERO ? CUPROBE_NVTX_PAYLOAD_S64
						       : CUPROBE_NVTX_PAYLOAD_NONE,
			  0, 0);
	cuprobe_nvtx_leave(&e);
}

/* One time for each sample, of a clock that is known. */
static bool batch_is_timed(const struct nvtx_counter *c, const struct nvtx_counter_batch *batch)
{
	size_t samples = batch->bytes / c->bytes;

	return c->timed && batch->samples && batch->times &&
	       batch->times_bytes == samples * sizeof(batch->times[0]);
}

static void batch_put(struct nvtx_entry *e, const struct nvtx_counter *c,
		      const struct nvtx_counter_batch *batch)
{
	size_t samples = batch->bytes / c->bytes, refused = 0;
	bool timed = batch_is_timed(c, batch);
	__u64 now_ns = cuprobe_clock_now();

	for (size_t i = 0; i < samples; i++) {
		const char *sample = (const char *)batch->samples + i * c->bytes;
		__u64 time_ns = timed ? (__u64)batch->times[i] : 0;

		if (time_ns && time_ns <= now_ns)
			sample_put(e, c, sample, c->bytes, time_ns);
		else
			refused += c->count + c->left_out;
	}
	if (refused)
		cuprobe_nvtx_time_refuse(refused);
}

void cuprobe_nvtx_sample_batch(struct nvtx_domain *d, const struct nvtx_counter_batch *batch)
{
	struct nvtx_entry e;
	const struct nvtx_counter *c = batch ? sample_enter(&e, d, batch->counter) : NULL;

	if (!c)
		return;
	batch_put(&e, c, batch);
	cuprobe_nvtx_leave(&e);
}
