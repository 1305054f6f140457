/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/status.h"

#include "cuprobe/abi.h"
#include "src/inject/batch.h"
#include "src/inject/clock.h"
#include "src/inject/ledger.h"
#include "src/inject/notice.h"
#include "src/inject/outlet.h"
#include "src/inject/parca_told.h"
#include "src/inject/strings.h"

#define KEPT_MESSAGES 32u

static struct cuprobe_status state = {.type = CUPROBE_STATUS_STATE};
static struct cuprobe_status messages[KEPT_MESSAGES]; /* a ring; the newest are kept */
static __u32 message_count;
static __u32 replay_next; /* 0 the state, then the messages */
static bool replaying;

static bool wanted(void)
{
	return cuprobe_outlet->consumers(CUPROBE_PROBE_status) > 0;
}

static void record_publish(const struct cuprobe_status *record)
{
	struct cuprobe_status *place = cuprobe_batch_add(CUPROBE_PROBE_status);

	*place = *record;
}

static void notice_keep(const struct cuprobe_notice *notice)
{
	struct cuprobe_status *record = &state;

	if (notice->type == CUPROBE_STATUS_MESSAGE)
		record = &messages[message_count++ % KEPT_MESSAGES];
	*record = (struct cuprobe_status){.time_ns = notice->time_ns, .type = notice->type};
	if (notice->type == CUPROBE_STATUS_STATE)
		record->state = (struct cuprobe_status_state){
			.state = notice->state,
			.detail = *notice->text ? cuprobe_strings_id(notice->text) : 0,
			.active_probes = notice->active_probes,
		};
	else
		record->message = (struct cuprobe_status_message){
			.severity = notice->severity,
			.code = notice->code,
			.text = cuprobe_strings_id(notice->text),
			.remedy = cuprobe_strings_id(notice->remedy),
		};
	if (notice->type == CUPROBE_STATUS_MESSAGE)
		cuprobe_parca_error(&record->message);
	if (wanted())
		record_publish(record);
}

void cuprobe_status_each_message(void (*each)(const struct cuprobe_status_message *message))
{
	__u32 first = message_count > KEPT_MESSAGES ? message_count - KEPT_MESSAGES : 0;

	for (__u32 i = first; i < message_count; i++)
		each(&messages[i % KEPT_MESSAGES].message);
}

bool cuprobe_status_take_notices(void)
{
	struct cuprobe_notice notice;
	bool any = false;

	while (cuprobe_notice_take(&notice)) {
		notice_keep(&notice);
		any = true;
	}
	return any;
}

/* That of `status` itself, which comes last, is what is true by the time it can be read. */
static void ledger_publish(__u32 probe, __u64 now)
{
	struct cuprobe_status *record = cuprobe_batch_add(CUPROBE_PROBE_status);

	*record = (struct cuprobe_status){.time_ns = now, .type = CUPROBE_STATUS_LEDGER};
	cuprobe_ledger_read(probe, &record->ledger);
	if (probe != CUPROBE_PROBE_status)
		return;
	record->ledger.fired += record->ledger.pending;
	record->ledger.pending = 0;
}

void cuprobe_status_ledgers(void)
{
	__u64 now = cuprobe_clock_now();

	if (!wanted())
		return;
	for (__u32 probe = 0; probe < CUPROBE_PROBE_COUNT; probe++) {
		if (probe != CUPROBE_PROBE_status)
			ledger_publish(probe, now);
	}
	ledger_publish(CUPROBE_PROBE_status, now);
}

void cuprobe_status_replay_begin(void)
{
	replay_next = 0;
	replaying = true;
}

bool cuprobe_status_replay(__u32 records)
{
	__u32 kept = message_count < KEPT_MESSAGES ? message_count : KEPT_MESSAGES;

	if (!replaying)
		return false;
	for (; records && replay_next <= kept; records--, replay_next++)
		record_publish(replay_next ? &messages[replay_next - 1] : &state);
	replaying = replay_next <= kept;
	return replaying;
}
