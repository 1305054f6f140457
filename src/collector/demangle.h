/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUPROBE_COLLECTOR_DEMANGLE_H
#define CUPROBE_COLLECTOR_DEMANGLE_H

/*
 * The readable form of a C++ or Rust name, to be freed; NULL when the name is not mangled, or is
 * longer than what is worth the time (DEMANGLE_LONGEST).
 */
#define DEMANGLE_LONGEST 65536
char *demangle(const char *name);

#endif
