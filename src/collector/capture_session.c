/* SPDX-License-Identifier: Apache-2.0 */
/* One place for the names of the fields, so that what is written is what is read. */
#include "src/collector/capture_session.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "src/collector/capture.h"
#include "src/collector/json.h"

static void text_write(FILE *out, const char *name, const char *text)
{
	fprintf(out, ",\"%s\":", name);
	json_write_string(out, text, strlen(text));
}

int session_info_write(const struct session_info *info, char **ret_json, size_t *ret_bytes)
{
	FILE *out = open_memstream(ret_json, ret_bytes);

	if (!out)
		return -ENOMEM;
	fprintf(out, "{\"start_ns\":%llu,\"end_ns\":%llu,\"realtime_offset_ns\":%llu",
		info->start_ns, info->end_ns, info->realtime_offset_ns);
	fprintf(out, ",\"probes\":%u,\"fired\":%u,\"native_stacks\":%d", info->probes, info->fired,
		info->native_stacks);
	text_write(out, "host", info->host);
	text_write(out, "kernel", info->kernel);
	text_write(out, "command", info->command);
	fputs(",\"cuprobe\":\"" CUPROBE_VERSION "\"}\n", out);
	return fclose(out) ? -ENOMEM : 0;
}

void session_info_read(struct session_info *info, const char *json, size_t bytes)
{
	struct json object = json_open(json, bytes);

	*info = (struct session_info){
		.start_ns = json_number(json_member(object, "start_ns")),
		.end_ns = json_number(json_member(object, "end_ns")),
		.realtime_offset_ns = json_number(json_member(object, "realtime_offset_ns")),
		.probes = (__u32)json_number(json_member(object, "probes")),
		.fired = (__u32)json_number(json_member(object, "fired")),
		.native_stacks = json_number(json_member(object, "native_stacks")),

	};
	json_string(json_member(object, "host"), info->host, sizeof(info->host));
	json_string(json_member(object, "kernel"), info->kernel, sizeof(info->kernel));
	json_string(json_member(object, "command"), info->command, sizeof(info->command));
}
