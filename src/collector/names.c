/* SPDX-License-Identifier: Apache-2.0 */
/* The vocabulary of all outputs, so that one thing has one name in each. */
#include "src/collector/names.h"

#include <string.h>

#include "cuprobe/abi.h"

#define NAME_OF(table, index, otherwise)                                                           \
	((index) < sizeof(table) / sizeof(*(table)) && (table)[index] ? (table)[index]             \
								      : (otherwise))

const char *copy_kind_name(unsigned int copy_kind)
{
	static const char *const names[] = {
		[1] = "HtoD", [2] = "DtoH", [3] = "HtoA", [4] = "AtoH", [5] = "AtoA",
		[6] = "AtoD", [7] = "DtoA", [8] = "DtoD", [9] = "HtoH", [10] = "PtoP",
	};

	return NAME_OF(names, copy_kind, "<unknown>");
}

const char *memory_kind_name(unsigned int memory_kind)
{
	static const char *const names[] = {
		"Unknown", "Pageable", "Pinned",	"Device",
		"Array",   "Managed",  "Device Static", "Managed Static",
	};

	return NAME_OF(names, memory_kind, "Unrecognized");
}

const char *sync_kind_name(unsigned int kind)
{
	static const char *const names[] = {
		[CUPROBE_SYNC_EVENT_SYNCHRONIZE] = "Event Sync",
		[CUPROBE_SYNC_STREAM_WAIT_EVENT] = "Stream Wait Event",
		[CUPROBE_SYNC_STREAM_SYNCHRONIZE] = "Stream Sync",
		[CUPROBE_SYNC_CONTEXT_SYNCHRONIZE] = "Context Sync",
		[CUPROBE_SYNC_EVENT_RECORD] = "Event Record",
	};

	return NAME_OF(names, kind, "Unknown Sync");
}

/* CUPTI numbers the driver's own 1 and its own from 1 << 16 on. */
const char *overhead_kind_name(unsigned int kind)
{
	static const char *const names[] = {
		"Unknown",
		"Buffer Flush",
		"Instrumentation",
		"Resource",
		"Runtime Triggered Module Loading",
		"Lazy Function Loading",
		"Command Buffer Full",
		"Activity Buffer Request",
		"UVM Activity Init",
	};

	if (kind == 1)
		return "Driver Compiler";
	return kind & 0xffff ? "Unrecognized" : NAME_OF(names, kind >> 16, "Unrecognized");
}

const char *unified_memory_kind_name(unsigned int kind)
{
	static const char *const names[] = {
		"Unknown",	   "Migration HtoD",  "Migration DtoH",
		"CPU Page Faults", "GPU Page Faults", "Thrashing",
		"Throttling",	   "Remote Map",      "Migration DtoD",
	};

	return NAME_OF(names, kind, "Unrecognized");
}

const char *memory_op_name(unsigned int op)
{
	static const char *const names[] = {
		[CUPROBE_MEMORY_ALLOC] = "Allocation",
		[CUPROBE_MEMORY_FREE] = "Free",
		[CUPROBE_MEMORY_POOL_CREATED] = "Pool Created",
		[CUPROBE_MEMORY_POOL_DESTROYED] = "Pool Destroyed",
		[CUPROBE_MEMORY_POOL_TRIMMED] = "Pool Trimmed",
	};

	return NAME_OF(names, op, "Unknown");
}

const char *pc_kind_name(unsigned int kind)
{
	static const char *const names[] = {"samples", "non-user", "dropped", "other"};

	return NAME_OF(names, kind, "unknown");
}

const char *state_name(unsigned int state)
{
	static const char *const names[] = {"dormant", "active", "yielded", "releasing", "failed"};

	return NAME_OF(names, state, "unknown");
}

/* CUPTI's callback ids never change; each call has a second one for per-thread default streams. */
struct launch_api {
	unsigned int cbid, cbid_per_thread;
	const char *name;
};

static const struct launch_api runtime_apis[] = {
	{31, 215, "cudaMemcpy"},	  {32, 216, "cudaMemcpy2D"},
	{41, 225, "cudaMemcpyAsync"},	  {44, 228, "cudaMemcpy2DAsync"},
	{49, 233, "cudaMemset"},	  {51, 235, "cudaMemsetAsync"},
	{160, 160, "cudaMemcpyPeer"},	  {161, 161, "cudaMemcpyPeerAsync"},
	{211, 214, "cudaLaunchKernel"},	  {269, 270, "cudaLaunchCooperativeKernel"},
	{311, 312, "cudaGraphLaunch"},	  {430, 431, "cudaLaunchKernelExC"},
	{505, 506, "__cudaLaunchKernel"}, {0, 0, "a call of the runtime"},
};

static const struct launch_api driver_apis[] = {
	{218, 429, "cuMemsetD16Async"},
	{216, 428, "cuMemsetD8Async"},
	{220, 430, "cuMemsetD32Async"},
	{277, 421, "cuMemcpyHtoDAsync_v2"},
	{279, 422, "cuMemcpyDtoHAsync_v2"},
	{281, 423, "cuMemcpyDtoDAsync_v2"},
	{306, 418, "cuMemcpyAsync"},
	{307, 442, "cuLaunchKernel"},
	{477, 478, "cuLaunchCooperativeKernel"},
	{514, 515, "cuGraphLaunch"},
	{652, 653, "cuLaunchKernelEx"},
	{0, 0, "a call of the driver"},
};

const char *launch_api_name(unsigned int domain_api)
{
	const struct launch_api *api =
		domain_api & CUPROBE_LAUNCH_DRIVER ? driver_apis : runtime_apis;
	unsigned int cbid = domain_api & ~CUPROBE_LAUNCH_DRIVER;

	if (!domain_api)
		return "a node added to a graph";
	while (api->cbid && api->cbid != cbid && api->cbid_per_thread != cbid)
		api++;
	return api->name;
}

/* The oldest suffix is _v3020 (CUDA 3.2), so four digits tell it from cuMemAlloc_v2. */
static size_t bytes_without_version(const char *name, size_t bytes)
{
	size_t digits = 0;

	while (digits < bytes && name[bytes - digits - 1] >= '0' && name[bytes - digits - 1] <= '9')
		digits++;
	if (digits < 4 || bytes < digits + 3 || memcmp(name + bytes - digits - 2, "_v", 2) != 0)
		return bytes;
	return bytes - digits - 2;
}

size_t api_name_bytes(const char *name, size_t bytes)
{
	bytes = bytes_without_version(name, bytes);
	if (bytes > 5 &&
	    (!memcmp(name + bytes - 5, "_ptsz", 5) || !memcmp(name + bytes - 5, "_ptds", 5)))
		bytes -= 5;
	return bytes;
}

static bool begins(const char *name, size_t bytes, const char *with)
{
	size_t n = strlen(with);

	return bytes >= n && !memcmp(name, with, n);
}

bool api_enqueues(const char *name, size_t bytes)
{
	static const char *const families[] = {"Launch", "GraphLaunch", "Memcpy",
					       "Memset", "MemPrefetch", "MemDiscardAndPrefetch"};

	if (begins(name, bytes, "__"))
		name += 2, bytes -= 2;
	if (!begins(name, bytes, "cu"))
		return false;
	name += 2, bytes -= 2;
	if (begins(name, bytes, "da") || begins(name, bytes, "64"))
		name += 2, bytes -= 2;
	if (begins(name, bytes, "LaunchHostFunc"))
		return false;
	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
		if (begins(name, bytes, families[i]))
			return true;
	}
	return false;
}
