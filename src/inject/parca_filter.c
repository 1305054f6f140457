/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/parca_filter.h"

#include <stdatomic.h>
#include <stddef.h>

#define BUCKET_BITS 13
#define BUCKETS (1u << BUCKET_BITS)
#define WAYS 8u
#define TRIES 4 /* threads that want the same place at the same moment are rare */

/*
 * A launch: correlation id in the lower half; above it a bit that says that it has been told, and
 * the generation, which is never 0. 0 is a free place. Setting the bit releases the firing of the
 * probe to the pump.
 */
#define TOLD ((__u64)1 << 32)
#define GENERATION_SHIFT 33

static _Atomic __u64 places[BUCKETS][WAYS];
static atomic_uint generation = 1; /* only the control thread changes it */

static __u64 place_make(__u32 correlation)
{
	__u64 now = atomic_load_explicit(&generation, memory_order_relaxed);

	return now << GENERATION_SHIFT | correlation;
}

/* Ids come in sequence, and those that are taken at regular distances: neither may pile up. */
static _Atomic __u64 *bucket_of(__u32 correlation)
{
	return places[correlation * 0x9e3779b1u >> (32 - BUCKET_BITS)];
}

/* The launch's place, told or not; NULL when there is none. */
static _Atomic __u64 *place_find(__u32 correlation, __u64 *ret_value)
{
	_Atomic __u64 *bucket = bucket_of(correlation);
	__u64 wanted = place_make(correlation);

	for (__u32 way = 0; way < WAYS; way++) {
		*ret_value = atomic_load_explicit(&bucket[way], memory_order_acquire);
		if ((*ret_value & ~TOLD) == wanted)
			return &bucket[way];
	}
	return NULL;
}

/* A free place, or that of an old generation; else the oldest. */
static _Atomic __u64 *place_choose(__u32 correlation, __u64 *ret_value)
{
	_Atomic __u64 *bucket = bucket_of(correlation), *oldest = NULL;
	__u64 of_now = place_make(0) >> GENERATION_SHIFT;
	__u32 most = 0;

	for (__u32 way = 0; way < WAYS; way++) {
		__u64 value = atomic_load_explicit(&bucket[way], memory_order_relaxed);
		__u32 age = correlation - (__u32)value;

		if (value >> GENERATION_SHIFT != of_now || (__u32)value == correlation) {
			*ret_value = value;
			return &bucket[way];
		}
		if (!oldest || age > most) {
			oldest = &bucket[way];
			most = age;
			*ret_value = value;
		}
	}
	return oldest;
}

void cuprobe_parca_filter_renew(void)
{
	atomic_fetch_add_explicit(&generation, 1, memory_order_relaxed);
}

bool cuprobe_parca_filter_add(__u32 correlation)
{
	for (int i = 0; i < TRIES; i++) {
		__u64 value;
		_Atomic __u64 *place = place_choose(correlation, &value);

		if (atomic_compare_exchange_strong_explicit(place, &value, place_make(correlation),
							    memory_order_relaxed,
							    memory_order_relaxed))
			return true;
	}
	return false;
}

void cuprobe_parca_filter_told(__u32 correlation)
{
	__u64 value;
	_Atomic __u64 *place = place_find(correlation, &value);

	if (place)
		atomic_compare_exchange_strong_explicit(place, &value, value | TOLD,
							memory_order_release, memory_order_relaxed);
}

void cuprobe_parca_filter_remove(__u32 correlation)
{
	__u64 value;
	_Atomic __u64 *place = place_find(correlation, &value);

	if (place)
		atomic_compare_exchange_strong_explicit(place, &value, 0, memory_order_relaxed,
							memory_order_relaxed);
}

enum cuprobe_parca_launch_state cuprobe_parca_filter_look(__u32 correlation)
{
	__u64 value;

	if (!place_find(correlation, &value))
		return CUPROBE_PARCA_UNKNOWN;
	return value & TOLD ? CUPROBE_PARCA_TOLD : CUPROBE_PARCA_COMING;
}
