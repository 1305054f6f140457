/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work that was launched and is not reported yet. Its times are known at launch, but a record of it
 * must not exist before the GPU has done it. A worker thread reports what is done every
 * millisecond; threads that wait for the GPU and threads that flush do so too.
 */
#include "test/mock/cupti.h"

#include <stdlib.h>
#include <string.h>

#define SHARDS 16
#define WORKER_NS 1000000
#define MAX_BACKLOG 100000

struct pending {
	struct mock_launch launch;
	struct mock_op op; /* the only one, unless it is a graph launch */
	bool whole_graph;
	uint8_t wanted; /* a bit for each kind of op, as it was at the launch */
};

struct shard {
	pthread_mutex_t lock; /* protects the others */
	struct pending *items;
	size_t count, room;
};

static struct shard shards[SHARDS] = {[0 ... SHARDS - 1] = {.lock = PTHREAD_MUTEX_INITIALIZER}};
/* One thread reports at a time; taken before shard and lane locks. Protects batch. */
static pthread_mutex_t drain_lock = PTHREAD_MUTEX_INITIALIZER;
static struct shard batch = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Ops that wait to be reported; with too many the launching thread reports them itself. */
static _Atomic uint64_t backlog, drained_ns;

static pthread_mutex_t worker_lock = PTHREAD_MUTEX_INITIALIZER; /* protects the two below */
static pthread_cond_t worker_wake = PTHREAD_COND_INITIALIZER;
static bool worker_running;
static pthread_t worker;

static bool shard_add(struct shard *shard, const struct pending *item)
{
	if (shard->count == shard->room) {
		size_t room = shard->room ? 2 * shard->room : 256;
		void *grown = realloc(shard->items, room * sizeof(*item));

		if (!grown)
			return false;
		shard->items = grown;
		shard->room = room;
	}
	shard->items[shard->count++] = *item;
	return true;
}

/* A bit for each kind of op that is recorded now. */
static uint8_t ops_wanted(void)
{
	uint8_t wanted = 0;

	if (activity_wanted(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) ||
	    activity_wanted(CUPTI_ACTIVITY_KIND_KERNEL))
		wanted |= 1 << MOCK_KERNEL;
	if (activity_wanted(CUPTI_ACTIVITY_KIND_MEMCPY))
		wanted |= 1 << MOCK_COPY;
	if (activity_wanted(CUPTI_ACTIVITY_KIND_MEMCPY2))
		wanted |= 1 << MOCK_PEER_COPY;
	if (activity_wanted(CUPTI_ACTIVITY_KIND_MEMSET))
		wanted |= 1 << MOCK_SET;
	if (activity_wanted(CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER))
		wanted |= 1 << MOCK_MIGRATION;
	return wanted;
}

void pending_add(const struct mock_launch *launch)
{
	struct shard *shard = &shards[((uintptr_t)launch->stream >> 6) % SHARDS];
	struct pending item;

	if (launch->exec)
		hazard_launched(launch->exec);
	item.wanted = ops_wanted();
	item.whole_graph = launch->exec && activity_wanted(CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
	if (!item.wanted && !item.whole_graph)
		return;
	item.launch = *launch;
	if (!launch->exec)
		item.op = *launch->ops;
	pthread_mutex_lock(&shard->lock);
	shard_add(shard, &item);
	pthread_mutex_unlock(&shard->lock);
	if (atomic_fetch_add(&backlog, launch->op_count) > MAX_BACKLOG &&
	    launch->queued_ns > atomic_load(&drained_ns) + WORKER_NS)
		pending_drain(true);
}

/* Moves what is done at `now` to the batch; the rest keeps its order. */
static void shard_collect(struct shard *shard, uint64_t now)
{
	size_t left = 0;

	pthread_mutex_lock(&shard->lock);
	for (size_t i = 0; i < shard->count; i++) {
		struct pending *item = &shard->items[i];

		if (item->launch.end_ns <= now && shard_add(&batch, item)) {
			atomic_fetch_sub(&backlog, item->launch.op_count);
			continue;
		}
		if (left != i)
			shard->items[left] = *item;
		left++;
	}
	shard->count = left;
	pthread_mutex_unlock(&shard->lock);
}

static void pending_report(const struct pending *item, bool finished)
{
	const struct mock_op *ops = item->launch.exec ? item->launch.ops : &item->op;
	uint64_t at = item->launch.start_ns, end;

	if (item->whole_graph) {
		record_graph(lane_device(), &item->launch, finished);
		return;
	}
	for (uint32_t i = 0; i < item->launch.op_count; i++, at = end) {
		end = at + ops[i].duration_ns;
		if (item->wanted & 1 << ops[i].kind)
			record_op(lane_device(), &item->launch, &ops[i], finished ? at : 0,
				  finished ? end : 0);
	}
}

static void batch_report(bool finished)
{
	for (size_t i = 0; i < batch.count; i++)
		pending_report(&batch.items[i], finished);
	batch.count = 0;
}

void pending_drain(bool wait)
{
	uint64_t now = drv->now();

	if (wait)
		pthread_mutex_lock(&drain_lock);
	else if (pthread_mutex_trylock(&drain_lock))
		return;
	cupti_calibrate();
	for (size_t i = 0; i < SHARDS; i++)
		shard_collect(&shards[i], now);
	batch_report(true);
	atomic_store(&drained_ns, drv->now());
	pthread_mutex_unlock(&drain_lock);
}

void pending_force(void)
{
	pending_drain(true);
	pthread_mutex_lock(&drain_lock);
	for (size_t i = 0; i < SHARDS; i++)
		shard_collect(&shards[i], UINT64_MAX);
	batch_report(false);
	pthread_mutex_unlock(&drain_lock);
}

static bool worker_sleep(void)
{
	struct timespec until;
	bool running;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += WORKER_NS;
	if (until.tv_nsec >= 1000000000) {
		until.tv_nsec -= 1000000000;
		until.tv_sec++;
	}
	pthread_mutex_lock(&worker_lock);
	if (worker_running)
		pthread_cond_timedwait(&worker_wake, &worker_lock, &until);
	running = worker_running;
	pthread_mutex_unlock(&worker_lock);
	return running;
}

static void *worker_main(void *unused)
{
	(void)unused;
	pthread_setname_np(pthread_self(), "mock-cupti");
	while (worker_sleep()) {
		script_emit();
		pending_drain(true);
	}
	return NULL;
}

void pending_worker_start(void)
{
	pthread_mutex_lock(&worker_lock);
	if (!worker_running)
		worker_running = !pthread_create(&worker, NULL, worker_main, NULL);
	pthread_mutex_unlock(&worker_lock);
}

void pending_worker_stop(void)
{
	bool running;

	pthread_mutex_lock(&worker_lock);
	running = worker_running;
	worker_running = false;
	pthread_cond_signal(&worker_wake);
	pthread_mutex_unlock(&worker_lock);
	if (running && !pthread_equal(worker, pthread_self()))
		pthread_join(worker, NULL);
}
