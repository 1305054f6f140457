/* SPDX-License-Identifier: Apache-2.0 */
/* What only the other of two recordings has: a flame graph gives it no width, so words must do. */
#ifndef CUPROBE_COLLECTOR_GONE_H
#define CUPROBE_COLLECTOR_GONE_H

struct tree;

/*
 * How much it is, and by name the frames that most of it begins with, those of one name together:
 * "9.000 us only in x.cup, not drawn: f() 6.000 us, g() 2.000 us, h() 0.500 us, 4 more". `other`
 * names the recording. In one line, to be freed; "" when nothing is gone, NULL without memory.
 */
char *gone_describe(const struct tree *t, const char *other);

#endif
