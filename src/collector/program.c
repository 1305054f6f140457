// SPDX-License-Identifier: Apache-2.0
#include "src/collector/program.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <bpf/libbpf.h>

#include "cuprobe/transport.h"
#include "ebpf/cuprobe.skel.h"

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

static int form_load(struct program *ret, enum program_form form, __u32 ring_bytes)
{
	struct cuprobe_bpf *bpf = cuprobe_bpf__open();
	struct bpf_program *program;
	int err = -errno;

	if (!bpf)
		return err;
	bpf_object__for_each_program(program, bpf->obj)
		bpf_program__set_autoload(program, program == form_program(bpf, form));
	if (ring_bytes)
		bpf_map__set_max_entries(bpf->maps.batches, ring_bytes);
	err = cuprobe_bpf__load(bpf);
	if (err) {
		cuprobe_bpf__destroy(bpf);
		return err;
	}
	ret->bpf = bpf;
	ret->form = form;
	ret->fd = bpf_program__fd(form_program(bpf, form));
	return 0;
}

/* A kernel that refuses a form is no news for the user. */
static int be_silent(enum libbpf_print_level level, const char *format, va_list args)
{
	(void)level;
	(void)format;
	(void)args;
	return 0;
}

int program_load(struct program *ret, enum program_form wanted, __u32 ring_bytes)
{
	enum program_form form = wanted == PROGRAM_BEST ? PROGRAM_DYNPTR : wanted;
	int err;

	libbpf_set_print(be_silent);
	err = form_load(ret, form, ring_bytes);
	while (err && wanted == PROGRAM_BEST && ++form < PROGRAM_FORMS)
		err = form_load(ret, form, ring_bytes);
	return err;
}

void program_free(struct program *p)
{
	if (p->bpf)
		cuprobe_bpf__destroy(p->bpf);
	p->bpf = NULL;
}
