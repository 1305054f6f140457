/* SPDX-License-Identifier: Apache-2.0 */
#include "src/collector/symbolizer.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/collector/json.h"
#include "src/collector/map.h"
#include "src/collector/model.h"
#include "src/collector/procs.h"
#include "src/collector/stacks.h"
#include "src/collector/symbol_job.h"

/* A process whose stacks are looked at. */
struct subject {
	struct process *process;
	__u32 image;
	const struct frame *newest; /* that was looked at */
	struct symbol_job *job;	    /* what is to be found out; NULL nothing */
	char *json;		    /* what /proc said of it once */
	size_t json_bytes;

	bool ended;
};

struct jobs {
	struct symbol_job *first, *last;
};

struct symbolizer {
	struct model *model;
	struct symbolizer_handler handler;
	struct map subjects; /* by number of the process */
	__u64 *pcs;
	size_t room;
	pthread_t thread;
	pthread_mutex_t lock; /* protects what follows; nothing is taken under it */
	pthread_cond_t changed;
	struct jobs waiting, ready;
	unsigned int pending; /* waiting, or being worked on */
	bool done;
	int err; /* of the thread */
};

static void jobs_add(struct jobs *jobs, struct symbol_job *job)
{
	job->next = NULL;
	if (jobs->last)
		jobs->last->next = job;
	else
		jobs->first = job;
	jobs->last = job;
}

static struct symbol_job *jobs_take(struct jobs *jobs)
{
	struct symbol_job *job = jobs->first;

	if (job)
		jobs->first = job->next;
	if (!jobs->first)
		jobs->last = NULL;
	return job;
}

static void *symbolizer_run(void *arg)
{
	struct symbol_cache cache = {0};
	struct symbolizer *s = arg;
	struct symbol_job *job;

	pthread_mutex_lock(&s->lock);
	while (true) {
		int err;

		while (!s->waiting.first && !s->done)
			pthread_cond_wait(&s->changed, &s->lock);
		if (s->done)
			break;
		job = jobs_take(&s->waiting);
		pthread_mutex_unlock(&s->lock);
		err = symbol_job_run(job, &cache);
		pthread_mutex_lock(&s->lock);
		s->err = s->err ? s->err : err;
		jobs_add(&s->ready, job);
		s->pending--;
		pthread_cond_broadcast(&s->changed);
	}
	pthread_mutex_unlock(&s->lock);
	symbol_cache_clear(&cache);
	return NULL;
}

/* The thread takes no signals: they are the verb's. */
static int symbolizer_start(struct symbolizer *s)
{
	sigset_t all, before;
	int err;

	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->changed, NULL);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = -pthread_create(&s->thread, NULL, symbolizer_run, s);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return err;
}

int symbolizer_open(struct symbolizer **ret, struct model *model,
		    const struct symbolizer_handler *handler)
{
	struct symbolizer *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return -ENOMEM;
	s->model = model;
	s->handler = *handler;
	err = symbolizer_start(s);
	if (err) {
		free(s);
		return err;
	}
	*ret = s;
	return 0;
}

static void subject_free(void *value)
{
	struct subject *subject = value;

	symbol_job_free(subject->job);
	free(subject->json);
	free(subject);
}

void symbolizer_free(struct symbolizer *s)
{
	struct symbol_job *job;

	if (!s)
		return;
	pthread_mutex_lock(&s->lock);
	s->done = true;
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
	pthread_join(s->thread, NULL);
	while ((job = jobs_take(&s->waiting)))
		symbol_job_free(job);
	while ((job = jobs_take(&s->ready)))
		symbol_job_free(job);
	map_clear(&s->subjects, subject_free);
	pthread_mutex_destroy(&s->lock);
	pthread_cond_destroy(&s->changed);
	free(s->pcs);
	free(s);
}

static struct subject *subject_get(struct symbolizer *s, struct process *p)
{
	struct subject *subject = map_find(&s->subjects, p->number);

	if (subject)
		return subject;
	subject = calloc(1, sizeof(*subject));
	if (!subject)
		return NULL;
	subject->process = p;
	subject->image = p->image;
	if (map_insert(&s->subjects, p->number, subject)) {
		free(subject);
		return NULL;
	}
	return subject;
}

int symbolizer_process(struct symbolizer *s, const char *json, size_t bytes)
{
	struct json object = json_open(json, bytes);
	struct process *p;
	struct subject *subject;
	char *copy;

	if (!json_member(object, "maps").at)
		return 0;
	p = model_process(s->model, (__u32)json_number(json_member(object, "pid")),
			  json_number(json_member(object, "start_ns")));
	subject = p ? subject_get(s, p) : NULL;
	copy = subject ? malloc(bytes) : NULL;
	if (!copy)
		return -ENOMEM;
	memcpy(copy, json, bytes);
	free(subject->json);
	subject->json = copy;
	subject->json_bytes = bytes;
	return 0;
}

static void subject_hand_over(struct symbolizer *s, struct subject *subject)
{
	if (!subject->job)
		return;
	pthread_mutex_lock(&s->lock);
	jobs_add(&s->waiting, subject->job);
	s->pending++;
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
	subject->job = NULL;
}

static bool frame_has_address(const struct frame *f)
{
	return f->raw.pc &&
	       (f->raw.kind == CUPROBE_FRAME_NATIVE || f->raw.kind == CUPROBE_FRAME_POINTER);
}

/* Puts the addresses of frames that are new into s->pcs. */
static int subject_new_addresses(struct symbolizer *s, struct subject *subject,
				 unsigned int *ret_count)
{
	const struct frame *end, *first = process_frames(subject->process, &end);
	size_t count = 0;

	for (const struct frame *f = first; f != end && f != subject->newest; f = f->next)
		count += frame_has_address(f);
	if (count > s->room) {
		__u64 *larger = realloc(s->pcs, 2 * count * sizeof(*larger));

		if (!larger)
			return -ENOMEM;
		s->pcs = larger;
		s->room = 2 * count;
	}
	count = 0;
	for (const struct frame *f = first; f != end && f != subject->newest; f = f->next) {
		if (frame_has_address(f))
			s->pcs[count++] = f->raw.pc;
	}
	subject->newest = first == end ? subject->newest : first;
	*ret_count = (unsigned int)count;
	return 0;
}

static int subject_look(struct symbolizer *s, struct subject *subject)
{
	const struct process *p = subject->process;
	unsigned int count;
	struct json maps;
	int err = subject_new_addresses(s, subject, &count);

	if (err || !count)
		return err;
	if (!subject->job)
		subject->job = symbol_job_new((pid_t)p->pid, p->start_ns, p->image);
	maps = json_member(json_open(subject->json, subject->json_bytes), "maps");
	return subject->job ? symbol_job_add(subject->job, s->pcs, count, maps) : -ENOMEM;
}

static int process_look(struct symbolizer *s, struct process *p)
{
	struct subject *subject = subject_get(s, p);
	int err;

	if (!subject)
		return -ENOMEM;
	if (subject->image != p->image)
		subject_hand_over(s, subject);
	subject->image = p->image;
	err = subject_look(s, subject);
	if (err || !subject->job)
		return err;
	subject->ended = subject->ended || proc_thread((pid_t)p->pid) < 0;
	if (subject->ended)
		subject_hand_over(s, subject);
	return 0;
}

static int symbolizer_tell(struct symbolizer *s)
{
	struct symbol_job *job;
	int err;

	do {
		pthread_mutex_lock(&s->lock);
		job = jobs_take(&s->ready);
		err = s->err;
		pthread_mutex_unlock(&s->lock);
		if (job && !err)
			err = s->handler.symbols(s->handler.arg, job->json, job->bytes);
		symbol_job_free(job);
	} while (job && !err);
	return err;
}

int symbolizer_look(struct symbolizer *s)
{
	int err = 0;

	for (struct process *p = model_processes(s->model); p && !err; p = p->next)
		err = process_look(s, p);
	return err ? err : symbolizer_tell(s);
}

static void hand_over(void *arg, void *value)
{
	subject_hand_over(arg, value);
}

int symbolizer_finish(struct symbolizer *s)
{
	int err = symbolizer_look(s);

	map_each(&s->subjects, hand_over, s);
	pthread_mutex_lock(&s->lock);
	while (s->pending)
		pthread_cond_wait(&s->changed, &s->lock);
	pthread_mutex_unlock(&s->lock);
	return err ? err : symbolizer_tell(s);
}
