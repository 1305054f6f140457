/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libdwfl looks through all symbols for each address; a table sorted by address makes that a matter
 * of microseconds in libraries with hundreds of thousands of them.
 */
#include "src/collector/binary.h"

#include <dwarf.h>
#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <gelf.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/collector/debuginfod.h"

#define BUILD_ID_BYTES 64
#define LOOK_BACK 16 /* symbols in front of an address that may reach it */

struct entry {
	GElf_Addr start, size;
	const char *name;
	bool local;
};

/* Addresses of the file that a compilation unit has code at. */
struct unit_range {
	Dwarf_Addr start, end;
	Dwarf_Die unit;
};

struct binary {
	Dwfl_Callbacks callbacks;
	char *debug_path;
	Dwfl *dwfl;
	Dwfl_Module *module;
	GElf_Addr bias; /* addresses of the module are those of the file plus this */
	struct entry *entries;
	struct unit_range *ranges; /* sorted */
	size_t count, range_count, range_room;
	Dwarf_Addr dwarf_bias;
	bool loaded;
	char build_id[2 * BUILD_ID_BYTES + 1];
};

static int find_no_elf(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base,
		       char **file_name, Elf **elf)
{
	(void)module, (void)userdata, (void)name, (void)base, (void)file_name, (void)elf;
	return -1;
}

static void binary_read_build_id(struct binary *b, Elf *elf)
{
	const unsigned char *id = NULL;
	ssize_t bytes = dwelf_elf_gnu_build_id(elf, (const void **)&id);

	for (ssize_t i = 0; i < bytes && i < BUILD_ID_BYTES; i++)
		snprintf(b->build_id + 2 * i, 3, "%02x", id[i]);
}

static int binary_report(struct binary *b, int fd, const char *path)
{
	Elf *elf;

	dwfl_report_begin(b->dwfl);
	b->module = dwfl_report_elf(b->dwfl, path, path, fd, 0, true);
	dwfl_report_end(b->dwfl, NULL, NULL);
	if (!b->module) {
		close(fd);
		return -ENOEXEC;
	}
	elf = dwfl_module_getelf(b->module, &b->bias);
	if (!elf)
		return -ENOEXEC;
	binary_read_build_id(b, elf);
	return 0;
}

int binary_open(struct binary **ret, int fd, const char *path, const char *debug_root)
{
	struct binary *b = calloc(1, sizeof(*b));
	int err = -ENOMEM;

	if (!b || asprintf(&b->debug_path, "+:.debug:/usr/lib/debug%s%s%s", debug_root ? ":" : "",
			   debug_root ? debug_root : "", debug_root ? "/usr/lib/debug" : "") < 0)
		goto fail;
	b->callbacks = (Dwfl_Callbacks){
		.find_elf = find_no_elf,
		.find_debuginfo = dwfl_standard_find_debuginfo,
		.section_address = dwfl_offline_section_address,
		.debuginfo_path = &b->debug_path,
	};
	b->dwfl = dwfl_begin(&b->callbacks);
	if (!b->dwfl)
		goto fail;
	debuginfod_bound(b->dwfl);
	err = binary_report(b, fd, path);
	fd = -1;
	if (err)
		goto fail;
	*ret = b;
	return 0;
fail:
	if (fd >= 0)
		close(fd);
	binary_free(b);
	return err;
}

void binary_free(struct binary *b)
{
	if (!b)
		return;
	if (b->dwfl)
		dwfl_end(b->dwfl);
	free(b->entries);
	free(b->ranges);
	free(b->debug_path);
	free(b);
}

const char *binary_build_id(const struct binary *b)
{
	return b->build_id;
}

/* By address; what is seen from outside before what is not. */
static int by_start(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->local != y->local)
		return x->local ? 1 : -1;
	return strcmp(x->name, y->name);
}

static void binary_load_symbols(struct binary *b)
{
	int count = dwfl_module_getsymtab(b->module);

	b->entries = count > 0 ? calloc((size_t)count, sizeof(*b->entries)) : NULL;
	for (int i = 1; b->entries && i < count; i++) {
		GElf_Sym sym;
		GElf_Addr address;
		const char *name =
			dwfl_module_getsym_info(b->module, i, &sym, &address, NULL, NULL, NULL);
		int type = GELF_ST_TYPE(sym.st_info);

		if (!name || !*name || (type != STT_FUNC && type != STT_GNU_IFUNC) ||
		    sym.st_shndx == SHN_UNDEF)
			continue;
		b->entries[b->count++] = (struct entry){
			.start = address,
			.size = sym.st_size,
			.name = name,
			.local = GELF_ST_BIND(sym.st_info) == STB_LOCAL,
		};
	}
	if (b->count)
		qsort(b->entries, b->count, sizeof(*b->entries), by_start);
}

static bool range_add(struct binary *b, const Dwarf_Die *unit, Dwarf_Addr start, Dwarf_Addr end)
{
	struct unit_range *larger;

	if (b->range_count == b->range_room) {
		b->range_room = b->range_room ? 2 * b->range_room : 256;
		larger = realloc(b->ranges, b->range_room * sizeof(*larger));
		if (!larger)
			return false;
		b->ranges = larger;
	}
	b->ranges[b->range_count++] = (struct unit_range){start, end, *unit};
	return true;
}

static int by_range(const void *a, const void *b)
{
	const struct unit_range *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* libdwfl finds units by .debug_aranges alone, which LLVM does not write. */
static void binary_load_units(struct binary *b)
{
	Dwarf_Die *unit = NULL;

	while ((unit = dwfl_module_nextcu(b->module, unit, &b->dwarf_bias))) {
		Dwarf_Addr base, start, end;
		ptrdiff_t at = 0;

		while ((at = dwarf_ranges(unit, at, &base, &start, &end)) > 0) {
			if (start < end && !range_add(b, unit, start, end))
				return;
		}
	}
	if (b->range_count)
		qsort(b->ranges, b->range_count, sizeof(*b->ranges), by_range);
}

static void binary_load(struct binary *b)
{
	b->loaded = true;
	binary_load_symbols(b);
	binary_load_units(b);
}

/* The unit with code at an address of the module; NULL when there is none. */
static Dwarf_Die *binary_unit(const struct binary *b, GElf_Addr address)
{
	Dwarf_Addr at = address - b->dwarf_bias;
	size_t low = 0, high = b->range_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (b->ranges[middle].start <= at)
			low = middle + 1;
		else
			high = middle;
	}
	return low && at < b->ranges[low - 1].end ? &b->ranges[low - 1].unit : NULL;
}

/* The symbol that has `address` in it. */
static const char *binary_symbol(const struct binary *b, GElf_Addr address)
{
	size_t low = 0, high = b->count;
	const char *name = NULL;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (b->entries[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t i = low; i > 0 && low - i < LOOK_BACK; i--) {
		const struct entry *e = &b->entries[i - 1];

		if (name && e->start != b->entries[i].start)
			break;
		if (address - e->start < e->size)
			name = e->name;
	}
	return name;
}

/* Where the file's byte at `offset` is mapped to; 0 when it is not. */
static GElf_Addr binary_address(const struct binary *b, __u64 offset)
{
	GElf_Addr bias;
	Elf *elf = dwfl_module_getelf(b->module, &bias);
	size_t count = 0;
	GElf_Phdr p;

	if (elf_getphdrnum(elf, &count))
		return 0;
	for (size_t i = 0; i < count; i++) {
		if (gelf_getphdr(elf, (int)i, &p) && p.p_type == PT_LOAD && offset >= p.p_offset &&
		    offset - p.p_offset < p.p_filesz)
			return p.p_vaddr + (offset - p.p_offset) + b->bias;
	}
	return 0;
}

static const char *die_function(Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	const char *name = dwarf_formstring(dwarf_attr_integrate(die, DW_AT_linkage_name, &attr));

	return name ? name : dwarf_diename(die);
}

/* Where the function that `die` stands for was inlined: that is the line of the one around it. */
static void die_call(Dwarf_Die *die, Dwarf_Die *unit, struct binary_line *line)
{
	Dwarf_Attribute attr;
	Dwarf_Word file = 0, number = 0;
	Dwarf_Files *files;

	*line = (struct binary_line){0};
	if (dwarf_formudata(dwarf_attr(die, DW_AT_call_line, &attr), &number) == 0)
		line->line = (__u32)number;
	if (dwarf_formudata(dwarf_attr(die, DW_AT_call_file, &attr), &file) == 0 &&
	    !dwarf_getsrcfiles(unit, &files, NULL))
		line->file = dwarf_filesrc(files, file, NULL, NULL);
}

static struct binary_line unit_source(Dwarf_Die *unit, Dwarf_Addr address)
{
	Dwarf_Line *found = unit ? dwarf_getsrc_die(unit, address) : NULL;
	struct binary_line line = {0};
	int number = 0;

	if (found) {
		line.file = dwarf_linesrc(found, NULL, NULL);
		dwarf_lineno(found, &number);
	}
	line.line = number > 0 ? (__u32)number : 0;
	return line;
}

/* The DIEs around an address as they are nested, the innermost first; to be freed. */
static int unit_scopes(Dwarf_Die *unit, Dwarf_Addr address, Dwarf_Die **ret)
{
	Dwarf_Die *scopes = NULL, innermost;
	int count = dwarf_getscopes(unit, address, &scopes);

	*ret = NULL;
	if (count <= 0)
		return 0;
	innermost = scopes[0];
	free(scopes);
	count = dwarf_getscopes_die(&innermost, ret);
	return count > 0 ? count : 0;
}

/* Tells of the functions inlined at `address`; `line` is where the next one around them is then. */
static int unit_inlined(Dwarf_Die *unit, Dwarf_Addr address, struct binary_line *line,
			int (*each)(void *arg, const struct binary_line *line), void *arg)
{
	Dwarf_Die *scopes = NULL;
	int count = unit ? unit_scopes(unit, address, &scopes) : 0, err = 0;

	for (int i = 0; i < count && !err; i++) {
		if (dwarf_tag(&scopes[i]) == DW_TAG_inlined_subroutine) {
			line->function = die_function(&scopes[i]);
			err = each(arg, line);
			die_call(&scopes[i], unit, line);
		} else if (dwarf_tag(&scopes[i]) == DW_TAG_subprogram) {
			line->function = die_function(&scopes[i]);
			break;
		}
	}
	free(scopes);
	return err;
}

int binary_lookup(struct binary *b, __u64 offset,
		  int (*each)(void *arg, const struct binary_line *line), void *arg)
{
	GElf_Addr address = binary_address(b, offset);
	struct binary_line line;
	const char *symbol;
	Dwarf_Die *unit;
	int err;

	if (!address)
		return 0;
	if (!b->loaded)
		binary_load(b);
	unit = binary_unit(b, address);
	line = unit_source(unit, address - b->dwarf_bias);
	err = unit_inlined(unit, address - b->dwarf_bias, &line, each, arg);
	symbol = binary_symbol(b, address);
	if (symbol)
		line.function = symbol;
	return err || !line.function ? err : each(arg, &line);
}
