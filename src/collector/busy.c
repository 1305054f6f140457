/* SPDX-License-Identifier: Apache-2.0 */
/* Intervals are collected unsorted and merged in bulk: a sort of some thousands costs little each.
 */
#include "src/collector/busy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FRESH_MOST 16384

static int room_for(struct busy_interval **array, size_t *room, size_t need)
{
	size_t larger = *room ? *room : 64;
	struct busy_interval *moved;

	if (need <= *room)
		return 0;
	while (larger < need)
		larger *= 2;
	moved = realloc(*array, larger * sizeof(**array));
	if (!moved)
		return -ENOMEM;
	*array = moved;
	*room = larger;
	return 0;
}

static int by_start(const void *a, const void *b)
{
	const struct busy_interval *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* `next` begins no earlier than `i` and touches it. */
static void interval_join(struct busy_interval *i, const struct busy_interval *next)
{
	__u64 end = next->end < i->end ? next->end : i->end;
	__u64 shared = end - next->start, filled;

	/* What both cover, and `next` is busy in, fills holes of `i`; and the other way round. */
	filled = shared < i->holes ? shared : i->holes;
	i->holes -= next->holes ? 0 : filled;
	filled = shared < next->holes ? shared : next->holes;
	i->holes += next->holes - filled;
	if (next->end > i->end)
		i->end = next->end;
}

static void busy_compact(struct busy *b)
{
	size_t half = b->kept_count / 2;
	struct busy_interval *first = &b->kept[0];

	for (size_t i = 1; i < half; i++) {
		first->holes += b->kept[i].holes + (b->kept[i].start - first->end);
		first->end = b->kept[i].end;
	}
	memmove(&b->kept[1], &b->kept[half], (b->kept_count - half) * sizeof(*b->kept));
	b->kept_count -= half - 1;
}

static void busy_sort_fresh(struct busy *b)
{
	for (size_t i = 1; i < b->fresh_count; i++) {
		if (b->fresh[i].start < b->fresh[i - 1].start) {
			qsort(b->fresh, b->fresh_count, sizeof(*b->fresh), by_start);
			return;
		}
	}
}

/* Merges the fresh ones in from the end, where the room is. */
static void busy_interleave(struct busy *b)
{
	size_t kept = b->kept_count, fresh = b->fresh_count, at = kept + fresh;

	while (fresh) {
		if (kept && b->kept[kept - 1].start > b->fresh[fresh - 1].start)
			b->kept[--at] = b->kept[--kept];
		else
			b->kept[--at] = b->fresh[--fresh];
	}
	b->kept_count += b->fresh_count;
	b->fresh_count = 0;
}

static int busy_settle(struct busy *b)
{
	int err = room_for(&b->kept, &b->kept_room, b->kept_count + b->fresh_count);
	size_t joined = 0;

	if (err || !b->fresh_count)
		return err;
	busy_sort_fresh(b);
	busy_interleave(b);
	for (size_t i = 1; i < b->kept_count; i++) {
		if (b->kept[i].start <= b->kept[joined].end)
			interval_join(&b->kept[joined], &b->kept[i]);
		else
			b->kept[++joined] = b->kept[i];
	}
	b->kept_count = joined + 1;
	if (b->kept_count > BUSY_KEPT)
		busy_compact(b);
	return 0;
}

static int busy_add_interval(struct busy *b, const struct busy_interval *i)
{
	int err = 0;

	if (b->fresh_count >= FRESH_MOST)
		err = busy_settle(b);
	if (!err)
		err = room_for(&b->fresh, &b->fresh_room, b->fresh_count + 1);
	if (!err)
		b->fresh[b->fresh_count++] = *i;
	return err;
}

int busy_add(struct busy *b, __u64 start, __u64 end)
{
	struct busy_interval *last = b->fresh_count ? &b->fresh[b->fresh_count - 1] : NULL;

	/* The common case: one kernel follows another. */
	if (last && start >= last->start && start <= last->end) {
		if (end > last->end)
			last->end = end;
		return 0;
	}
	return busy_add_interval(b, &(struct busy_interval){start, end, 0});
}

int busy_merge(struct busy *b, struct busy *from)
{
	int err = busy_settle(from);

	for (size_t i = 0; i < from->kept_count && !err; i++)
		err = busy_add_interval(b, &from->kept[i]);
	return err;
}

__u64 busy_total(struct busy *b)
{
	__u64 total = 0;

	if (busy_settle(b))
		return 0;
	for (size_t i = 0; i < b->kept_count; i++)
		total += b->kept[i].end - b->kept[i].start - b->kept[i].holes;
	return total;
}

void busy_free(struct busy *b)
{
	free(b->kept);
	free(b->fresh);
	*b = (struct busy){0};
}
