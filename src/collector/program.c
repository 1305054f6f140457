// SPDX-License-Identifier: Apache-2.0
#include "src/collector/program.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/libbpf.h>
#include <linux/bpf.h>

#include "cuprobe/transport.h"
#include "ebpf/cuprobe.skel.h"

/* Newer than the kernel headers and the libbpf of the distributions that we build on. */
#define TRACE_UPROBE_MULTI 48

struct multi_link_attr {
	__u32 program_fd, target_fd, attach_type, flags;
	__u64 path, offsets, semaphore_offsets, cookies;
	__u32 count, multi_flags, pid, reserved;
};

static const char *const form_names[PROGRAM_FORMS] = {
	[PROGRAM_BEST] = "best",
	[PROGRAM_DYNPTR] = "dynptr",
	[PROGRAM_SLEEPABLE] = "sleepable",
	[PROGRAM_ATOMIC] = "atomic",
};

const char *program_form_name(enum program_form form)
{
	return form_names[form];
}

static struct bpf_program *form_program(const struct cuprobe_bpf *bpf, enum program_form form)
{
	switch (form) {
	case PROGRAM_DYNPTR:
		return bpf->progs.batch_dynptr;
	case PROGRAM_SLEEPABLE:
		return bpf->progs.batch_sleepable;
	default:
		return bpf->progs.batch_atomic;
	}
}

static int form_load(struct program *ret, enum program_form form, const struct program_opts *opts,
		     bool multi)
{
	struct cuprobe_bpf *bpf = cuprobe_bpf__open();
	struct bpf_program *program;
	int err = -errno;

	if (!bpf)
		return err;
	bpf_object__for_each_program(program, bpf->obj)
		bpf_program__set_autoload(program, program == form_program(bpf, form));
	if (multi)
		bpf_program__set_expected_attach_type(form_program(bpf, form), TRACE_UPROBE_MULTI);
	if (opts->ring_bytes)
		bpf_map__set_max_entries(bpf->maps.batches, opts->ring_bytes);
	if (opts->ring_bytes && opts->ring_bytes < bpf_map__max_entries(bpf->maps.front))
		bpf_map__set_max_entries(bpf->maps.front, opts->ring_bytes);
	err = cuprobe_bpf__load(bpf);
	if (err) {
		cuprobe_bpf__destroy(bpf);
		return err;
	}
	ret->bpf = bpf;
	ret->form = form;
	ret->multi = multi;
	ret->fd = bpf_program__fd(form_program(bpf, form));
	return 0;
}

int program_attach_multi(const struct program *p, const char *path, const struct multi_sites *sites,
			 pid_t pid)
{
	struct multi_link_attr attr = {
		.program_fd = (__u32)p->fd,
		.attach_type = TRACE_UPROBE_MULTI,
		.path = (__u64)(uintptr_t)path,
		.offsets = (__u64)(uintptr_t)sites->offsets,
		.semaphore_offsets = (__u64)(uintptr_t)sites->semaphore_offsets,
		.cookies = (__u64)(uintptr_t)sites->cookies,
		.count = sites->count,
		.pid = (__u32)pid,
	};
	long fd = syscall(SYS_bpf, BPF_LINK_CREATE, &attr, sizeof(attr));

	return fd < 0 ? -errno : (int)fd;
}

/*
 * Up to 6.9 such a link followed one thread where a process was meant. Since that was put right,
 * a pid of -1 is refused before the path is looked at.
 */
static bool multi_works(const struct program *p)
{
	const __u64 zero = 0;
	const struct multi_sites sites = {&zero, &zero, &zero, 1};

	return program_attach_multi(p, "/", &sites, 0) == -EBADF &&
	       program_attach_multi(p, "/", &sites, -1) == -EINVAL;
}

static int form_load_best(struct program *ret, enum program_form form,
			  const struct program_opts *opts)
{
	int err = opts->no_multi ? -EOPNOTSUPP : form_load(ret, form, opts, true);

	if (!err && multi_works(ret))
		return 0;
	if (!err)
		program_free(ret);
	return form_load(ret, form, opts, false);
}

/* A kernel that refuses a form is no news for the user. */
static int be_silent(enum libbpf_print_level level, const char *format, va_list args)
{
	(void)level;
	(void)format;
	(void)args;
	return 0;
}

int program_load(struct program *ret, const struct program_opts *opts)
{
	enum program_form form = opts->form == PROGRAM_BEST ? PROGRAM_DYNPTR : opts->form;
	int err;

	libbpf_set_print(be_silent);
	err = form_load_best(ret, form, opts);
	while (err && opts->form == PROGRAM_BEST && ++form < PROGRAM_FORMS)
		err = form_load_best(ret, form, opts);
	return err;
}

void program_free(struct program *p)
{
	if (p->bpf)
		cuprobe_bpf__destroy(p->bpf);
	p->bpf = NULL;
}
