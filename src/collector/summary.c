/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of a recording: sessions, processes, devices, and one for each kind of event. */
#include "src/collector/summary.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "src/collector/capture.h"
#include "src/collector/json.h"
#include "src/collector/model.h"
#include "src/collector/names.h"
#include "src/collector/nvtx_report.h"
#include "src/collector/stats.h"
#include "src/collector/table.h"

bool summary_wants(const struct summary_opts *opts, pid_t pid)
{
	for (unsigned int i = 0; i < opts->pid_count; i++) {
		if (opts->pids[i] == pid)
			return true;
	}
	return !opts->pid_count;
}

int summary_print_table(struct table *t, const struct summary_opts *opts, size_t rows)
{
	int err = -ENOMEM;

	if (!t)
		return err;
	if (opts->json) {
		fputs(",\n", opts->out);
		err = table_print_json(t, opts->out);
	} else if (rows) {
		fputc('\n', opts->out);
		err = table_print(t, opts->out, opts->width);
	} else {
		err = 0;
	}
	table_free(t);
	return err;
}

/* The time that shares of time are of. */
static __u64 summary_window(const struct model *m, const struct session_info *info)
{
	__u64 first_ns, last_ns;

	if (info->end_ns > info->start_ns)
		return info->end_ns - info->start_ns;
	model_window(m, &first_ns, &last_ns);
	return last_ns > info->start_ns ? last_ns - info->start_ns : last_ns - first_ns;
}

static void print_heading(const struct model *m, const struct summary_opts *opts)
{
	const struct session_info *info = opts->info;
	time_t when = (time_t)((info->start_ns + info->realtime_offset_ns) / 1000000000);
	char duration[32], date[32] = "";
	struct tm tm;

	if (gmtime_r(&when, &tm))
		strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S UTC", &tm);
	fprintf(opts->out, "Recorded %s on ", date);
	print_clean(opts->out, info->host, strlen(info->host));
	fprintf(opts->out, ", %s: ", format_duration(duration, (double)summary_window(m, info)));
	print_clean(opts->out, info->command, strlen(info->command));
	fputc('\n', opts->out);
}

static void print_json_session(const struct model *m, const struct summary_opts *opts)
{
	const struct session_info *info = opts->info;

	fprintf(opts->out, "{\"session\":{\"start_ns\":%llu,\"duration_ns\":%llu,", info->start_ns,
		summary_window(m, info));
	fprintf(opts->out, "\"realtime_offset_ns\":%llu,\"command\":", info->realtime_offset_ns);
	json_write_string(opts->out, info->command, strlen(info->command));
	fputs(",\"host\":", opts->out);
	json_write_string(opts->out, info->host, strlen(info->host));
	fprintf(opts->out, ",\"whole\":%s}", opts->ends_early ? "false" : "true");
}

/* By the end every process is dormant again: what matters is what it was meanwhile. */
static const char *state_of(const struct process *p)
{
	static const enum cuprobe_state weights[] = {CUPROBE_STATE_FAILED, CUPROBE_STATE_ACTIVE,
						     CUPROBE_STATE_YIELDED};

	for (size_t i = 0; i < sizeof(weights) / sizeof(*weights); i++) {
		if (p->states & 1u << weights[i])
			return state_name(weights[i]);
	}
	return state_name(p->state);
}

static int print_processes(struct model *m, const struct summary_opts *opts)
{
	static const struct table_column columns[] = {
		{"PID", "pid", TABLE_COUNT},	    {"State", "state", TABLE_TEXT},
		{"CUPTI", "cupti", TABLE_COUNT},    {"Driver", "driver", TABLE_TEXT},
		{"Command", "command", TABLE_TEXT}, {NULL, NULL, TABLE_TEXT},
	};
	struct table *t = table_new("Processes", "processes", columns);
	char driver[32];
	size_t rows = 0;

	for (const struct process *p = model_processes(m); p; p = p->next) {
		if (!summary_wants(opts, (pid_t)p->pid))
			continue;
		table_number(t, p->pid);
		table_text(t, state_of(p));
		table_number(t, p->info.cupti_version);
		snprintf(driver, sizeof(driver), "%u.%u", p->info.driver_version / 1000,
			 p->info.driver_version % 1000 / 10);
		table_text(t, driver);
		table_text(t, p->command ? p->command : "?");
		rows++;
	}
	return summary_print_table(t, opts, rows);
}

static int print_devices(struct stats *s, struct model *m, const struct summary_opts *opts)
{
	static const struct table_column columns[] = {
		{"Busy", "busy_share", TABLE_SHARE},
		{"Idle", "idle_share", TABLE_SHARE},
		{"Busy time", "busy_ns", TABLE_DURATION},
		{"Kernels", "kernels", TABLE_COUNT},
		{"Graphs", "graphs", TABLE_COUNT},
		{"Copies", "copies", TABLE_COUNT},
		{"Memsets", "memsets", TABLE_COUNT},
		{"Device", "device", TABLE_TEXT},
		{NULL, NULL, TABLE_TEXT},
	};
	struct table *t = table_new("GPU devices", "devices", columns);
	__u64 window = summary_window(m, opts->info);
	size_t count;
	struct stats_device *devices = stats_devices(s, &count);

	for (size_t i = 0; i < count; i++) {
		__u64 busy = busy_total(&devices[i].busy);
		double used = share(busy < window ? busy : window, window);

		table_real(t, used);
		table_real(t, 1 - used);
		table_number(t, busy);
		table_number(t, devices[i].kernels);
		table_number(t, devices[i].graphs);
		table_number(t, devices[i].copies);
		table_number(t, devices[i].memsets);
		table_text(t, devices[i].name);
	}
	return summary_print_table(t, opts, count);
}

#define TIME_COLUMNS                                                                               \
	{"Time", "time_share", TABLE_SHARE}, {"Total", "total_ns", TABLE_DURATION},                \
		{"Calls", "calls", TABLE_COUNT}, {"Avg", "avg_ns", TABLE_DURATION},                \
		{"Median", "median_ns", TABLE_DURATION}, {"Min", "min_ns", TABLE_DURATION},        \
		{"Max", "max_ns", TABLE_DURATION},                                                 \
	{                                                                                          \
		"StdDev", "stddev_ns", TABLE_DURATION                                              \
	}

static const struct table_column time_columns[] = {
	TIME_COLUMNS,
	{"Name", "name", TABLE_TEXT},
	{NULL, NULL, TABLE_TEXT},
};

static const struct table_column byte_columns[] = {
	TIME_COLUMNS,
	{"Bytes", "bytes", TABLE_BYTES},
	{"Rate", "bytes_per_s", TABLE_RATE},
	{"Name", "name", TABLE_TEXT},
	{NULL, NULL, TABLE_TEXT},
};

static const struct table_column memory_columns[] = {
	{"Allocated", "bytes", TABLE_BYTES}, {"Calls", "calls", TABLE_COUNT},
	{"Avg", "avg_bytes", TABLE_BYTES},   {"Min", "min_bytes", TABLE_BYTES},
	{"Max", "max_bytes", TABLE_BYTES},   {"Most at once", "peak_bytes", TABLE_BYTES},
	{"Memory", "name", TABLE_TEXT},	     {NULL, NULL, TABLE_TEXT},
};

struct section {
	enum stats_section section;
	enum cuprobe_probe_id probe;
	const char *title, *key;
	const struct table_column *columns;
};

static const struct section sections[] = {
	{STATS_KERNELS, CUPROBE_PROBE_kernel, "Kernels", "kernels", time_columns},
	{STATS_GRAPHS, CUPROBE_PROBE_graph, "CUDA graph launches", "graphs", time_columns},
	{STATS_COPIES, CUPROBE_PROBE_memcpy, "Copies", "copies", byte_columns},
	{STATS_MEMSETS, CUPROBE_PROBE_memset, "Memsets", "memsets", byte_columns},
	{STATS_APIS, CUPROBE_PROBE_api, "API calls (time on the CPU)", "apis", time_columns},
	{STATS_SYNCS, CUPROBE_PROBE_sync, "Synchronisation (time the CPU waited)", "syncs",
	 time_columns},
	{STATS_MEMORY, CUPROBE_PROBE_memory, "Allocations", "allocations", memory_columns},
	{STATS_UNIFIED_MEMORY, CUPROBE_PROBE_unified_memory, "Unified memory", "unified_memory",
	 byte_columns},
	{STATS_OVERHEADS, CUPROBE_PROBE_overhead, "Overhead of CUPTI and the driver", "overheads",
	 time_columns},
};

static void row_times(struct table *t, const struct stats_row *row, double total)
{
	table_real(t, total > 0 ? (double)row->times.sum / total : 0);
	table_number(t, row->times.sum);
	table_number(t, row->times.count);
	table_real(t, row->times.mean);
	table_number(t, spread_median(&row->times));
	table_number(t, row->times.least);
	table_number(t, row->times.greatest);
	table_real(t, spread_deviation(&row->times));
}

static void row_cells(struct table *t, const struct stats_row *row, double total,
		      const struct table_column *columns)
{
	if (columns == memory_columns) {
		table_number(t, row->bytes);
		table_number(t, row->times.count);
		table_real(t, row->times.mean);
		table_number(t, row->times.least);
		table_number(t, row->times.greatest);
		table_number(t, row->peak_bytes);
	} else {
		row_times(t, row, total);
	}
	if (columns == byte_columns) {
		double seconds = (double)row->times.sum / 1e9;

		table_number(t, row->bytes);
		table_real(t, seconds > 0 ? (double)row->bytes / seconds : 0);
	}
	table_text(t, row->name);
}

static int print_section(const struct stats *s, const struct section *section,
			 const struct summary_opts *opts)
{
	struct table *t = table_new(section->title, section->key, section->columns);
	size_t count;
	const struct stats_row *rows = stats_rows(s, section->section, &count);
	double total = 0;

	for (size_t i = 0; i < count; i++)
		total += (double)rows[i].times.sum;
	for (size_t i = 0; i < count; i++)
		row_cells(t, &rows[i], total, section->columns);
	return summary_print_table(t, opts, count);
}

static void print_graph_notice(const struct stats *s, const struct summary_opts *opts)
{
	__u64 launches = stats_graph_launches(s);

	if (opts->json)
		fprintf(opts->out, ",\n\"graph_launches_with_hidden_kernels\":%llu", launches);
	else if (launches)
		fprintf(opts->out,
			"\n%llu graph launch%s: the kernels, copies and memsets inside are not"
			" shown; to see them, record with --graphs=node\n",
			launches, launches == 1 ? "" : "es");
}

int summary_print(struct stats *s, struct model *m, const struct summary_opts *opts)
{
	int err;

	if (opts->json)
		print_json_session(m, opts);
	else
		print_heading(m, opts);
	err = print_processes(m, opts);
	if (!err)
		err = print_devices(s, m, opts);
	for (size_t i = 0; i < sizeof(sections) / sizeof(*sections) && !err; i++) {
		if (opts->probes & 1u << sections[i].probe)
			err = print_section(s, &sections[i], opts);
	}
	if (!err && opts->nvtx)
		err = nvtx_report_print(opts->nvtx, opts);
	if (!err && opts->more)
		err = opts->more(opts->arg, opts);
	if (err)
		return err;
	print_graph_notice(s, opts);
	err = summary_print_ledger(m, opts);
	if (opts->json)
		fputs("}\n", opts->out);
	return err;
}
