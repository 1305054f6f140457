/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/python_lines.h"

struct cursor {
	const __u8 *at, *end;
};

static __s64 lnotab_line(struct cursor c, __s64 line, __s64 place)
{
	__s64 address = 0;

	for (; c.end - c.at >= 2; c.at += 2) {
		address += c.at[0];
		if (address > place)
			break;
		line += (__s8)c.at[1];
	}
	return line;
}

#define NO_LINE -128 /* in a table of 3.10 */

static __s64 line_table_line(struct cursor c, __s64 line, __s64 place)
{
	__s64 address = 0;

	for (; c.end - c.at >= 2; c.at += 2) {
		__s8 delta = (__s8)c.at[1];

		address += c.at[0];
		if (delta != NO_LINE)
			line += delta;
		if (address > place)
			return delta == NO_LINE ? 0 : line;
	}
	return 0;
}

/* Numbers in six-bit pieces, the lowest first; bit 6 says that there is one more. */
static __u32 number_read(struct cursor *c)
{
	__u32 number = 0;

	for (__u32 shift = 0; c->at < c->end && shift < 32; shift += 6) {
		__u8 piece = *c->at++;

		number |= (__u32)(piece & 63) << shift;
		if (!(piece & 64))
			break;
	}
	return number;
}

static __s32 signed_read(struct cursor *c)
{
	__u32 number = number_read(c);

	return number & 1 ? -(__s32)(number >> 1) : (__s32)(number >> 1);
}

enum location { /* the kinds that tell lines in another way than the rest, which stay in theirs */
		LOCATION_NEXT_LINE = 11,
		LOCATION_LINE_AFTER = 12,
		LOCATION_NO_COLUMNS = 13,
		LOCATION_LONG = 14,
		LOCATION_NONE = 15,
};

static __s32 location_delta(__u8 kind, struct cursor *c)
{
	switch (kind) {
	case LOCATION_NEXT_LINE:
	case LOCATION_LINE_AFTER:
		return kind - LOCATION_NEXT_LINE + 1;
	case LOCATION_NO_COLUMNS:
	case LOCATION_LONG:
		return signed_read(c);
	default:
		return 0;
	}
}

static __s64 locations_line(struct cursor c, __s64 line, __s64 place)
{
	__s64 address = 0;

	while (c.at < c.end) {
		__u8 head = *c.at++, kind = head >> 3 & 15;

		line += location_delta(kind, &c);
		address += 2 * ((head & 7) + 1);
		if (address > place)
			return kind == LOCATION_NONE ? 0 : line;
		while (c.at < c.end && !(*c.at & 0x80))
			c.at++;
	}
	return 0;
}

__u32 cuprobe_python_line(enum python_lines kind, const __u8 *table, size_t bytes, __s32 first_line,
			  __s64 place)
{
	struct cursor c = {table, table + bytes};
	__s64 line = first_line;

	if (place >= 0 && kind == PYTHON_LNOTAB)
		line = lnotab_line(c, line, place);
	else if (place >= 0 && kind == PYTHON_LINE_TABLE)
		line = line_table_line(c, line, place);
	else if (place >= 0)
		line = locations_line(c, line, place);
	return line > 0 && line <= 0x7fffffff ? (__u32)line : 0;
}
