/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting: contexts, streams and events. */
#include "test/mock/driver.h"

#include <stdlib.h>

static _Atomic uint32_t last_event_id;
static _Atomic uint64_t last_sync_id;

/* Waits until `until_ns` of the native clock and tells libcupti how long it was. */
static void sync_wait(uint32_t type, CUcontext context, CUstream stream, CUevent event,
		      uint64_t until_ns)
{
	const struct mock_tools *tools = call_tools();
	struct mock_sync sync = {.type = type,
				 .correlation = call_correlation(),
				 .context = context,
				 .stream = stream,
				 .event = event,
				 .start_ns = mock_now()};

	gpu_wait_until(until_ns);
	sync.end_ns = mock_now();
	if (tools)
		tools->sync(&sync);
}

static CUresult context_synchronize(void)
{
	CUcontext context;
	CUresult err = context_need(&context);
	uint64_t until = 0, done;

	if (err)
		return err;
	for (CUstream stream = context->streams; stream; stream = stream->next) {
		done = gpu_done_at(stream);
		if (done > until)
			until = done;
	}
	sync_wait(CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE, context, NULL, NULL,
		  until);
	return CUDA_SUCCESS;
}

MOCK_EXPORT CUresult CUDAAPI cuCtxSynchronize(void)
{
	DRIVER_BEGIN0(cuCtxSynchronize);
	return DRIVER_END(context_synchronize());
}

static CUresult stream_synchronize(CUstream handle, bool per_thread)
{
	CUstream stream;
	CUresult err = context_stream(handle, per_thread, &stream);

	if (err)
		return err;
	if (stream->capture)
		return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	sync_wait(CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE, stream->context, stream,
		  NULL, gpu_done_at(stream));
	return CUDA_SUCCESS;
}

MOCK_EXPORT CUresult CUDAAPI cuStreamSynchronize(CUstream hStream)
{
	DRIVER_BEGIN(cuStreamSynchronize, hStream);
	return DRIVER_END(stream_synchronize(hStream, false));
}

MOCK_EXPORT CUresult CUDAAPI cuStreamSynchronize_ptsz(CUstream hStream)
{
	DRIVER_BEGIN(cuStreamSynchronize_ptsz, hStream);
	return DRIVER_END(stream_synchronize(hStream, true));
}

static CUresult stream_query(CUstream handle)
{
	CUstream stream;
	CUresult err = context_stream(handle, false, &stream);

	if (err)
		return err;
	return gpu_done_at(stream) > mock_now() ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}

MOCK_EXPORT CUresult CUDAAPI cuStreamQuery(CUstream hStream)
{
	DRIVER_BEGIN(cuStreamQuery, hStream);
	return DRIVER_END(stream_query(hStream));
}

static CUresult event_create(CUevent *ret_event)
{
	CUcontext context;
	CUresult err = ret_event ? context_need(&context) : CUDA_ERROR_INVALID_VALUE;

	if (err)
		return err;
	*ret_event = calloc(1, sizeof(**ret_event));
	if (!*ret_event)
		return CUDA_ERROR_OUT_OF_MEMORY;
	(*ret_event)->context = context;
	(*ret_event)->id = atomic_fetch_add(&last_event_id, 1) + 1;
	return CUDA_SUCCESS;
}

MOCK_EXPORT CUresult CUDAAPI cuEventCreate(CUevent *phEvent, unsigned int Flags)
{
	DRIVER_BEGIN(cuEventCreate, phEvent, Flags);
	return DRIVER_END(event_create(phEvent));
}

MOCK_EXPORT CUresult CUDAAPI cuEventDestroy_v2(CUevent hEvent)
{
	DRIVER_BEGIN(cuEventDestroy_v2, hEvent);
	free(hEvent);
	return DRIVER_END(CUDA_SUCCESS);
}

static CUresult event_record(CUevent event, CUstream handle, bool per_thread)
{
	const struct mock_tools *tools = call_tools();
	CUstream stream;
	CUresult err =
		event ? context_stream(handle, per_thread, &stream) : CUDA_ERROR_INVALID_VALUE;
	uint64_t done, now = mock_now();

	if (err)
		return err;
	done = gpu_done_at(stream);
	event->stream = stream;
	event->in_capture = stream->capture != NULL;
	event->time_ns = done > now ? done : now;
	event->sync_id = atomic_fetch_add(&last_sync_id, 1) + 1;
	if (tools && !event->in_capture)
		tools->event(event, call_correlation());
	return CUDA_SUCCESS;
}

MOCK_EXPORT CUresult CUDAAPI cuEventRecord(CUevent hEvent, CUstream hStream)
{
	DRIVER_BEGIN(cuEventRecord, hEvent, hStream);
	return DRIVER_END(event_record(hEvent, hStream, false));
}

MOCK_EXPORT CUresult CUDAAPI cuEventRecord_ptsz(CUevent hEvent, CUstream hStream)
{
	DRIVER_BEGIN(cuEventRecord_ptsz, hEvent, hStream);
	return DRIVER_END(event_record(hEvent, hStream, true));
}

static CUresult event_synchronize(CUevent event)
{
	if (!event)
		return CUDA_ERROR_INVALID_VALUE;
	if (!event->stream)
		return CUDA_SUCCESS;
	sync_wait(CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE, event->context,
		  event->stream, event, event->time_ns);
	return CUDA_SUCCESS;
}

MOCK_EXPORT CUresult CUDAAPI cuEventSynchronize(CUevent hEvent)
{
	DRIVER_BEGIN(cuEventSynchronize, hEvent);
	return DRIVER_END(event_synchronize(hEvent));
}

MOCK_EXPORT CUresult CUDAAPI cuEventQuery(CUevent hEvent)
{
	DRIVER_BEGIN(cuEventQuery, hEvent);
	if (!hEvent)
		return DRIVER_END(CUDA_ERROR_INVALID_VALUE);
	return DRIVER_END(hEvent->time_ns > mock_now() ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS);
}

MOCK_EXPORT CUresult CUDAAPI cuEventElapsedTime_v2(float *pMilliseconds, CUevent hStart,
						   CUevent hEnd)
{
	DRIVER_BEGIN(cuEventElapsedTime_v2, pMilliseconds, hStart, hEnd);
	if (!pMilliseconds || !hStart || !hEnd || !hStart->stream || !hEnd->stream)
		return DRIVER_END(CUDA_ERROR_INVALID_VALUE);
	*pMilliseconds = (float)((double)hEnd->time_ns - (double)hStart->time_ns) / 1e6f;
	return DRIVER_END(CUDA_SUCCESS);
}

static CUresult stream_wait_event(CUstream handle, CUevent event)
{
	const struct mock_tools *tools = call_tools();
	struct mock_sync sync = {.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT,
				 .correlation = call_correlation(),
				 .event = event};
	CUstream stream;
	CUresult err = event ? context_stream(handle, false, &stream) : CUDA_ERROR_INVALID_VALUE;

	if (err || stream->capture || !event->stream)
		return err;
	sync.context = stream->context;
	sync.stream = stream;
	sync.start_ns = mock_now();
	gpu_hold(stream, event->time_ns);
	sync.end_ns = mock_now();
	if (tools)
		tools->sync(&sync);
	return CUDA_SUCCESS;
}

MOCK_EXPORT CUresult CUDAAPI cuStreamWaitEvent(CUstream hStream, CUevent hEvent, unsigned int Flags)
{
	DRIVER_BEGIN(cuStreamWaitEvent, hStream, hEvent, Flags);
	return DRIVER_END(stream_wait_event(hStream, hEvent));
}
