/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The format is NVIDIA's and not documented; what is here is what can be seen in files that nvcc
 * makes: containers one after another, each with entries that are PTX or cubins, as they are or
 * compressed as a whole.
 */
#include "src/collector/fatbin.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#define CONTAINER_MAGIC 0xba55ed50u
#define ENTRY_CUBIN 2
#define FLAG_LZ4 0x2000u
#define FLAG_ZSTD 0x8000u
#define LARGEST ((size_t)256 << 20) /* of one cubin, not compressed */

struct container {
	__u32 magic;
	__u16 version, header_bytes;
	__u64 bytes; /* behind the header */
};

struct entry {
	__u16 kind, version;
	__u32 header_bytes;
	__u64 bytes;
	__u32 compressed_bytes, unknown;
	__u16 minor, major;
	__u32 arch;
	__u64 name;
	__u64 flags;
	__u64 zero;
	__u64 original_bytes;
};

struct cursor {
	const __u8 *at, *end;
};

/* A length of LZ4: 15 in the token goes on in bytes, up to the first that is not 255. */
static bool lz4_length(struct cursor *in, size_t *length)
{
	__u8 more = 255;

	if (*length != 15)
		return true;
	while (more == 255) {
		if (in->at == in->end)
			return false;
		more = *in->at++;
		*length += more;
	}
	return true;
}

static bool lz4_copy(struct cursor *in, __u8 *out, size_t *used, size_t room, size_t length)
{
	size_t distance;

	if (in->end - in->at < 2)
		return false;
	distance = (size_t)in->at[0] | (size_t)in->at[1] << 8;
	in->at += 2;
	if (!lz4_length(in, &length) || !distance || distance > *used || length + 4 > room - *used)
		return false;
	for (length += 4; length; length--, ++*used)
		out[*used] = out[*used - distance];
	return true;
}

/* One block of LZ4. How much came out; 0 when it is damaged. */
static size_t lz4_unpack(const void *data, size_t bytes, __u8 *out, size_t room)
{
	struct cursor in = {data, (const __u8 *)data + bytes};
	size_t used = 0;

	while (in.at < in.end) {
		__u8 token = *in.at++;
		size_t literals = token >> 4;

		if (!lz4_length(&in, &literals) || literals > (size_t)(in.end - in.at) ||
		    literals > room - used)
			return 0;
		memcpy(out + used, in.at, literals);
		in.at += literals;
		used += literals;
		if (in.at < in.end && !lz4_copy(&in, out, &used, room, token & 15))
			return 0;
	}
	return used;
}

static int entry_unpack(const struct entry *e, const __u8 *data, const struct fatbin_visitor *v)
{
	__u8 *image;
	size_t bytes;
	int err = 0;

	if (!(e->flags & (FLAG_LZ4 | FLAG_ZSTD)))
		return v->cubin(v->arg, e->arch, data, e->bytes);
	if (e->compressed_bytes > e->bytes || !e->original_bytes || e->original_bytes > LARGEST)
		return 0;
	image = malloc(e->original_bytes);
	if (!image)
		return -ENOMEM;
	if (e->flags & FLAG_ZSTD)
		bytes = ZSTD_decompress(image, e->original_bytes, data, e->compressed_bytes);
	else
		bytes = lz4_unpack(data, e->compressed_bytes, image, e->original_bytes);
	if (bytes && bytes <= e->original_bytes)
		err = v->cubin(v->arg, e->arch, image, bytes);
	free(image);
	return err;
}

static int container_walk(struct cursor in, const struct fatbin_visitor *v)
{
	struct entry e;
	int err = 0;

	while (!err && (size_t)(in.end - in.at) >= sizeof(e)) {
		memcpy(&e, in.at, sizeof(e));
		if (e.header_bytes < sizeof(e) || e.header_bytes > (size_t)(in.end - in.at) ||
		    e.bytes > (size_t)(in.end - in.at) - e.header_bytes)
			return 0;
		if (e.kind == ENTRY_CUBIN && v->wants(v->arg, e.arch))
			err = entry_unpack(&e, in.at + e.header_bytes, v);
		in.at += e.header_bytes + e.bytes;
	}
	return err;
}

int fatbin_walk(const void *data, size_t bytes, const struct fatbin_visitor *v)
{
	struct cursor in = {data, (const __u8 *)data + bytes};
	struct container c;
	int err = 0;

	while (!err && (size_t)(in.end - in.at) >= sizeof(c)) {
		memcpy(&c, in.at, sizeof(c));
		if (c.magic != CONTAINER_MAGIC) { /* between two there may be padding */
			in.at += 8;
			continue;
		}
		if (c.header_bytes < sizeof(c) || c.header_bytes > (size_t)(in.end - in.at) ||
		    c.bytes > (size_t)(in.end - in.at) - c.header_bytes)
			return 0;
		in.at += c.header_bytes;
		err = container_walk((struct cursor){in.at, in.at + c.bytes}, v);
		in.at += c.bytes;
	}
	return err;
}

static int elf_walk(Elf *elf, const struct fatbin_visitor *v)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	size_t names;
	int err = 0;

	if (elf_getshdrstrndx(elf, &names))
		return 0;
	while (!err && (section = elf_nextscn(elf, section))) {
		const char *name = gelf_getshdr(section, &header)
					   ? elf_strptr(elf, names, header.sh_name)
					   : NULL;
		Elf_Data *data;

		if (!name || (strcmp(name, ".nv_fatbin") != 0 && strcmp(name, "__nv_relfatbin")))
			continue;
		data = elf_rawdata(section, NULL);
		if (data)
			err = fatbin_walk(data->d_buf, data->d_size, v);
	}
	return err;
}

int fatbin_walk_file(const char *path, const struct fatbin_visitor *v)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), err = 0;
	Elf *elf;

	if (fd < 0)
		return 0;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (elf)
		err = elf_walk(elf, v);
	elf_end(elf);
	close(fd);
	return err;
}
