/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/cupti_layout.h"

/* What the versions have in common, from CUDA 11.6 on. */
#define COMMON                                                                                     \
	.kernel = 176, .memcpy = 88, .peer = 96, .memset = 88, .memory = 120, .pool = 72,          \
	.sync = 40, .event = 24, .api = 40, .unified = 64, .overhead = 40, .graph = 48,            \
	.stream = 24, .context = 16, .device = 176

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverride-init"
#ifdef __clang__
#pragma GCC diagnostic ignored "-Winitializer-overrides"
#endif
/*
 * By rising version; sizes change in the middle of a row only. Version 18 is both 11.8 and 12.1,
 * whose kernel records are 8 bytes longer by fields that are not read here.
 */
static const struct cuprobe_layout layouts[] = {
	{.since = 0,
	 COMMON,
	 .kernel = 160,
	 .memcpy = 80,
	 .peer = 88,
	 .memset = 80,
	 .memory = 112,
	 .pool = 64,
	 .device = 152}, /* CUDA 11.0, 11.1 */
	{.since = 15,
	 COMMON,
	 .kernel = 168,
	 .memcpy = 80,
	 .peer = 88,
	 .memset = 80,
	 .memory = 112,
	 .pool = 64,
	 .device = 152},		      /* 11.2 */
	{.since = 17, COMMON},		      /* 11.6 */
	{.since = 18, COMMON, .kernel = 200}, /* 11.8 and 12.1 */
	{.since = 19, COMMON, .kernel = 208}, /* 12.0 */
	{.since = 20, COMMON, .kernel = 208, .device = 184},
	{.since = 21, COMMON, .kernel = 208, .device = 184, .overhead = 48, .graph = 56},
	{.since = 22,
	 COMMON,
	 .kernel = 208,
	 .device = 184,
	 .overhead = 56,
	 .graph = 56,
	 .context = 24},
	{.since = 23,
	 COMMON,
	 .kernel = 208,
	 .device = 184,
	 .overhead = 56,
	 .graph = 56,
	 .context = 32},
	{.since = 24,
	 COMMON,
	 .kernel = 208,
	 .device = 184,
	 .overhead = 56,
	 .graph = 56,
	 .context = 32,
	 .memory = 128},
	{.since = 26,
	 COMMON,
	 .kernel = 208,
	 .device = 184,
	 .overhead = 56,
	 .graph = 56,
	 .context = 32,
	 .memory = 128,
	 .memcpy = 96,
	 .unified = 104,
	 .event = 56,
	 .sync = 56},
	{.since = 130000,
	 COMMON,
	 .kernel = 216,
	 .device = 184,
	 .overhead = 56,
	 .graph = 56,
	 .context = 32,
	 .memory = 128,
	 .memcpy = 96,
	 .unified = 104,
	 .event = 56,
	 .sync = 56,
	 .pool = 80,
	 .device_launched = 1},
};
#pragma GCC diagnostic pop

const struct cuprobe_layout *cuprobe_layout_for(__u32 cupti_version)
{
	const struct cuprobe_layout *layout = layouts;

	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
		if (layouts[i].since <= cupti_version)
			layout = &layouts[i];
	}
	return layout;
}
