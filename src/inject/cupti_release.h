/* SPDX-License-Identifier: Apache-2.0 */
/* Giving CUPTI back, in the way that is harmless for what the process has done meanwhile. */
#ifndef CUPROBE_INJECT_CUPTI_RELEASE_H
#define CUPROBE_INJECT_CUPTI_RELEASE_H

#include <cupti.h>
#include <stdbool.h>

enum cuprobe_release_way {
	CUPROBE_WAY_UNSUBSCRIBE,
	CUPROBE_WAY_FINALIZE,	       /* every kind is switched off before */
	CUPROBE_WAY_FINALIZE_KINDS_ON, /* none is: graphs would break */
};

/* A subscription begins. */
void cuprobe_release_prepare(CUpti_SubscriberHandle of);

/*
 * To be told of each call that is shown, on the application's thread. True when it is the one that
 * has to finalise CUPTI, and then, outside the guard: CUPTI hands buffers back meanwhile.
 */
bool cuprobe_release_call(const CUpti_CallbackData *call, bool uses_graph);
void cuprobe_release_finalize(void);

/* The process was seen to use CUDA graphs since CUPTI came up. */
bool cuprobe_release_saw_graphs(void);

/* Which way is open now. */
enum cuprobe_release_way cuprobe_release_way(void);

/* Begins the release; what has to be switched off is, and flushed. */
void cuprobe_release_begin(enum cuprobe_release_way way);

/* Asked again and again, goes on with it; true when it is complete. */
bool cuprobe_release_is_done(void);

/* The way that was begun has turned out to be closed: cancel, and ask for another. */
bool cuprobe_release_is_futile(void);

/* Takes a release back. False when it is too late, and cuprobe_release_is_done() soon true. */
bool cuprobe_release_cancel(void);

#endif
