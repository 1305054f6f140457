/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The verbs of the command, one file each. argv[0] is the name of the verb, as for a main() of
 * its own. Returns the exit status; what failed is told through error.h, and printed by main.c.
 */
#ifndef CUPROBE_COLLECTOR_VERBS_H
#define CUPROBE_COLLECTOR_VERBS_H

enum exit_status {
	STATUS_OK = 0,
	STATUS_FAILED = 1,
	STATUS_USAGE = 2,
};

int verb_record(int argc, char **argv);
int verb_stat(int argc, char **argv);
int verb_trace(int argc, char **argv);
int verb_report(int argc, char **argv);
int verb_export(int argc, char **argv);
int verb_flame(int argc, char **argv);
int verb_list(int argc, char **argv);
int verb_doctor(int argc, char **argv);

#endif
