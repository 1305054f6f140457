/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How buffers come back to the client. By default on the thread that filled them or that flushes;
 * the directive `complete` makes them come late, in another order, on threads of their own, or only
 * after the client has unsubscribed.
 */
#include "test/mock/cupti.h"
#include "test/mock/script.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_THREADS 8

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects the queue and `active` */
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct delivery *queue;
static unsigned int queued, active; /* active: being delivered just now */
static _Atomic bool started, unsubscribed;
static bool directed, random_order, after_unsubscribe, loses;
static int64_t late_ms, thread_count;

void deliver_init(void)
{
	struct script_line *line = drv->script_next("complete", NULL);
	const char *order, *after, *end;

	if (!line)
		return;
	end = drv->script_get(line, "finalize");
	loses = end && !strcmp(end, "lose");
	directed = !end || line->arg_count > 1;
	order = drv->script_get(line, "order");
	after = drv->script_get(line, "after");
	random_order = order && !strcmp(order, "random");
	after_unsubscribe = after && !strcmp(after, "unsubscribe");
	if ((order && !random_order) || (after && !after_unsubscribe) || (end && !loses))
		drv->script_error(line, "order=random, after=unsubscribe and finalize=lose are "
					"all there is");
	late_ms = drv->script_number(line, "late", 0);
	thread_count = drv->script_number(line, "threads", 1);
	if (thread_count < 1 || thread_count > MAX_THREADS)
		drv->script_error(line, "threads=1 to %d", MAX_THREADS);
}

bool deliver_loses(void)
{
	return loses;
}

static void delivery_give(const struct delivery *d)
{
	for (uint32_t kind = 0; kind < DELIVERY_COUNTS; kind++) {
		if (d->counts[kind])
			drv->count_records(kind, MOCK_DELIVERED, d->counts[kind]);
	}
	lane_given_back(d->buffer);
	cupti_in_buffer_callback++;
	d->complete(NULL, 0, d->buffer, d->bytes, d->valid);
	cupti_in_buffer_callback--;
}

static bool delivery_due(const struct delivery *d, uint64_t now)
{
	if (after_unsubscribe && !atomic_load(&unsubscribed))
		return false;
	return d->due_ns <= now;
}

/* Takes one that is due out of the queue, the oldest or any; NULL when there is none. */
static struct delivery *queue_take(void)
{
	struct delivery **at = &queue, *taken;
	uint64_t now = drv->now();
	unsigned int skip = random_order && queued ? (unsigned int)rand() % queued : 0;

	for (; *at; at = &(*at)->next) {
		if (!delivery_due(*at, now))
			continue;
		if (!skip || !(*at)->next)
			break;
		skip--;
	}
	taken = *at;
	if (taken) {
		*at = taken->next;
		queued--;
		active++;
	}
	return taken;
}

static void queue_sleep(void)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += 1000000;
	if (until.tv_nsec >= 1000000000) {
		until.tv_nsec -= 1000000000;
		until.tv_sec++;
	}
	pthread_cond_timedwait(&changed, &lock, &until);
}

static void *deliver_main(void *unused)
{
	struct delivery *d;

	(void)unused;
	pthread_setname_np(pthread_self(), "mock-deliver");
	pthread_mutex_lock(&lock);
	for (;;) {
		d = queue_take();
		if (!d) {
			queue_sleep();
			continue;
		}
		pthread_mutex_unlock(&lock);
		delivery_give(d);
		free(d);
		pthread_mutex_lock(&lock);
		active--;
		pthread_cond_broadcast(&changed);
	}
	return NULL;
}

static void deliver_start(void)
{
	pthread_t thread;

	if (atomic_exchange(&started, true))
		return;
	for (int64_t i = 0; i < thread_count; i++) {
		if (!pthread_create(&thread, NULL, deliver_main, NULL))
			pthread_detach(thread);
	}
}

void deliver(const struct delivery *delivery)
{
	struct delivery *copy, **end;

	if (!directed) {
		delivery_give(delivery);
		return;
	}
	copy = malloc(sizeof(*copy));
	*copy = *delivery;
	copy->next = NULL;
	copy->due_ns = drv->now() + (uint64_t)late_ms * 1000000;
	deliver_start();
	pthread_mutex_lock(&lock);
	for (end = &queue; *end; end = &(*end)->next)
		continue;
	*end = copy;
	queued++;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

void deliver_flush(void)
{
	if (!directed || late_ms || after_unsubscribe)
		return;
	pthread_mutex_lock(&lock);
	while (queued || active)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
}

void deliver_unsubscribed(void)
{
	atomic_store(&unsubscribed, true);
}
