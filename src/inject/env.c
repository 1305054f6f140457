/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/env.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "cuprobe/abi.h"

struct cuprobe_env cuprobe_env;

enum setting_type {
	SETTING_TEXT,
	SETTING_NUMBER,
	SETTING_RATE,
	SETTING_SWITCH,
	SETTING_RELEASE,
	SETTING_PC_MODE,
};

struct setting {
	const char *name;
	enum setting_type type;
	void *value; /* const char ** for text, __u32 * for the rest */
	__u32 fallback, min, max;
	const char *allowed;
};

#define TEXT(n, field, what)                                                                       \
	{                                                                                          \
		n, SETTING_TEXT, &cuprobe_env.field, 0, 0, 0, what                                 \
	}
#define NUMBER(n, field, fallback, min, max)                                                       \
	{                                                                                          \
		n, SETTING_NUMBER, &cuprobe_env.field, fallback, min, max, #min " to " #max        \
	}

#define RATE(n, field, fallback)                                                                   \
	{                                                                                          \
		n, SETTING_RATE, &cuprobe_env.field, (fallback)*1000, 1, CUPROBE_RATE_UNLIMITED,   \
			"more than 0"                                                              \
	}

/* Every variable of the library; the README's table follows this one. */
static const struct setting settings[] = {
	TEXT("CUPROBE_LOG", log, "a path or stderr"),
	TEXT("CUPROBE_DIRECT", direct, "the path of a socket"),
	TEXT("CUPROBE_CUPTI_PATH", cupti_path, "a path"),
	NUMBER("CUPROBE_LOG_LEVEL", log_level, 3, 0, 4),
	{"CUPROBE_RELEASE", SETTING_RELEASE, &cuprobe_env.release, CUPROBE_RELEASE_AUTO, 0, 0,
	 "auto, finalize or unsubscribe"},
	NUMBER("CUPROBE_BUFFER_KB", buffer_kb, 512, 64, 16384),
	NUMBER("CUPROBE_POOL_MB", pool_mb, 64, 1, 4096),
	NUMBER("CUPROBE_MODULE_MB", module_mb, 512, 0, 65536),
	NUMBER("CUPROBE_FLUSH_MS", flush_ms, 100, 1, 60000),
	NUMBER("CUPROBE_LATENCY_TIMESTAMPS", latency_timestamps, 0, 0, 1),
	{"CUPROBE_PC_MODE", SETTING_PC_MODE, &cuprobe_env.pc_mode, CUPROBE_PC_SETTING_CONTINUOUS, 0,
	 0, "continuous or serialized"},
	NUMBER("CUPROBE_PC_PERIOD", pc_period, 0, 5, 31),
	NUMBER("CUPROBE_PC_RATE", pc_rate, 20000, 1, 10000000),
	NUMBER("CUPROBE_PC_BUFFER_MB", pc_buffer_mb, 32, 1, 4096),
	NUMBER("CUPROBE_PC_WINDOW_MS", pc_window_ms, 50, 1, 60000),
	NUMBER("CUPROBE_PC_EVERY_MS", pc_every_ms, 1000, 1, 3600000),
	NUMBER("CUPROBE_STACK_BUDGET", stack_budget, 10, 1, 100),
	NUMBER("CUPROBE_NATIVE_STACKS", native_stacks, 0, 0, 1),
	NUMBER("CUPROBE_DISABLE", disable, 0, 0, 1),
	RATE("PARCAGPU_RATE_LIMIT", parca_rate, 100),
	RATE("PARCAGPU_GRAPH_RATE_LIMIT", parca_graph_rate, 20),
	{"PARCAGPU_PC_SAMPLING_RATE", SETTING_RATE, &cuprobe_env.parca_pc_rate, CUPROBE_RATE_UNSET,
	 0, CUPROBE_RATE_UNLIMITED, "a number"},
	NUMBER("PARCAGPU_SAMPLING_FACTOR", parca_pc_factor, 20, 5, 31),
	{"PARCAGPU_PC_HW_BUFFER_MB", SETTING_NUMBER, &cuprobe_env.parca_pc_buffer_mb, 0, 1, 4096,
	 "1 to 4096"},
	{"PARCAGPU_DEBUG", SETTING_SWITCH, &cuprobe_env.parca_debug, 0, 0, 1, "0 or 1"},
};

#define SETTINGS (sizeof(settings) / sizeof(settings[0]))

/* Names of ours that mean something to the build, not to the library. */
static const char *const foreign[] = {"CUPROBE_CUDA_PATH"};

static const char *const rank_names[] = {"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK",
					 "SLURM_PROCID"};
static const char *const world_names[] = {"WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE",
					  "SLURM_NTASKS"};

static int number_parse(const char *text, __u32 min, __u32 max, __u32 *ret)
{
	unsigned long value;
	char *end;

	if (*text < '0' || *text > '9')
		return -EINVAL;
	errno = 0;
	value = strtoul(text, &end, 10);
	if (errno || *end || value < min || value > max)
		return -EINVAL;
	*ret = (__u32)value;
	return 0;
}

/* A decimal number, which *ret has in thousandths; what is behind the third digit is dropped. */
static int rate_parse(const char *text, __u32 min, __u32 max, __u32 *ret)
{
	__u64 value = 0;
	int decimals = -1; /* seen so far; -1: no point */

	if (!*text)
		return -EINVAL;
	for (; *text; text++) {
		if (*text == '.' && decimals < 0) {
			decimals = 0;
			continue;
		}
		if (*text < '0' || *text > '9')
			return -EINVAL;
		if (decimals < 3 && value < max)
			value = value * 10 + (__u64)(*text - '0');
		decimals += decimals >= 0 && decimals < 3;
	}
	for (int i = decimals < 0 ? 0 : decimals; i < 3; i++)
		value *= 10;
	if (value < min)
		return -EINVAL;
	*ret = value < max ? (__u32)value : max;
	return 0;
}

static int word_parse(const char *text, const char *const *words, __u32 *ret)
{
	for (__u32 i = 0; words[i]; i++) {
		if (!strcmp(text, words[i])) {
			*ret = i;
			return 0;
		}
	}
	return -EINVAL;
}

static int setting_apply(const struct setting *s, const char *value)
{
	static const char *const releases[] = {"auto", "finalize", "unsubscribe", NULL};
	static const char *const pc_modes[] = {"continuous", "serialized", NULL};

	switch (s->type) {
	case SETTING_TEXT:
		if (!*value)
			return -EINVAL;
		*(const char **)s->value = value;
		return 0;
	case SETTING_NUMBER:
		return number_parse(value, s->min, s->max, s->value);
	case SETTING_RATE:
		return rate_parse(value, s->min, s->max, s->value);
	case SETTING_SWITCH: /* whatever it is set to, but for 0 */
		*(__u32 *)s->value = *value && strcmp(value, "0") != 0;
		return 0;
	case SETTING_RELEASE:
		return word_parse(value, releases, s->value);
	case SETTING_PC_MODE:
		return word_parse(value, pc_modes, s->value);
	}
	return -EINVAL;
}

static void defaults_set(void)
{
	for (size_t i = 0; i < SETTINGS; i++) {
		if (settings[i].type == SETTING_TEXT)
			*(const char **)settings[i].value = NULL;
		else
			*(__u32 *)settings[i].value = settings[i].fallback;
	}
	cuprobe_env.rank = CUPROBE_NO_ID;
	cuprobe_env.world_size = CUPROBE_NO_ID;
}

/* The value when `entry` is "NAME=value" of that name, else NULL. */
static const char *entry_value(const char *entry, const char *name)
{
	size_t length = strlen(name);

	return !strncmp(entry, name, length) && entry[length] == '=' ? entry + length + 1 : NULL;
}

static bool entry_is_foreign(const char *entry)
{
	for (size_t i = 0; i < sizeof(foreign) / sizeof(foreign[0]); i++) {
		if (entry_value(entry, foreign[i]))
			return true;
	}
	return false;
}

static void entry_read(const char *entry,
		       void (*complain)(const char *, const char *, const char *))
{
	for (size_t i = 0; i < SETTINGS; i++) {
		const char *value = entry_value(entry, settings[i].name);

		if (!value)
			continue;
		if (setting_apply(&settings[i], value))
			complain(settings[i].name, value, settings[i].allowed);
		return;
	}
	if (!entry_is_foreign(entry))
		complain(entry, NULL, NULL);
}

/* The first name in the list that is set to a number wins. */
static __u32 launcher_number(char *const *environment, const char *const *names, size_t count)
{
	__u32 number;

	for (size_t i = 0; i < count; i++) {
		for (char *const *entry = environment; *entry; entry++) {
			const char *value = entry_value(*entry, names[i]);

			if (value && !number_parse(value, 0, CUPROBE_NO_ID - 1, &number))
				return number;
		}
	}
	return CUPROBE_NO_ID;
}

/* Debugging means the log, on stderr unless that has its own settings. */
static void debug_apply(void)
{
	if (!cuprobe_env.parca_debug)
		return;
	if (!cuprobe_env.log)
		cuprobe_env.log = "stderr";
	cuprobe_env.log_level = 4;
}

/*
 * Parca's consumer needs the launch of each sample, which serialised kernels alone have, and takes
 * the first period that it hears of for all.
 */
static void parca_pc_apply(void)
{
	if (cuprobe_env.parca_pc_rate == CUPROBE_RATE_UNSET)
		return;
	cuprobe_env.pc_mode = CUPROBE_PC_SETTING_SERIALIZED;
	cuprobe_env.pc_period = cuprobe_env.parca_pc_factor;
	if (cuprobe_env.parca_pc_buffer_mb)
		cuprobe_env.pc_buffer_mb = cuprobe_env.parca_pc_buffer_mb;
}

void cuprobe_env_read(char *const *environment,
		      void (*complain)(const char *name, const char *value, const char *allowed))
{
	defaults_set();
	if (!environment || getauxval(AT_SECURE))
		return;
	for (char *const *entry = environment; *entry; entry++) {
		if (!strncmp(*entry, "CUPROBE_", 8) || !strncmp(*entry, "PARCAGPU_", 9))
			entry_read(*entry, complain);
	}
	debug_apply();
	parca_pc_apply();
	cuprobe_env.rank = launcher_number(environment, rank_names, 4);
	cuprobe_env.world_size = launcher_number(environment, world_names, 4);
}
