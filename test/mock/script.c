/* SPDX-License-Identifier: Apache-2.0 */
/* What the simulator is told to do otherwise than a healthy driver would. */
#include "test/mock/driver.h"

#include <stdlib.h>

const char *mock_setting(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

void script_init(void)
{
}

bool mock_fault(const char *api, int *ret_code)
{
	(void)api;
	(void)ret_code;
	return false;
}

/* Whether another CUPTI client has the subscription just now; its name. */
bool mock_rival(char *name, size_t bytes)
{
	(void)name;
	(void)bytes;
	return false;
}
