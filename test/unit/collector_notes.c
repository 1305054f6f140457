/* SPDX-License-Identifier: Apache-2.0 */
/* Finding the probes of an ELF file: one is made for each test. */
#include "src/collector/notes.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>
#include <gelf.h>

#include "cuprobe/abi.h"
#include "ebpf/programs.h"

#if defined(__x86_64__)
#define GOOD "8@%rdi 4@%esi 4@%edx 8@%rcx"
#define FIRST_SLOTS                                                                                \
	{                                                                                          \
		14, 13, 12, 11                                                                     \
	}
#define BAD_OPERAND "8@-16(%rbp) 4@%esi 4@%edx 8@%rcx"
#else
#define GOOD "8@x0 4@w1 4@w2 8@x3"
#define FIRST_SLOTS                                                                                \
	{                                                                                          \
		0, 1, 2, 3                                                                         \
	}
#define BAD_OPERAND "8@[sp, 16] 4@w1 4@w2 8@x3"
#endif

#define LOADED_AT 0x400000 /* address of file offset 0 */
#define BASE 0x400800

struct file {
	char note[512];
	size_t bytes;
	Elf64_Addr base; /* where .stapsdt.base lies; 0: there is none */
};

static void add_note(struct file *f, const char *owner, Elf64_Addr site, Elf64_Addr semaphore,
		     const char *provider, const char *name, const char *arguments)
{
	Elf64_Addr addresses[3] = {site, BASE, semaphore};
	char desc[256];
	size_t n = sizeof(addresses);
	Elf64_Nhdr header = {.n_namesz = 8, .n_type = 3};

	memcpy(desc, addresses, n);
	n = (size_t)(stpcpy(desc + n, provider) + 1 - desc);
	n = (size_t)(stpcpy(desc + n, name) + 1 - desc);
	n = (size_t)(stpcpy(desc + n, arguments) + 1 - desc);
	header.n_descsz = (Elf64_Word)n;
	memcpy(f->note + f->bytes, &header, sizeof(header));
	memcpy(f->note + f->bytes + sizeof(header), owner, 8);
	memcpy(f->note + f->bytes + sizeof(header) + 8, desc, n);
	f->bytes += sizeof(header) + 8 + (n + 3) / 4 * 4;
}

static Elf_Scn *add_section(Elf *elf, void *data, size_t bytes, size_t name, Elf64_Word type,
			    Elf64_Addr address)
{
	Elf_Scn *section = elf_newscn(elf);
	Elf_Data *d = elf_newdata(section);
	Elf64_Shdr *header = elf64_getshdr(section);

	d->d_buf = data;
	d->d_size = bytes;
	d->d_align = 4;
	header->sh_name = (Elf64_Word)name;
	header->sh_type = type;
	header->sh_addr = address;
	return section;
}

static int write_file(struct file *f)
{
	static char names[] = "\0.note.stapsdt\0.stapsdt.base\0.shstrtab", nothing[1];
	int fd = memfd_create("elf", 0);
	Elf64_Phdr *ph;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_WRITE, NULL);
	assert_non_null(elf64_newehdr(elf));
	elf64_getehdr(elf)->e_ident[EI_DATA] = ELFDATA2LSB;
	elf64_getehdr(elf)->e_type = ET_DYN;
	ph = elf64_newphdr(elf, 1);
	*ph = (Elf64_Phdr){
		.p_type = PT_LOAD, .p_vaddr = LOADED_AT, .p_filesz = 0x10000, .p_memsz = 0x20000};
	add_section(elf, f->note, f->bytes, 1, SHT_NOTE, 0);
	if (f->base)
		add_section(elf, nothing, 1, 15, SHT_PROGBITS, f->base);
	elf64_getehdr(elf)->e_shstrndx =
		(Elf64_Half)elf_ndxscn(add_section(elf, names, sizeof(names), 29, SHT_STRTAB, 0));
	assert_true(elf_update(elf, ELF_C_WRITE) > 0);
	elf_end(elf);
	return fd;
}

static int read_file(struct file *f, struct notes *ret)
{
	char why[256] = "";
	int fd = write_file(f), err = notes_read(ret, fd, why, sizeof(why));

	close(fd);
	if (err)
		assert_true(why[0]);
	return err;
}

static void takes_four_registers(void **state)
{
	static const unsigned int slots[] = FIRST_SLOTS;
	__u64 cookie = 0;

	(void)state;
	assert_int_equal(notes_arguments(GOOD, &cookie), 0);
	for (unsigned int i = 0; i < 4; i++)
		assert_int_equal(CUPROBE_COOKIE_SLOT(cookie, i), slots[i]);
	assert_int_equal(CUPROBE_COOKIE_PROBE(cookie), 0);
}

static void refuses_other_arguments(void **state)
{
	static const char *const bad[] = {
		BAD_OPERAND,
		"",
		"8@%rdi 4@%esi 4@%edx",
		GOOD " 8@%r8",
		"4@%edi 4@%esi 4@%edx 8@%rcx",
		"8@%rdi 4@%esi 4@%edx 8@$5",
		"8@%rdi 4@%esi 4@%edx 8@",
		"8@%rdi 4@%esi 4@%edx 8",
		"8@%rip 4@%esi 4@%edx 8@%rcx",
		"8@cuprobe_data(%rip) 4@%esi 4@%edx 8@%rcx",
	};
	__u64 cookie;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(notes_arguments(bad[i], &cookie), -EINVAL);
}

static void gives_places_in_the_file(void **state)
{
	struct file f = {.base = BASE};
	struct notes notes = {0};

	(void)state;
	add_note(&f, "stapsdt", LOADED_AT + 0x1234, LOADED_AT + 0x4000, "cuprobe", "memcpy", GOOD);
	add_note(&f, "stapsdt", LOADED_AT + 0x1300, 0, "cuprobe", "status", GOOD);
	assert_int_equal(read_file(&f, &notes), 0);
	assert_int_equal(notes.count, 2);
	assert_int_equal(notes.sites[0].probe, CUPROBE_PROBE_memcpy);
	assert_int_equal(notes.sites[0].offset, 0x1234);
	assert_int_equal(notes.sites[0].semaphore_offset, 0x4000);
	assert_int_equal(CUPROBE_COOKIE_PROBE(notes.sites[0].cookie), CUPROBE_PROBE_memcpy);
	assert_int_equal(notes.sites[1].semaphore_offset, 0);
	notes_free(&notes);
}

static void follows_a_moved_file(void **state)
{
	struct file f = {.base = BASE + 0x100};
	struct notes notes = {0};

	(void)state;
	add_note(&f, "stapsdt", LOADED_AT + 0x1234, LOADED_AT + 0x4000, "cuprobe", "memcpy", GOOD);
	assert_int_equal(read_file(&f, &notes), 0);
	assert_int_equal(notes.sites[0].offset, 0x1334);
	assert_int_equal(notes.sites[0].semaphore_offset, 0x4100);
	notes_free(&notes);
}

static void leaves_others_probes_alone(void **state)
{
	struct file f = {0};
	struct notes notes = {0};

	(void)state;
	add_note(&f, "stapsdt", LOADED_AT, 0, "parcagpu", "kernel", "8@%rdi");
	add_note(&f, "stapsdt", LOADED_AT, 0, "cuprobe", "of_the_future", "1@$3");
	add_note(&f, "another", LOADED_AT, 0, "cuprobe", "kernel", GOOD);
	assert_int_equal(read_file(&f, &notes), -ENOENT);
}

static void refuses_a_probe_outside_the_file(void **state)
{
	struct file f = {0};
	struct notes notes = {0};

	(void)state;
	/* in memory, but not in the file: .bss */
	add_note(&f, "stapsdt", LOADED_AT + 0x1000, LOADED_AT + 0x10000, "cuprobe", "kernel", GOOD);
	assert_int_equal(read_file(&f, &notes), -EINVAL);
}

static void refuses_damaged_notes(void **state)
{
	struct file f = {0};
	struct notes notes = {0};
	size_t whole;

	(void)state;
	add_note(&f, "stapsdt", LOADED_AT, 0, "cuprobe", "kernel", GOOD);
	whole = f.bytes;
	/* the last string does not end */
	memset(f.note + whole - 8, 'x', 8);
	assert_int_equal(read_file(&f, &notes), -EINVAL);
	/* a description that is too short for its addresses */
	((Elf64_Nhdr *)(void *)f.note)->n_descsz = 16;
	f.bytes = sizeof(Elf64_Nhdr) + 8 + 16;
	assert_int_equal(read_file(&f, &notes), -EINVAL);
}

static void refuses_what_is_no_elf_file(void **state)
{
	int fd = memfd_create("text", 0);
	struct notes notes = {0};
	char why[64];

	(void)state;
	assert_int_equal(notes_read(&notes, fd, why, sizeof(why)), -ENOEXEC);
	assert_int_equal(write(fd, "#!/bin/sh\n", 10), 10);
	assert_int_equal(notes_read(&notes, fd, why, sizeof(why)), -ENOEXEC);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_four_registers),
		cmocka_unit_test(refuses_other_arguments),
		cmocka_unit_test(gives_places_in_the_file),
		cmocka_unit_test(follows_a_moved_file),
		cmocka_unit_test(leaves_others_probes_alone),
		cmocka_unit_test(refuses_a_probe_outside_the_file),
		cmocka_unit_test(refuses_damaged_notes),
		cmocka_unit_test(refuses_what_is_no_elf_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
