/* SPDX-License-Identifier: Apache-2.0 */
/* Eight bytes a step: a capture is checked at the speed at which it is decompressed. */
#include "src/collector/crc32.h"

#include <endian.h>
#include <pthread.h>
#include <string.h>

#define POLYNOMIAL 0xedb88320u

static __u32 table[8][256]; /* [k][b]: byte b, followed by k zero bytes */
static pthread_once_t table_once = PTHREAD_ONCE_INIT;

static void table_fill(void)
{
	for (__u32 b = 0; b < 256; b++) {
		__u32 crc = b;

		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? POLYNOMIAL : 0);
		table[0][b] = crc;
	}
	for (int k = 1; k < 8; k++) {
		for (__u32 b = 0; b < 256; b++)
			table[k][b] = table[k - 1][b] >> 8 ^ table[0][table[k - 1][b] & 0xff];
	}
}

static __u32 crc32_eight(__u32 crc, const unsigned char *data)
{
	__u64 word;

	memcpy(&word, data, sizeof(word));
	word = le64toh(word) ^ crc;
	crc = 0;
	for (int k = 0; k < 8; k++)
		crc ^= table[7 - k][word >> (8 * k) & 0xff];
	return crc;
}

__u32 crc32(const void *data, size_t bytes)
{
	const unsigned char *at = data;
	__u32 crc = 0xffffffffu;

	pthread_once(&table_once, table_fill);
	for (; bytes >= 8; bytes -= 8, at += 8)
		crc = crc32_eight(crc, at);
	for (; bytes; bytes--, at++)
		crc = crc >> 8 ^ table[0][(crc ^ *at) & 0xff];
	return ~crc;
}
