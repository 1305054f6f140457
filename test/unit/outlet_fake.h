/* SPDX-License-Identifier: Apache-2.0 */
/* An outlet for tests of the library's parts: as many consumers as told, and all records kept. */
#ifndef CUPROBE_UNIT_OUTLET_FAKE_H
#define CUPROBE_UNIT_OUTLET_FAKE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cuprobe/abi.h"
#include "src/inject/ledger.h"
#include "src/inject/outlet.h"

struct fake_probe {
	__u32 consumers;
	__u8 *data; /* all records that were delivered, packed */
	size_t capacity, bytes, count, batches;
};

static struct fake_probe fake[CUPROBE_PROBE_COUNT];
static enum cuprobe_probe_id fake_order[4096]; /* the probes in the order in which they fired */
static size_t fake_fired;

static __u32 fake_consumers(enum cuprobe_probe_id probe)
{
	return fake[probe].consumers;
}

static void fake_deliver(enum cuprobe_probe_id probe, const void *data, __u32 bytes, __u32 count,
			 __u64 seq)
{
	struct fake_probe *to = &fake[probe];

	assert_int_equal(seq, to->count);
	assert_in_range(bytes, 1, CUPROBE_BATCH_BYTES);
	assert_int_equal(bytes % count, 0);
	if (to->bytes + bytes > to->capacity) {
		to->capacity = 2 * (to->bytes + bytes);
		to->data = realloc(to->data, to->capacity);
		assert_non_null(to->data);
	}
	memcpy(to->data + to->bytes, data, bytes);
	to->bytes += bytes;
	to->count += count;
	to->batches++;
	fake_order[fake_fired++ % 4096] = probe;
}

static __u32 fake_newcomers(void)
{
	return 0;
}

static const struct cuprobe_outlet fake_outlet = {fake_consumers, fake_deliver, fake_newcomers};

/* Record `index` of all that a probe delivered. */
static inline const void *fake_record(enum cuprobe_probe_id probe, size_t index)
{
	assert_in_range(index, 0, fake[probe].count - 1);
	return fake[probe].data + index * (fake[probe].bytes / fake[probe].count);
}

/* The text that was defined for an id from delivered record `from` on; the caller frees. */
static inline char *fake_text(__u32 id, size_t from)
{
	char *text = NULL;
	__u32 expected = 0, total = 0;

	for (size_t i = from; i < fake[CUPROBE_PROBE_string].count; i++) {
		const struct cuprobe_string *piece = fake_record(CUPROBE_PROBE_string, i);

		if (piece->id != id)
			continue;
		if (!text)
			text = calloc(1, piece->total_bytes + 1u);
		total = piece->total_bytes;
		assert_int_equal(piece->offset, expected);
		assert_in_range(piece->bytes, total ? 1 : 0, CUPROBE_STRING_PIECE);
		memcpy(text + piece->offset, piece->text, piece->bytes);
		expected += piece->bytes;
	}
	assert_non_null(text);
	assert_int_equal(expected, total);
	return text;
}

static inline void fake_attach(enum cuprobe_probe_id probe)
{
	cuprobe_outlet = &fake_outlet;
	fake[probe].consumers = 1;
}

/* The law of struct cuprobe_status_ledger, for every probe. */
static inline void fake_ledgers_balance(void)
{
	struct cuprobe_status_ledger l;

	for (__u32 probe = 0; probe < CUPROBE_PROBE_COUNT; probe++) {
		cuprobe_ledger_read(probe, &l);
		assert_int_equal(l.produced,
				 l.fired + l.discarded + l.invalid + l.lost + l.pending);
		assert_int_equal(l.fired, fake[probe].count);
	}
}

#endif
