/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The subscriber and its callbacks. Only what was enabled is dispatched. As in the real library a
 * callback that has begun is not waited for: it may arrive after cuptiUnsubscribe returned.
 */
#include "test/mock/cupti.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct CUpti_Subscriber_st {
	struct CUpti_Subscriber_st *next;
	CUpti_CallbackFunc callback;
	void *userdata;
	char name[CUPTI_SUBSCRIBER_NAME_MAX_LEN + 1];
};

static const char *const runtime_names[] = {
#include "mock_runtime_names.h"
};
static const char *const driver_names[] = {
#include "mock_driver_names.h"
};

static pthread_mutex_t lock =
	PTHREAD_MUTEX_INITIALIZER;		    /* one change of the subscriber at a time */
static struct CUpti_Subscriber_st *all_subscribers; /* never freed: late callbacks use them */
static struct CUpti_Subscriber_st *_Atomic subscriber;
static _Atomic uint8_t enabled[CUPTI_CB_DOMAIN_SIZE][CUPTI_MAX_CBIDS];

static uint32_t domain_size(CUpti_CallbackDomain domain)
{
	switch (domain) {
	case CUPTI_CB_DOMAIN_DRIVER_API:
		return CUPTI_DRIVER_SIZE;
	case CUPTI_CB_DOMAIN_RUNTIME_API:
		return CUPTI_RUNTIME_SIZE;
	case CUPTI_CB_DOMAIN_RESOURCE:
		return CUPTI_CBID_RESOURCE_SIZE;
	case CUPTI_CB_DOMAIN_SYNCHRONIZE:
		return CUPTI_CBID_SYNCHRONIZE_SIZE;
	case CUPTI_CB_DOMAIN_NVTX:
		return 64;
	case CUPTI_CB_DOMAIN_STATE:
		return CUPTI_CBID_STATE_SIZE;
	default:
		return 0;
	}
}

void callback_reset(void)
{
	memset((void *)enabled, 0, sizeof(enabled));
	atomic_store(&subscriber, NULL);
}

static void callback_switch(CUpti_CallbackDomain domain, CUpti_CallbackId cbid, bool on)
{
	if (atomic_exchange(&enabled[domain][cbid], on) && !on)
		hazard_hidden(domain, cbid);
}

static void domain_switch(CUpti_CallbackDomain domain, bool on)
{
	for (uint32_t cbid = 1; cbid < domain_size(domain); cbid++)
		callback_switch(domain, cbid, on);
}

static bool subscriber_rival(char *name, size_t bytes)
{
	struct CUpti_Subscriber_st *holder = atomic_load(&subscriber);

	if (drv->rival(name, bytes))
		return true;
	if (!holder)
		return false;
	snprintf(name, bytes, "%s", holder->name);
	return true;
}

static CUptiResult subscribe(CUpti_SubscriberHandle *ret_subscriber, CUpti_CallbackFunc callback,
			     void *userdata, const char *name, char *rival, size_t rival_bytes)
{
	struct CUpti_Subscriber_st *s;
	CUptiResult err = CUPTI_SUCCESS;

	if (!ret_subscriber)
		return CUPTI_ERROR_INVALID_PARAMETER;
	pthread_mutex_lock(&lock);
	if (subscriber_rival(rival, rival_bytes)) {
		err = CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
		goto out;
	}
	s = calloc(1, sizeof(*s));
	if (!s) {
		err = CUPTI_ERROR_OUT_OF_MEMORY;
		goto out;
	}
	s->callback = callback;
	s->userdata = userdata;
	snprintf(s->name, sizeof(s->name), "%s", name);
	s->next = all_subscribers;
	all_subscribers = s;
	atomic_store(&subscriber, s);
	*ret_subscriber = s;
out:
	pthread_mutex_unlock(&lock);
	return err;
}

MOCK_EXPORT CUptiResult CUPTIAPI cuptiSubscribe(CUpti_SubscriberHandle *ret_subscriber,
						CUpti_CallbackFunc callback, void *userdata)
{
	char rival[CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN];

	CUPTI_BEGIN();
	return subscribe(ret_subscriber, callback, userdata, "", rival, sizeof(rival));
}

#if MOCK_CUPTI >= 130000
MOCK_EXPORT CUptiResult CUPTIAPI cuptiSubscribe_v2(CUpti_SubscriberHandle *ret_subscriber,
						   CUpti_CallbackFunc callback, void *userdata,
						   CUpti_SubscriberParams *pParams)
{
	char rival[CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN] = "";
	CUptiResult err;

	CUPTI_BEGIN();
	if (!pParams || pParams->structSize != CUpti_SubscriberParams_STRUCT_SIZE)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (pParams->subscriberName &&
	    strlen(pParams->subscriberName) > CUPTI_SUBSCRIBER_NAME_MAX_LEN)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (pParams->oldSubscriberName &&
	    pParams->oldSubscriberSize < CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN)
		return CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT;
	err = subscribe(ret_subscriber, callback, userdata,
			pParams->subscriberName ? pParams->subscriberName : "", rival,
			sizeof(rival));
	if (err == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED && pParams->oldSubscriberName)
		snprintf(pParams->oldSubscriberName, pParams->oldSubscriberSize, "%s", rival);
	return err;
}
#endif

static bool handle_valid(const char *function, CUpti_SubscriberHandle handle)
{
	if (handle && handle == atomic_load(&subscriber))
		return true;
	drv->violation("%s called with a subscriber that is not subscribed", function);
	return false;
}

MOCK_EXPORT CUptiResult CUPTIAPI cuptiUnsubscribe(CUpti_SubscriberHandle handle)
{
	bool valid;

	CUPTI_BEGIN();
	pthread_mutex_lock(&lock);
	valid = handle_valid(__func__, handle);
	for (uint32_t domain = 0; valid && domain < CUPTI_CB_DOMAIN_SIZE; domain++)
		domain_switch(domain, false);
	if (valid)
		callback_reset();
	pthread_mutex_unlock(&lock);
	deliver_unsubscribed();
	return valid ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

MOCK_EXPORT CUptiResult CUPTIAPI cuptiEnableCallback(uint32_t enable, CUpti_SubscriberHandle handle,
						     CUpti_CallbackDomain domain,
						     CUpti_CallbackId cbid)
{
	CUPTI_BEGIN();
	if (!handle_valid(__func__, handle) || !cbid || cbid >= domain_size(domain))
		return CUPTI_ERROR_INVALID_PARAMETER;
	callback_switch(domain, cbid, enable);
	return CUPTI_SUCCESS;
}

MOCK_EXPORT CUptiResult CUPTIAPI cuptiEnableDomain(uint32_t enable, CUpti_SubscriberHandle handle,
						   CUpti_CallbackDomain domain)
{
	CUPTI_BEGIN();
	if (!handle_valid(__func__, handle) || !domain_size(domain))
		return CUPTI_ERROR_INVALID_PARAMETER;
	for (uint32_t cbid = 1; cbid < domain_size(domain); cbid++)
		callback_switch(domain, cbid, enable);
	return CUPTI_SUCCESS;
}

MOCK_EXPORT CUptiResult CUPTIAPI cuptiGetCallbackState(uint32_t *enable,
						       CUpti_SubscriberHandle handle,
						       CUpti_CallbackDomain domain,
						       CUpti_CallbackId cbid)
{
	CUPTI_BEGIN();
	if (!enable || !handle_valid(__func__, handle) || cbid >= domain_size(domain))
		return CUPTI_ERROR_INVALID_PARAMETER;
	*enable = atomic_load(&enabled[domain][cbid]);
	return CUPTI_SUCCESS;
}

/* Needs no libcuda, as the names are in the library. */
MOCK_EXPORT CUptiResult CUPTIAPI cuptiGetCallbackName(CUpti_CallbackDomain domain, uint32_t cbid,
						      const char **name)
{
	if (!name || !cbid || cbid >= domain_size(domain))
		return CUPTI_ERROR_INVALID_PARAMETER;
	*name = NULL;
	if (domain == CUPTI_CB_DOMAIN_RUNTIME_API)
		*name = runtime_names[cbid];
	else if (domain == CUPTI_CB_DOMAIN_DRIVER_API)
		*name = driver_names[cbid];
	return *name ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

static void callback_give(CUpti_CallbackDomain domain, CUpti_CallbackId cbid, const void *data)
{
	struct CUpti_Subscriber_st *s = atomic_load(&subscriber);

	if (s && s->callback)
		s->callback(s->userdata, domain, cbid, data);
}

static bool callback_wanted(CUpti_CallbackDomain domain, CUpti_CallbackId cbid)
{
	return cbid < domain_size(domain) &&
	       atomic_load_explicit(&enabled[domain][cbid], memory_order_relaxed);
}

static void callback_call(struct mock_call *call, CUpti_ApiCallbackSite site)
{
	CUpti_CallbackData data = {
		.callbackSite = site,
		.functionName = call->function,
		.functionParams = call->params,
		.functionReturnValue = site == CUPTI_API_EXIT ? &call->result : NULL,
		.symbolName = call->symbol,
		.context = call->context,
		.contextUid = call->context ? call->context->id : 0,
		.correlationData = &call->correlation_data,
		.correlationId = call->correlation,
	};

	cupti_in_callback += site == CUPTI_API_EXIT;
	callback_give(call->domain, call->cbid, &data);
	cupti_in_callback -= site == CUPTI_API_EXIT;
}

static bool call_recorded(const struct mock_call *call)
{
	bool runtime = call->domain == CUPTI_CB_DOMAIN_RUNTIME_API;

	return call->cbid < domain_size(call->domain) &&
	       activity_wanted(runtime ? CUPTI_ACTIVITY_KIND_RUNTIME : CUPTI_ACTIVITY_KIND_DRIVER);
}

static void call_enter(struct mock_call *call)
{
	if (call_recorded(call)) {
		call->recorded = hazard_life();
		call->enter_ns = cupti_time();
	}
	if (callback_wanted(call->domain, call->cbid)) {
		hazard_call_shown(call);
		callback_call(call, CUPTI_API_ENTER);
	}
}

static void call_exit(struct mock_call *call)
{
	if (call->recorded == hazard_life() && call_recorded(call))
		record_call(call, cupti_time());
	hazard_call_over(call);
	if (callback_wanted(call->domain, call->cbid))
		callback_call(call, CUPTI_API_EXIT);
}

void callback_resource(CUpti_CallbackIdResource id, CUcontext context, CUstream stream,
		       void *descriptor)
{
	CUpti_ResourceData data = {.context = context, .resourceDescriptor = descriptor};

	data.resourceHandle.stream = stream;
	if (callback_wanted(CUPTI_CB_DOMAIN_RESOURCE, id))
		callback_give(CUPTI_CB_DOMAIN_RESOURCE, id, &data);
}

void callback_synchronized(CUpti_CallbackIdSync id, CUcontext context, CUstream stream)
{
	CUpti_SynchronizeData data = {.context = context, .stream = stream};

	if (callback_wanted(CUPTI_CB_DOMAIN_SYNCHRONIZE, id))
		callback_give(CUPTI_CB_DOMAIN_SYNCHRONIZE, id, &data);
}

static void tool_sync(const struct mock_sync *sync)
{
	record_sync(sync);
	if (sync->type == CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE)
		callback_synchronized(CUPTI_CBID_SYNCHRONIZE_STREAM_SYNCHRONIZED, sync->context,
				      sync->stream);
	if (sync->type == CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE)
		callback_synchronized(CUPTI_CBID_SYNCHRONIZE_CONTEXT_SYNCHRONIZED, sync->context,
				      NULL);
	pending_drain(false);
}

static void tool_context(bool created, struct CUctx_st *context)
{
	if (created)
		record_context(context);
	callback_resource(created ? CUPTI_CBID_RESOURCE_CONTEXT_CREATED
				  : CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING,
			  context, NULL, NULL);
	if (!created)
		pc_context_destroyed(context);
}

static void tool_stream(bool created, struct CUstream_st *stream)
{
	if (created)
		record_stream(stream);
	callback_resource(created ? CUPTI_CBID_RESOURCE_STREAM_CREATED
				  : CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING,
			  stream->context, stream, NULL);
}

static void tool_module(bool loaded, struct CUmod_st *module)
{
	uint64_t start = cupti_time();
	CUpti_ModuleResourceData data = {
		.moduleId = module->id, .cubinSize = module->image_bytes, .pCubin = module->image};

	if (loaded)
		pc_module_loaded(module->context);
	callback_resource(loaded ? CUPTI_CBID_RESOURCE_MODULE_LOADED
				 : CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING,
			  module->context, NULL, &data);
	if (loaded)
		record_overhead_since(CUPTI_ACTIVITY_OVERHEAD_DRIVER_COMPILER, start);
}

static void tool_launch(const struct mock_launch *launch)
{
	pc_launched(launch);
	pending_add(launch);
}

static CUgraphNodeType node_type(const struct CUgraphNode_st *node)
{
	switch (node->op.kind) {
	case MOCK_KERNEL:
		return CU_GRAPH_NODE_TYPE_KERNEL;
	case MOCK_SET:
		return CU_GRAPH_NODE_TYPE_MEMSET;
	default:
		return CU_GRAPH_NODE_TYPE_MEMCPY;
	}
}

static void tool_node(struct CUgraphNode_st *node, struct CUgraphNode_st *original)
{
	CUpti_GraphData data = {
		.graph = node->graph,
		.originalGraph = original ? original->graph : NULL,
		.node = node,
		.originalNode = original,
		.nodeType = node_type(node),
	};

	callback_resource(original ? CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED
				   : CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED,
			  NULL, NULL, &data);
}

static void tool_initialized(void)
{
	if (activity_wanted(CUPTI_ACTIVITY_KIND_DEVICE))
		record_existing(CUPTI_ACTIVITY_KIND_DEVICE);
}

static void tool_teardown(void)
{
	pending_drain(true);
	lane_fold();
}

const struct mock_tools cupti_tools = {
	.path = MOCK_CUPTI_NAME,
	.initialized = tool_initialized,
	.enter = call_enter,
	.exit = call_exit,
	.node = tool_node,
	.instantiated = hazard_instantiated,
	.launch = tool_launch,
	.sync = tool_sync,
	.event = record_event,
	.memory = record_memory,
	.pool = record_pool,
	.context = tool_context,
	.stream = tool_stream,
	.module = tool_module,
	.teardown = tool_teardown,
};
