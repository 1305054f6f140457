// SPDX-License-Identifier: Apache-2.0
#include "src/collector/features.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/bpf.h>
#include <linux/capability.h>

#include "src/collector/attach.h"

#ifndef CAP_PERFMON
#define CAP_PERFMON 38
#define CAP_BPF 39
#endif

#define KERNEL_TYPES "/sys/kernel/btf/vmlinux"
#define INITIAL_PID_NAMESPACE 0xeffffffc  /* PROC_PID_INIT_INO */
#define INITIAL_USER_NAMESPACE 0xeffffffd /* PROC_USER_INIT_INO */

bool feature_capable(int capability)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &header, data))
		return false;
	return data[capability / 32].effective & 1U << capability % 32;
}

static bool namespace_is(const char *path, ino_t inode)
{
	struct stat st;

	return stat(path, &st) || st.st_ino == inode;
}

bool feature_initial_pid_namespace(void)
{
	return namespace_is("/proc/self/ns/pid", INITIAL_PID_NAMESPACE);
}

static bool capable_of_bpf(void)
{
	return feature_capable(CAP_SYS_ADMIN) ||
	       (feature_capable(CAP_BPF) && feature_capable(CAP_PERFMON));
}

/* In another one capabilities are about that namespace only. */
static bool in_initial_user_namespace(void)
{
	return namespace_is("/proc/self/ns/user", INITIAL_USER_NAMESPACE);
}

bool feature_privileged(void)
{
	return capable_of_bpf() && in_initial_user_namespace();
}

bool feature_bpf(void)
{
	union bpf_attr attr = {0};

	/* Without privilege EPERM, with it EBADF or EINVAL: the call is there. */
	return syscall(SYS_bpf, BPF_OBJ_GET_INFO_BY_FD, &attr, sizeof(attr)) == 0 ||
	       errno != ENOSYS;
}

bool feature_btf(void)
{
	return !access(KERNEL_TYPES, R_OK);
}

bool feature_uprobes(void)
{
	return uprobe_event_type() >= 0;
}

void features_explain(int err, char *ret_why, size_t size)
{
	if (!feature_bpf())
		snprintf(ret_why, size, "this kernel has no BPF (CONFIG_BPF_SYSCALL)");
	else if (!in_initial_user_namespace())
		snprintf(ret_why, size, "attaching needs root outside of this user namespace");
	else if (!feature_privileged())
		snprintf(ret_why, size, "attaching needs root, or CAP_BPF and CAP_PERFMON");
	else if (!feature_btf())
		snprintf(ret_why, size,
			 "cannot read the kernel's types in " KERNEL_TYPES
			 ": needs a kernel with CONFIG_DEBUG_INFO_BTF");
	else if (!feature_uprobes())
		snprintf(ret_why, size, "this kernel has no uprobes (CONFIG_UPROBE_EVENTS)");
	else
		snprintf(ret_why, size,
			 "the kernel does not take the BPF program: %s: see `cuprobe doctor`",
			 strerror(-err));
}
