/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Activity buffers. What GPUs did goes into one buffer, what a thread did into that thread's own
 * (before CUPTI 12.4: all threads' into one). A full buffer goes back on the thread that filled it,
 * so that several threads complete buffers at the same time.
 */
#include "test/mock/cupti.h"

#include <stdlib.h>
#include <string.h>

#define CANARY 0xc0ffee0dcafef00dull
#define MAX_THREADS 256

struct lane {
	pthread_mutex_t lock; /* protects all below; taken before out_lock */
	uint8_t *buffer;      /* NULL: none was asked for yet, or the client had none */
	size_t bytes, used, records, max_records;
	uint32_t counts[MOCK_MAX_KINDS]; /* of records in the buffer that nobody was told of */
	uint32_t told[MOCK_MAX_KINDS];	 /* of those that the truth knows as made */
	_Atomic bool owned;		 /* by a living thread */
};

static struct lane device_lane = {.lock = PTHREAD_MUTEX_INITIALIZER};
static struct lane thread_lanes[MAX_THREADS];
static __thread struct lane *my_lane;
static pthread_once_t lanes_once = PTHREAD_ONCE_INIT;
static pthread_key_t lane_key;
static CUpti_BuffersCallbackRequestFunc _Atomic request_buffer;
static CUpti_BuffersCallbackCompleteFunc _Atomic complete_buffer;
static _Atomic size_t dropped;

/* What the client has given out and not got back, to see that nothing is given out twice. */
static pthread_mutex_t out_lock = PTHREAD_MUTEX_INITIALIZER;
static uint8_t *out[MAX_THREADS + 1];

static void lane_release(void *lane)
{
	atomic_store(&((struct lane *)lane)->owned, false);
}

static void lanes_init(void)
{
	pthread_key_create(&lane_key, lane_release);
	for (size_t i = 0; i < MAX_THREADS; i++)
		pthread_mutex_init(&thread_lanes[i].lock, NULL);
}

void lane_register(CUpti_BuffersCallbackRequestFunc request,
		   CUpti_BuffersCallbackCompleteFunc complete)
{
	atomic_store(&request_buffer, request);
	atomic_store(&complete_buffer, complete);
}

bool lane_registered(void)
{
	return atomic_load(&request_buffer) != NULL;
}

struct lane *lane_device(void)
{
	return &device_lane;
}

struct lane *lane_mine(void)
{
	bool free_lane = false;

	if (my_lane)
		return my_lane;
	pthread_once(&lanes_once, lanes_init);
	for (size_t i = 0; MOCK_CUPTI >= 120400 && i < MAX_THREADS; i++, free_lane = false) {
		if (!atomic_compare_exchange_strong(&thread_lanes[i].owned, &free_lane, true))
			continue;
		my_lane = &thread_lanes[i];
		pthread_setspecific(lane_key, my_lane);
		return my_lane;
	}
	my_lane = &thread_lanes[0];
	return my_lane;
}

static void out_add(uint8_t *buffer)
{
	size_t room = MAX_THREADS + 1;

	pthread_mutex_lock(&out_lock);
	for (size_t i = 0; i <= MAX_THREADS; i++) {
		if (out[i] == buffer)
			drv->violation("a buffer that CUPTI still has was handed out again");
		if (!out[i] && room > MAX_THREADS)
			room = i;
	}
	if (room <= MAX_THREADS)
		out[room] = buffer;
	pthread_mutex_unlock(&out_lock);
}

void lane_given_back(const uint8_t *buffer)
{
	pthread_mutex_lock(&out_lock);
	for (size_t i = 0; i <= MAX_THREADS; i++) {
		if (out[i] == buffer)
			out[i] = NULL;
	}
	pthread_mutex_unlock(&out_lock);
}

static void lane_request(struct lane *lane)
{
	CUpti_BuffersCallbackRequestFunc request = atomic_load(&request_buffer);
	uint8_t *buffer = NULL;
	size_t bytes = 0, max_records = 0;

	if (!request)
		return;
	cupti_in_buffer_callback++;
	request(&buffer, &bytes, &max_records);
	cupti_in_buffer_callback--;
	if (!buffer || !bytes) {
		if (MOCK_CUPTI < 120900)
			drv->violation("no buffer was handed out; CUPTI before 12.9 crashes");
		return;
	}
	if ((uintptr_t)buffer % ACTIVITY_RECORD_ALIGNMENT)
		drv->violation("a buffer is not aligned to %d", ACTIVITY_RECORD_ALIGNMENT);
	out_add(buffer);
	lane->buffer = buffer;
	lane->bytes = bytes;
	lane->max_records = max_records;
	lane->used = 0;
	lane->records = 0;
}

/* A word behind the last record tells whether the client writes to a buffer that is not its own. */
static void canary_put(struct lane *lane)
{
	const uint64_t word = CANARY;

	if (lane->used + sizeof(word) <= lane->bytes)
		memcpy(lane->buffer + lane->used, &word, sizeof(word));
}

static void canary_check(const struct lane *lane)
{
	const uint64_t word = CANARY;

	if (lane->used && lane->used + sizeof(word) <= lane->bytes &&
	    memcmp(lane->buffer + lane->used, &word, sizeof(word)))
		drv->violation("a buffer was written to while CUPTI had it");
}

static void lane_tell_made(struct lane *lane)
{
	for (uint32_t kind = 0; kind < MOCK_MAX_KINDS; kind++) {
		if (!lane->counts[kind])
			continue;
		drv->count_records(kind, MOCK_MADE, lane->counts[kind]);
		lane->told[kind] += lane->counts[kind];
		lane->counts[kind] = 0;
	}
}

static void lane_complete(struct lane *lane)
{
	struct delivery delivery = {.complete = atomic_load(&complete_buffer),
				    .buffer = lane->buffer,
				    .bytes = lane->bytes,
				    .valid = lane->used};

	if (!delivery.buffer || !delivery.complete)
		return;
	canary_check(lane);
	lane_tell_made(lane);
	memcpy(delivery.counts, lane->told, sizeof(lane->told));
	memset(lane->told, 0, sizeof(lane->told));
	lane->buffer = NULL;
	deliver(&delivery);
}

static bool lane_room(const struct lane *lane, size_t bytes)
{
	return lane->buffer && lane->used + bytes <= lane->bytes &&
	       (!lane->max_records || lane->records < lane->max_records);
}

/* Counted by CUPTI only where it knows of the loss. */
static void lane_drop(uint32_t kind, bool known)
{
	drv->count_records(kind, MOCK_MADE, 1);
	if (!known)
		return;
	atomic_fetch_add(&dropped, 1);
	drv->count_records(kind, MOCK_DROPPED, 1);
}

static void lane_append(struct lane *lane, uint32_t kind, const void *record, size_t bytes)
{
	canary_check(lane);
	memcpy(lane->buffer + lane->used, record, bytes);
	if (script_changes())
		script_change(kind, lane->buffer + lane->used);
	lane->used += bytes;
	lane->records++;
	lane->counts[kind < MOCK_MAX_KINDS ? kind : MOCK_MAX_KINDS - 1]++;
	canary_put(lane);
}

void lane_put(struct lane *lane, uint32_t kind, const void *record, size_t bytes)
{
	enum script_loss loss = script_drops(kind);

	if (loss != SCRIPT_KEPT) {
		lane_drop(kind, loss == SCRIPT_DROPPED);
		return;
	}
	pthread_mutex_lock(&lane->lock);
	if (!lane_room(lane, bytes)) {
		lane_complete(lane);
		lane_request(lane);
	}
	if (lane_room(lane, bytes))
		lane_append(lane, kind, record, bytes);
	else
		lane_drop(kind, true);
	pthread_mutex_unlock(&lane->lock);
}

static void lane_flush(struct lane *lane)
{
	pthread_mutex_lock(&lane->lock);
	if (lane->buffer && lane->used)
		lane_complete(lane);
	pthread_mutex_unlock(&lane->lock);
}

void lane_flush_all(void)
{
	pthread_once(&lanes_once, lanes_init);
	lane_flush(&device_lane);
	for (size_t i = 0; i < MAX_THREADS; i++)
		lane_flush(&thread_lanes[i]);
}

size_t lane_dropped(void)
{
	return atomic_exchange(&dropped, 0);
}

/* What the client did not flush comes back, or with `complete finalize=lose` never does. */
static void lane_end(struct lane *lane)
{
	pthread_mutex_lock(&lane->lock);
	if (deliver_loses()) {
		lane_tell_made(lane);
		memset(lane->told, 0, sizeof(lane->told));
		if (lane->buffer)
			lane_given_back(lane->buffer);
		lane->buffer = NULL;
	} else {
		lane_complete(lane);
	}
	pthread_mutex_unlock(&lane->lock);
}

void lane_reset(void)
{
	pthread_once(&lanes_once, lanes_init);
	lane_end(&device_lane);
	for (size_t i = 0; i < MAX_THREADS; i++)
		lane_end(&thread_lanes[i]);
	lane_register(NULL, NULL);
}

void lane_fold(void)
{
	struct lane *lane = &device_lane;

	pthread_once(&lanes_once, lanes_init);
	for (size_t i = 0; i <= MAX_THREADS; lane = &thread_lanes[i++ % MAX_THREADS]) {
		pthread_mutex_lock(&lane->lock);
		lane_tell_made(lane);
		pthread_mutex_unlock(&lane->lock);
	}
}
