/* SPDX-License-Identifier: Apache-2.0 */
#include "src/collector/output/text.h"

#include "src/collector/utf8.h"

static const char pairs[] = "0001020304050607080910111213141516171819"
			    "2021222324252627282930313233343536373839"
			    "4041424344454647484950515253545556575859"
			    "6061626364656667686970717273747576777879"
			    "8081828384858687888990919293949596979899";

static int digits_of(__u64 value)
{
	int digits = 1;

	for (; value >= 10000; value /= 10000)
		digits += 4;
	return digits + (value >= 10) + (value >= 100) + (value >= 1000);
}

char *put_u64(char *p, __u64 value)
{
	char *at, *end;

	if (value < 10) {
		*p = (char)('0' + value);
		return p + 1;
	}
	at = end = p + digits_of(value);
	while (value >= 100) {
		at -= 2;
		memcpy(at, pairs + 2 * (value % 100), 2);
		value /= 100;
	}
	if (value >= 10)
		memcpy(p, pairs + 2 * value, 2);
	else
		*p = (char)('0' + value);
	return end;
}

char *put_digits(char *p, __u64 value, int digits)
{
	for (int i = digits - 1; i >= 0; i--, value /= 10)
		p[i] = (char)('0' + value % 10);
	return p + digits;
}

char *put_s64(char *p, __s64 value)
{
	if (value >= 0)
		return put_u64(p, (__u64)value);
	*p++ = '-';
	return put_u64(p, -(__u64)value);
}

char *put_hex(char *p, __u64 value)
{
	int shift = 60;

	while (shift && !(value >> shift))
		shift -= 4;
	p = PUT(p, "0x");
	for (; shift >= 0; shift -= 4)
		*p++ = "0123456789abcdef"[value >> shift & 15];
	return p;
}

char *put_us(char *p, __u64 ns)
{
	unsigned int rest = (unsigned int)(ns % 1000);

	p = put_u64(p, ns / 1000);
	*p++ = '.';
	*p++ = (char)('0' + rest / 100);
	memcpy(p, pairs + 2 * (rest % 100), 2);
	return p + 2;
}

char *put_ratio(char *p, unsigned __int128 numerator, __u64 denominator)
{
	unsigned __int128 whole = numerator / denominator;
	__u64 rest = (__u64)((numerator % denominator) * 1000000 / denominator);
	char *end;

	if (whole > ~0ull) /* 2^64 and more: beyond anything that is measured */
		whole = ~0ull;
	p = put_u64(p, (__u64)whole);
	if (!rest)
		return p;
	*p++ = '.';
	end = p + 6;
	put_digits(p, rest, 6);
	while (end[-1] == '0')
		end--;
	return end;
}

static char *put_json_escape(char *p, unsigned char c)
{
	*p++ = '\\';
	switch (c) {
	case '"':
	case '\\':
		*p++ = (char)c;
		return p;
	case '\n':
		*p++ = 'n';
		return p;
	case '\t':
		*p++ = 't';
		return p;
	default:
		p = PUT(p, "u00");
		*p++ = "0123456789abcdef"[c >> 4];
		*p++ = "0123456789abcdef"[c & 15];
		return p;
	}
}

/* One character of two bytes and more, or U+FFFD for a byte that begins none; moves `s` on. */
static char *put_utf8(char *p, const unsigned char **s, const unsigned char *end)
{
	size_t step = utf8_bytes((const char *)*s, (size_t)(end - *s));

	p = step ? put_bytes(p, (const char *)*s, step) : PUT(p, "\xef\xbf\xbd");
	*s += step ? step : 1;
	return p;
}

char *put_json(char *p, const char *text, size_t bytes)
{
	const unsigned char *s = (const unsigned char *)text, *end = s + bytes;

	while (s < end) {
		if (s[0] == 0xc2 && s + 1 < end && s[1] >= 0x80 && s[1] < 0xa0) {
			p = put_json_escape(p, s[1]); /* U+009B and its kind steer terminals */
			s += 2;
		} else if (*s >= 0x80) {
			p = put_utf8(p, &s, end);
		} else if (*s < 0x20 || *s == 0x7f || *s == '"' || *s == '\\') {
			p = put_json_escape(p, *s++);
		} else {
			*p++ = (char)*s++;
		}
	}
	return p;
}

char *put_csv(char *p, const char *text, size_t bytes)
{
	const unsigned char *s = (const unsigned char *)text, *end = s + bytes;

	while (s < end) {
		if (*s >= 0x80) {
			p = put_utf8(p, &s, end);
			continue;
		}
		if (*s == '"')
			*p++ = '"';
		*p++ = (char)*s++;
	}
	return p;
}
