/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/parca_told.h"

#include <stdio.h>

#include "cuprobe/abi.h"
#include "src/inject/cupti_module.h"
#include "src/inject/log.h"
#include "src/inject/parca.h"
#include "src/inject/status.h"
#include "src/inject/strings.h"

void cuprobe_parca_error(const struct cuprobe_status_message *message)
{
	static const char component[PARCAGPU_COMPONENT] = "libcuprobe";
	static char text[PARCAGPU_MESSAGE];

	if (message->severity > CUPROBE_WARNING ||
	    !(cuprobe_parcagpu->attached() & PARCAGPU_BIT(error)))
		return;
	snprintf(text, sizeof(text), "%s%s%s", cuprobe_strings_text(message->text),
		 message->remedy ? ": " : "", cuprobe_strings_text(message->remedy));
	*(volatile const char *)component; /* a page of the library's file, not yet in memory */
	cuprobe_parcagpu->error(message->code, text, component);
}

void cuprobe_parca_errors_replay(void)
{
	cuprobe_status_each_message(cuprobe_parca_error);
}

/* What has no number cannot be asked for, and what was not copied not be read. */
void cuprobe_parca_cubin_loaded(const struct cuprobe_module *module)
{
	if (module->crc && module->address &&
	    cuprobe_parcagpu->attached() & PARCAGPU_BIT(cubin_loaded))
		cuprobe_parcagpu->cubin_loaded(module->crc, (const void *)module->address,
					       module->bytes);
}

void cuprobe_parca_cubin_unloaded(const struct cuprobe_module *module)
{
	if (module->crc && cuprobe_parcagpu->attached() & PARCAGPU_BIT(cubin_unloaded))
		cuprobe_parcagpu->cubin_unloaded(module->crc);
}

static void cubin_again(void *unused, const struct cuprobe_module *module)
{
	(void)unused;
	cuprobe_parca_cubin_loaded(module);
}

void cuprobe_parca_cubins_replay(void)
{
	cuprobe_module_each(cubin_again, NULL);
}
