/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/notice.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "src/inject/clock.h"

/* Protects the ring; nothing is taken under it and no application thread comes here but at start.
 */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct cuprobe_notice ring[CUPROBE_NOTICES];
static unsigned int head, tail; /* tail..head are not taken yet; a full ring loses the oldest */

static void notice_put(const struct cuprobe_notice *notice)
{
	pthread_mutex_lock(&lock);
	ring[head++ % CUPROBE_NOTICES] = *notice;
	if (head - tail > CUPROBE_NOTICES)
		tail = head - CUPROBE_NOTICES;
	pthread_mutex_unlock(&lock);
}

void cuprobe_notice_message(enum cuprobe_severity severity, int code, const char *remedy,
			    const char *format, ...)
{
	struct cuprobe_notice notice = {
		.time_ns = cuprobe_clock_now(),
		.type = CUPROBE_STATUS_MESSAGE,
		.severity = severity,
		.code = code,
		.remedy = remedy,
	};
	va_list args;

	va_start(args, format);
	vsnprintf(notice.text, sizeof(notice.text), format, args);
	va_end(args);
	cuprobe_log(severity, "%s%s%s", notice.text, remedy ? ": " : "", remedy ? remedy : "");
	notice_put(&notice);
}

void cuprobe_notice_state(enum cuprobe_state state, __u32 active_probes, const char *detail)
{
	static const char *const names[] = {"dormant", "active", "yielded", "releasing", "failed"};
	struct cuprobe_notice notice = {
		.time_ns = cuprobe_clock_now(),
		.type = CUPROBE_STATUS_STATE,
		.state = state,
		.active_probes = active_probes,
	};

	snprintf(notice.text, sizeof(notice.text), "%s", detail ? detail : "");
	cuprobe_log(CUPROBE_NOTE, "%s, collecting %#x%s%s", names[state], active_probes,
		    detail ? ": " : "", detail ? detail : "");
	notice_put(&notice);
}

bool cuprobe_notice_take(struct cuprobe_notice *ret)
{
	bool taken;

	pthread_mutex_lock(&lock);
	taken = tail != head;
	if (taken)
		*ret = ring[tail++ % CUPROBE_NOTICES];
	pthread_mutex_unlock(&lock);
	return taken;
}
