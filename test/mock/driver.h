/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the simulated libcuda.so.1 share. */
#ifndef CUPROBE_MOCK_DRIVER_H
#define CUPROBE_MOCK_DRIVER_H

#include "test/mock/tools.h"

/* GL's types stand in the params structs of functions that the simulator does not have. */
typedef unsigned int GLuint;
typedef unsigned int GLenum;
#include <cupti_activity.h>
#include <cupti_driver_cbid.h>
#include <generated_cuda_meta.h>

#define MOCK_EXPORT __attribute__((visibility("default")))

#define MOCK_SERVICE(type, name, args) type mock_##name args;
MOCK_FOR_EACH_SERVICE(MOCK_SERVICE)
#undef MOCK_SERVICE

extern MOCK_EXPORT const struct mock_driver mock_driver_table;

/*
 * Each driver function begins with DRIVER_BEGIN, its own name and its parameters, and ends with
 * DRIVER_END and its result; that gives its callbacks, its record, its count and its faults.
 */
#define DRIVER_CALL(api, ...)                                                                      \
	api##_params params_ = {__VA_ARGS__};                                                      \
	struct mock_call call_ = {                                                                 \
		.domain = CUPTI_CB_DOMAIN_DRIVER_API,                                              \
		.cbid = CUPTI_DRIVER_TRACE_CBID_##api,                                             \
		.name = #api,                                                                      \
		.function = #api,                                                                  \
		.params = &params_,                                                                \
	}
#define DRIVER_CALL0(api)                                                                          \
	struct mock_call call_ = {                                                                 \
		.domain = CUPTI_CB_DOMAIN_DRIVER_API,                                              \
		.cbid = CUPTI_DRIVER_TRACE_CBID_##api,                                             \
		.name = #api,                                                                      \
		.function = #api,                                                                  \
	}
#define DRIVER_ENTER()                                                                             \
	do {                                                                                       \
		if (mock_call_begin(&call_))                                                       \
			return (CUresult)mock_call_end(&call_, call_.result);                      \
	} while (0)
#define DRIVER_BEGIN(api, ...)                                                                     \
	DRIVER_CALL(api, __VA_ARGS__);                                                             \
	DRIVER_ENTER()
#define DRIVER_BEGIN0(api)                                                                         \
	DRIVER_CALL0(api);                                                                         \
	DRIVER_ENTER()
#define DRIVER_END(result) ((CUresult)mock_call_end(&call_, (int)(result)))

/* call.c */
const struct mock_tools *call_tools(void);
uint32_t call_correlation(void);
uint64_t call_count(CUpti_CallbackDomain domain, uint32_t cbid, const char **ret_name);

/* init.c */
enum driver_state { DRIVER_NEW, DRIVER_READY, DRIVER_GONE };
CUresult driver_check(void); /* CUDA_SUCCESS when calls of this process may be served */

/* context.c */
CUresult context_need(CUcontext *ret_context); /* of the calling thread */
CUresult context_stream(CUstream handle, bool per_thread, CUstream *ret_stream);
void context_wait(CUcontext context);

/* gpu.c */
void gpu_init(void);
bool gpu_instant(void);
uint64_t gpu_kernel_ns(const char *name);
uint64_t gpu_vary(uint64_t duration_ns, uint64_t seed);
uint64_t gpu_copy_ns(uint64_t bytes, uint32_t copy_kind);
CUresult gpu_run(CUstream stream, const struct mock_op *ops, uint32_t count,
		 struct CUgraphExec_st *exec);
CUresult gpu_submit(CUstream stream, const struct mock_op *op); /* runs or captures it */
void gpu_wait(CUstream stream);
void gpu_wait_until(uint64_t time_ns);
uint64_t gpu_done_at(CUstream stream);
void gpu_hold(CUstream stream, uint64_t time_ns); /* what follows starts after time_ns */

/* memory.c */
struct memory_range {
	uint64_t address, bytes;
	uint32_t device, kind; /* CUpti_ActivityMemoryKind */
	CUmemoryPool pool;
};
bool memory_find(uint64_t address, struct memory_range *ret_range);

/* graph.c */
CUresult graph_append(CUgraph graph, const struct mock_op *op, CUgraphNode *ret_node);
CUresult graph_capture_begin(CUstream stream);
CUresult graph_capture_end(CUstream stream, CUgraph *ret_graph);

/* module.c */
CUfunction module_function(CUmodule module, const char *name);

/* truth.c */
void truth_init(void);
void truth_kernel(CUfunction function, uint64_t launches);
void truth_op(const struct mock_op *op, uint64_t times);
void truth_graph(CUgraphExec exec); /* a new one; it is kept */
void truth_injection(const char *path, bool loaded, int result);
void truth_violation(const char *text);
MOCK_EXPORT void mock_truth_write(void); /* now; an application calls it before _exit */

/* script.c */
void script_init(void);

#endif
