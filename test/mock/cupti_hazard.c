/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the real library breaks when it comes to CUDA graphs late or goes in the wrong way, as it
 * was seen on an H200 with driver 580 and CUPTI 11.8, 12.4, 12.9 and 13.0:
 *
 * - A graph that was instantiated without GRAPH_TRACE crashes when it is launched with it.
 * - A graph that was launched while kernels, copies or memsets were traced holds on to CUPTI's
 *   memory. cuptiFinalize() lets go of it while those kinds are on; when one of them has been
 *   switched off before, or with GRAPH_TRACE, the next launch of that graph fails.
 * - cuptiFinalize() with kinds on, while another thread is inside a CUDA call, corrupts the heap.
 * - So it does after a callback was switched off during the call that it had shown the beginning
 * of.
 */
#include "test/mock/cupti.h"

#include <time.h>

#define HELD_FOR_GOOD (1u << 31)
#define FINALIZE_NS 300000 /* that long another thread can come in between */

static const CUpti_ActivityKind holding_kinds[] = {
	CUPTI_ACTIVITY_KIND_GRAPH_TRACE, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
	CUPTI_ACTIVITY_KIND_KERNEL,	 CUPTI_ACTIVITY_KIND_MEMCPY,
	CUPTI_ACTIVITY_KIND_MEMCPY2,	 CUPTI_ACTIVITY_KIND_MEMSET,
};

/* The bit of a kind in CUgraphExec_st.held; 0 for kinds that hold nothing. */
static uint32_t holding_bit(CUpti_ActivityKind kind)
{
	for (unsigned int i = 0; i < sizeof(holding_kinds) / sizeof(*holding_kinds); i++) {
		if (holding_kinds[i] == kind)
			return 1u << i;
	}
	return 0;
}

/* Calls of which ENTER was shown, by whether that was in an even or an odd life of CUPTI. */
static atomic_uint under_way[2][CUPTI_CB_DOMAIN_SIZE][CUPTI_MAX_CBIDS];
static atomic_uint life = 1;
static atomic_bool cut_short; /* one of them will not be shown its EXIT */

uint32_t hazard_life(void)
{
	return atomic_load(&life);
}

void hazard_call_shown(struct mock_call *call)
{
	call->shown = hazard_life();
	atomic_fetch_add(&under_way[call->shown % 2][call->domain][call->cbid], 1);
}

void hazard_call_over(const struct mock_call *call)
{
	if (call->shown)
		atomic_fetch_sub(&under_way[call->shown % 2][call->domain][call->cbid], 1);
}

void hazard_hidden(CUpti_CallbackDomain domain, CUpti_CallbackId cbid)
{
	if (atomic_load(&under_way[hazard_life() % 2][domain][cbid]))
		atomic_store(&cut_short, true);
}

void hazard_instantiated(struct CUgraphExec_st *exec)
{
	atomic_store(&exec->traceable, activity_wanted(CUPTI_ACTIVITY_KIND_GRAPH_TRACE));
}

void hazard_launched(struct CUgraphExec_st *exec)
{
	bool whole = activity_wanted(CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
	uint32_t held = whole ? HELD_FOR_GOOD : 0;

	for (unsigned int i = 0; i < sizeof(holding_kinds) / sizeof(*holding_kinds); i++) {
		if (activity_wanted(holding_kinds[i]))
			held |= 1u << i;
	}
	if (held & ~atomic_load_explicit(&exec->held, memory_order_relaxed))
		atomic_fetch_or(&exec->held, held);
	if (whole && !atomic_load(&exec->traceable))
		drv->violation("a graph that was instantiated without GRAPH_TRACE was launched "
			       "with it");
}

void hazard_disabled(CUpti_ActivityKind kind)
{
	uint32_t bit = holding_bit(kind);

	for (struct CUgraphExec_st *exec = drv->graphs(); bit && exec; exec = exec->next) {
		if (atomic_load(&exec->held) & bit)
			atomic_fetch_or(&exec->held, HELD_FOR_GOOD);
	}
}

/*
 * Before anything is taken down; true when no other thread may be inside a CUDA call. *ret_calls is
 * how many there must have been at the end, a number that is past when there is one already.
 */
bool hazard_finalize_begin(uint32_t *ret_calls)
{
	const struct timespec window = {.tv_nsec = FINALIZE_NS};

	*ret_calls = drv->calls_begun() - (drv->calls_inside() > 1);
	if (!activity_any())
		return false;
	nanosleep(&window, NULL);
	return true;
}

void hazard_finalize_end(bool alone, uint32_t calls)
{
	if (atomic_exchange(&cut_short, false))
		drv->violation(
			"cuptiFinalize called after a callback was switched off during a call");
	atomic_fetch_add(&life, 1);
	if (alone && calls != drv->calls_begun())
		drv->violation("cuptiFinalize called with kinds on and another thread inside CUDA");
	for (struct CUgraphExec_st *exec = drv->graphs(); exec; exec = exec->next) {
		if (atomic_exchange(&exec->held, 0) & HELD_FOR_GOOD)
			atomic_store(&exec->broken, true);
	}
}
