/* SPDX-License-Identifier: Apache-2.0 */
/* Traces what the command line names and prints the summary: all of `stat`, most of `record`. */
#ifndef CUPROBE_COLLECTOR_RECORDING_H
#define CUPROBE_COLLECTOR_RECORDING_H

struct options;

/* `path`: of the capture to write; NULL for none. Returns the exit status of the verb. */
int recording_run(const struct options *o, const char *path);

#endif
