/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers and strings as text, without printf: an export writes tens of them for each of millions
 * of events. Each put_ function writes at `p`, where the caller has made room, and returns the end.
 */
#ifndef CUPROBE_COLLECTOR_OUTPUT_TEXT_H
#define CUPROBE_COLLECTOR_OUTPUT_TEXT_H

#include <stddef.h>
#include <string.h>

#include <linux/types.h>

#define PUT_U64_BYTES 20   /* most that put_u64 writes; put_s64 and put_us one or two more */
#define PUT_RATIO_BYTES 48 /* most that put_ratio writes */

static inline char *put_bytes(char *p, const char *text, size_t bytes)
{
	memcpy(p, text, bytes);
	return p + bytes;
}

/* A literal. */
#define PUT(p, literal) put_bytes((p), "" literal, sizeof(literal) - 1)

char *put_u64(char *p, __u64 value);
/* Exactly `digits` digits, with leading zeros. */
char *put_digits(char *p, __u64 value, int digits);
char *put_s64(char *p, __s64 value);
char *put_hex(char *p, __u64 value); /* "0x..." */
/* Nanoseconds as microseconds with three decimals. */
char *put_us(char *p, __u64 ns);
/* numerator / denominator with up to six decimals; the denominator is not 0. */
char *put_ratio(char *p, unsigned __int128 numerator, __u64 denominator);

/*
 * What a JSON string holds between its quotes. Control characters are escaped; each byte that is
 * not part of valid UTF-8 becomes U+FFFD. Writes at most JSON_GROWTH bytes for each byte of `text`.
 */
#define JSON_GROWTH 6
char *put_json(char *p, const char *text, size_t bytes);
/* The same for a quoted field of CSV: quotes are doubled, other bytes stay; it grows no more. */
char *put_csv(char *p, const char *text, size_t bytes);

#endif
