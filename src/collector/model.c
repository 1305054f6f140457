/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes and what they told about themselves. Everything here is bounded: a process may send
 * what it likes, and must not make the collector grow without end.
 */
#include "src/collector/model.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/collector/cubins.h"
#include "src/collector/event.h"
#include "src/collector/process.h"

#define PROCESSES_MOST (1u << 16) /* of 6 KiB each */

struct model {
	struct process *first, *last;
	struct process *rest;	/* stands for those beyond PROCESSES_MOST */
	struct map by_identity; /* key: identity_key(); processes of one key are chained */
	struct process *recent;
	__u32 count;
	__u64 first_ns, last_ns;
	struct cubins cubins;
};

int model_open(struct model **ret)
{
	struct model *m = calloc(1, sizeof(*m));

	if (!m)
		return -ENOMEM;
	*ret = m;
	return 0;
}

void model_free(struct model *m)
{
	struct process *next;

	if (!m)
		return;
	for (struct process *p = m->first; p; p = next) {
		next = p->next;
		process_free(p);
	}
	map_clear(&m->by_identity, NULL);
	cubins_free(&m->cubins);
	free(m);
}

static __u64 identity_key(__u32 pid, __u64 start_ns)
{
	return start_ns * 31 + pid;
}

static struct process *model_add(struct model *m, __u32 pid, __u64 start_ns,
				 struct process *same_key)
{
	struct process *p = process_new(pid, start_ns);

	if (!p)
		return NULL;
	if (same_key) {
		p->private->same_key = same_key->private->same_key;
		same_key->private->same_key = p;
	} else if (map_insert(&m->by_identity, identity_key(pid, start_ns), p)) {
		process_free(p);
		return NULL;
	}
	p->number = m->count++;
	if (m->last)
		m->last->next = p;
	else
		m->first = p;
	m->last = p;
	return p;
}

static struct process *model_rest(struct model *m)
{
	if (!m->rest)
		m->rest = model_add(m, 0, 0, map_find(&m->by_identity, identity_key(0, 0)));
	return m->rest;
}

struct process *model_process(struct model *m, __u32 pid, __u64 start_ns)
{
	struct process *same_key, *p = m->recent;

	if (p && p->pid == pid && p->start_ns == start_ns)
		return p;
	same_key = map_find(&m->by_identity, identity_key(pid, start_ns));
	for (p = same_key; p; p = p->private->same_key) {
		if (p->pid == pid && p->start_ns == start_ns)
			break;
	}
	if (!p && m->count < PROCESSES_MOST)
		p = model_add(m, pid, start_ns, same_key);
	else if (!p)
		p = model_rest(m);
	m->recent = p;
	return p;
}

bool model_is_rest(const struct model *m, const struct process *p)
{
	return p == m->rest;
}

struct process *model_processes(const struct model *m)
{
	return m->first;
}

struct cubins *model_cubins(struct model *m)
{
	return &m->cubins;
}

/* Seq of a probe starts at 0 again when the process has executed another program. */
static bool batch_is_of_new_image(const struct ledger *l, const struct cuprobe_batch_header *h)
{
	return l->seen && h->seq == 0 && l->next_seq > 0;
}

int model_batch(struct model *m, struct process *p, const struct cuprobe_batch_header *h)
{
	struct ledger *l = &p->ledgers[h->probe];
	__u64 end = h->seq + h->count;

	(void)m;
	if (batch_is_of_new_image(l, h))
		process_new_image(p);
	if (!l->seen) {
		l->seen = true;
		l->first_seq = l->next_seq = h->seq;
	}
	if (h->seq > l->next_seq)
		l->missed += h->seq - l->next_seq;
	else if (h->seq < l->next_seq) /* late: it was taken for missed */
		l->missed -= l->missed < h->count ? l->missed : h->count;
	if (h->seq < l->first_seq)
		l->first_seq = h->seq;
	if (end > l->next_seq)
		l->next_seq = end;
	l->delivered += h->count;
	return 0;
}

void model_malformed(struct process *p, const struct cuprobe_batch_header *h)
{
	if (h->probe < CUPROBE_PROBE_COUNT)
		p->ledgers[h->probe].malformed++;
	else
		p->unknown_batches++;
}

void model_refused(struct process *p, enum cuprobe_probe_id probe)
{
	p->ledgers[probe].delivered--;
	p->ledgers[probe].refused++;
}

__u64 ledger_lost(const struct ledger *l)
{
	__u64 counted = l->ring_lost + l->copy_failed;

	return l->missed > counted ? l->missed : counted;
}

int model_losses(struct model *m, const struct cuprobe_loss_key *key,
		 const struct cuprobe_loss *loss)
{
	struct process *p;

	if (key->probe >= CUPROBE_PROBE_COUNT)
		return 0;
	p = model_process(m, key->pid, key->process_start_ns);
	if (!p)
		return -ENOMEM;
	p->ledgers[key->probe].ring_lost = loss->records;
	p->ledgers[key->probe].copy_failed = loss->bad_records;
	return 0;
}

int model_command(struct model *m, __u32 pid, __u64 start_ns, const char *command)
{
	struct process *p = model_process(m, pid, start_ns);
	char *copy = p ? strdup(model_is_rest(m, p) ? "(all further processes)" : command) : NULL;

	if (!copy)
		return -ENOMEM;
	free(p->command);
	p->command = copy;
	return 0;
}

int model_thread(struct model *m, __u32 pid, __u64 start_ns, __u32 thread, __u32 tid)
{
	struct process *p = model_process(m, pid, start_ns);

	return p ? process_set_thread(p, thread, tid) : -ENOMEM;
}

static void model_widen(struct model *m, const struct event *e)
{
	__u64 start_ns, end_ns;

	if (!event_times(e, &start_ns, &end_ns))
		return;
	if (!m->first_ns || start_ns < m->first_ns)
		m->first_ns = start_ns;
	if (end_ns > m->last_ns)
		m->last_ns = end_ns;
}

int model_event(struct model *m, const struct event *e)
{
	int err = 0;

	switch (e->probe) {
	case CUPROBE_PROBE_string:
		err = strings_add(&e->process->private->strings, e->string);
		break;
	case CUPROBE_PROBE_stack:
		err = stacks_add(&e->process->private->stacks, e->stack);
		break;
	case CUPROBE_PROBE_info:
		err = process_set_info(e->process, e->info);
		break;
	case CUPROBE_PROBE_status:
		err = process_set_status(e->process, e->status);
		break;
	default:
		model_widen(m, e);
		break;
	}
	if (err != -ENOSPC)
		return err;
	model_refused(e->process, e->probe);
	return 0;
}

__u64 model_lost(const struct model *m)
{
	__u64 lost = 0;

	for (const struct process *p = model_processes(m); p; p = p->next) {
		for (int probe = 0; probe < CUPROBE_PROBE_COUNT; probe++)
			lost += ledger_lost(&p->ledgers[probe]) + p->ledgers[probe].library.lost;
	}
	return lost;
}

void model_window(const struct model *m, __u64 *ret_first_ns, __u64 *ret_last_ns)
{
	*ret_first_ns = m->first_ns;
	*ret_last_ns = m->last_ns;
}
