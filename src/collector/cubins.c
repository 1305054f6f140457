/* SPDX-License-Identifier: Apache-2.0 */
#include "src/collector/cubins.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "cuprobe/abi.h"
#include "src/collector/cubin.h"
#include "src/collector/procs.h"

struct cubins_entry {
	struct cubins_entry *next;
	struct cubin *cubin;
	bool opened; /* and `cubin` is NULL where that failed */
	size_t bytes;
	void *image; /* until it is opened, which copies it */
};

void cubins_free(struct cubins *c)
{
	struct cubins_entry *next;

	for (struct cubins_entry *e = c->all; e; e = next) {
		next = e->next;
		cubin_free(e->cubin);
		free(e->image);
		free(e);
	}
	map_clear(&c->by_crc, NULL);
	*c = (struct cubins){0};
}

int cubins_add(struct cubins *c, __u64 crc, const void *image, size_t bytes)
{
	struct cubins_entry *e;

	if (!crc || map_find(&c->by_crc, crc))
		return 0;
	if (bytes > CUBIN_LARGEST || c->bytes + bytes > CUBINS_LARGEST)
		return -ENOSPC;
	e = calloc(1, sizeof(*e));
	if (e)
		e->image = malloc(bytes + 1);
	if (!e || !e->image || map_insert(&c->by_crc, crc, e)) {
		free(e ? e->image : NULL);
		free(e);
		return -ENOMEM;
	}
	memcpy(e->image, image, bytes);
	e->bytes = bytes;
	e->next = c->all;
	c->all = e;
	c->bytes += bytes;
	return 0;
}

const struct cubin *cubins_find(const struct cubins *c, __u64 crc)
{
	struct cubins_entry *e = map_find(&c->by_crc, crc);

	if (!e)
		return NULL;
	if (!e->opened && cubin_open(&e->cubin, e->image, e->bytes))
		e->cubin = NULL;
	e->opened = true;
	free(e->image);
	e->image = NULL;
	return e->cubin;
}

static int memory_read(pid_t pid, __u64 address, void *into, size_t bytes)
{
	struct iovec here = {into, bytes}, there = {(void *)address, bytes};
	ssize_t n = process_vm_readv(pid, &here, 1, &there, 1, 0);

	if (n < 0)
		return -errno;
	return (size_t)n == bytes ? 0 : -EFAULT;
}

int cubins_fetch(pid_t pid, const struct cuprobe_module *module, void **ret_image)
{
	pid_t thread;
	void *image;
	int err;

	if (!module->address || !module->crc || module->bytes < sizeof(Elf64_Ehdr))
		return -ENODATA;
	if (module->bytes > CUBIN_LARGEST)
		return -EFBIG;
	image = malloc(module->bytes);
	if (!image)
		return -ENOMEM;
	thread = proc_thread(pid); /* a main thread that has left has no memory any more */
	err = thread < 0 ? thread : memory_read(thread, module->address, image, module->bytes);
	if (!err && memcmp(image, ELFMAG, SELFMAG) != 0)
		err = -EBADMSG;
	if (err) {
		free(image);
		return err;
	}
	*ret_image = image;
	return 0;
}
