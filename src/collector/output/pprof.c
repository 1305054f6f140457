/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Profiles for `go tool pprof`, Parca and others: a gzipped protobuf with the GPU time and the
 * number of launches of each stack. The frames of the API call and of the kernel are locations
 * without an address.
 */
#include "src/collector/sink.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "src/collector/capture.h"
#include "src/collector/labels.h"
#include "src/collector/map.h"
#include "src/collector/model.h"
#include "src/collector/output/file.h"
#include "src/collector/output/pprof.pb-c.h"
#include "src/collector/profile.h"
#include "src/collector/stacks.h"
#include "src/collector/symbols.h"
#include "src/collector/unfold.h"
#include "src/collector/utf8.h"

#define GZIP_WINDOW (15 + 16) /* zlib's way to say that it is to be gzip */

struct sink {
	struct profile *profile;
	struct output *out;
	const struct session_info *info;
	const struct model *model;
	bool compress;		 /* else `out` does */
	Pprof__Profile *message; /* all in it is allocated one by one, as when it was read */
	struct labels texts;	 /* label->number is the index in string_table */
	struct unfold unfold;
	struct map locations, mappings; /* messages, by the address of what they stand for */
	struct map functions;		/* by the numbers of name and file */
};

static int pprof_open(struct sink **ret, const struct sink_opts *opts)
{
	size_t bytes = strlen(opts->path);
	struct sink *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return -ENOMEM;
	s->info = opts->info;
	s->model = opts->model;
	s->compress = bytes < 3 || strcmp(opts->path + bytes - 3, ".gz") != 0;
	err = profile_open_for_sink(&s->profile, opts);
	if (!err)
		err = output_open(&s->out, opts->path, 0);
	if (err) {
		profile_free(s->profile);
		free(s);
		return err;
	}
	*ret = s;
	return 0;
}

static int pprof_event(struct sink *s, const struct event *e)
{
	return profile_event(s->profile, e);
}

/* An element at the end of an array that doubles; `array_at` points to the array. */
static int append(void *array_at, size_t *count, const void *element, size_t bytes)
{
	char **array = array_at, *larger;

	if (!(*count & (*count - 1))) {
		larger = realloc(*array, (*count ? 2 * *count : 1) * bytes);
		if (!larger)
			return -ENOMEM;
		*array = larger;
	}
	memcpy(*array + *count * bytes, element, bytes);
	++*count;
	return 0;
}

/* Memory for a message at the end of an array; NULL without. */
static void *append_room(void *array_at, size_t *count, size_t bytes)
{
	void *message = calloc(1, bytes);

	if (message && append(array_at, count, &message, sizeof(message))) {
		free(message);
		return NULL;
	}
	return message;
}

/* A new message of `type` at the end of the array `member` of `parent`; NULL without memory. */
#define APPEND_NEW(pointer, type, parent, member)                                                  \
	((pointer) = append_room(&(parent)->member, &(parent)->n_##member, sizeof(*(pointer))),    \
	 (pointer) ? pprof__##type##__init(pointer) : (void)0, (pointer))

/* The index of a text; -ENOMEM. */
static int text_index(struct sink *s, const char *text, int64_t *ret)
{
	const struct label *label;
	__u32 known = s->texts.count;
	char *copy;
	int err = labels_get(&s->texts, LABEL_GROUP, text, NULL, &label);

	if (err)
		return err;
	*ret = label->number;
	if (label->number < known)
		return 0;
	copy = utf8_copy(text);
	if (!copy)
		return -ENOMEM;
	return append(&s->message->string_table, &s->message->n_string_table, &copy, sizeof(copy));
}

static int function_get(struct sink *s, const char *name, const char *system_name, const char *file,
			uint64_t *ret)
{
	int64_t name_index, system_index, file_index;
	Pprof__Function *f;
	__u64 key;
	int err = text_index(s, name, &name_index);

	if (!err)
		err = text_index(s, system_name, &system_index);
	if (!err)
		err = text_index(s, file, &file_index);
	if (err)
		return err;
	key = (__u64)system_index << 32 | (__u64)file_index;
	f = map_find(&s->functions, key);
	if (!f) {
		if (!APPEND_NEW(f, function, s->message, function) ||
		    map_insert(&s->functions, key, f))
			return -ENOMEM;
		f->id = s->message->n_function;
		f->name = name_index;
		/* Of a name that is told twice, pprof hides what is in brackets: "Memcpy HtoD". */
		f->system_name = system_index == name_index ? 0 : system_index;
		f->filename = file_index;
	}
	*ret = f->id;
	return 0;
}

static int line_add(struct sink *s, Pprof__Location *location, const char *name,
		    const char *system_name, const char *file, __u32 number)
{
	Pprof__Line *line;

	if (!APPEND_NEW(line, line, location, line))
		return -ENOMEM;
	line->line = number;
	return function_get(s, name, system_name, file, &line->function_id);
}

static int mapping_get(struct sink *s, const struct symbol_module *module, uint64_t *ret)
{
	Pprof__Mapping *m = map_find(&s->mappings, (uintptr_t)module);
	int err;

	if (m) {
		*ret = m->id;
		return 0;
	}
	if (!APPEND_NEW(m, mapping, s->message, mapping) ||
	    map_insert(&s->mappings, (uintptr_t)module, m))
		return -ENOMEM;
	err = text_index(s, module->path, &m->filename);
	if (!err)
		err = text_index(s, module->build_id, &m->build_id);
	if (err)
		return err;
	m->id = s->message->n_mapping;
	m->memory_start = module->start;
	m->memory_limit = module->end;
	m->file_offset = module->offset;
	m->has_functions = m->has_filenames = m->has_line_numbers = m->has_inline_frames = true;
	*ret = m->id;
	return 0;
}

/* A new location under `key`; NULL without memory. */
static Pprof__Location *location_new(struct sink *s, const void *key)
{
	Pprof__Location *location;

	if (!APPEND_NEW(location, location, s->message, location) ||
	    map_insert(&s->locations, (uintptr_t)key, location))
		return NULL;
	location->id = s->message->n_location;
	return location;
}

static int native_fill(struct sink *s, Pprof__Location *location, const struct frame *f)
{
	const struct symbol *symbol = f->symbol;
	int err = 0;

	location->address = f->raw.pc;
	if (symbol && symbol->module)
		err = mapping_get(s, symbol->module, &location->mapping_id);
	for (__u32 i = 0; symbol && i < symbol->count && !err; i++) {
		const struct symbol_line *line = &symbol->lines[i];

		err = line_add(s, location, line->readable, line->function, line->file, line->line);
	}
	return err;
}

/* The location of a frame of a stack, or of a label. */
static int frame_location(struct sink *s, const struct frame *f, uint64_t *ret)
{
	Pprof__Location *location = map_find(&s->locations, (uintptr_t)f);
	const char *function = f->function ? f->function : "?";
	int err = 0;

	if (!location) {
		location = location_new(s, f);
		if (!location)
			return -ENOMEM;
		if (f->raw.kind == CUPROBE_FRAME_PYTHON)
			err = line_add(s, location, function, function, f->file ? f->file : "",
				       f->raw.line);
		else if (f->raw.kind == CUPROBE_FRAME_BROKEN)
			err = line_add(s, location, "[cut]", "[cut]", "", 0);
		else
			err = native_fill(s, location, f);
	}
	*ret = location->id;
	return err;
}

static int label_location(struct sink *s, const struct label *label, uint64_t *ret)
{
	Pprof__Location *location = map_find(&s->locations, (uintptr_t)label);
	int err = 0;

	if (!location) {
		location = location_new(s, label);
		if (!location)
			return -ENOMEM;
		err = line_add(s, location, label->text, label->text, "", 0);
	}
	*ret = location->id;
	return err;
}

static int put_location(Pprof__Sample *sample, uint64_t id)
{
	return append(&sample->location_id, &sample->n_location_id, &id, sizeof(id));
}

/*
 * Leaf first: what is on the GPU and the call, which are labels at the end of the path, the frames
 * of the stack, and where there is none, the label at the root that says so.
 */
static int put_locations(struct sink *s, Pprof__Sample *to, const struct sample *from)
{
	const struct stack *stack = from->origin.stack;
	bool known = stack_is_defined(stack);
	unsigned int labels = known ? s->unfold.tail : s->unfold.count;
	uint64_t id;
	int err = 0;

	for (unsigned int i = 0; i < labels && !err; i++) {
		err = label_location(s, s->unfold.path[s->unfold.count - 1 - i], &id);
		if (!err)
			err = put_location(to, id);
	}
	for (unsigned int i = known ? unfold_first(s->profile, from) : 0;
	     known && i < stack->frames && !err; i++) {
		if (stack->frame[i]->raw.kind == CUPROBE_FRAME_PYTHON &&
		    profile_is_native(s->profile))
			continue;
		err = frame_location(s, stack->frame[i], &id);
		if (!err)
			err = put_location(to, id);
	}
	return err;
}

static int put_label(struct sink *s, Pprof__Sample *sample, const char *key, const char *text)
{
	Pprof__Label *label;
	int err;

	if (!APPEND_NEW(label, label, sample, label))
		return -ENOMEM;
	err = text_index(s, key, &label->key);
	return err ? err : text_index(s, text, &label->str);
}

/* As a text: pprof takes a number of 0 for none. */
static int put_number(struct sink *s, Pprof__Sample *sample, const char *key, __u32 number)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", number);
	return put_label(s, sample, key, text);
}

static int put_labels(struct sink *s, Pprof__Sample *to, const struct sample *from)
{
	const struct work *w = from->work;
	int err = put_label(s, to, "kernel", w->name);

	if (!err)
		err = put_number(s, to, "device", w->device);
	if (!err)
		err = put_number(s, to, "stream", w->stream);
	if (!err)
		err = put_number(s, to, "process", w->process->pid);
	if (!err && from->origin.known)
		err = put_number(s, to, "thread", process_thread(w->process, from->origin.thread));
	return err;
}

static int put_sample(struct sink *s, const struct sample *from)
{
	const int64_t values[] = {
		(int64_t)from->gpu_ns,
		(int64_t)((from->launches + CUPROBE_LAUNCH_WEIGHT_ONE / 2) /
			  CUPROBE_LAUNCH_WEIGHT_ONE),
	};
	Pprof__Sample *to;
	int err = unfold_sample(&s->unfold, s->profile, from, UNFOLD_BY_KERNEL, false);

	if (!err && !APPEND_NEW(to, sample, s->message, sample))
		err = -ENOMEM;
	for (size_t i = 0; i < 2 && !err; i++)
		err = append(&to->value, &to->n_value, &values[i], sizeof(values[i]));
	if (!err)
		err = put_locations(s, to, from);
	return err ? err : put_labels(s, to, from);
}

/* The first mapping is taken for the program's own file. */
static void program_first(struct sink *s)
{
	Pprof__Mapping **all = s->message->mapping, *first;
	const struct process *p = model_processes(s->model);
	const char *path = p ? process_string(p, p->info.executable, NULL) : NULL;

	for (size_t i = 0; path && i < s->message->n_mapping; i++) {
		if (strcmp(s->message->string_table[all[i]->filename], path) != 0)
			continue;
		first = all[i];
		all[i] = all[0];
		all[0] = first;
		return;
	}
}

static int put_type(struct sink *s, const char *type, const char *unit)
{
	Pprof__ValueType *value;
	int err;

	if (!APPEND_NEW(value, value_type, s->message, sample_type))
		return -ENOMEM;
	err = text_index(s, type, &value->type);
	return err ? err : text_index(s, unit, &value->unit);
}

static int message_make(struct sink *s)
{
	int64_t empty, command;
	int err;

	s->message = malloc(sizeof(*s->message));
	if (!s->message)
		return -ENOMEM;
	pprof__profile__init(s->message);
	err = text_index(s, "", &empty);
	if (!err)
		err = put_type(s, "gpu_time", "nanoseconds");
	if (!err)
		err = put_type(s, "launches", "count");
	if (!err)
		err = text_index(s, s->info->command, &command);
	if (!err)
		err = append(&s->message->comment, &s->message->n_comment, &command,
			     sizeof(command));
	for (const struct sample *i = profile_samples(s->profile); i && !err; i = i->next)
		err = put_sample(s, i);
	if (err)
		return err;
	program_first(s);
	s->message->default_sample_type = s->message->sample_type[0]->type;
	s->message->time_nanos = (int64_t)(s->info->start_ns + s->info->realtime_offset_ns);
	if (s->info->end_ns > s->info->start_ns)
		s->message->duration_nanos = (int64_t)(s->info->end_ns - s->info->start_ns);
	return 0;
}

static int write_compressed(struct output *out, uint8_t *data, size_t bytes)
{
	z_stream z = {.next_in = data, .avail_in = (uInt)bytes};
	char packed[OUTPUT_ROOM];
	int status;

	if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, 8,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	do {
		z.next_out = (void *)packed;
		z.avail_out = sizeof(packed);
		status = deflate(&z, Z_FINISH);
		output_put(out, packed, sizeof(packed) - z.avail_out);
	} while (status == Z_OK);
	deflateEnd(&z);
	return 0;
}

static int message_write(struct sink *s)
{
	size_t bytes = pprof__profile__get_packed_size(s->message);
	uint8_t *data;
	int err = 0;

	if (bytes > UINT32_MAX)
		return -EFBIG;
	data = malloc(bytes + 1);
	if (!data)
		return -ENOMEM;
	pprof__profile__pack(s->message, data);
	if (s->compress)
		err = write_compressed(s->out, data, bytes);
	else
		output_put(s->out, (const char *)data, bytes);
	free(data);
	return err;
}

static void pprof_free(struct sink *s)
{
	if (s->message)
		pprof__profile__free_unpacked(s->message, NULL);
	map_clear(&s->locations, NULL);
	map_clear(&s->mappings, NULL);
	map_clear(&s->functions, NULL);
	labels_free(&s->texts);
	unfold_free(&s->unfold);
	profile_free(s->profile);
	free(s);
}

static int pprof_close(struct sink *s, bool commit)
{
	int err = 0, close_err;

	if (!s)
		return 0;
	if (commit)
		err = profile_finish(s->profile);
	if (commit && !err)
		err = message_make(s);
	if (commit && !err)
		err = message_write(s);
	close_err = output_close(s->out, commit && !err);
	pprof_free(s);
	return err ? err : close_err;
}

const struct sink_ops sink_pprof = {
	.name = "pprof",
	.help = "GPU time and launches by stack, for go tool pprof and Parca",
	.suffix = ".pb.gz",
	.also = PROFILE_CAUSES,
	.open = pprof_open,
	.event = pprof_event,
	.close = pprof_close,
};
