/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What really happened, for tests to compare with: written as JSON to the file that MOCK_TRUTH
 * names
 * (%p in it is the pid) when the process exits, and whenever mock_truth_write is called. With
 * MOCK_STRICT a process whose tools broke their contract exits with MOCK_STRICT_STATUS.
 */
#include "test/mock/driver.h"

#include <cupti_runtime_cbid.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOCK_STRICT_STATUS 86
#define COPY_KINDS 11
#define MAX_VIOLATIONS 64
#define MAX_FUNCTIONS 64

struct tally {
	_Atomic uint64_t count, bytes;
};

struct kernel_total {
	const char *name;
	uint64_t launches;
};

static pid_t owner;
static struct tally copies[COPY_KINDS], memsets, migrations;
static _Atomic uint64_t records[MOCK_MAX_KINDS][MOCK_COUNTS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects all below */
static struct CUgraphExec_st *graphs;
static struct kernel_total *unloaded; /* of modules that are gone */
static size_t unloaded_count;
static struct {
	char path[256];
	bool loaded;
	int result, calls;
} injection;
static struct {
	char text[200];
	uint64_t count;
} violations[MAX_VIOLATIONS];
static size_t violation_count;
static struct {
	const char *name;
	uint64_t calls;
} functions[MAX_FUNCTIONS]; /* of CUPTI */

void truth_init(void)
{
	owner = getpid();
}

void truth_op(const struct mock_op *op, uint64_t times)
{
	struct tally *tally;

	switch (op->kind) {
	case MOCK_KERNEL:
		atomic_fetch_add_explicit(&op->kernel.function->launches, times,
					  memory_order_relaxed);
		return;
	case MOCK_COPY:
	case MOCK_PEER_COPY:
		tally = &copies[op->copy.copy_kind % COPY_KINDS];
		atomic_fetch_add(&tally->bytes, op->copy.bytes * times);
		break;
	case MOCK_SET:
		tally = &memsets;
		atomic_fetch_add(&tally->bytes, op->set.bytes * times);
		break;
	case MOCK_MIGRATION:
		tally = &migrations;
		atomic_fetch_add(&tally->bytes, op->migration.bytes * times);
		break;
	default:
		return;
	}
	atomic_fetch_add(&tally->count, times);
}

void truth_graph(CUgraphExec exec)
{
	pthread_mutex_lock(&lock);
	exec->next = graphs;
	graphs = exec;
	pthread_mutex_unlock(&lock);
}

struct CUgraphExec_st *mock_graphs(void)
{
	struct CUgraphExec_st *newest;

	pthread_mutex_lock(&lock);
	newest = graphs;
	pthread_mutex_unlock(&lock);
	return newest;
}

void truth_kernel(CUfunction function, uint64_t launches)
{
	struct kernel_total *grown;

	if (!launches)
		return;
	pthread_mutex_lock(&lock);
	grown = realloc(unloaded, (unloaded_count + 1) * sizeof(*unloaded));
	if (grown) {
		unloaded = grown;
		unloaded[unloaded_count].name = strdup(function->name);
		unloaded[unloaded_count++].launches = launches;
	}
	pthread_mutex_unlock(&lock);
}

void truth_injection(const char *path, bool loaded, int result)
{
	pthread_mutex_lock(&lock);
	snprintf(injection.path, sizeof(injection.path), "%s", path);
	injection.loaded = loaded;
	injection.result = result;
	injection.calls++;
	pthread_mutex_unlock(&lock);
}

void mock_count_records(uint32_t kind, enum mock_count what, uint64_t n)
{
	if (kind >= MOCK_MAX_KINDS)
		kind = MOCK_MAX_KINDS - 1;
	atomic_fetch_add_explicit(&records[kind][what], n, memory_order_relaxed);
}

void mock_count_cupti(const char *function)
{
	size_t i = 0;

	pthread_mutex_lock(&lock);
	while (i < MAX_FUNCTIONS && functions[i].name && strcmp(functions[i].name, function))
		i++;
	if (i < MAX_FUNCTIONS) {
		functions[i].name = function;
		functions[i].calls++;
	}
	pthread_mutex_unlock(&lock);
}

void mock_violation(const char *format, ...)
{
	char text[sizeof(violations[0].text)];
	va_list args;
	size_t i;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	pthread_mutex_lock(&lock);
	for (i = 0; i < violation_count && strcmp(violations[i].text, text); i++)
		continue;
	if (i == violation_count && i < MAX_VIOLATIONS)
		memcpy(violations[violation_count++].text, text, sizeof(text));
	if (i < MAX_VIOLATIONS && !violations[i].count++)
		fprintf(stderr, "mock: contract broken: %s\n", text);
	pthread_mutex_unlock(&lock);
}

/* Bytes that are no ASCII text come as \u00XX, so that any name survives. */
static void write_string(FILE *file, const char *text)
{
	fputc('"', file);
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '"' || c == '\\')
			fprintf(file, "\\%c", c);
		else if (c < 0x20 || c >= 0x7f)
			fprintf(file, "\\u%04x", c);
		else
			fputc(c, file);
	}
	fputc('"', file);
}

static int kernel_compare(const void *a, const void *b)
{
	return strcmp(((const struct kernel_total *)a)->name,
		      ((const struct kernel_total *)b)->name);
}

static size_t kernel_room(void)
{
	size_t room = unloaded_count;

	for (CUmodule m = mock_modules(); m; m = m->next) {
		for (CUfunction f = m->functions; f; f = f->next)
			room++;
	}
	for (CUgraphExec g = graphs; g; g = g->next)
		room += g->op_count;
	return room;
}

/* Every launch, one entry for each place that counts; the same name may come several times. */
static size_t kernel_collect(struct kernel_total *totals, size_t room)
{
	size_t count = unloaded_count;

	for (size_t i = 0; i < unloaded_count; i++)
		totals[i] = unloaded[i];
	for (CUmodule m = mock_modules(); m; m = m->next) {
		for (CUfunction f = m->functions; f && count < room; f = f->next)
			totals[count++] = (struct kernel_total){f->name, atomic_load(&f->launches)};
	}
	for (CUgraphExec g = graphs; g; g = g->next) {
		for (uint32_t i = 0; i < g->op_count && count < room; i++) {
			if (g->ops[i].kind == MOCK_KERNEL)
				totals[count++] = (struct kernel_total){
					g->ops[i].kernel.function->name, atomic_load(&g->launches)};
		}
	}
	return count;
}

static void write_kernels(FILE *file)
{
	size_t room = kernel_room(), count, at = 0;
	struct kernel_total *totals = calloc(room + 1, sizeof(*totals));
	uint64_t all = 0;
	bool first = true;

	if (!totals)
		return;
	count = kernel_collect(totals, room);
	qsort(totals, count, sizeof(*totals), kernel_compare);
	fputs("\t\"kernels\": {\n\t\t\"names\": {", file);
	while (at < count) {
		const char *name = totals[at].name;
		uint64_t launches = 0;

		for (; at < count && !strcmp(totals[at].name, name); at++)
			launches += totals[at].launches;
		if (!launches)
			continue;
		fputs(first ? "\n\t\t\t" : ",\n\t\t\t", file);
		first = false;
		write_string(file, name);
		fprintf(file, ": %" PRIu64, launches);
		all += launches;
	}
	fprintf(file, "\n\t\t},\n\t\t\"total\": %" PRIu64 "\n\t},\n", all);
	free(totals);
}

struct graph_sums {
	uint64_t launches, copies[COPY_KINDS], copy_bytes[COPY_KINDS], sets, set_bytes;
};

static void graph_sum(struct graph_sums *sums)
{
	for (CUgraphExec g = graphs; g; g = g->next) {
		uint64_t launches = atomic_load(&g->launches);

		sums->launches += launches;
		for (uint32_t i = 0; i < g->op_count; i++) {
			const struct mock_op *op = &g->ops[i];

			if (op->kind == MOCK_COPY || op->kind == MOCK_PEER_COPY) {
				sums->copies[op->copy.copy_kind % COPY_KINDS] += launches;
				sums->copy_bytes[op->copy.copy_kind % COPY_KINDS] +=
					launches * op->copy.bytes;
			} else if (op->kind == MOCK_SET) {
				sums->sets += launches;
				sums->set_bytes += launches * op->set.bytes;
			}
		}
	}
}

static void write_transfers(FILE *file)
{
	static const char *const names[COPY_KINDS] = {"unknown", "HtoD", "DtoH", "HtoA",
						      "AtoH",	 "AtoA", "AtoD", "DtoA",
						      "DtoD",	 "HtoH", "PtoP"};
	struct graph_sums sums = {0};
	const char *separator = "";

	graph_sum(&sums);
	fputs("\t\"copies\": {", file);
	for (unsigned int i = 0; i < COPY_KINDS; i++) {
		uint64_t count = atomic_load(&copies[i].count) + sums.copies[i];

		if (!count)
			continue;
		fprintf(file, "%s\n\t\t\"%s\": {\"count\": %" PRIu64 ", \"bytes\": %" PRIu64 "}",
			separator, names[i], count,
			atomic_load(&copies[i].bytes) + sums.copy_bytes[i]);
		separator = ",";
	}
	fprintf(file,
		"\n\t},\n\t\"memsets\": {\"count\": %" PRIu64 ", \"bytes\": %" PRIu64
		"},\n\t\"migrations\": {\"count\": %" PRIu64 ", \"bytes\": %" PRIu64
		"},\n\t\"graph_launches\": %" PRIu64 ",\n",
		atomic_load(&memsets.count) + sums.sets,
		atomic_load(&memsets.bytes) + sums.set_bytes, atomic_load(&migrations.count),
		atomic_load(&migrations.bytes), sums.launches);
}

static void write_graphs(FILE *file)
{
	const char *separator = "";

	fputs("\t\"graphs\": [", file);
	for (CUgraphExec g = graphs; g; g = g->next) {
		fprintf(file,
			"%s\n\t\t{\"graph\": %u, \"exec\": %u, \"nodes\": %u, \"launches\": "
			"%" PRIu64 "}",
			separator, g->graph_id, g->id, g->op_count, atomic_load(&g->launches));
		separator = ",";
	}
	fputs("\n\t],\n", file);
}

static void write_calls(FILE *file, const char *title, CUpti_CallbackDomain domain, uint32_t size)
{
	const char *separator = "";

	fprintf(file, "\t\t\"%s\": {", title);
	for (uint32_t cbid = 0; cbid < size; cbid++) {
		const char *name;
		uint64_t count = call_count(domain, cbid, &name);

		if (!count)
			continue;
		fprintf(file, "%s\n\t\t\t\"%s\": %" PRIu64, separator, name, count);
		separator = ",";
	}
	fputs("\n\t\t}", file);
}

static void write_functions(FILE *file)
{
	fputs("\t\"cupti\": {", file);
	for (size_t i = 0; i < MAX_FUNCTIONS && functions[i].name; i++)
		fprintf(file, "%s\n\t\t\"%s\": %" PRIu64, i ? "," : "", functions[i].name,
			functions[i].calls);
	fputs("\n\t},\n", file);
}

static void write_records(FILE *file)
{
	const char *separator = "";

	fputs("\t\"records\": {", file);
	for (uint32_t kind = 0; kind < MOCK_MAX_KINDS; kind++) {
		uint64_t made = atomic_load(&records[kind][MOCK_MADE]);

		if (!made)
			continue;
		fprintf(file,
			"%s\n\t\t\"%u\": {\"made\": %" PRIu64 ", \"delivered\": %" PRIu64
			", \"dropped\": %" PRIu64 "}",
			separator, kind, made, atomic_load(&records[kind][MOCK_DELIVERED]),
			atomic_load(&records[kind][MOCK_DROPPED]));
		separator = ",";
	}
	fputs("\n\t},\n", file);
}

static void write_tools(FILE *file)
{
	fputs("\t\"injection\": {\"path\": ", file);
	write_string(file, injection.path);
	fprintf(file, ", \"loaded\": %s, \"result\": %d, \"calls\": %d},\n\t\"violations\": [",
		injection.loaded ? "true" : "false", injection.result, injection.calls);
	for (size_t i = 0; i < violation_count; i++) {
		fputs(i ? ",\n\t\t{\"text\": " : "\n\t\t{\"text\": ", file);
		write_string(file, violations[i].text);
		fprintf(file, ", \"count\": %" PRIu64 "}", violations[i].count);
	}
	fputs("\n\t]\n", file);
}

static void truth_print(FILE *file)
{
	fprintf(file, "{\n\t\"pid\": %d,\n", (int)getpid());
	write_kernels(file);
	write_transfers(file);
	write_graphs(file);
	fputs("\t\"calls\": {\n", file);
	write_calls(file, "driver", CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_SIZE);
	fputs(",\n", file);
	write_calls(file, "runtime", CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_SIZE);
	fputs("\n\t},\n", file);
	write_functions(file);
	write_records(file);
	write_tools(file);
	fputs("}\n", file);
}

static void truth_path(const char *pattern, char *path, size_t size)
{
	const char *percent = strstr(pattern, "%p");

	if (percent)
		snprintf(path, size, "%.*s%d%s", (int)(percent - pattern), pattern, (int)getpid(),
			 percent + 2);
	else
		snprintf(path, size, "%s", pattern);
}

/* A process that never used CUDA writes nothing over what another one wrote. */
void mock_truth_write(void)
{
	const char *pattern = mock_setting("MOCK_TRUTH");
	char path[4096], temporary[4200];
	FILE *file;

	if (!pattern || getpid() != owner)
		return;
	truth_path(pattern, path, sizeof(path));
	snprintf(temporary, sizeof(temporary), "%s.tmp", path);
	file = fopen(temporary, "w");
	if (!file) {
		fprintf(stderr, "mock: MOCK_TRUTH: '%s': %m\n", temporary);
		return;
	}
	pthread_mutex_lock(&lock);
	truth_print(file);
	pthread_mutex_unlock(&lock);
	if (fclose(file) || rename(temporary, path))
		fprintf(stderr, "mock: MOCK_TRUTH: '%s': %m\n", path);
}

static __attribute__((destructor)) void truth_finish(void)
{
	mock_truth_write();
	if (!mock_setting("MOCK_STRICT") || !violation_count || getpid() != owner)
		return;
	fflush(NULL);
	_exit(MOCK_STRICT_STATUS);
}
