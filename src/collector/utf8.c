/* SPDX-License-Identifier: Apache-2.0 */
#include "src/collector/utf8.h"

#include <stdlib.h>
#include <string.h>

size_t utf8_bytes(const char *text, size_t left)
{
	static const unsigned int least[] = {0, 0, 0x80, 0x800, 0x10000};
	const unsigned char *s = (const unsigned char *)text;
	size_t bytes = s[0] < 0x80 ? 1 : s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
	unsigned int code = s[0];

	if (bytes == 1)
		return 1;
	if (s[0] < 0xc2 || s[0] > 0xf4 || bytes > left)
		return 0;
	code &= 0xffu >> (bytes + 1);
	for (size_t i = 1; i < bytes; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (s[i] & 0x3f);
	}
	if (code < least[bytes] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
		return 0;
	return bytes;
}

char *utf8_copy(const char *text)
{
	size_t left = strlen(text), bytes;
	char *copy = malloc(3 * left + 1), *at = copy;

	for (; copy && left; text += bytes, left -= bytes) {
		bytes = utf8_bytes(text, left);
		at = mempcpy(at, bytes ? text : "\xef\xbf\xbd", bytes ? bytes : 3);
		bytes = bytes ? bytes : 1;
	}
	if (copy)
		*at = '\0';
	return copy;
}
