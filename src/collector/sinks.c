/* SPDX-License-Identifier: Apache-2.0 */
/* All outputs there are; `cuprobe export` knows them from here. */
#include <string.h>

#include "src/collector/sink.h"

static const struct sink_ops *const sinks[] = {
	&sink_chrome, &sink_csv, &sink_folded, &sink_pprof, &sink_text, &sink_jsonl,
};

const struct sink_ops *sink_at(unsigned int index)
{
	return index < sizeof(sinks) / sizeof(*sinks) ? sinks[index] : NULL;
}

const struct sink_ops *sink_find(const char *name)
{
	for (unsigned int i = 0; sink_at(i); i++) {
		if (!strcmp(sink_at(i)->name, name))
			return sink_at(i);
	}
	return NULL;
}
