/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUPROBE_COLLECTOR_CRC32_H
#define CUPROBE_COLLECTOR_CRC32_H

#include <stddef.h>

#include <linux/types.h>

/* The checksum of Ethernet, gzip and PNG (IEEE 802.3). */
__u32 crc32(const void *data, size_t bytes);

#endif
