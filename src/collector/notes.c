// SPDX-License-Identifier: Apache-2.0
/*
 * Reads .note.stapsdt without libbpf's USDT layer: that one needs a map entry for each attached
 * site, and runs out of them after some thousand processes. Our probes have their arguments in
 * registers, so all that the BPF program must know fits into the cookie.
 */
#include "src/collector/notes.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gelf.h>

#include "cuprobe/abi.h"
#include "ebpf/programs.h"
#include "src/collector/event.h"

#define NOTE_OWNER "stapsdt"
#define NOTE_TYPE 3
#define PROVIDER "cuprobe"
#define REPLAY "replay"

/* The names of each 8-byte slot of struct pt_regs (user_pt_regs) that can hold an argument. */
#if defined(__x86_64__)
struct register_names {
	const char *quad, *word;
};
static const struct register_names registers[] = {
	[0] = {"%r15", "%r15d"}, [1] = {"%r14", "%r14d"}, [2] = {"%r13", "%r13d"},
	[3] = {"%r12", "%r12d"}, [4] = {"%rbp", "%ebp"},  [5] = {"%rbx", "%ebx"},
	[6] = {"%r11", "%r11d"}, [7] = {"%r10", "%r10d"}, [8] = {"%r9", "%r9d"},
	[9] = {"%r8", "%r8d"},	 [10] = {"%rax", "%eax"}, [11] = {"%rcx", "%ecx"},
	[12] = {"%rdx", "%edx"}, [13] = {"%rsi", "%esi"}, [14] = {"%rdi", "%edi"},
};

static int register_slot(const char *name)
{
	for (size_t i = 0; i < sizeof(registers) / sizeof(registers[0]); i++) {
		if (!strcmp(name, registers[i].quad) || !strcmp(name, registers[i].word))
			return (int)i;
	}
	return -EINVAL;
}
#elif defined(__aarch64__)
static int register_slot(const char *name)
{
	char *end;
	long number;

	if ((name[0] != 'x' && name[0] != 'w') || !isdigit((unsigned char)name[1]))
		return -EINVAL;
	number = strtol(name + 1, &end, 10);
	return *end || number > 30 ? -EINVAL : (int)number;
}
#else
#error "which registers does this architecture pass to a uprobe?"
#endif

/* "SIZE@OPERAND" */
static int argument_slot(const char *text, int bytes)
{
	char *operand;
	long size = strtol(text, &operand, 10);

	if (labs(size) != bytes || *operand != '@')
		return -EINVAL;
	return register_slot(operand + 1);
}

int notes_arguments(const char *text, __u64 *ret_cookie)
{
	static const int bytes[CUPROBE_COOKIE_ARGUMENTS] = {8, 4, 4, 8};
	char copy[128], *next = copy, *word;
	__u64 cookie = 0;
	int n = 0;

	if (strlen(text) >= sizeof(copy))
		return -EINVAL;
	strcpy(copy, text);
	while ((word = strsep(&next, " "))) {
		int slot;

		if (!*word)
			continue;
		slot = n < CUPROBE_COOKIE_ARGUMENTS ? argument_slot(word, bytes[n]) : -EINVAL;
		if (slot < 0)
			return slot;
		cookie |= (__u64)slot << (8 + 8 * n++);
	}
	if (n != CUPROBE_COOKIE_ARGUMENTS)
		return -EINVAL;
	*ret_cookie = cookie;
	return 0;
}

/* The file that is being read. */
struct image {
	Elf *elf;
	GElf_Addr base; /* of .stapsdt.base; 0: there is none */
	struct notes notes;
	char *why;
	size_t why_size;
};

static int image_offset(const struct image *im, GElf_Addr address, __u64 *ret_offset)
{
	size_t count;

	if (elf_getphdrnum(im->elf, &count))
		return -EINVAL;
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr ph;

		if (!gelf_getphdr(im->elf, (int)i, &ph) || ph.p_type != PT_LOAD)
			continue;
		if (address < ph.p_vaddr || address - ph.p_vaddr >= ph.p_filesz)
			continue;
		*ret_offset = address - ph.p_vaddr + ph.p_offset;
		return 0;
	}
	return -EINVAL;
}

/* The three strings of a note: provider, probe, arguments; all zero terminated within `bytes`. */
static int note_strings(const char *text, size_t bytes, const char *ret[3])
{
	for (int i = 0; i < 3; i++) {
		const char *end = memchr(text, '\0', bytes);

		if (!end)
			return -EINVAL;
		ret[i] = text;
		bytes -= (size_t)(end + 1 - text);
		text = end + 1;
	}
	return 0;
}

static int image_place(struct image *im, const GElf_Addr address[3], const char *name,
		       struct probe_site *ret)
{
	/* The linker adjusts the section, prelink and others move it without the notes. */
	GElf_Addr moved = im->base ? im->base - address[1] : 0;

	if (!image_offset(im, address[0] + moved, &ret->offset) &&
	    (!address[2] || !image_offset(im, address[2] + moved, &ret->semaphore_offset)))
		return 0;
	snprintf(im->why, im->why_size, "probe '%s' lies outside the file", name);
	return -EINVAL;
}

static int image_add(struct image *im, const GElf_Addr address[3], const char *name,
		     const char *arguments)
{
	struct probe_site site = {.probe = (unsigned int)probe_number(name)};
	struct probe_site *sites;

	if (notes_arguments(arguments, &site.cookie)) {
		snprintf(im->why, im->why_size,
			 "probe '%s' has arguments that are not in registers: '%s'", name,
			 arguments);
		return -EINVAL;
	}
	if (image_place(im, address, name, &site))
		return -EINVAL;
	site.cookie |= site.probe;
	sites = realloc(im->notes.sites, (im->notes.count + 1) * sizeof(*sites));
	if (!sites)
		return -ENOMEM;
	sites[im->notes.count++] = site;
	im->notes.sites = sites;
	return 0;
}

static int image_note(struct image *im, const char *desc, size_t bytes)
{
	GElf_Addr address[3]; /* site, base when linked, semaphore */
	const char *strings[3];

	if (bytes < sizeof(address) ||
	    note_strings(desc + sizeof(address), bytes - sizeof(address), strings)) {
		snprintf(im->why, im->why_size, "a damaged note of a probe");
		return -EINVAL;
	}
	memcpy(address, desc, sizeof(address));
	if (strcmp(strings[0], PROVIDER))
		return 0;
	if (!strcmp(strings[1], REPLAY))
		return image_place(im, address, REPLAY, &im->notes.replay);
	if (probe_number(strings[1]) < 0)
		return 0;
	return image_add(im, address, strings[1], strings[2]);
}

static int image_notes(struct image *im, Elf_Data *data)
{
	size_t at = 0, name_at, desc_at;
	GElf_Nhdr note;
	int err = 0;

	while (!err && (at = gelf_getnote(data, at, &note, &name_at, &desc_at))) {
		const char *bytes = data->d_buf;

		if (note.n_type == NOTE_TYPE && note.n_namesz == sizeof(NOTE_OWNER) &&
		    !memcmp(bytes + name_at, NOTE_OWNER, sizeof(NOTE_OWNER)))
			err = image_note(im, bytes + desc_at, note.n_descsz);
	}
	return err;
}

/* The section of that name; NULL: there is none. */
static Elf_Scn *image_section(const struct image *im, const char *wanted, GElf_Shdr *ret_header)
{
	Elf_Scn *section = NULL;
	size_t names;

	if (elf_getshdrstrndx(im->elf, &names))
		return NULL;
	while ((section = elf_nextscn(im->elf, section))) {
		const char *name;

		if (!gelf_getshdr(section, ret_header))
			continue;
		name = elf_strptr(im->elf, names, ret_header->sh_name);
		if (name && !strcmp(name, wanted))
			return section;
	}
	return NULL;
}

static int image_read(struct image *im)
{
	GElf_Shdr header;
	Elf_Scn *section;
	Elf_Data *data;
	int err = 0;

	if (elf_kind(im->elf) != ELF_K_ELF || gelf_getclass(im->elf) != ELFCLASS64) {
		snprintf(im->why, im->why_size, "not a 64-bit ELF file");
		return -ENOEXEC;
	}
	if (image_section(im, ".stapsdt.base", &header))
		im->base = header.sh_addr;
	section = image_section(im, ".note.stapsdt", &header);
	data = section ? elf_getdata(section, NULL) : NULL;
	if (data)
		err = image_notes(im, data);
	if (!err && !im->notes.count) {
		snprintf(im->why, im->why_size, "has no probes of provider 'cuprobe'");
		err = -ENOENT;
	}
	return err;
}

int notes_read(struct notes *ret, int fd, char *ret_why, size_t size)
{
	struct image im = {.why = ret_why, .why_size = size};
	int err;

	elf_version(EV_CURRENT);
	im.elf = elf_begin(fd, ELF_C_READ, NULL);
	if (im.elf) {
		err = image_read(&im);
	} else {
		snprintf(ret_why, size, "not a 64-bit ELF file");
		err = -ENOEXEC;
	}
	elf_end(im.elf);
	if (err)
		notes_free(&im.notes);
	else
		*ret = im.notes;
	return err;
}

void notes_free(struct notes *n)
{
	free(n->sites);
	n->sites = NULL;
	n->count = 0;
}
