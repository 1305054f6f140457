// SPDX-License-Identifier: Apache-2.0
#include "src/collector/child.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/collector/procs.h"

/* Who the command runs as. */
struct user {
	uid_t uid;
	gid_t gid;
	char name[256], home[1024];
};

static struct rlimit files_before; /* rlim_max 0: not raised */

void limits_raise(void)
{
	struct rlimit files;

	if (files_before.rlim_max || getrlimit(RLIMIT_NOFILE, &files))
		return;
	files_before = files;
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
}

static bool number(const char *text, unsigned long *ret)
{
	char *end;

	if (!text || !*text)
		return false;
	errno = 0;
	*ret = strtoul(text, &end, 10);
	return !*end && !errno && *ret < (uid_t)-1;
}

/* True, and the user, when sudo made us root for somebody else. */
static bool sudo_user(struct user *ret)
{
	unsigned long uid, gid;
	struct passwd *pw;

	if (geteuid() || !number(getenv("SUDO_UID"), &uid) || !number(getenv("SUDO_GID"), &gid) ||
	    !uid)
		return false;
	*ret = (struct user){.uid = (uid_t)uid, .gid = (gid_t)gid};
	pw = getpwuid(ret->uid);
	if (pw) {
		snprintf(ret->name, sizeof(ret->name), "%s", pw->pw_name);
		snprintf(ret->home, sizeof(ret->home), "%s", pw->pw_dir);
	}
	return true;
}

struct user_ids child_user(const struct child_opts *opts)
{
	struct user user;

	if (!opts->as_root && sudo_user(&user))
		return (struct user_ids){user.uid, user.gid};
	return (struct user_ids){geteuid(), getegid()};
}

static int become(const struct user *user)
{
	if (user->name[0] ? initgroups(user->name, user->gid) : setgroups(1, &user->gid))
		return -errno;
	if (setresgid(user->gid, user->gid, user->gid) ||
	    setresuid(user->uid, user->uid, user->uid))
		return -errno;
	if (user->name[0]) {
		setenv("HOME", user->home, 1);
		setenv("USER", user->name, 1);
		setenv("LOGNAME", user->name, 1);
	}
	return 0;
}

/* Another tool may have NVTX to itself. */
static void set_environment(const struct child_opts *opts)
{
	const char *nvtx = getenv("NVTX_INJECTION64_PATH");

	setenv("CUDA_INJECTION64_PATH", opts->library, 1);
	if (!nvtx || !*nvtx || library_named(nvtx))
		setenv("NVTX_INJECTION64_PATH", opts->library, 1);
	if (opts->direct)
		setenv("CUPROBE_DIRECT", opts->direct, 1);
	if (opts->native_stacks)
		setenv("CUPROBE_NATIVE_STACKS", "1", 1);
}

static void restore_signals(void)
{
	sigset_t none;

	sigemptyset(&none);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static void __attribute__((noreturn))
child_run(const struct child_opts *opts, const struct user *user, int go_fd, int exec_fd)
{
	int err = 0;
	char byte;

	/* 1: let go; 0: the parent gave up, or is no more. */
	if (read(go_fd, &byte, 1) != 1)
		_exit(127);
	set_environment(opts);
	restore_signals();
	if (files_before.rlim_max)
		setrlimit(RLIMIT_NOFILE, &files_before);
	if (user)
		err = become(user);
	if (!err) {
		execvp(opts->argv[0], opts->argv);
		err = -errno;
	}
	(void)!write(exec_fd, &err, sizeof(err));
	_exit(err == -ENOENT ? 127 : 126);
}

static int executable(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return -errno;
	if (!S_ISREG(st.st_mode) || access(path, X_OK))
		return -EACCES;
	return 0;
}

/* Looks the command up as execvp does, so that nothing is begun for one that is not there. */
static int command_find(const char *name)
{
	const char *path = getenv("PATH");
	char copy[8192], *next = copy, *part, full[8192];
	int err, found = -ENOENT;

	if (strchr(name, '/'))
		return executable(name);
	snprintf(copy, sizeof(copy), "%s", path ? path : "/bin:/usr/bin");
	while ((part = strsep(&next, ":"))) {
		snprintf(full, sizeof(full), "%.4000s/%.4000s", *part ? part : ".", name);
		err = executable(full);
		if (!err)
			return 0;
		if (err == -EACCES)
			found = err;
	}
	return found;
}

static int pidfd_of(pid_t pid)
{
	long fd = syscall(SYS_pidfd_open, pid, 0);

	return fd < 0 ? -errno : (int)fd;
}

static int child_start(struct child *ret, const struct child_opts *opts, const struct user *user)
{
	int go[2], exec[2], err;
	pid_t pid;

	if (pipe2(go, O_CLOEXEC))
		return -errno;
	if (pipe2(exec, O_CLOEXEC)) {
		err = -errno;
		close(go[0]);
		close(go[1]);
		return err;
	}
	pid = fork();
	if (!pid) {
		close(go[1]);
		close(exec[0]);
		child_run(opts, user, go[0], exec[1]);
	}
	err = pid < 0 ? -errno : 0;
	close(go[0]);
	close(exec[1]);
	*ret = (struct child){.pid = pid, .pidfd = -1, .go_fd = go[1], .exec_fd = exec[0]};
	if (!err) {
		ret->pidfd = pidfd_of(pid);
		err = ret->pidfd < 0 ? ret->pidfd : 0;
	} else {
		ret->pid = 0;
	}
	if (err)
		child_done(ret);
	return err;
}

int child_fork(struct child *ret, const struct child_opts *opts, char *ret_why, size_t size)
{
	const char *name = opts->argv[0];
	struct user user;
	bool other = !opts->as_root && sudo_user(&user);
	int err = command_find(name);

	if (!err)
		err = child_start(ret, opts, other ? &user : NULL);
	if (err)
		snprintf(ret_why, size, "cannot run '%s': %s", name, strerror(-err));
	return err;
}

int child_go(struct child *c)
{
	int err = 0;

	if (c->go_fd < 0)
		return 0;
	if (write(c->go_fd, "", 1) != 1)
		err = -errno;
	close(c->go_fd);
	c->go_fd = -1;
	if (!err && read(c->exec_fd, &err, sizeof(err)) != (ssize_t)sizeof(err))
		err = 0;
	close(c->exec_fd);
	c->exec_fd = -1;
	return err;
}

void child_reap(struct child *c)
{
	int status;

	if (!c->pid || c->ended || waitpid(c->pid, &status, WNOHANG) != c->pid)
		return;
	c->ended = true;
	c->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

void child_done(struct child *c)
{
	bool waiting = c->pid && c->go_fd >= 0;

	if (c->go_fd >= 0)
		close(c->go_fd);
	if (c->exec_fd >= 0)
		close(c->exec_fd);
	if (waiting)
		waitpid(c->pid, NULL, 0);
	if (c->pidfd >= 0)
		close(c->pidfd);
	*c = (struct child){.pidfd = -1, .go_fd = -1, .exec_fd = -1};
}
