/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The NVTX clients of the process: every shared object that was built with NVTX has a copy of its
 * own, with a table of function slots, which is filled and emptied here.
 *
 * Slots for definitions (domains, strings, names) are filled always; those for events only while
 * somebody listens, so that until then an event costs what it costs without an injection: a load
 * and a comparison in the client.
 *
 * A client's memory may go away when its object is unloaded. So slots are written only while the
 * client itself calls us, or under the loader's lock with the object seen to be there still.
 */
#ifndef CUPROBE_INJECT_NVTX_CLIENTS_H
#define CUPROBE_INJECT_NVTX_CLIENTS_H

#include <stdbool.h>
#include <stdint.h>

struct nvtx_callbacks;
struct nvtx_extension;

/*
 * Adds the client that is calling, if it is new, and fills its slots. 0, -EINVAL when it offers
 * nothing, or -ENOMEM.
 */
int cuprobe_nvtx_client_add(const struct nvtx_callbacks *callbacks, bool events);
int cuprobe_nvtx_client_add_extension(const struct nvtx_extension *extension, bool events);

/* Fills or empties the slots for events in all clients; forgets clients that were unloaded. */
void cuprobe_nvtx_clients_set(bool events);

#endif
