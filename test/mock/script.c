/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the script, the file that MOCK_SCRIPT names and the text in MOCK_DO, and obeys what is
 * about calls, the clock and the subscription. A directive that makes no sense ends the process at
 * once: a test that asked for a fault and got none would prove nothing.
 */
#include "test/mock/script.h"
#include "test/mock/driver.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SCRIPT_STATUS 2

static struct script_line *lines, *last_line;
static bool any_fault, any_delay, any_rival, any_jump;
static uint64_t begun_ns;

static const struct {
	const char *name;
	int code;
} codes[] = {
#define RESULT(name) {#name, name},
#include "mock_error_names.h"
#include "mock_result_names.h"
#undef RESULT
};

const char *mock_setting(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

void mock_script_error(const struct script_line *line, const char *format, ...)
{
	va_list args;

	fprintf(stderr, "mock: %s: %s: ", line->place, line->verb);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	_exit(SCRIPT_STATUS);
}

/* The directives with this verb, one after another; NULL asks for the first, and ends the list. */
struct script_line *mock_script_next(const char *verb, struct script_line *after)
{
	struct script_line *line = after ? after->next : lines;

	while (line && strcmp(line->verb, verb))
		line = line->next;
	return line;
}

/* The value of `key`, or NULL. */
const char *mock_script_get(const struct script_line *line, const char *key)
{
	for (unsigned int i = 0; i < line->arg_count; i++) {
		if (!strcmp(line->args[i].key, key))
			return line->args[i].value;
	}
	return NULL;
}

/* The number that `key` has, or `otherwise` where it is not given. */
int64_t mock_script_number(const struct script_line *line, const char *key, int64_t otherwise)
{
	const char *text = mock_script_get(line, key);
	char *end;
	long long value;

	if (!text)
		return otherwise;
	value = strtoll(text, &end, 0);
	if (end == text || *end)
		mock_script_error(line, "'%s' is not a number", text);
	return value;
}

/* Counts the moment that a directive is about; true where it applies: nth=, from=, every=, or all.
 */
bool mock_script_due(struct script_line *line)
{
	int64_t nth = mock_script_number(line, "nth", 0),
		every = mock_script_number(line, "every", 0);
	int64_t seen = (int64_t)atomic_fetch_add(&line->seen, 1) + 1;

	if (nth)
		return seen == nth;
	if (every)
		return seen % every == 0;
	return seen >= mock_script_number(line, "from", 1);
}

/* Milliseconds since libcuda was loaded. */
uint64_t mock_script_ms(void)
{
	return (mock_now() - begun_ns) / 1000000;
}

/* Splits off the next word; quotes keep blanks together, and there \" \\ \n \t \xHH mean bytes. */
static char *word_next(char **text)
{
	char *from = *text + strspn(*text, " \t"), *to = from, *word = from;
	bool quoted = false;

	if (!*from)
		return NULL;
	for (; *from && (quoted || (*from != ' ' && *from != '\t')); from++) {
		if (*from == '"') {
			quoted = !quoted;
		} else if (quoted && from[0] == '\\' && from[1] == 'x' && from[2] && from[3]) {
			char hex[3] = {from[2], from[3], '\0'};

			*to++ = (char)strtoul(hex, NULL, 16);
			from += 3;
		} else if (quoted && *from == '\\' && from[1]) {
			from++;
			*to++ = *from == 'n' ? '\n' : *from == 't' ? '\t' : *from;
		} else {
			*to++ = *from;
		}
	}
	*text = *from ? from + 1 : from;
	*to = '\0';
	return word;
}

static void line_add_word(struct script_line *line, char *word)
{
	char *equals = strchr(word, '=');
	struct script_arg *arg = &line->args[line->arg_count];

	if (line->arg_count == SCRIPT_MAX_ARGS)
		mock_script_error(line, "more than %d words", SCRIPT_MAX_ARGS);
	line->arg_count++;
	*arg = (struct script_arg){"", word};
	if (!equals)
		return;
	*equals = '\0';
	*arg = (struct script_arg){word, equals + 1};
}

static const char *line_bare(const struct script_line *line, unsigned int number)
{
	for (unsigned int i = 0; i < line->arg_count; i++) {
		if (!*line->args[i].key && !number--)
			return line->args[i].value;
	}
	return NULL;
}

static int line_code(const struct script_line *line)
{
	const char *text = line_bare(line, 1);
	char *end;
	long code;

	if (!text)
		mock_script_error(line, "say the call and the code");
	code = strtol(text, &end, 0);
	if (end != text && !*end)
		return (int)code;
	for (unsigned int i = 0; i < sizeof(codes) / sizeof(*codes); i++) {
		if (!strcmp(codes[i].name, text))
			return codes[i].code;
	}
	mock_script_error(line, "there is no code '%s'", text);
	return 0;
}

static void line_check(const struct script_line *line)
{
	static const char *const elsewhere[] = {"set", "emit", "drop", "complete"};

	if (!strcmp(line->verb, "fail")) {
		any_fault = true;
		line_code(line);
		return;
	}
	if (!strcmp(line->verb, "delay")) {
		any_delay = true;
		if (!line_bare(line, 0) || mock_script_number(line, "ms", -1) < 0)
			mock_script_error(line, "say the call and ms=");
		return;
	}
	if (!strcmp(line->verb, "rival")) {
		any_rival = true;
		if (!line_bare(line, 0))
			mock_script_error(line, "say its name");
		return;
	}
	if (!strcmp(line->verb, "clock")) {
		any_jump = true;
		if (!mock_script_get(line, "jump"))
			mock_script_error(line, "say jump=");
		return;
	}
	for (unsigned int i = 0; i < sizeof(elsewhere) / sizeof(*elsewhere); i++) {
		if (!strcmp(line->verb, elsewhere[i]))
			return;
	}
	mock_script_error(line, "there is no such directive");
}

static void line_parse(char *text, const char *file, unsigned int number)
{
	struct script_line *line;
	char *word = word_next(&text);
	char place[300];

	if (!word || *word == '#')
		return;
	line = calloc(1, sizeof(*line));
	snprintf(place, sizeof(place), "%s:%u", file, number);
	line->place = strdup(place);
	line->verb = strdup(word);
	while ((word = word_next(&text)) && *word != '#')
		line_add_word(line, strdup(word));
	if (last_line)
		last_line->next = line;
	else
		lines = line;
	last_line = line;
	line_check(line);
}

static void script_read_file(const char *path)
{
	FILE *file = fopen(path, "r");
	char *text = NULL;
	size_t room = 0;
	unsigned int number = 0;

	if (!file) {
		fprintf(stderr, "mock: MOCK_SCRIPT: '%s': %m\n", path);
		_exit(SCRIPT_STATUS);
	}
	while (getline(&text, &room, file) >= 0) {
		text[strcspn(text, "\n")] = '\0';
		line_parse(text, path, ++number);
	}
	free(text);
	fclose(file);
}

static void script_read_text(const char *text)
{
	char *copy = strdup(text), *rest = copy, *part;
	unsigned int number = 0;

	while ((part = strsep(&rest, ";")))
		line_parse(part, "MOCK_DO", ++number);
	free(copy);
}

void script_init(void)
{
	const char *path = mock_setting("MOCK_SCRIPT"), *text = mock_setting("MOCK_DO");

	begun_ns = mock_now();
	if (path)
		script_read_file(path);
	if (text)
		script_read_text(text);
}

/* `call` is meant by its full name, or without the version that callback ids have. */
static bool line_means(const struct script_line *line, const char *call)
{
	const char *name = line_bare(line, 0);
	size_t bytes = strlen(name);

	return !strncmp(call, name, bytes) && (!call[bytes] || !strncmp(call + bytes, "_v", 2));
}

static void call_delay(const char *call)
{
	for (struct script_line *l = mock_script_next("delay", NULL); l;
	     l = mock_script_next("delay", l)) {
		if (line_means(l, call) && mock_script_due(l))
			usleep((useconds_t)mock_script_number(l, "ms", 0) * 1000);
	}
}

bool mock_fault(const char *call, int *ret_code)
{
	if (any_delay)
		call_delay(call);
	if (!any_fault)
		return false;
	for (struct script_line *l = mock_script_next("fail", NULL); l;
	     l = mock_script_next("fail", l)) {
		if (!line_means(l, call) || !mock_script_due(l))
			continue;
		*ret_code = line_code(l);
		return true;
	}
	return false;
}

/* Whether another CUPTI client has the subscription just now; its name. */
bool mock_rival(char *name, size_t bytes)
{
	uint64_t now = mock_script_ms();

	if (!any_rival)
		return false;
	for (struct script_line *l = mock_script_next("rival", NULL); l;
	     l = mock_script_next("rival", l)) {
		if (now < (uint64_t)mock_script_number(l, "from", 0) ||
		    now >= (uint64_t)mock_script_number(l, "until", INT64_MAX))
			continue;
		snprintf(name, bytes, "%s", line_bare(l, 0));
		return true;
	}
	return false;
}

/* By how much CUPTI's clock is off its true course just now. */
int64_t mock_clock_jump(void)
{
	uint64_t now;
	int64_t sum = 0;

	if (!any_jump)
		return 0;
	now = mock_script_ms();
	for (struct script_line *l = mock_script_next("clock", NULL); l;
	     l = mock_script_next("clock", l)) {
		if (now >= (uint64_t)mock_script_number(l, "at", 0))
			sum += mock_script_number(l, "jump", 0);
	}
	return sum;
}
