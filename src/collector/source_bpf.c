// SPDX-License-Identifier: Apache-2.0
/* The BPF program, attached to the probes of chosen processes. */
#include "src/collector/source.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "ebpf/cuprobe.skel.h"
#include "src/collector/attach.h"
#include "src/collector/child.h"
#include "src/collector/features.h"
#include "src/collector/library.h"
#include "src/collector/program.h"
#include "src/collector/ring.h"
#include "src/collector/session.h"
#include "src/collector/targets.h"

struct source_with_bpf {
	struct source source;
	struct program program;
	struct ring front, batches;
	struct targets targets;
	struct library_copy copy;
};

static struct source_with_bpf *with_bpf(struct source *s)
{
	return (struct source_with_bpf *)s;
}

/* Rings are told of once a wake-up: what is less than that waits for the next look. */
static int bpf_open_ring(struct source_with_bpf *b, struct ring *ring, const struct bpf_map *map)
{
	struct epoll_event event = {.events = EPOLLIN | EPOLLET};
	int err = ring_open(ring, bpf_map__fd(map), bpf_map__max_entries(map));

	if (!err && epoll_ctl(b->source.fd, EPOLL_CTL_ADD, bpf_map__fd(map), &event))
		err = -errno;
	return err;
}

static int bpf_load(struct source_with_bpf *b, const struct session_opts *opts, char *ret_why,
		    size_t size)
{
	const struct program_opts program = {opts->form, opts->no_multi, opts->ring_bytes};
	int err = program_load(&b->program, &program);

	if (!err && !b->program.multi && !feature_uprobes())
		err = -EOPNOTSUPP;
	if (err) {
		features_explain(err, ret_why, size);
		return err;
	}
	b->targets.program = &b->program;
	b->targets.probes = opts->probes | PROBES_ALWAYS;
	b->source.fd = epoll_create1(EPOLL_CLOEXEC);
	if (b->source.fd < 0)
		err = -errno;
	if (!err)
		err = bpf_open_ring(b, &b->front, b->program.bpf->maps.front);
	if (!err)
		err = bpf_open_ring(b, &b->batches, b->program.bpf->maps.batches);
	if (err)
		snprintf(ret_why, size, "cannot read the BPF program's rings: %s", strerror(-err));
	return err;
}

static void bpf_free(struct source *s)
{
	struct source_with_bpf *b = with_bpf(s);

	targets_free(&b->targets);
	ring_close(&b->front);
	ring_close(&b->batches);
	program_free(&b->program);
	library_copy_remove(&b->copy);
	if (s->fd >= 0)
		close(s->fd);
	free(b);
}

static int bpf_open(struct source **ret, const struct session_opts *opts,
		    const struct source_handler *handler, char *ret_why, size_t size)
{
	struct source_with_bpf *b = calloc(1, sizeof(*b));
	int err;

	if (!b) {
		snprintf(ret_why, size, "%s", strerror(ENOMEM));
		return -ENOMEM;
	}
	b->source = (struct source){&source_bpf, *handler, -1};
	b->copy.fd = -1;
	err = bpf_load(b, opts, ret_why, size);
	if (err)
		bpf_free(&b->source);
	else
		*ret = &b->source;
	return err;
}

/* What is attached is this run's own copy of the library: see library.h. */
static int bpf_add_command(struct source *s, struct child_opts *child, char *ret_why, size_t size)
{
	struct source_with_bpf *b = with_bpf(s);
	int err = library_copy_make(&b->copy, child->library, ret_why, size);

	if (!err)
		err = targets_add_file(&b->targets, b->copy.fd, ret_why, size);
	child->library = b->copy.path;
	return err;
}

static int bpf_add_process(struct source *s, pid_t pid, char *ret_why, size_t size)
{
	return targets_add_process(&with_bpf(s)->targets, pid, ret_why, size);
}

static int bpf_add_all(struct source *s, char *ret_why, size_t size)
{
	return targets_add_all(&with_bpf(s)->targets, ret_why, size);
}

static void bpf_refresh(struct source *s)
{
	targets_refresh(&with_bpf(s)->targets);
}

static void bpf_consume(struct source *s)
{
	struct source_with_bpf *b = with_bpf(s);
	struct epoll_event events[2];

	(void)epoll_wait(s->fd, events, 2, 0); /* or it stays readable */
	rings_read(&b->front, &b->batches, s->handler.sample, s->handler.arg);
}

static void bpf_detach(struct source *s, bool all)
{
	targets_detach(&with_bpf(s)->targets, all);
}

static int bpf_losses(struct source *s,
		      int (*each)(void *arg, const struct cuprobe_loss_key *,
				  const struct cuprobe_loss *),
		      void *arg)
{
	const struct cuprobe_bpf *bpf = with_bpf(s)->program.bpf;
	struct cuprobe_loss_key key, *previous = NULL;
	int map = bpf_map__fd(bpf->maps.losses), err = 0;
	struct cuprobe_loss loss;

	while (!err && !bpf_map_get_next_key(map, previous, &key)) {
		previous = &key;
		if (!bpf_map_lookup_elem(map, &key, &loss))
			err = each(arg, &key, &loss);
	}
	for (__u32 probe = 0; !err && probe < CUPROBE_PROBE_COUNT; probe++) {
		key = (struct cuprobe_loss_key){.probe = probe};
		loss = bpf->bss->other_losses[probe];
		if (loss.batches || loss.bad_batches)
			err = each(arg, &key, &loss);
	}
	return err;
}

const struct source_ops source_bpf = {
	.open = bpf_open,
	.add_command = bpf_add_command,
	.add_process = bpf_add_process,
	.add_all = bpf_add_all,
	.refresh = bpf_refresh,
	.consume = bpf_consume,
	.detach = bpf_detach,
	.losses = bpf_losses,
	.free = bpf_free,
};
