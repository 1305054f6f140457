/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The simulated PC sampling. Each launch gives samples for the time that its kernel takes, at
 * instructions of the function in its cubin, most of them at one. As in the real library a function
 * is attributed from its first launch on, and in graphs from then on or when its module was loaded
 * after sampling began; and samples that are there when a module is loaded, or sampling stops, go
 * to the buffer that was configured. A period that is set later is read back and not used.
 */
#include "test/mock/cupti.h"

#include <cupti_pcsampling.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CONTEXTS 64
#define PCS 4096 /* different (function, instruction, reason, launch) that are kept */
#define INSTRUCTION_BYTES 16
#define CYCLES_PER_US (132ull * 1980)
#define OLD_RECORD_BYTES offsetof(CUpti_PCSamplingPCData, correlationId)

#define STALL(name) "smsp__pcsamp_warps_issue_stalled_" name
static const char *const reasons[] = {
	"smsp__pcsamp_sample_buffer_full", /* no reason, but a count */
	"smsp__pcsamp_samples_data_dropped",
	STALL("barrier"),
	STALL("barrier_not_issued"),
	STALL("long_scoreboard"),
	STALL("long_scoreboard_not_issued"),
	STALL("selected"),
	STALL("wait"),
	STALL("wait_not_issued"),
};
#define REASONS (sizeof(reasons) / sizeof(*reasons))

struct sample {
	const struct CUfunc_st *function;
	uint64_t offset;
	uint32_t reason, samples, correlation;
};

struct sampling {
	CUcontext context; /* NULL: not sampled */
	bool configured, control, started;
	CUpti_PCSamplingCollectionMode mode;
	uint32_t period, period_told, last_old_module, number;
	size_t hardware_bytes;
	CUpti_PCSamplingData *buffer;
	uint64_t cycles_left, counter, non_user, dropped, range;
	struct sample samples[PCS];
	size_t count;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects all of these */
static struct sampling contexts[CONTEXTS];
static uint32_t last_number; /* of a sampling */
static atomic_int sampled;   /* contexts */
static atomic_int launching; /* threads that come with the driver's lock, and ask for this one */

static void lock_inside_driver(void)
{
	atomic_fetch_add(&launching, 1);
	pthread_mutex_lock(&lock);
}

static void unlock_inside_driver(void)
{
	pthread_mutex_unlock(&lock);
	atomic_fetch_sub(&launching, 1);
}

/*
 * With the lock. Who is launching now waits for it, with the driver's in hand, which this needs:
 * the real libraries stand still.
 */
static void driver_lock_exclusive(void)
{
	const struct timespec moment = {.tv_nsec = 200000};

	nanosleep(&moment, NULL);
	if (atomic_load(&launching))
		drv->violation("PC sampling was switched while a thread launched a kernel");
}

static struct sampling *sampling_find(CUcontext context)
{
	for (int i = 0; i < CONTEXTS; i++) {
		if (contexts[i].context == context)
			return &contexts[i];
	}
	return NULL;
}

static uint32_t hash(uint64_t value)
{
	return (uint32_t)(value * 0x9e3779b97f4a7c15ull >> 40);
}

/* A checksum of the simulator's own; what CUPTI computes is not known. */
static uint32_t checksum(const uint8_t *bytes, size_t count)
{
	uint32_t crc = 0x811c9dc5;

	for (size_t i = 0; i < count; i++)
		crc = (crc ^ bytes[i]) * 0x01000193;
	return crc;
}

/* Index and size of the function in its module's symbol table; both 0 where there is none. */
static uint32_t function_symbol(const struct CUfunc_st *function, uint64_t *ret_bytes)
{
	const char *file = function->module->image;
	const Elf64_Ehdr *elf = (const void *)file;
	const Elf64_Shdr *sections;

	*ret_bytes = 64 * INSTRUCTION_BYTES;
	if (!file || memcmp(file, ELFMAG, SELFMAG) != 0)
		return 0;
	sections = (const void *)(file + elf->e_shoff);
	for (unsigned int i = 0; i < elf->e_shnum; i++) {
		const Elf64_Sym *symbols = (const void *)(file + sections[i].sh_offset);
		const char *strings = file + sections[sections[i].sh_link].sh_offset;

		if (sections[i].sh_type != SHT_SYMTAB)
			continue;
		for (uint32_t s = 0; s < sections[i].sh_size / sizeof(*symbols); s++) {
			if (strcmp(strings + symbols[s].st_name, function->name) != 0)
				continue;
			*ret_bytes = symbols[s].st_size;
			return s;
		}
	}
	return 0;
}

/* Kernels have a character: what their name says they wait for. */
static uint32_t reason_of(const struct CUfunc_st *function, uint64_t counter)
{
	if (counter % 8 == 7)
		return 6;
	if (strstr(function->name, "gather"))
		return 4;
	return strstr(function->name, "reduce") ? 2 : 7;
}

static void sample_add(struct sampling *s, const struct CUfunc_st *function, uint32_t correlation)
{
	uint64_t bytes, counter = s->counter++;
	struct sample new = {.function = function, .samples = 1};
	struct sample *old;

	function_symbol(function, &bytes);
	new.reason = reason_of(function, counter);
	new.offset = counter % 4 ? bytes / 2 : hash(counter) % bytes;
	new.offset -= new.offset % INSTRUCTION_BYTES;
	if (s->mode == CUPTI_PC_SAMPLING_COLLECTION_MODE_KERNEL_SERIALIZED)
		new.correlation = correlation;
	for (old = s->samples; old < s->samples + s->count; old++) {
		if (old->function == function && old->offset == new.offset &&
		    old->reason == new.reason && old->correlation == new.correlation) {
			old->samples++;
			return;
		}
	}
	if (s->count == PCS) {
		s->dropped++;
		return;
	}
	s->samples[s->count++] = new;
}

static bool is_known(const struct sampling *s, const struct mock_launch *launch,
		     struct CUfunc_st *function)
{
	if (!launch->exec || function->module->id > s->last_old_module)
		function->sampling = s->number;
	return function->sampling == s->number;
}

static void launch_sample(struct sampling *s, const struct mock_launch *launch)
{
	for (uint32_t i = 0; s->configured && s->started && i < launch->op_count; i++) {
		const struct mock_op *op = &launch->ops[i];

		if (op->kind != MOCK_KERNEL)
			continue;
		s->cycles_left += op->duration_ns * CYCLES_PER_US / 1000;
		for (; s->cycles_left >> s->period; s->cycles_left -= 1ull << s->period) {
			if (!is_known(s, launch, op->kernel.function)) {
				s->non_user++;
				continue;
			}
			drv->count_records(CUPTI_ACTIVITY_KIND_PC_SAMPLING, MOCK_MADE, 1);
			sample_add(s, op->kernel.function, launch->correlation);
		}
	}
}

/* Memory that is set, or copied on the device, is so by a kernel of the driver's own. */
static bool runs_kernel(const struct mock_op *op)
{
	return op->kind == MOCK_KERNEL || op->kind == MOCK_SET || op->kind == MOCK_PEER_COPY ||
	       (op->kind == MOCK_COPY && op->copy.copy_kind == CUPTI_ACTIVITY_MEMCPY_KIND_DTOD);
}

void pc_launched(const struct mock_launch *launch)
{
	struct sampling *s;

	if (!(launch->exec || runs_kernel(launch->ops)) || !atomic_load(&sampled))
		return;
	lock_inside_driver();
	s = sampling_find(launch->stream->context);
	if (s)
		launch_sample(s, launch);
	unlock_inside_driver();
}

static size_t pc_record_bytes(void)
{
	return MOCK_CUPTI >= 120400 ? sizeof(CUpti_PCSamplingPCData) : OLD_RECORD_BYTES;
}

static void record_fill(CUpti_PCSamplingPCData *record, const struct sample *sample)
{
	const struct CUmod_st *module = sample->function->module;
	uint64_t bytes;

	if (record->size != pc_record_bytes())
		drv->violation("a PC record of %zu bytes was handed in", record->size);
	record->cubinCrc = checksum(module->image, module->image_bytes);
	record->pcOffset = sample->offset;
	record->functionIndex = function_symbol(sample->function, &bytes);
	record->functionName = (char *)sample->function->name;
	record->stallReason[0].pcSamplingStallReasonIndex = sample->reason;
	record->stallReason[0].samples = sample->samples;
	record->stallReasonCount = 1;
	if (sample->reason != 6) { /* which is not waiting: half of the rest are not issued */
		record->stallReason[1].pcSamplingStallReasonIndex = sample->reason + 1;
		record->stallReason[1].samples = sample->samples / 2;
		record->stallReasonCount = 2;
	}
	if (record->size > OLD_RECORD_BYTES)
		record->correlationId = sample->correlation;
	drv->count_records(CUPTI_ACTIVITY_KIND_PC_SAMPLING, MOCK_DELIVERED, sample->samples);
}

/* MOCK_PC_ROUND: so many instructions at most are given away at once. */
static size_t round_limit(size_t asked)
{
	const char *setting = drv->setting("MOCK_PC_ROUND");
	size_t most = setting ? strtoul(setting, NULL, 10) : 0;

	return most && most < asked ? most : asked;
}

static void data_fill(struct sampling *s, CUpti_PCSamplingData *data)
{
	size_t count = round_limit(data->collectNumPcs);

	if (data->size != sizeof(*data))
		drv->violation("PC sampling data of %zu bytes was handed in", data->size);
	data->totalNumPcs = s->count < count ? s->count : count;
	data->totalSamples = s->non_user + s->dropped;
	for (size_t i = 0; i < data->totalNumPcs; i++) {
		record_fill((void *)((char *)data->pPcData + i * pc_record_bytes()),
			    &s->samples[i]);
		data->totalSamples += s->samples[i].samples;
	}
	s->count -= data->totalNumPcs;
	memmove(s->samples, s->samples + data->totalNumPcs, s->count * sizeof(*s->samples));
	data->remainingNumPcs = s->count;
	data->droppedSamples = s->dropped;
	data->nonUsrKernelsTotalSamples = s->non_user;
	data->rangeId = s->range;
	data->hardwareBufferFull = 0;
	s->dropped = s->non_user = 0;
}

/* CUPTI writes there when it cannot keep samples any longer; what was there before is lost. */
static void buffer_flush(struct sampling *s)
{
	if (s->buffer && s->configured && s->count)
		data_fill(s, s->buffer);
}

/* Its variables are filled by a kernel of the driver's. */
void pc_module_loaded(CUcontext context)
{
	struct sampling *s;

	lock_inside_driver();
	s = context ? sampling_find(context) : NULL;
	if (s)
		buffer_flush(s);
	unlock_inside_driver();
}

void pc_context_destroyed(CUcontext context)
{
	struct sampling *s;

	pthread_mutex_lock(&lock);
	s = sampling_find(context);
	if (s) {
		drv->violation("a context was destroyed while it was sampled");
		s->context = NULL;
		atomic_fetch_sub(&sampled, 1);
	}
	pthread_mutex_unlock(&lock);
}

void pc_finalized(void)
{
	pthread_mutex_lock(&lock);
	for (int i = 0; i < CONTEXTS; i++) {
		if (contexts[i].context)
			drv->violation("cuptiFinalize called while a context was sampled");
		contexts[i].context = NULL;
	}
	atomic_store(&sampled, 0);
	pthread_mutex_unlock(&lock);
}

static uint32_t newest_module(void)
{
	return drv->modules() ? drv->modules()->id : 0;
}

MOCK_EXPORT CUptiResult CUPTIAPI cuptiPCSamplingEnable(CUpti_PCSamplingEnableParams *pParams)
{
	CUptiResult err = CUPTI_SUCCESS;
	struct sampling *s;

	CUPTI_BEGIN();
	if (!pParams || !pParams->ctx || pParams->size < CUpti_PCSamplingEnableParamsSize)
		return CUPTI_ERROR_INVALID_PARAMETER;
	pthread_mutex_lock(&lock);
	if (sampling_find(pParams->ctx)) {
		drv->violation("PC sampling was enabled twice for a context");
		err = CUPTI_ERROR_INVALID_OPERATION;
	}
	s = sampling_find(NULL);
	if (atomic_load(&sampled))
		driver_lock_exclusive();
	if (!err && s) {
		atomic_fetch_add(&sampled, 1);
		*s = (struct sampling){.context = pParams->ctx,
				       .mode = CUPTI_PC_SAMPLING_COLLECTION_MODE_CONTINUOUS,
				       .number = ++last_number,
				       .period = 15,
				       .period_told = 15,
				       .hardware_bytes = 512 << 20,
				       .last_old_module = newest_module()};
	}
	pthread_mutex_unlock(&lock);
	return err;
}

/* What begins every other function: the context is sampled, and the lock is held. */
static CUptiResult sampled_begin(CUcontext context, struct sampling **ret)
{
	pthread_mutex_lock(&lock);
	*ret = context ? sampling_find(context) : NULL;
	if (*ret)
		return CUPTI_SUCCESS;
	pthread_mutex_unlock(&lock);
	return CUPTI_ERROR_INVALID_OPERATION;
}

static CUptiResult sampled_end(CUptiResult err)
{
	pthread_mutex_unlock(&lock);
	return err;
}

MOCK_EXPORT CUptiResult CUPTIAPI cuptiPCSamplingDisable(CUpti_PCSamplingDisableParams *pParams)
{
	struct sampling *s;

	CUPTI_BEGIN();
	if (sampled_begin(pParams->ctx, &s))
		return CUPTI_ERROR_INVALID_OPERATION;
	driver_lock_exclusive();
	buffer_flush(s);
	s->context = NULL;
	atomic_fetch_sub(&sampled, 1);
	return sampled_end(CUPTI_SUCCESS);
}

static CUptiResult window_set(CUcontext context, bool open)
{
	struct sampling *s;

	if (sampled_begin(context, &s))
		return CUPTI_ERROR_INVALID_OPERATION;
	if (!s->configured || !s->control || s->started == open)
		return sampled_end(CUPTI_ERROR_INVALID_OPERATION);
	driver_lock_exclusive();
	s->started = open;
	s->range += open;
	if (!open)
		buffer_flush(s);
	return sampled_end(CUPTI_SUCCESS);
}

MOCK_EXPORT CUptiResult CUPTIAPI cuptiPCSamplingStart(CUpti_PCSamplingStartParams *pParams)
{
	CUPTI_BEGIN();
	return window_set(pParams->ctx, true);
}

MOCK_EXPORT CUptiResult CUPTIAPI cuptiPCSamplingStop(CUpti_PCSamplingStopParams *pParams)
{
	CUPTI_BEGIN();
	return window_set(pParams->ctx, false);
}

MOCK_EXPORT CUptiResult CUPTIAPI cuptiPCSamplingGetData(CUpti_PCSamplingGetDataParams *pParams)
{
	struct sampling *s;

	CUPTI_BEGIN();
	if (sampled_begin(pParams->ctx, &s))
		return CUPTI_ERROR_INVALID_OPERATION;
	if (!s->configured)
		return sampled_end(CUPTI_ERROR_INVALID_OPERATION);
	data_fill(s, pParams->pcSamplingData);
	return sampled_end(CUPTI_SUCCESS);
}

MOCK_EXPORT CUptiResult CUPTIAPI
cuptiPCSamplingGetNumStallReasons(CUpti_PCSamplingGetNumStallReasonsParams *pParams)
{
	struct sampling *s;

	CUPTI_BEGIN();
	if (sampled_begin(pParams->ctx, &s))
		return CUPTI_ERROR_INVALID_OPERATION;
	*pParams->numStallReasons = REASONS;
	return sampled_end(CUPTI_SUCCESS);
}

MOCK_EXPORT CUptiResult CUPTIAPI
cuptiPCSamplingGetStallReasons(CUpti_PCSamplingGetStallReasonsParams *pParams)
{
	struct sampling *s;

	CUPTI_BEGIN();
	if (sampled_begin(pParams->ctx, &s))
		return CUPTI_ERROR_INVALID_OPERATION;
	for (uint32_t i = 0; i < pParams->numStallReasons && i < REASONS; i++) {
		pParams->stallReasonIndex[i] = i;
		strncpy(pParams->stallReasons[i], reasons[i], CUPTI_STALL_REASON_STRING_SIZE);
	}
	return sampled_end(CUPTI_SUCCESS);
}

static CUptiResult attribute_set(struct sampling *s, CUpti_PCSamplingConfigurationInfo *info)
{
	uint32_t period = info->attributeData.samplingPeriodData.samplingPeriod;

	switch (info->attributeType) {
	case CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_PERIOD:
		s->period_told = period;
		if (!s->configured)
			s->period = period;
		return period < 5 || period > 31 ? CUPTI_ERROR_INVALID_OPERATION : CUPTI_SUCCESS;
	case CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_COLLECTION_MODE:
		s->mode = info->attributeData.collectionModeData.collectionMode;
		return CUPTI_SUCCESS;
	case CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_ENABLE_START_STOP_CONTROL:
		s->control = info->attributeData.enableStartStopControlData.enableStartStopControl;
		return CUPTI_SUCCESS;
	case CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_DATA_BUFFER:
		s->buffer = info->attributeData.samplingDataBufferData.samplingDataBuffer;
		return s->buffer ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_OPERATION;
	case CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_HARDWARE_BUFFER_SIZE:
		s->hardware_bytes = info->attributeData.hardwareBufferSizeData.hardwareBufferSize;
		return CUPTI_SUCCESS;
	case CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_INVALID:
	case CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_FORCE_INT:
		return CUPTI_ERROR_INVALID_PARAMETER;
	default:
		return CUPTI_SUCCESS;
	}
}

MOCK_EXPORT CUptiResult CUPTIAPI
cuptiPCSamplingSetConfigurationAttribute(CUpti_PCSamplingConfigurationInfoParams *pParams)
{
	struct sampling *s;
	CUptiResult err = CUPTI_SUCCESS;

	CUPTI_BEGIN();
	if (sampled_begin(pParams->ctx, &s))
		return CUPTI_ERROR_INVALID_OPERATION;
	for (size_t i = 0; i < pParams->numAttributes; i++) {
		CUpti_PCSamplingConfigurationInfo *info = &pParams->pPCSamplingConfigurationInfo[i];

		info->attributeStatus = attribute_set(s, info);
		err = err ? err : info->attributeStatus;
	}
	s->configured = !err && s->buffer;
	s->started = !s->control;
	return sampled_end(err);
}

MOCK_EXPORT CUptiResult CUPTIAPI
cuptiPCSamplingGetConfigurationAttribute(CUpti_PCSamplingConfigurationInfoParams *pParams)
{
	struct sampling *s;

	CUPTI_BEGIN();
	if (sampled_begin(pParams->ctx, &s))
		return CUPTI_ERROR_INVALID_OPERATION;
	for (size_t i = 0; i < pParams->numAttributes; i++) {
		CUpti_PCSamplingConfigurationInfo *info = &pParams->pPCSamplingConfigurationInfo[i];

		if (info->attributeType ==
		    CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_PERIOD)
			info->attributeData.samplingPeriodData.samplingPeriod = s->period_told;
		else
			info->attributeData.hardwareBufferSizeData.hardwareBufferSize =
				s->hardware_bytes;
		info->attributeStatus = CUPTI_SUCCESS;
	}
	return sampled_end(CUPTI_SUCCESS);
}

MOCK_EXPORT CUptiResult CUPTIAPI cuptiGetCubinCrc(CUpti_GetCubinCrcParams *pParams)
{
	CUPTI_BEGIN();
	if (!pParams || !pParams->size || !pParams->cubin || !pParams->cubinSize)
		return CUPTI_ERROR_INVALID_PARAMETER;
	pParams->cubinCrc = checksum(pParams->cubin, pParams->cubinSize);
	return CUPTI_SUCCESS;
}
