/* SPDX-License-Identifier: Apache-2.0 */
/* The simulated PC sampling. */
#include "test/mock/cupti.h"

#include <cupti_pcsampling.h>

/* A checksum of the simulator's own; what CUPTI computes is not known. */
MOCK_EXPORT CUptiResult CUPTIAPI cuptiGetCubinCrc(CUpti_GetCubinCrcParams *pParams)
{
	const uint8_t *cubin;
	uint32_t crc = 0x811c9dc5;

	CUPTI_BEGIN();
	if (!pParams || !pParams->size || !pParams->cubin || !pParams->cubinSize)
		return CUPTI_ERROR_INVALID_PARAMETER;
	cubin = pParams->cubin;
	for (size_t i = 0; i < pParams->cubinSize; i++)
		crc = (crc ^ cubin[i]) * 0x01000193;
	pParams->cubinCrc = crc;
	return CUPTI_SUCCESS;
}
