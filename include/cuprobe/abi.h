/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The wire format between a traced process and whoever reads its probes.
 *
 * Every probe of the provider `cuprobe` has the same four arguments:
 *
 *	const void *data	`count` records, packed, 8-byte aligned
 *	__u32 bytes		size of `data`, at most CUPROBE_BATCH_BYTES
 *	__u32 count		number of records, at least 1
 *	__u64 seq		records this process fired through this probe before
 *
 * All records of one batch have the same size, `bytes / count`. A later version may append fields
 * to a record, so step by `bytes / count` and take fields that are not there as zero. Fields are
 * never moved, removed or given another meaning without a new CUPROBE_ABI_VERSION.
 *
 * Times are nanoseconds of CLOCK_MONOTONIC. A time that is not known is 0. Ids of devices,
 * contexts, streams, graphs and correlation ids are CUPTI's and are unique within a process.
 * Text is referred to by a string id, defined through the probe `string`; id 0 is "no text".
 *
 * Definitions (`string`, `info`) and messages (`status`) are told again, to all, when a reader
 * comes who is the first at such a probe, one second after that, every 10 s, and when the semaphore
 * of the probe `replay` changes. That one never fires. A reader takes what it has heard before as
 * heard.
 *
 * The header needs only the fixed-width kernel types, so that C, C++, BPF and bpftrace
 * (`bpftrace -I include`) can include it.
 */
#ifndef CUPROBE_ABI_H
#define CUPROBE_ABI_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

#define CUPROBE_ABI_VERSION 1
#define CUPROBE_BATCH_BYTES 32768 /* largest batch one firing carries */
#define CUPROBE_STRING_PIECE 240  /* text bytes in one struct cuprobe_string */
#define CUPROBE_NO_ID 0xffffffffu /* a device, context, stream, ... that is not known */
#define CUPROBE_NO_PRIORITY (-2147483647 - 1)
#define CUPROBE_CONTROL_THREAD "cuprobe-ctl" /* is where the library runs, not only lies */

#if defined(__cplusplus)
#define CUPROBE_PINNED(type, bytes) static_assert(sizeof(type) == (bytes), "ABI")
#else
#define CUPROBE_PINNED(type, bytes) _Static_assert(sizeof(type) == (bytes), "ABI")
#endif

/* X(name, number): every probe; the record of probe `name` is struct cuprobe_<name>. */
#define CUPROBE_FOR_EACH_PROBE(X)                                                                  \
	X(kernel, 0)                                                                               \
	X(graph, 1)                                                                                \
	X(memcpy, 2)                                                                               \
	X(memset, 3)                                                                               \
	X(memory, 4)                                                                               \
	X(sync, 5)                                                                                 \
	X(api, 6)                                                                                  \
	X(unified_memory, 7)                                                                       \
	X(overhead, 8)                                                                             \
	X(string, 9)                                                                               \
	X(info, 10)                                                                                \
	X(status, 11)                                                                              \
	X(nvtx, 12)                                                                                \
	X(launch, 13)                                                                              \
	X(stack, 14)                                                                               \
	X(module, 15)                                                                              \
	X(pc_sample, 16)

enum cuprobe_probe_id {
#define CUPROBE_PROBE_ID(name, number) CUPROBE_PROBE_##name = number,
	CUPROBE_FOR_EACH_PROBE(CUPROBE_PROBE_ID)
#undef CUPROBE_PROBE_ID
		CUPROBE_PROBE_COUNT
};

/*
 * kernel: one execution of a kernel on a GPU.
 * Source: CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL.
 */
struct cuprobe_kernel {
	__u64 start_ns, end_ns;	       /* on the GPU */
	__u64 queued_ns, submitted_ns; /* 0 unless latency timestamps were asked for */
	__u64 completed_ns;	       /* the kernel and its children have ended; 0 unknown */
	__u64 grid_id;		       /* CUPTI's unique number of this execution */
	__u64 graph_node_id;	       /* 0: not launched by a graph */
	__u64 local_memory_total_bytes;
	__u32 device, context, stream, correlation;
	__u32 graph_id;			     /* 0: not launched by a graph */
	__u32 name;			     /* string id, mangled */
	__u32 grid[3], block[3], cluster[3]; /* x y z; cluster is 0 0 0 when there is none */
	__u32 registers_per_thread;
	__u32 static_shared_bytes, dynamic_shared_bytes, executed_shared_bytes;
	__u32 local_bytes_per_thread;
	__u32 channel;
	__s32 priority;	      /* of the stream; CUPROBE_NO_PRIORITY when not known */
	__u8 channel_type;    /* CUpti_ChannelType */
	__u8 launch_type;     /* CUpti_ActivityLaunchType: 0 regular, 1 and 2 cooperative, 3 CDP */
	__u8 device_launched; /* 1: part of a graph launched by the device */
	__u8 cache_config;
	__u32 reserved;
};
CUPROBE_PINNED(struct cuprobe_kernel, 160);

/*
 * graph: one launch of a CUDA graph as a whole. While this probe has a consumer, the kernels,
 * copies and memsets inside graphs give no records of their own.
 * Source: CUPTI_ACTIVITY_KIND_GRAPH_TRACE.
 */
struct cuprobe_graph {
	__u64 start_ns, end_ns;
	__u32 device, context, stream, correlation;
	__u32 graph_id;
	__u32 exec_id;		       /* 0 not known */
	__u32 end_device, end_context; /* of the last node, CUPROBE_NO_ID before CUPTI 12.2 */
};
CUPROBE_PINNED(struct cuprobe_graph, 48);

/* memcpy: one copy, peer-to-peer included. Source: CUPTI_ACTIVITY_KIND_MEMCPY, _MEMCPY2. */
struct cuprobe_memcpy {
	__u64 start_ns, end_ns;
	__u64 bytes;
	__u64 graph_node_id;
	__u64 copy_count; /* copies in this record (batched copies); 1 before CUPTI 12.8 */
	__u32 device, context, stream, correlation;
	__u32 src_device, src_context; /* peer-to-peer; else CUPROBE_NO_ID */
	__u32 dst_device, dst_context;
	__u32 graph_id;
	__u32 channel;
	__u8 copy_kind; /* CUpti_ActivityMemcpyKind: 1 HtoD 2 DtoH ... 8 DtoD 9 HtoH 10 PtoP */
	__u8 src_kind, dst_kind; /* CUpti_ActivityMemoryKind: 1 pageable 2 pinned 3 device ... */
	__u8 flags;		 /* bit 0: asynchronous */
	__u8 channel_type;
	__u8 device_launched;
	__u16 reserved;
};
CUPROBE_PINNED(struct cuprobe_memcpy, 88);
#define CUPROBE_FLAG_ASYNC 1

/* memset. Source: CUPTI_ACTIVITY_KIND_MEMSET. */
struct cuprobe_memset {
	__u64 start_ns, end_ns;
	__u64 bytes;
	__u64 graph_node_id;
	__u32 device, context, stream, correlation;
	__u32 graph_id;
	__u32 value;
	__u32 channel;
	__u16 memory_kind; /* CUpti_ActivityMemoryKind */
	__u8 flags;	   /* bit 0: asynchronous */
	__u8 channel_type;
};
CUPROBE_PINNED(struct cuprobe_memset, 64);

enum cuprobe_memory_op {
	CUPROBE_MEMORY_ALLOC = 1,
	CUPROBE_MEMORY_FREE = 2,
	CUPROBE_MEMORY_POOL_CREATED = 16,
	CUPROBE_MEMORY_POOL_DESTROYED = 17,
	CUPROBE_MEMORY_POOL_TRIMMED = 18,
};

/*
 * memory: an allocation, a free, or a change of a memory pool.
 * Source: CUPTI_ACTIVITY_KIND_MEMORY2, _MEMORY_POOL.
 */
struct cuprobe_memory {
	__u64 time_ns;
	__u64 address;	    /* of the memory or, for pool operations, of the pool */
	__u64 bytes;	    /* for pool operations the size of the pool */
	__u64 pc;	    /* of the caller; 0 not known */
	__u64 pool_address; /* 0: not from a pool */
	__u64 pool_bytes, pool_used_bytes, pool_release_threshold_bytes;
	__u32 device, context, stream, correlation;
	__u32 name;	  /* string id: the variable that was allocated, where CUPTI knows it */
	__u32 source;	  /* string id: the shared object that allocated, where CUPTI knows it */
	__u8 op;	  /* enum cuprobe_memory_op */
	__u8 memory_kind; /* CUpti_ActivityMemoryKind */
	__u8 pool_type;	  /* CUpti_ActivityMemoryPoolType: 1 local, 2 imported */
	__u8 flags;	  /* bit 0: asynchronous */
	__u32 reserved;
};
CUPROBE_PINNED(struct cuprobe_memory, 96);

enum cuprobe_sync_kind { /* the first four are CUpti_ActivitySynchronizationType */
			 CUPROBE_SYNC_EVENT_SYNCHRONIZE = 1,
			 CUPROBE_SYNC_STREAM_WAIT_EVENT = 2,
			 CUPROBE_SYNC_STREAM_SYNCHRONIZE = 3,
			 CUPROBE_SYNC_CONTEXT_SYNCHRONIZE = 4,
			 CUPROBE_SYNC_EVENT_RECORD = 16,
};

/*
 * sync: a synchronisation call (times of the CPU's wait) or the recording of an event.
 * Source: CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, _CUDA_EVENT.
 */
struct cuprobe_sync {
	__u64 start_ns, end_ns; /* both 0 for CUPROBE_SYNC_EVENT_RECORD */
	__u64 device_time_ns;	/* EVENT_RECORD: the GPU's own clock, 0 when not collected */
	__u64 event_sync_id;	/* joins a wait with the record it waited for; 0 before 12.6 */
	__u32 device, context, stream, correlation; /* stream CUPROBE_NO_ID: all of the context */
	__u32 event;				    /* CUPROBE_NO_ID when no event takes part */
	__u32 return_value;
	__u8 kind; /* enum cuprobe_sync_kind */
	__u8 reserved[7];
};
CUPROBE_PINNED(struct cuprobe_sync, 64);

enum cuprobe_api_domain { /* CUpti_CallbackDomain */
			  CUPROBE_API_DRIVER = 1,
			  CUPROBE_API_RUNTIME = 2,
};

/* api: one call of the CUDA runtime or driver. Source: CUPTI_ACTIVITY_KIND_RUNTIME, _DRIVER. */
struct cuprobe_api {
	__u64 start_ns, end_ns;
	__u32 thread; /* gettid() in the process's own pid namespace */
	__u32 correlation;
	__u32 cbid; /* CUpti_driver_api_trace_cbid or CUpti_runtime_api_trace_cbid */
	__u32 name; /* string id, as CUPTI gives it: cudaLaunchKernel_v7000 */
	__u32 return_value;
	__u8 domain; /* enum cuprobe_api_domain */
	__u8 reserved[3];
};
CUPROBE_PINNED(struct cuprobe_api, 40);

/*
 * unified_memory: migrations, faults and other events of managed memory.
 * Source: CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER.
 */
struct cuprobe_unified_memory {
	__u64 start_ns, end_ns;
	__u64 value; /* by kind: bytes, faults, a CUpti_ActivityUnifiedMemory...Cause, ... */
	__u64 address;
	__u32 kind; /* CUpti_ActivityUnifiedMemoryCounterKind: 1 HtoD bytes 2 DtoH 3 CPU faults ...
		     */
	__u32 src_device, dst_device; /* CUPROBE_NO_ID: the host */
	__u32 stream;
	__u32 flags; /* by kind: access type or migration cause */
	__u32 reserved;
};
CUPROBE_PINNED(struct cuprobe_unified_memory, 56);

/* overhead: time CUPTI or the driver cost by themselves. Source: CUPTI_ACTIVITY_KIND_OVERHEAD. */
struct cuprobe_overhead {
	__u64 start_ns, end_ns;
	__u32 kind;	   /* CUpti_ActivityOverheadKind */
	__u32 object_kind; /* CUpti_ActivityObjectKind: 1 process 2 thread 3 device 4 context 5
			      stream */
	__u32 thread;	   /* CUPROBE_NO_ID unless the object is a thread */
	__u32 device, context, stream; /* CUPROBE_NO_ID where the object has none */
	__u32 correlation;
	__u32 reserved;
};
CUPROBE_PINNED(struct cuprobe_overhead, 48);

/* string: a piece of the definition of a string; long strings come in several, in order. */
struct cuprobe_string {
	__u32 id;
	__u32 total_bytes;		 /* of the whole string, without a final zero */
	__u32 offset;			 /* of this piece */
	__u32 bytes;			 /* of this piece, 0 only for the empty string */
	char text[CUPROBE_STRING_PIECE]; /* zero padded */
};
CUPROBE_PINNED(struct cuprobe_string, 256);

enum cuprobe_info_type {
	CUPROBE_INFO_PROCESS = 1,
	CUPROBE_INFO_DEVICE = 2,
	CUPROBE_INFO_CONTEXT = 3,
	CUPROBE_INFO_STREAM = 4,
	CUPROBE_INFO_NVTX_DOMAIN = 5,
	CUPROBE_INFO_NVTX_CATEGORY = 6,
	CUPROBE_INFO_NAME = 7,
	CUPROBE_INFO_STALL_REASON = 8,
	CUPROBE_INFO_PC_SAMPLING = 9,
};

enum cuprobe_clock {
	CUPROBE_CLOCK_CALLBACK = 1,   /* CUPTI reads CLOCK_MONOTONIC through our callback */
	CUPROBE_CLOCK_CALIBRATED = 2, /* offset to CUPTI's clock is measured while running */
};

struct cuprobe_info_process {
	__u32 abi_version;     /* CUPROBE_ABI_VERSION of the library */
	__u32 pid;	       /* in the process's own pid namespace */
	__u32 cupti_version;   /* cuptiGetVersion(), 0 until CUPTI is loaded */
	__u32 driver_version;  /* cuDriverGetVersion(): 13000 is 13.0 */
	__u32 runtime_version; /* cudaRuntimeGetVersion() where libcudart is shared, else 0 */
	__u32 clock;	       /* enum cuprobe_clock, 0 until known */
	__u32 executable;      /* string id: path */
	__u32 cupti_path;      /* string id: the libcupti in use */
	__u32 library_version; /* string id: cuprobe's own version */
	__u32 rank;	       /* of RANK, OMPI_COMM_WORLD_RANK, PMI_RANK or SLURM_PROCID; NO_ID */
	__u32 world_size;      /* likewise; CUPROBE_NO_ID not known */
};

struct cuprobe_info_device {
	__u8 uuid[16];
	__u64 memory_bytes;
	__u64 memory_bandwidth_bytes_per_s;
	__u32 id;
	__u32 name; /* string id */
	__u32 compute_major, compute_minor;
	__u32 multiprocessors;
	__u32 warp_size;
	__u32 clock_khz;
	__u32 l2_bytes;
	__u32 max_threads_per_block, max_warps_per_multiprocessor;
	__u32 max_blocks_per_multiprocessor;
	__u32 registers_per_block, registers_per_multiprocessor;
	__u32 shared_bytes_per_block, shared_bytes_per_multiprocessor;
	__u32 reserved;
};

struct cuprobe_info_context {
	__u32 id;
	__u32 device;
	__u32 null_stream; /* stream id of the NULL stream in this context */
	__u32 parent;	   /* of a green context; CUPROBE_NO_ID otherwise */
};

struct cuprobe_info_stream {
	__u32 id;
	__u32 context;
	__s32 priority;
	__u32 flags; /* CUpti_ActivityStreamFlag: 1 default 2 non-blocking 3 null */
};

struct cuprobe_info_nvtx_domain {
	__u32 id;   /* never 0, which is the default domain */
	__u32 name; /* string id */
};

struct cuprobe_info_nvtx_category {
	__u32 domain;
	__u32 id;
	__u32 name; /* string id */
};

enum cuprobe_object {
	CUPROBE_OBJECT_THREAD = 1,
	CUPROBE_OBJECT_DEVICE = 2,
	CUPROBE_OBJECT_CONTEXT = 3,
	CUPROBE_OBJECT_STREAM = 4,
	CUPROBE_OBJECT_EVENT = 5,
	CUPROBE_OBJECT_OTHER = 6, /* a pointer or handle of the application's own */
};

/* The application gave an object a name (nvtxNameOsThread, nvtxNameCudaStream, ...). */
struct cuprobe_info_name {
	__u64 handle;  /* as the application named it by: thread id, ordinal, CUstream, ... */
	__u32 object;  /* enum cuprobe_object */
	__u32 id;      /* as in other records; CUPROBE_NO_ID where the handle has no known id */
	__u32 context; /* of a stream, as in other records; else CUPROBE_NO_ID */
	__u32 name;    /* string id */
};

/* Why a warp does not go on, by the numbers that pc_sample has. */
struct cuprobe_info_stall_reason {
	__u32 device;
	__u32 index;
	__u32 name; /* string id, as CUPTI has it: smsp__pcsamp_warps_issue_stalled_wait */
};

enum cuprobe_pc_mode { /* CUpti_PCSamplingCollectionMode */
		       CUPROBE_PC_CONTINUOUS = 1,
		       CUPROBE_PC_SERIALIZED = 2, /* kernels run one after another meanwhile */
};

/* How a context is sampled, read back from CUPTI. */
struct cuprobe_info_pc_sampling {
	__u64 hardware_buffer_bytes; /* 0 not known */
	__u32 context;
	__u32 device;
	__u32 period_log2; /* of the cycles between two samples of one multiprocessor; 0 not known
			    */
	__u32 mode;	   /* enum cuprobe_pc_mode */
};

/* info: what the ids in other records stand for. Replayed for each new consumer. */
struct cuprobe_info {
	__u32 type; /* enum cuprobe_info_type */
	__u32 reserved;
	union {
		struct cuprobe_info_process process;
		struct cuprobe_info_device device;
		struct cuprobe_info_context context;
		struct cuprobe_info_stream stream;
		struct cuprobe_info_nvtx_domain nvtx_domain;
		struct cuprobe_info_nvtx_category nvtx_category;
		struct cuprobe_info_name name;
		struct cuprobe_info_stall_reason stall_reason;
		struct cuprobe_info_pc_sampling pc_sampling;
		__u8 bytes[120];
	};
};
CUPROBE_PINNED(struct cuprobe_info, 128);

enum cuprobe_state {
	CUPROBE_STATE_DORMANT = 0,
	CUPROBE_STATE_ACTIVE = 1,
	CUPROBE_STATE_YIELDED = 2,   /* another CUPTI client holds the subscription */
	CUPROBE_STATE_RELEASING = 3, /* waiting for the process's next CUDA call to finalise */
	CUPROBE_STATE_FAILED = 4,    /* CUPTI cannot be used at all in this process */
};

enum cuprobe_status_type {
	CUPROBE_STATUS_STATE = 1,
	CUPROBE_STATUS_MESSAGE = 2,
	CUPROBE_STATUS_LEDGER = 3,
};

/* The library is in a new state since `time_ns`. */
struct cuprobe_status_state {
	__u32 state;	     /* enum cuprobe_state */
	__u32 detail;	     /* string id: the rival's name, the reason of a failure; 0 none */
	__u32 active_probes; /* bit n: collection for probe n, which has a reader, is on */
};

/* Something did not work, or works in another way than asked for. */
struct cuprobe_status_message {
	__u32 severity; /* 1 error, 2 warning, 3 note */
	__s32 code;	/* CUptiResult, or a negative errno; 0 none */
	__u32 text;	/* string id: what happened */
	__u32 remedy;	/* string id: what to do; 0 none */
};

/*
 * The loss ledger of one probe, since the process started:
 *	produced = fired + discarded + invalid + lost + pending
 * A record that was fired and did not arrive is seen by a gap in `seq`.
 */
struct cuprobe_status_ledger {
	__u32 probe; /* enum cuprobe_probe_id */
	__u32 reserved;
	__u64 produced;	 /* records CUPTI (or the library itself) made */
	__u64 fired;	 /* given to the probe */
	__u64 discarded; /* made for a consumer that had left */
	__u64 invalid;	 /* start or end missing, end < start, or outside the session */
	__u64 lost;	 /* no room: buffers or batches exhausted; of NVTX, no time or number */
	__u64 pending;	 /* in a batch, not fired yet */
	/* CUPTI's own figures, the same in each probe's ledger: */
	__u64 cupti_dropped; /* cuptiActivityGetNumDroppedRecords, all kinds together */
	__u64 unknown;	     /* records of a kind or size the library does not know */
};

/*
 * status: state changes, messages, and the ledger when a reader comes, every second and at the end.
 */
struct cuprobe_status {
	__u64 time_ns;
	__u32 type; /* enum cuprobe_status_type */
	__u32 reserved;
	union {
		struct cuprobe_status_state state;
		struct cuprobe_status_message message;
		struct cuprobe_status_ledger ledger;
		__u8 bytes[80];
	};
};
CUPROBE_PINNED(struct cuprobe_status, 96);

enum cuprobe_nvtx_kind {
	CUPROBE_NVTX_PUSH = 1,
	CUPROBE_NVTX_POP = 2,
	CUPROBE_NVTX_START = 3,
	CUPROBE_NVTX_END = 4,
	CUPROBE_NVTX_MARK = 5,
	CUPROBE_NVTX_THREAD_END = 6, /* the thread ended and left pushed ranges open */
	/* Of a synchronisation object of the program's own, whose name is the message: */
	CUPROBE_NVTX_ACQUIRE = 7, /* the thread begins to try, up to one of the next two */
	CUPROBE_NVTX_ACQUIRED = 8,
	CUPROBE_NVTX_ACQUIRE_FAILED = 9,
	CUPROBE_NVTX_RELEASE = 10,
	CUPROBE_NVTX_COUNTER = 11, /* the value, in payload, of what the message says */
};

enum cuprobe_nvtx_payload { /* up to 6 nvtxPayloadType_t */
			    CUPROBE_NVTX_PAYLOAD_NONE = 0,
			    CUPROBE_NVTX_PAYLOAD_U64 = 1,
			    CUPROBE_NVTX_PAYLOAD_S64 = 2,
			    CUPROBE_NVTX_PAYLOAD_DOUBLE = 3,
			    CUPROBE_NVTX_PAYLOAD_U32 = 4,
			    CUPROBE_NVTX_PAYLOAD_S32 = 5,
			    CUPROBE_NVTX_PAYLOAD_FLOAT = 6,
			    CUPROBE_NVTX_PAYLOAD_TEXT = 7, /* extended payload, rendered as text */
};

/*
 * nvtx: one annotation. Records of one thread are in the order in which the thread made them, or
 * handed them in when they were over; those of several threads are mixed in any order, so that a
 * range's end may come before its start.
 */
struct cuprobe_nvtx {
	__u64 time_ns;
	__u64 range; /* start, end, acquire...: the id that joins them; 0 otherwise, or not known */
	__u64 payload;	/* by payload_type: the value, zero extended, or a string id */
	__u32 thread;	/* gettid() in the process's own pid namespace */
	__u32 domain;	/* 0 default */
	__u32 message;	/* string id */
	__u32 category; /* within the domain; 0 none */
	__u32 color;	/* ARGB, when the flag says so */
	__s32 level;	/* push, pop: of the range, in its thread and domain, from 0; -1: no push */
	__u8 kind;	/* enum cuprobe_nvtx_kind */
	__u8 payload_type; /* enum cuprobe_nvtx_payload */
	__u8 flags;	   /* bit 0: color holds */
	__u8 reserved[5];
};
CUPROBE_PINNED(struct cuprobe_nvtx, 56);
#define CUPROBE_NVTX_FLAG_COLOR 1

#define CUPROBE_LAUNCH_DRIVER                                                                      \
	(1u << 31)		      /* in domain_api: a call of the driver, else the runtime     \
				       */
#define CUPROBE_LAUNCH_WEIGHT_ONE 256 /* in weight: this launch stands for itself alone */

/*
 * launch: one call that puts work on a GPU, or that adds a node to a graph. The records of its work
 * carry its correlation id; those of a graph's nodes carry that of the graph's launch and, as
 * graph_node_id, what a record of the node's capture has.
 */
struct cuprobe_launch {
	__u64 time_ns;
	__u64 graph_node_id; /* a node that was captured or added, correlation is 0; 0: a launch */
	__u32 correlation;
	__u32 thread;	  /* gettid() in the process's own pid namespace */
	__u32 stack;	  /* id; 0: none was taken */
	__u32 weight;	  /* launches that this one stands for, in 1/256 */
	__u32 domain_api; /* cbid, as in api; with CUPROBE_LAUNCH_DRIVER. 0: a call that adds nodes
			   */
	__u32 flags;	  /* none yet: 0 */
};
CUPROBE_PINNED(struct cuprobe_launch, 40);

enum cuprobe_frame_kind {
	CUPROBE_FRAME_NATIVE = 1,
	CUPROBE_FRAME_PYTHON = 2,
	CUPROBE_FRAME_POINTER = 3, /* native, found by the frame pointer: no unwind rule */
	CUPROBE_FRAME_BROKEN = 4,  /* the stack goes on, but could not be followed */
};

struct cuprobe_frame {
	__u64 pc;	/* native: address in the process; of a caller, where it returns to */
	__u32 function; /* Python: string id */
	__u32 file;	/* Python: string id */
	__u32 line;	/* Python; 0 not known */
	__u32 kind;	/* enum cuprobe_frame_kind */
};
CUPROBE_PINNED(struct cuprobe_frame, 24);

#define CUPROBE_STACK_PIECE 10 /* frames in one struct cuprobe_stack */

/*
 * stack: a piece of the definition of a stack, leaf first; long stacks come in several, in order.
 * Defined once, before or after the launches that refer to it, and replayed for each new reader.
 */
struct cuprobe_stack {
	__u32 id;     /* never 0 */
	__u16 frames; /* of the whole stack */
	__u16 first;  /* index of frame[0] in the whole stack */
	__u32 count;  /* of this piece */
	__u32 reserved;
	struct cuprobe_frame frame[CUPROBE_STACK_PIECE]; /* zero padded */
};
CUPROBE_PINNED(struct cuprobe_stack, 256);

enum cuprobe_module_op {
	CUPROBE_MODULE_LOADED = 1,
	CUPROBE_MODULE_UNLOADED = 2,
};

#define CUPROBE_MODULE_KEPT_NS 10000000000ull /* a copy is there after the unloading */

/*
 * module: GPU code that was loaded or unloaded; those that are loaded are replayed for each new
 * reader. One cubin can be loaded several times. Source: CUPTI's module callbacks.
 */
struct cuprobe_module {
	__u64 time_ns;
	__u64 crc;     /* of the cubin, CUPTI's; 0 not known */
	__u64 bytes;   /* of the cubin */
	__u64 address; /* of the library's own copy, in the process; 0: none was taken */
	__u32 context;
	__u32 id; /* within the context */
	__u8 op;  /* enum cuprobe_module_op */
	__u8 reserved[7];
};
CUPROBE_PINNED(struct cuprobe_module, 48);

enum cuprobe_pc_kind {
	CUPROBE_PC_SAMPLES = 0,
	CUPROBE_PC_NON_USER = 1, /* in code that CUPTI does not attribute: its module was loaded
				  * before sampling began, or is NVIDIA's own */
	CUPROBE_PC_DROPPED = 2,	 /* by the GPU */
	CUPROBE_PC_OTHER = 3,	 /* CUPTI counts them and tells no more */
};

/*
 * pc_sample: how often warps were found at one instruction for one reason since the last record of
 * the same. Source: cuptiPCSamplingGetData().
 */
struct cuprobe_pc_sample {
	__u64 time_ns;	 /* when they were fetched from CUPTI */
	__u64 crc;	 /* of the cubin, as in module; 0 unless kind is CUPROBE_PC_SAMPLES */
	__u64 pc_offset; /* from the beginning of the function */
	__u64 range;	 /* CUPTI's number of the range of collection */
	__u64 samples;
	__u32 function;	      /* string id, mangled */
	__u32 function_index; /* in the symbol table of the cubin */
	__u32 stall;	      /* see struct cuprobe_info_stall_reason */
	__u32 device, context;
	__u32 correlation; /* of the launch, when kernels are serialized; else 0 */
	__u32 not_issued;  /* of the samples, those in whose cycle the scheduler issued nothing */
	__u8 kind;	   /* enum cuprobe_pc_kind; what is not known of those is 0 */
	__u8 reserved[3];
};
CUPROBE_PINNED(struct cuprobe_pc_sample, 72);

#endif
