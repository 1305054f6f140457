/* SPDX-License-Identifier: Apache-2.0 */
/* What libcuprobe.so exports. */
#ifndef CUPROBE_INJECT_INJECT_H
#define CUPROBE_INJECT_INJECT_H

/* Called by the CUDA driver; 1: the library stays. Calls after the first do nothing. */
int InitializeInjection(void);

#endif
