/* SPDX-License-Identifier: Apache-2.0 */
#include "microbenchmarks/fire.h"

#include <stddef.h>
#include <unistd.h>

#include "probes/cuprobe.h"
#include "src/inject/batch.h"
#include "src/inject/env.h"
#include "src/inject/ledger.h"
#include "src/inject/outlet.h"
#include "src/inject/outlet_direct.h"

extern const struct fire cuprobe_fire;

static void ignore(const char *name, const char *value, const char *allowed)
{
	(void)name;
	(void)value;
	(void)allowed;
}

static __attribute__((constructor)) void begin(void)
{
	cuprobe_env_read(environ, ignore);
	cuprobe_direct_look();
}

static bool wanted(void)
{
	return cuprobe_outlet->consumers(CUPROBE_PROBE_memset) != 0;
}

static void records(__u64 first, __u32 count)
{
	for (__u64 i = first; i < first + count; i++) {
		struct cuprobe_memset *r = cuprobe_batch_add(CUPROBE_PROBE_memset);

		*r = fire_record(i);
	}
}

static void flush(void)
{
	cuprobe_batch_fire(CUPROBE_PROBE_memset);
}

static __u64 fired(void)
{
	return cuprobe_ledger[CUPROBE_PROBE_memset].fired;
}

static void raw(const void *data, __u32 count)
{
	cuprobe_probe_fire(CUPROBE_PROBE_memset, data, count * (__u32)sizeof(struct cuprobe_memset),
			   count, 0);
}

__attribute__((visibility("default"))) const struct fire cuprobe_fire = {
	.wanted = wanted,
	.records = records,
	.flush = flush,
	.fired = fired,
	.raw = raw,
};
