/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What /proc says of a process, as the JSON of a capture's PROCESS chunk:
 *
 *	{"pid":1, "start_ns":2, "command":"...", "executable":"/...",
 *	 "threads":[[7,4711],...],		in its own pid namespace and in the initial one;
 *						only where the two differ
 *	 "maps":[{"start":1,"end":2,"offset":0,"path":"/...","build_id":"hex"},...]}  executable
 *ones
 */
#ifndef CUPROBE_COLLECTOR_PROCINFO_H
#define CUPROBE_COLLECTOR_PROCINFO_H

#include <stdbool.h>
#include <stddef.h>

#include <linux/types.h>
#include <sys/types.h>

struct model;

/*
 * `ret_json` is to be freed; `maps`: with them, which takes some milliseconds. 0 or -ENOMEM; of a
 * process that is gone, only pid and start_ns.
 */
int procinfo_read(pid_t pid, __u64 start_ns, bool maps, char **ret_json, size_t *ret_bytes);
/* Whose text it is; 0 when it is none. */
__u32 procinfo_pid(const char *json, size_t bytes);
/* Tells the model. 0 or -ENOMEM; a text that is no such JSON changes nothing. */
int procinfo_apply(struct model *m, const char *json, size_t bytes);

#endif
