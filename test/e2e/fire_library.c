// SPDX-License-Identifier: Apache-2.0
/* A libcuprobe that does nothing by itself: it has the ways out, and fires when it is told to. */
#include "test/e2e/fire.h"

#include <stddef.h>
#include <unistd.h>

#include "src/inject/env.h"
#include "src/inject/outlet.h"
#include "src/inject/outlet_direct.h"

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

bool fire_wanted(enum cuprobe_probe_id probe)
{
	cuprobe_direct_look();
	return cuprobe_outlet->consumers(probe) != 0;
}

void fire(enum cuprobe_probe_id probe, const void *data, __u32 bytes, __u32 count, __u64 seq)
{
	cuprobe_outlet->deliver(probe, data, bytes, count, seq);
}
