/* SPDX-License-Identifier: Apache-2.0 */
/* The record structs of the version that this libcupti pretends to be. */
#ifndef CUPROBE_MOCK_CUPTI_RECORDS_H
#define CUPROBE_MOCK_CUPTI_RECORDS_H

#include <cupti.h>

/* Kinds above the last of CUDA 13.0 stand for those of a later CUPTI; all have this size. */
#define LAST_KNOWN_KIND CUPTI_ACTIVITY_KIND_MEM_DECOMPRESS
#define UNKNOWN_KIND_BYTES 64

#if MOCK_CUPTI >= 130000
typedef CUpti_ActivityKernel10 record_kernel;
typedef CUpti_ActivityMemoryPool3 record_memory_pool;
#else
#if MOCK_CUPTI >= 120000
typedef CUpti_ActivityKernel9 record_kernel;
#else
typedef CUpti_ActivityKernel8 record_kernel;
#endif
typedef CUpti_ActivityMemoryPool2 record_memory_pool;
#endif

#if MOCK_CUPTI >= 120900
typedef CUpti_ActivityMemcpy6 record_memcpy;
typedef CUpti_ActivityMemory4 record_memory4;
typedef CUpti_ActivityContext3 record_context3;
typedef CUpti_ActivityUnifiedMemoryCounter3 record_unified;
typedef CUpti_ActivityCudaEvent2 record_cuda_event;
typedef CUpti_ActivitySynchronization2 record_synchronization;
#else
typedef CUpti_ActivityMemcpy5 record_memcpy;
typedef CUpti_ActivityMemory3 record_memory4;
typedef CUpti_ActivityUnifiedMemoryCounter2 record_unified;
typedef CUpti_ActivityCudaEvent record_cuda_event;
typedef CUpti_ActivitySynchronization record_synchronization;
#if MOCK_CUPTI >= 120400
typedef CUpti_ActivityContext2 record_context3;
#else
typedef CUpti_ActivityContext record_context3;
#endif
#endif

#if MOCK_CUPTI >= 120400
typedef CUpti_ActivityDevice5 record_device5;
typedef CUpti_ActivityOverhead3 record_overhead;
typedef CUpti_ActivityGraphTrace2 record_graph_trace;
#else
typedef CUpti_ActivityDevice4 record_device5;
typedef CUpti_ActivityOverhead record_overhead;
typedef CUpti_ActivityGraphTrace record_graph_trace;
#endif

#endif
