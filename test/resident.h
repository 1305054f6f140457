/* SPDX-License-Identifier: Apache-2.0 */
/* How much of the calling process is in memory: for tests that nothing is left behind. */
#ifndef CUPROBE_TEST_RESIDENT_H
#define CUPROBE_TEST_RESIDENT_H

#include <stdio.h>
#include <unistd.h>

/* 0 when it is not known. */
static inline long resident_kb(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	long pages = 0;

	if (!file || fscanf(file, "%*s %ld", &pages) != 1)
		pages = 0;
	if (file)
		fclose(file);
	return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

#endif
