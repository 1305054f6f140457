/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A case that needs a process of its own: the test program runs itself again, reads the line in
 * which that child tells how it fared, and in the simulator's file what there was to be seen.
 */
#ifndef CUPROBE_UNIT_RERUN_H
#define CUPROBE_UNIT_RERUN_H

#include <setjmp.h>
#include <spawn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

extern char **environ;

static char rerun_truth_path[] = "/tmp/inject_unit.XXXXXX";

/* Records of an activity kind: what the simulated CUPTI made, and gave away. */
struct rerun_truth {
	unsigned long long made, delivered;
};

/* With `what` as its argument. `line` is what it said; returns the status as waitpid() does. */
static inline int rerun(const char *what, char *line, size_t size)
{
	char *const arguments[] = {(char *)"rerun", (char *)what, NULL};
	posix_spawn_file_actions_t actions;
	int pipes[2], status;
	ssize_t bytes;
	pid_t pid;

	assert_int_equal(pipe(pipes), 0);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, pipes[1], STDOUT_FILENO);
	posix_spawn_file_actions_addclose(&actions, pipes[0]);
	assert_int_equal(posix_spawn(&pid, "/proc/self/exe", &actions, NULL, arguments, environ),
			 0);
	posix_spawn_file_actions_destroy(&actions);
	close(pipes[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	bytes = read(pipes[0], line, size - 1);
	close(pipes[0]);
	assert_true(bytes >= 0);
	line[bytes] = '\0';
	return status;
}

/* Of the child that ran last. */
static inline struct rerun_truth rerun_truth(unsigned int kind)
{
	struct rerun_truth truth = {0}, other;
	FILE *file = fopen(rerun_truth_path, "r");
	unsigned int its_kind;
	char line[4096];

	assert_non_null(file);
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, " \"%u\": {\"made\": %llu, \"delivered\": %llu", &its_kind,
			   &other.made, &other.delivered) == 3 &&
		    its_kind == kind)
			truth = other;
	}
	fclose(file);
	return truth;
}

/* Before and after a group whose children leave a truth. */
static inline int rerun_setup(void **state)
{
	int fd = mkstemp(rerun_truth_path);

	(void)state;
	if (fd < 0)
		return -1;
	close(fd);
	return setenv("MOCK_TRUTH", rerun_truth_path, 1);
}

static inline int rerun_teardown(void **state)
{
	(void)state;
	return unlink(rerun_truth_path);
}

#endif
