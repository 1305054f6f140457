/* SPDX-License-Identifier: Apache-2.0 */
#include "src/collector/output/behind.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>

#define BUFFERS 4

struct behind {
	int (*write)(void *arg, const char *data, size_t bytes);
	void *arg;
	size_t room;
	pthread_t thread;
	pthread_mutex_t lock; /* what follows; nothing is taken under it */
	pthread_cond_t more;  /* for the thread: handed over, or done */
	pthread_cond_t less;  /* for the caller: written */
	unsigned int handed_over, written;
	size_t bytes[BUFFERS];
	bool done;
	int err;
	char buffers[];
};

static char *buffer_of(struct behind *b, unsigned int number)
{
	return b->buffers + number % BUFFERS * b->room;
}

static void *behind_run(void *arg)
{
	struct behind *b = arg;

	pthread_mutex_lock(&b->lock);
	while (b->written != b->handed_over || !b->done) {
		int err = b->err;

		if (b->written == b->handed_over) {
			pthread_cond_wait(&b->more, &b->lock);
			continue;
		}
		pthread_mutex_unlock(&b->lock);
		if (!err)
			err = b->write(b->arg, buffer_of(b, b->written),
				       b->bytes[b->written % BUFFERS]);
		pthread_mutex_lock(&b->lock);
		b->err = err;
		b->written++;
		pthread_cond_signal(&b->less);
	}
	pthread_mutex_unlock(&b->lock);
	return NULL;
}

/* The thread takes no signals: they are the verb's. */
static int behind_start(struct behind *b)
{
	sigset_t all, before;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = -pthread_create(&b->thread, NULL, behind_run, b);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return err;
}

int behind_open(struct behind **ret, size_t room,
		int (*write)(void *arg, const char *data, size_t bytes), void *arg,
		char **ret_buffer)
{
	struct behind *b = calloc(1, sizeof(*b) + BUFFERS * room);
	int err;

	if (!b)
		return -ENOMEM;
	b->write = write;
	b->arg = arg;
	b->room = room;
	pthread_mutex_init(&b->lock, NULL);
	pthread_cond_init(&b->more, NULL);
	pthread_cond_init(&b->less, NULL);
	err = behind_start(b);
	if (err) {
		free(b);
		return err;
	}
	*ret_buffer = buffer_of(b, 0);
	*ret = b;
	return 0;
}

int behind_swap(struct behind *b, size_t bytes, char **buffer)
{
	int err;

	pthread_mutex_lock(&b->lock);
	b->bytes[b->handed_over++ % BUFFERS] = bytes;
	pthread_cond_signal(&b->more);
	while (b->handed_over - b->written == BUFFERS)
		pthread_cond_wait(&b->less, &b->lock);
	*buffer = buffer_of(b, b->handed_over);
	err = b->err;
	pthread_mutex_unlock(&b->lock);
	return err;
}

int behind_wait(struct behind *b)
{
	int err;

	pthread_mutex_lock(&b->lock);
	while (b->written != b->handed_over)
		pthread_cond_wait(&b->less, &b->lock);
	err = b->err;
	pthread_mutex_unlock(&b->lock);
	return err;
}

void behind_free(struct behind *b)
{
	if (!b)
		return;
	pthread_mutex_lock(&b->lock);
	b->done = true;
	pthread_cond_signal(&b->more);
	pthread_mutex_unlock(&b->lock);
	pthread_join(b->thread, NULL);
	free(b);
}
