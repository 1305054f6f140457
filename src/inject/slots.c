/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/slots.h"

#include <errno.h>

#include "src/inject/memory.h"

int cuprobe_slots_reserve(struct cuprobe_slots *s, __u32 count)
{
	size_t capacity = 0;
	__u32 *grown;

	if (s->numbers && count * 2 < s->mask)
		return 0;
	grown = cuprobe_memory_grow(NULL, &capacity, s->numbers ? 2 * s->capacity : 1);
	if (!grown)
		return -ENOMEM;
	cuprobe_memory_free(s->numbers, s->capacity);
	*s = (struct cuprobe_slots){
		.numbers = grown,
		.capacity = capacity,
		.mask = (__u32)(capacity / sizeof(*grown)) - 1,
	};
	return 1;
}
