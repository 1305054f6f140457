/* SPDX-License-Identifier: Apache-2.0 */
/* The SESSION chunk: struct session_info as JSON. For the capture's reader and writer. */
#ifndef CUPROBE_COLLECTOR_CAPTURE_SESSION_H
#define CUPROBE_COLLECTOR_CAPTURE_SESSION_H

#include <stddef.h>

struct session_info;

/* A text to be freed; 0 or -ENOMEM. */
int session_info_write(const struct session_info *info, char **ret_json, size_t *ret_bytes);
/* Takes what is there; a field that is not, is zero. */
void session_info_read(struct session_info *info, const char *json, size_t bytes);

#endif
