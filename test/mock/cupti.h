/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the simulated libcupti share. It is compiled once for each version that
 * MOCK_CUPTI names (110800, 120400, 120900, 130000), with that version's records and functions.
 */
#ifndef CUPROBE_MOCK_CUPTI_H
#define CUPROBE_MOCK_CUPTI_H

#include "test/mock/tools.h"

#include <cupti.h>

#define MOCK_EXPORT __attribute__((visibility("default")))

/* Ids that this version does not know are neither dispatched nor recorded, and have no name. */
#if MOCK_CUPTI >= 130000
#define CUPTI_RUNTIME_SIZE 523
#define CUPTI_DRIVER_SIZE 807
#define CUPTI_VERSION_NUMBER 130001
#elif MOCK_CUPTI >= 120900
#define CUPTI_RUNTIME_SIZE 487
#define CUPTI_DRIVER_SIZE 784
#define CUPTI_VERSION_NUMBER 28
#elif MOCK_CUPTI >= 120400
#define CUPTI_RUNTIME_SIZE 468
#define CUPTI_DRIVER_SIZE 754
#define CUPTI_VERSION_NUMBER 22
#else
#define CUPTI_RUNTIME_SIZE 434
#define CUPTI_DRIVER_SIZE 677
#define CUPTI_VERSION_NUMBER 18
#endif
#define CUPTI_MAX_CBIDS 1024

/* cupti_core.c */
extern const struct mock_driver *drv; /* NULL until cupti_need succeeded */
extern __thread unsigned int cupti_in_buffer_callback, cupti_in_callback;

/* Begins every function: faults, forked children, libcuda, and attaching to it. */
CUptiResult cupti_begin(const char *function);
CUptiResult cupti_begin_detached(const char *function); /* the same, and does not attach */
#define CUPTI_BEGIN()                                                                              \
	do {                                                                                       \
		CUptiResult begin_ = cupti_begin(__func__);                                        \
		if (begin_)                                                                        \
			return begin_;                                                             \
	} while (0)
uint64_t cupti_time(void);		   /* now, in the client's clock */
void cupti_calibrate(void);		   /* the driver's clock to the client's */
uint64_t cupti_from_gpu(uint64_t time_ns); /* the driver's clock in the client's */
uint32_t cupti_thread_id(void);

/* cupti_callback.c */
extern const struct mock_tools cupti_tools;
void callback_reset(void);
void callback_resource(CUpti_CallbackIdResource id, CUcontext context, CUstream stream,
		       void *descriptor);
void callback_synchronized(CUpti_CallbackIdSync id, CUcontext context, CUstream stream);

/* cupti_activity.c */
bool activity_wanted(CUpti_ActivityKind kind);
bool activity_wanted_at(CUpti_ActivityKind kind, uint64_t time_ns); /* the driver's clock */
bool activity_any(void);
bool activity_latency(void);
bool activity_sources(void);	 /* cuptiActivityEnableAllocationSource */
bool activity_event_times(void); /* cuptiActivityEnableCudaEventDeviceTimestamps */
void activity_reset(void);

/* cupti_lane.c */
struct lane; /* a buffer that is being filled */
void lane_register(CUpti_BuffersCallbackRequestFunc request,
		   CUpti_BuffersCallbackCompleteFunc complete);
bool lane_registered(void);
struct lane *lane_device(void); /* of what GPUs did; only with the drain lock */
struct lane *lane_mine(void);	/* of what the calling thread did */
void lane_put(struct lane *lane, uint32_t kind, const void *record, size_t bytes);
void lane_flush_all(void);
void lane_given_back(const uint8_t *buffer); /* the client has it again */
size_t lane_dropped(void);		     /* since it was asked last */
void lane_reset(void);
void lane_fold(void); /* tells the truth what lies undelivered */

/* cupti_pending.c */
void pending_add(const struct mock_launch *launch);
void pending_drain(bool wait); /* reports what is done by now */
void pending_force(void);      /* and what is not, with times of 0 */
void pending_worker_start(void);
void pending_worker_stop(void);

/* cupti_deliver.c */
#define DELIVERY_COUNTS MOCK_MAX_KINDS
struct delivery {
	struct delivery *next;
	CUpti_BuffersCallbackCompleteFunc complete;
	uint8_t *buffer;
	size_t bytes, valid;
	uint64_t due_ns; /* UINT64_MAX: when the client has unsubscribed */
	uint32_t counts[DELIVERY_COUNTS];
};
void deliver_init(void); /* reads the script */
void deliver(const struct delivery *delivery);
bool deliver_loses(void);	 /* buffers that the client did not flush, at cuptiFinalize */
void deliver_flush(void);	 /* waits for what is not held back on purpose */
void deliver_unsubscribed(void); /* the moment that `complete after=unsubscribe` waits for */

/* cupti_script.c */
void script_check(void); /* the directives that libcupti obeys make sense */
enum script_loss { SCRIPT_KEPT, SCRIPT_DROPPED, SCRIPT_LOST };
enum script_loss script_drops(uint32_t kind);
bool script_changes(void); /* whether any record may have to be changed */
void script_change(uint32_t kind, void *record);
void script_emit(void); /* records whose time has come */

/* cupti_hazard.c */
void hazard_instantiated(struct CUgraphExec_st *exec);
void hazard_launched(struct CUgraphExec_st *exec);
void hazard_disabled(CUpti_ActivityKind kind);
uint32_t hazard_life(void); /* a number, from 1 on, of the time between two cuptiFinalize() */
void hazard_call_shown(struct mock_call *call);
void hazard_call_over(const struct mock_call *call);
void hazard_hidden(CUpti_CallbackDomain domain, CUpti_CallbackId cbid);
bool hazard_finalize_begin(uint32_t *ret_calls);
void hazard_finalize_end(bool alone, uint32_t calls);

/* cupti_pc.c */
void pc_launched(const struct mock_launch *launch);
void pc_module_loaded(CUcontext context);
void pc_context_destroyed(CUcontext context);
void pc_finalized(void);

/* cupti_record_gpu.c, cupti_record_host.c */
size_t record_bytes(uint32_t kind); /* 0: not a kind of this version */
void record_op(struct lane *lane, const struct mock_launch *launch, const struct mock_op *op,
	       uint64_t start_ns, uint64_t end_ns);
void record_graph(struct lane *lane, const struct mock_launch *launch, bool finished);
void record_call(const struct mock_call *call, uint64_t end_ns);
void record_sync(const struct mock_sync *sync);
void record_event(const struct CUevent_st *event, uint32_t correlation);
void record_memory(const struct mock_memory *memory);
void record_pool(uint32_t op, const struct CUmemPoolHandle_st *pool, uint32_t correlation);
void record_context(const struct CUctx_st *context);
void record_stream(const struct CUstream_st *stream);
void record_overhead_since(uint32_t kind, uint64_t start_ns);
void record_existing(CUpti_ActivityKind kind);

#endif
