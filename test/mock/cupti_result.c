/* SPDX-License-Identifier: Apache-2.0 */
/* The texts of CUPTI's results. */
#include "test/mock/cupti.h"

static const char *result_name(CUptiResult result)
{
	switch (result) {
#define RESULT(name)                                                                               \
	case name:                                                                                 \
		return #name;
#include "mock_result_names.h"
#undef RESULT
	default:
		return NULL;
	}
}

MOCK_EXPORT CUptiResult CUPTIAPI cuptiGetResultString(CUptiResult result, const char **str)
{
	if (!str)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*str = result_name(result);
	return *str ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

#if MOCK_CUPTI >= 120400
MOCK_EXPORT CUptiResult CUPTIAPI cuptiGetErrorMessage(CUptiResult result, const char **str)
{
	return cuptiGetResultString(result, str);
}
#endif
