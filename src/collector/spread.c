/* SPDX-License-Identifier: Apache-2.0 */
/* A logarithmic histogram, of which only the powers of two that occur take memory. */
#include "src/collector/spread.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#define STEPS (1u << SPREAD_STEPS_LOG2)

/* Octave 0 holds 0 ... STEPS-1, octave n the STEPS buckets of STEPS << (n-1) ... (STEPS << n) - 1.
 */
static unsigned int octave_of(__u64 value)
{
	return value < STEPS ? 0 : 64u - SPREAD_STEPS_LOG2 - (unsigned int)__builtin_clzll(value);
}

static unsigned int step_of(__u64 value, unsigned int octave)
{
	return octave ? (unsigned int)(value >> (octave - 1)) & (STEPS - 1) : (unsigned int)value;
}

/* The middle of a bucket. */
static __u64 bucket_value(unsigned int octave, unsigned int step)
{
	if (!octave)
		return step;
	return ((__u64)(STEPS + step) << (octave - 1)) + ((1ull << (octave - 1)) >> 1);
}

static __u64 *spread_octave(struct spread *s, unsigned int octave)
{
	if (!s->octaves[octave])
		s->octaves[octave] = calloc(STEPS, sizeof(__u64));
	return s->octaves[octave];
}

static __u64 add_saturated(__u64 a, __u64 b)
{
	return a + b < a ? ~0ull : a + b;
}

int spread_add(struct spread *s, __u64 value)
{
	unsigned int octave = octave_of(value);
	__u64 *steps = spread_octave(s, octave);
	double from_mean = (double)value - s->mean;

	if (!steps)
		return -ENOMEM;
	steps[step_of(value, octave)]++;
	if (!s->count || value < s->least)
		s->least = value;
	if (value > s->greatest)
		s->greatest = value;
	s->count++;
	s->sum = add_saturated(s->sum, value);
	s->mean += from_mean / (double)s->count;
	s->squares += from_mean * ((double)value - s->mean);
	return 0;
}

int spread_merge(struct spread *s, const struct spread *from)
{
	double count = (double)s->count + (double)from->count, apart = from->mean - s->mean;

	if (!from->count)
		return 0;
	for (unsigned int octave = 0; octave < SPREAD_OCTAVES; octave++) {
		if (!from->octaves[octave])
			continue;
		if (!spread_octave(s, octave))
			return -ENOMEM;
		for (unsigned int step = 0; step < STEPS; step++)
			s->octaves[octave][step] += from->octaves[octave][step];
	}
	if (!s->count || from->least < s->least)
		s->least = from->least;
	if (from->greatest > s->greatest)
		s->greatest = from->greatest;
	s->squares +=
		from->squares + apart * apart * (double)s->count * (double)from->count / count;
	s->mean += apart * (double)from->count / count;
	s->count += from->count;
	s->sum = add_saturated(s->sum, from->sum);
	return 0;
}

double spread_deviation(const struct spread *s)
{
	return s->count > 1 ? sqrt(s->squares / (double)(s->count - 1)) : 0;
}

/* The value at `rank`, counted from 0. */
static __u64 spread_at(const struct spread *s, __u64 rank)
{
	for (unsigned int octave = 0; octave < SPREAD_OCTAVES; octave++) {
		for (unsigned int step = 0; s->octaves[octave] && step < STEPS; step++) {
			__u64 value, count = s->octaves[octave][step];

			if (rank >= count) {
				rank -= count;
				continue;
			}
			value = bucket_value(octave, step);
			return value < s->least	     ? s->least
			       : value > s->greatest ? s->greatest
						     : value;
		}
	}
	return s->greatest;
}

__u64 spread_median(const struct spread *s)
{
	__u64 low, high;

	if (!s->count)
		return 0;
	low = spread_at(s, (s->count - 1) / 2);
	high = spread_at(s, s->count / 2);
	return low + (high - low) / 2;
}

void spread_free(struct spread *s)
{
	for (unsigned int octave = 0; octave < SPREAD_OCTAVES; octave++)
		free(s->octaves[octave]);
	*s = (struct spread){0};
}
