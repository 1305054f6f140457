/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/python_code.h"

#include <stdatomic.h>

#include "src/inject/python_texts.h"

#define SETS 8192u /* of two */
#define WAYS 2u
#define BUSY 1 /* an identity that nothing has: the place is being written */

/*
 * Read and written by any thread without waiting. A writer takes the place by making it BUSY, and
 * gives it with release an identity; a reader believes what it read when the identity was there
 * before (acquire) and after (behind a fence). Who finds a place BUSY goes without the cache.
 */
struct entry {
	atomic_ullong identity;
	atomic_ullong names; /* function in the lower half, file in the upper */
	atomic_ullong line;  /* in the lower half; `early` in the upper */
	__u64 reserved;	     /* two are a cache line */
};

static struct entry cache[SETS][WAYS] __attribute__((aligned(64)));

static bool is_a(const char *object, const char *type)
{
	return python_pointer_is_sane(object) && python_pointer(object, PYTHON_OBJECT_TYPE) == type;
}

/* The last 16 bytes; where there are fewer, what lies before them in the object is read too. */
static __u64 tail_sample(const char *data, size_t bytes)
{
	return python_word(data + bytes - 16, 0) * 0x9e3779b97f4a7c15ull ^
	       python_word(data + bytes - 8, 0);
}

static __u64 text_sample(const struct python_interpreter *p, const struct python_layout *l,
			 const char *text)
{
	if (!is_a(text, p->text_type))
		return 0;
	return python_word(text, PYTHON_TEXT_HASH) ^
	       tail_sample(text + l->text_ascii, python_word(text, PYTHON_OBJECT_SIZE));
}

static __u64 bytes_sample(const struct python_interpreter *p, const char *object)
{
	const char *data = object + PYTHON_BYTES_DATA;
	__u64 bytes, step, sample;

	if (!is_a(object, p->bytes_type))
		return 0;
	bytes = python_word(object, PYTHON_OBJECT_SIZE);
	sample = tail_sample(data, bytes) + bytes;
	step = (bytes - 8) / 4;
	if (bytes >= 8)
		sample += python_word(data, 0) * 0xd6e8feb86659fd93ull +
			  python_word(data, step) * 0xca5a826395121157ull +
			  python_word(data, 2 * step) * 0x7b1c583cb6db1a43ull +
			  python_word(data, 3 * step) * 0xac9a4d0aed5d1a9bull;
	return sample;
}

/*
 * What tells a code object from one that lay in its place before. From 3.12 on each has a number of
 * its own. Up to 3.11 some words are taken of whatever it refers to, which is wrong only where the
 * new one has everything in the same places, with the same lengths, and differs between those
 * words.
 */
static __u64 code_sample(const struct python_interpreter *p, const struct python_layout *l,
			 const char *code)
{
	const char *file = python_pointer(code, l->code_file);
	const char *name = python_pointer(code, l->code_name);
	const char *table = python_pointer(code, l->code_table);
	__u64 sample = (__u32)python_int(code, l->code_first_line);

	sample ^= ((__u64)file ^ text_sample(p, l, file)) * 0x94d049bb133111ebull;
	sample ^= ((__u64)name ^ text_sample(p, l, name)) * 0xe7037ed1a0b428dbull;
	return sample ^ ((__u64)table ^ bytes_sample(p, table)) * 0x8ebc6af09c88c6e3ull;
}

/* A number that stands for one place in one code object. */
static __u64 place_identity(const struct python_interpreter *p, const struct python_layout *l,
			    const char *code, __s64 place)
{
	__u64 own = 0, identity;

	if (l->code_version != PYTHON_NOWHERE)
		own = (__u32)python_int(code, l->code_version);
	if (!own) /* none, or they have run out */
		own = code_sample(p, l, code);
	identity = (__u64)code * 0x9e3779b97f4a7c15ull ^ (__u64)place * 0xbf58476d1ce4e5b9ull ^
		   own * 0xff51afd7ed558ccdull;
	identity ^= identity >> 32;
	return identity > BUSY ? identity : ~identity;
}

static inline bool entry_read(struct entry *e, __u64 identity, struct python_source *ret)
{
	__u64 names, line;

	if (atomic_load_explicit(&e->identity, memory_order_acquire) != identity)
		return false;
	names = atomic_load_explicit(&e->names, memory_order_relaxed);
	line = atomic_load_explicit(&e->line, memory_order_relaxed);
	atomic_thread_fence(memory_order_acquire);
	if (atomic_load_explicit(&e->identity, memory_order_relaxed) != identity)
		return false;
	*ret = (struct python_source){(__u32)names, (__u32)(names >> 32), (__u32)line, line >> 32};
	return true;
}

/* A free entry, or else the one that the identity says. */
static struct entry *entry_choose(struct entry *set, __u64 identity)
{
	for (__u32 way = 0; way < WAYS; way++) {
		if (!atomic_load_explicit(&set[way].identity, memory_order_relaxed))
			return &set[way];
	}
	return &set[identity >> 63];
}

static void entry_write(struct entry *e, __u64 identity, const struct python_source *s)
{
	unsigned long long before = atomic_load_explicit(&e->identity, memory_order_relaxed);

	if (before == BUSY ||
	    !atomic_compare_exchange_strong_explicit(&e->identity, &before, BUSY,
						     memory_order_acquire, memory_order_relaxed))
		return;
	atomic_thread_fence(memory_order_release);
	atomic_store_explicit(&e->names, s->function | (__u64)s->file << 32, memory_order_relaxed);
	atomic_store_explicit(&e->line, s->line | (__u64)s->early << 32, memory_order_relaxed);
	atomic_store_explicit(&e->identity, identity, memory_order_release);
}

static __u32 text_read(const struct python_interpreter *p, const struct python_layout *l,
		       const char *text)
{
	__u32 state, width;

	if (!is_a(text, p->text_type))
		return 0;
	state = (__u32)python_int(text, PYTHON_TEXT_STATE);
	width = state >> 2 & 7;
	if (!(state >> 5 & 1) || (width != 1 && width != 2 && width != 4)) /* not compact */
		return 0;
	return cuprobe_python_text(text + (state >> 6 & 1 ? l->text_ascii : l->text_compact),
				   python_word(text, PYTHON_OBJECT_SIZE), width);
}

static __u32 line_read(const struct python_interpreter *p, const struct python_layout *l,
		       const char *code, __s64 place)
{
	const char *table = python_pointer(code, l->code_table);

	if (!is_a(table, p->bytes_type))
		return 0;
	return cuprobe_python_line(l->lines, (const __u8 *)table + PYTHON_BYTES_DATA,
				   python_word(table, PYTHON_OBJECT_SIZE),
				   python_int(code, l->code_first_line), place);
}

void cuprobe_python_source(const struct python_interpreter *p, const struct python_layout *l,
			   const char *code, __s64 place, struct python_source *ret)
{
	__u64 identity = place_identity(p, l, code, place);
	struct entry *set = cache[identity % SETS];

	if (entry_read(&set[0], identity, ret) || entry_read(&set[1], identity, ret))
		return;
	ret->function = text_read(p, l, python_pointer(code, l->code_name));
	ret->file = text_read(p, l, python_pointer(code, l->code_file));
	ret->line = line_read(p, l, code, place);
	ret->early = l->code_traceable != PYTHON_NOWHERE &&
		     place < 2 * (__s64)python_int(code, l->code_traceable);
	entry_write(entry_choose(set, identity), identity, ret);
}
