/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the simulated libcuda, libcudart and libcupti know of each other. The real ones share such a
 * table too, through cuGetExportTable; here it is the symbol `mock_driver_table` of libcuda.so.1.
 */
#ifndef CUPROBE_MOCK_TOOLS_H
#define CUPROBE_MOCK_TOOLS_H

#include <cuda.h>
#include <cupti_callbacks.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct script_line;

#define MOCK_MAX_KINDS 64 /* activity kinds that are counted one by one; more go to the last */

struct CUctx_st {
	struct CUctx_st *next;
	uint32_t id, device;
	struct CUstream_st *_Atomic streams; /* newest first, the NULL stream last */
	struct CUstream_st *null_stream;
	uint32_t next_stream_id;
	_Atomic int primary_refs; /* > 0 while retained */
	_Atomic bool alive;
};

#define MOCK_QUEUE_DEPTH 1024 /* launches a stream takes before the launching thread waits */

struct CUstream_st {
	struct CUstream_st *next;
	struct CUctx_st *context;
	uint32_t id;
	int priority;
	unsigned int flags;
	bool is_null;
	_Atomic bool alive;
	pthread_mutex_t lock;		  /* protects the timeline below */
	uint64_t busy_until_ns;		  /* native clock: when all that was enqueued is done */
	uint64_t queue[MOCK_QUEUE_DEPTH]; /* ends of the last launches */
	uint32_t queue_head;
	struct CUgraph_st *_Atomic capture; /* the graph that records instead of running, or NULL */
};

struct CUevent_st {
	struct CUstream_st *stream; /* NULL until recorded */
	struct CUctx_st *context;
	uint64_t time_ns, sync_id;
	uint32_t id;
	bool in_capture;
};

struct CUfunc_st {
	struct CUfunc_st *next;
	struct CUmod_st *module;
	const char *name;
	uint64_t duration_ns;
	uint32_t registers, static_shared, local_bytes;
	uint32_t max_dynamic_shared;
	_Atomic uint64_t launches;
	uint32_t sampling; /* the one that knows it, of PC samples; cupti_pc.c's */
};

struct CUmod_st {
	struct CUmod_st *next;
	struct CUctx_st *context;
	struct CUfunc_st *_Atomic functions;
	uint32_t id;
	const void *image; /* the module's own copy */
	size_t image_bytes;
	char *names; /* arena of the functions' names */
	size_t names_used;
	_Atomic bool alive;
};

enum mock_op_kind { MOCK_KERNEL, MOCK_COPY, MOCK_PEER_COPY, MOCK_SET, MOCK_MIGRATION };

/* One thing a GPU does: what does not change between two launches of the same graph node. */
struct mock_op {
	enum mock_op_kind kind;
	uint64_t duration_ns;
	uint64_t node_id; /* 0: not in a graph */
	union {
		struct {
			struct CUfunc_st *function;
			uint32_t grid[3], block[3], cluster[3];
			uint32_t dynamic_shared;
			uint8_t launch_type; /* CUpti_ActivityLaunchType */
		} kernel;
		struct {
			uint64_t bytes;
			uint8_t copy_kind, src_kind, dst_kind, async;
			uint32_t src_device, src_context, dst_device, dst_context;
		} copy;
		struct {
			uint64_t bytes;
			uint32_t value;
			uint16_t memory_kind;
			uint8_t async;
		} set;
		struct { /* of managed memory */
			uint64_t address, bytes;
			bool to_device;
		} migration;
	};
};

struct CUgraphNode_st {
	struct CUgraphNode_st *next;
	struct CUgraph_st *graph;
	struct mock_op op;
};

struct CUgraph_st {
	uint32_t id, node_count;
	struct CUgraphNode_st *nodes, *last;
};

struct CUgraphExec_st {
	struct CUgraphExec_st *next;
	uint32_t id, graph_id, op_count;
	uint64_t duration_ns;
	_Atomic bool alive; /* not destroyed; the memory stays for records and truth */
	_Atomic uint64_t launches;
	/* the tools' own, see cupti_hazard.c: */
	_Atomic bool traceable; /* instantiated while graphs were traced as a whole */
	_Atomic uint32_t held;	/* kinds that were traced while it was launched */
	_Atomic bool broken;	/* holds on to memory that is gone */
	struct mock_op ops[];
};

/* Work that goes onto a stream's timeline; its ops run one after another from start_ns. */
struct mock_launch {
	const struct mock_op *ops;
	uint32_t op_count;
	struct CUgraphExec_st *exec; /* of a graph launch, else NULL */
	struct CUstream_st *stream;
	uint32_t correlation;
	uint64_t queued_ns, submitted_ns, start_ns, end_ns; /* native clock */
};

/* One call of a driver or runtime function on its way through the tools. */
struct mock_call {
	CUpti_CallbackDomain domain;
	CUpti_CallbackId cbid;
	const char *name;     /* as the cbid headers have it: cudaLaunchKernel_v7000 */
	const char *function; /* without the version: cudaLaunchKernel */
	const void *params;
	const char *symbol; /* of the launched kernel, NULL where there is none */
	struct CUctx_st *context;
	uint32_t correlation;
	int result;
	bool nested;  /* called by another function of CUDA */
	bool anytime; /* works without cuInit */
	/* the tools' own, zero at enter */
	uint64_t enter_ns, correlation_data;
	/* In which life of CUPTI its beginning was noted, and ENTER given; or 0. */
	uint32_t recorded, shown;
};

struct mock_sync {
	uint32_t type; /* CUpti_ActivitySynchronizationType */
	uint32_t correlation;
	struct CUctx_st *context;
	struct CUstream_st *stream; /* NULL: all of the context */
	struct CUevent_st *event;   /* NULL: none */
	uint64_t start_ns, end_ns;  /* native clock */
	uint32_t result;
};

struct mock_memory {
	uint32_t op, kind; /* CUpti_ActivityMemoryOperationType, CUpti_ActivityMemoryKind */
	uint32_t correlation;
	uint64_t address, bytes, pc;
	struct CUctx_st *context;
	struct CUstream_st *stream; /* of stream-ordered operations, else NULL */
	struct CUmemPoolHandle_st *pool;
};

struct CUmemPoolHandle_st {
	_Atomic uint64_t address, bytes, used, release_threshold;
	_Atomic uint32_t device;
};

/* How libcupti follows what happens. Called on the thread that makes the CUDA call. */
struct mock_tools {
	const char *path;	   /* of the libcupti */
	void (*initialized)(void); /* cuInit is done */
	void (*enter)(struct mock_call *call);
	void (*exit)(struct mock_call *call);
	void (*node)(struct CUgraphNode_st *node, struct CUgraphNode_st *original);
	void (*instantiated)(struct CUgraphExec_st *exec);
	void (*launch)(const struct mock_launch *launch);
	void (*sync)(const struct mock_sync *sync);
	void (*event)(const struct CUevent_st *event, uint32_t correlation);
	void (*memory)(const struct mock_memory *memory);
	void (*pool)(uint32_t op, const struct CUmemPoolHandle_st *pool, uint32_t correlation);
	void (*context)(bool created, struct CUctx_st *context);
	void (*stream)(bool created, struct CUstream_st *stream);
	void (*module)(bool loaded, struct CUmod_st *module);
	void (*teardown)(void); /* CUDA is going away with the process */
};

enum mock_count { MOCK_MADE, MOCK_DELIVERED, MOCK_DROPPED, MOCK_COUNTS };

/* X(return type, name, parameters): what libcuda offers to the other two; there mock_<name>. */
#define MOCK_FOR_EACH_SERVICE(X)                                                                   \
	X(uint64_t, now, (void))                                                                   \
	X(int, attach, (const struct mock_tools *tools))                                           \
	X(void, detach, (const struct mock_tools *tools))                                          \
	X(int, call_begin, (struct mock_call * call))                                              \
	X(int, call_end, (struct mock_call * call, int result))                                    \
	X(bool, fault, (const char *api, int *ret_code))                                           \
	X(const char *, setting, (const char *name))                                               \
	X(void, violation, (const char *format, ...))                                              \
	X(int64_t, clock_jump, (void))                                                             \
	X(struct script_line *, script_next, (const char *verb, struct script_line *after))        \
	X(const char *, script_get, (const struct script_line *line, const char *key))             \
	X(int64_t, script_number,                                                                  \
	  (const struct script_line *line, const char *key, int64_t otherwise))                    \
	X(bool, script_due, (struct script_line * line))                                           \
	X(void, script_error, (const struct script_line *line, const char *format, ...))           \
	X(uint64_t, script_ms, (void))                                                             \
	X(bool, rival, (char *name, size_t bytes))                                                 \
	X(void, count_cupti, (const char *function))                                               \
	X(void, count_records, (uint32_t kind, enum mock_count what, uint64_t n))                  \
	X(struct CUctx_st *, contexts, (void))                                                     \
	X(struct CUctx_st *, current, (void))                                                      \
	X(struct CUmod_st *, modules, (void))                                                      \
	X(struct CUgraphExec_st *, graphs, (void))                                                 \
	X(uint32_t, calls_begun, (void))  /* by the program, since it started */                   \
	X(uint32_t, calls_inside, (void)) /* of those, under way */                                \
	X(uint32_t, device_count, (void))                                                          \
	X(uint32_t, compute_minor, (void))                                                         \
	X(bool, initialized, (void))                                                               \
	X(bool, injecting, (void))

struct mock_driver {
#define MOCK_SERVICE(type, name, args) type(*name) args;
	MOCK_FOR_EACH_SERVICE(MOCK_SERVICE)
#undef MOCK_SERVICE
};

#endif
