/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The door: the CUDA driver loads the library that CUDA_INJECTION64_PATH names and calls
 * InitializeInjection() inside cuInit().
 */
#include "src/inject/inject.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/inject/control.h"
#include "src/inject/env.h"
#include "src/inject/guard.h"
#include "src/inject/notice.h"

#define FINISH_NS 2000000000ull

static void setting_complain(const char *name, const char *value, const char *allowed)
{
	if (value)
		cuprobe_notice_message(CUPROBE_WARNING, 0, "the default is used",
				       "%s is '%s', not %s", name, value, allowed);
	else
		cuprobe_notice_message(CUPROBE_WARNING, 0, "look at the environment table",
				       "%.*s is not a setting", (int)strcspn(name, "="), name);
}

static void at_exit(void)
{
	if (cuprobe_guard_alive())
		cuprobe_control_finish(FINISH_NS);
}

static void library_start(void)
{
	struct cuprobe_guard guard;

	cuprobe_guard_init();
	if (!cuprobe_guard_enter(&guard))
		return;
	cuprobe_env_read(environ, setting_complain);
	cuprobe_log_init();
	if (!cuprobe_env.disable) {
		cuprobe_control_start();
		atexit(at_exit);
	}
	cuprobe_guard_leave(&guard);
}

__attribute__((visibility("default"))) int InitializeInjection(void)
{
	static atomic_bool entered;

	if (!atomic_exchange(&entered, true))
		library_start();
	return 1;
}
