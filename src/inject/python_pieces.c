/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/python_pieces.h"

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <string.h>

#define JUMPS 3 /* into the midst of a piece: fewer may be bytes that only look like jumps */

/* An entry of .eh_frame_hdr: where a piece of code starts, seen from that section. */
struct start {
	__s32 code, rules;
};

/* The starts of all pieces of code in an object, sorted. */
struct starts {
	__u64 address; /* of a place in the object */
	const char *section;
	const struct start *at;
	__u32 count;
	__u64 text_end; /* of the segment that `address` is in */
};

/* The head of .eh_frame_hdr, in the one form that linkers write. */
struct head {
	__u8 version, frame_encoding, count_encoding, table_encoding;
	__s32 frame;
	__u32 count;
};

static const struct head usual = {1, 0x1b, 0x03, 0x3b, 0, 0};

static bool head_read(struct starts *s, const char *section)
{
	struct head head;

	memcpy(&head, section, sizeof(head));
	if (memcmp(&head, &usual, 4))
		return false;
	s->section = section;
	s->at = (const struct start *)(const void *)(section + sizeof(head));
	s->count = head.count;
	return true;
}

static int object_look(struct dl_phdr_info *object, size_t size, void *arg)
{
	struct starts *s = arg;
	const char *section = NULL;

	(void)size;
	s->text_end = 0;
	for (__u32 i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &object->dlpi_phdr[i];
		__u64 start = object->dlpi_addr + p->p_vaddr;

		if (p->p_type == PT_LOAD && s->address - start < p->p_memsz)
			s->text_end = start + p->p_memsz;
		else if (p->p_type == PT_GNU_EH_FRAME)
			section = (const char *)start;
	}
	if (!s->text_end)
		return 0;
	return section && head_read(s, section) ? 1 : -1;
}

/* The piece that has the address. */
static struct python_piece piece_find(const struct starts *s, __u64 address)
{
	__u32 low = 0, high = s->count;
	__s64 offset = (__s64)(address - (__u64)s->section);
	__u64 start, end;

	while (high - low > 1) {
		__u32 middle = low + (high - low) / 2;

		if (s->at[middle].code <= offset)
			low = middle;
		else
			high = middle;
	}
	start = (__u64)(s->section + s->at[low].code);
	end = low + 1 < s->count ? (__u64)(s->section + s->at[low + 1].code) : s->text_end;
	return (struct python_piece){start, address - start < end - start ? end - start : 0};
}

struct votes {
	struct python_piece pieces[16];
	__u32 jumps[16], count;
};

static void vote(struct votes *v, struct python_piece piece)
{
	__u32 i = 0;

	while (i < v->count && v->pieces[i].start != piece.start)
		i++;
	if (i == sizeof(v->pieces) / sizeof(v->pieces[0]))
		return;
	if (i == v->count) {
		v->pieces[i] = piece;
		v->count++;
	}
	v->jumps[i]++;
}

/* Where a jump of 32 bits goes whose distance ends at `end`; 0 when that is none. */
static __u64 jump_target(const __u8 *end)
{
	__s32 distance;

#ifndef __x86_64__
	return 0;
#endif
	if (end[-5] != 0xe9 && !(end[-6] == 0x0f && (end[-5] & 0xf0) == 0x80))
		return 0;
	memcpy(&distance, end - sizeof(distance), sizeof(distance));
	return (__u64)end + (__u64)(__s64)distance;
}

/* A jump to a start calls another function; one into the midst of a piece stays in its own. */
static void jumps_count(struct votes *v, const struct starts *s, const __u8 *code, __u64 bytes)
{
	for (const __u8 *end = code + 6; end <= code + bytes; end++) {
		__u64 target = jump_target(end);
		struct python_piece piece;

		if (!target || target - (__u64)code < bytes)
			continue;
		piece = piece_find(s, target);
		if (piece.bytes && target != piece.start)
			vote(v, piece);
	}
}

__u32 cuprobe_python_pieces(const void *function, __u64 bytes, struct python_piece *ret, __u32 most)
{
	struct starts starts = {.address = (__u64)function};
	struct votes votes = {.count = 0};
	__u32 count = 1;

	ret[0] = (struct python_piece){(__u64)function, bytes};
	if (dl_iterate_phdr(object_look, &starts) != 1 || !starts.count)
		return count;
	jumps_count(&votes, &starts, function, bytes);
	for (__u32 i = 0; i < votes.count && count < most; i++) {
		if (votes.jumps[i] >= JUMPS)
			ret[count++] = votes.pieces[i];
	}
	return count;
}
