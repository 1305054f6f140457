/* SPDX-License-Identifier: Apache-2.0 */
#include "test/unwind/shapes.h"

namespace
{
struct counter {
	int &count;
	~counter()
	{
		count++;
	}
};

int throws(path *p)
{
	int cleaned = 0;

	try {
		counter c{cleaned};
		path_next(p);
		throw 1;
	} catch (int value) {
		return path_next(p) + value + cleaned;
	}
}

int throws_through(path *p)
{
	int cleaned = 0;
	counter c{cleaned};

	return throws(p) + path_next(p);
}

int passes_on(path *p)
{
	try {
		try {
			throw p->depth;
		} catch (...) {
			path_next(p);
			throw;
		}
	} catch (int value) {
		return value;
	}
}

shape *const all[] = {throws, throws_through, passes_on};
} // namespace

const shapes shapes_exceptions = {all, 3};
