/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Line tables through libdw, with what is particular to cubins: each kernel has a section of its
 * own that begins at address 0, so that the addresses in .debug_line have to be relocated before
 * they tell anything; and rows name the row that they were inlined into.
 */
#include "src/collector/cubin.h"

#include <elfutils/libdw.h>
#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#define EM_CUDA_MACHINE 190
#define SECTION_SHIFT 40	  /* sections lie so far apart: 1 TiB */
#define FUNCTIONS_MOST (1u << 16) /* each instruction is looked for in all */
#define LINES_LARGEST (16u << 20) /* of .debug_line; each byte can be a row, of 100 in memory */

/* Row numbers are counted from 1, so that 0 is none. */
struct row {
	__u64 address; /* of the section, see section_address(), and the offset in it */
	const char *file, *function;
	__u32 line;
	__u32 into; /* the row whose line this one was inlined into; always an earlier one */
	bool end;   /* the first address behind a sequence */
};

struct function {
	const char *name;
	__u64 address, bytes;
};

struct cubin {
	char *image;
	size_t bytes;
	Elf *elf;
	Dwarf *dwarf;
	struct row *rows; /* [0] is not used */
	__u32 row_count;
	__u32 *order;		    /* rows by address; of one address in the order of the table */
	struct function *functions; /* one more than there are: the last one that was found */
	size_t function_count;
};

static __u64 section_address(size_t section, __u64 offset)
{
	return ((__u64)section << SECTION_SHIFT) + offset;
}

static Elf_Scn *section_of_type(Elf *elf, __u32 type, GElf_Shdr *ret_header)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(elf, section))) {
		if (gelf_getshdr(section, ret_header) && ret_header->sh_type == type)
			return section;
	}
	return NULL;
}

static Elf_Data *symbols_of(Elf *elf, GElf_Shdr *ret_header)
{
	Elf_Scn *section = section_of_type(elf, SHT_SYMTAB, ret_header);

	return section ? elf_getdata(section, NULL) : NULL;
}

static int functions_read(struct cubin *c)
{
	GElf_Shdr header;
	Elf_Data *symbols = symbols_of(c->elf, &header);
	size_t count = symbols ? symbols->d_size / sizeof(Elf64_Sym) : 0;
	GElf_Sym symbol;

	c->functions = calloc(count + 1, sizeof(*c->functions));
	if (!c->functions)
		return -ENOMEM;
	for (size_t i = 0; i < count && c->function_count < FUNCTIONS_MOST; i++) {
		const char *name;

		if (!gelf_getsym(symbols, (int)i, &symbol) ||
		    GELF_ST_TYPE(symbol.st_info) != STT_FUNC || !symbol.st_shndx ||
		    symbol.st_shndx >= SHN_LORESERVE)
			continue;
		name = elf_strptr(c->elf, header.sh_link, symbol.st_name);
		if (name)
			c->functions[c->function_count++] = (struct function){
				name, section_address(symbol.st_shndx, symbol.st_value),
				symbol.st_size};
	}
	return 0;
}

/* One relocation, the 64-bit address of a function: written to our copy of the image. */
static void relocate(struct cubin *c, const GElf_Shdr *lines, Elf_Data *symbols, const GElf_Rela *r,
		     bool addend_is_there)
{
	__u64 address, addend = (__u64)r->r_addend;
	GElf_Sym symbol;
	char *place;

	if (r->r_offset > lines->sh_size || lines->sh_size - r->r_offset < sizeof(address) ||
	    !gelf_getsym(symbols, (int)GELF_R_SYM(r->r_info), &symbol))
		return;
	place = c->image + lines->sh_offset + r->r_offset;
	if (addend_is_there)
		memcpy(&addend, place, sizeof(addend));
	address = section_address(symbol.st_shndx, symbol.st_value + addend);
	memcpy(place, &address, sizeof(address));
}

/* For compute capability 9.0 they carry their addend (RELA), before that they do not (REL). */
static void relocate_all(struct cubin *c, const GElf_Shdr *lines, Elf_Data *symbols,
			 Elf_Data *relocations, bool with_addend)
{
	GElf_Rela r = {0};
	GElf_Rel rel;

	for (int i = 0; with_addend && gelf_getrela(relocations, i, &r); i++)
		relocate(c, lines, symbols, &r, false);
	for (int i = 0; !with_addend && gelf_getrel(relocations, i, &rel); i++) {
		r = (GElf_Rela){.r_offset = rel.r_offset, .r_info = rel.r_info};
		relocate(c, lines, symbols, &r, true);
	}
}

static bool section_is_lines(Elf *elf, Elf_Scn *section, GElf_Shdr *ret_header)
{
	size_t names;
	const char *name;

	if (!section || !gelf_getshdr(section, ret_header) || elf_getshdrstrndx(elf, &names))
		return false;
	name = elf_strptr(elf, names, ret_header->sh_name);
	return name && !strcmp(name, ".debug_line");
}

static bool lines_are_too_many(Elf *elf)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(elf, section))) {
		if (section_is_lines(elf, section, &header) && header.sh_size > LINES_LARGEST)
			return true;
	}
	return false;
}

/*
 * `elf` is the image as it came: what libelf has checked of the copy must not change under it, and
 * a section of lines can lie across anything else.
 */
static void lines_relocate(struct cubin *c, Elf *elf)
{
	GElf_Shdr header, lines, unused;
	Elf_Data *symbols = symbols_of(elf, &unused);
	Elf_Scn *section = NULL;

	while (symbols && (section = elf_nextscn(elf, section))) {
		if (!gelf_getshdr(section, &header) ||
		    (header.sh_type != SHT_RELA && header.sh_type != SHT_REL) ||
		    !section_is_lines(elf, elf_getscn(elf, header.sh_info), &lines) ||
		    lines.sh_offset > c->bytes || lines.sh_size > c->bytes - lines.sh_offset)
			continue;
		relocate_all(c, &lines, symbols, elf_getdata(section, NULL),
			     header.sh_type == SHT_RELA);
	}
}

/*
 * libdw takes the number of a row's context for one of its whole table, but it counts from the
 * beginning of the row's sequence. Which number it was is seen from which row libdw answers.
 */
static __u32 context_number(Dwarf_Lines *lines, size_t count, Dwarf_Line *line)
{
	const char *context = (const char *)dwarf_linecontext(lines, line);
	const char *first = (const char *)dwarf_onesrcline(lines, 0);
	const char *last = (const char *)dwarf_onesrcline(lines, count - 1);

	if (!context || count < 2)
		return 0;
	return (__u32)((size_t)(context - first) / ((size_t)(last - first) / (count - 1))) + 1;
}

static void row_read(struct cubin *c, Dwarf_Lines *lines, size_t count, size_t i, __u32 sequence)
{
	Dwarf_Line *line = dwarf_onesrcline(lines, i);
	struct row *row = &c->rows[c->row_count];
	__u32 context = context_number(lines, count, line);
	Dwarf_Addr address = 0;
	int number = 0;

	dwarf_lineaddr(line, &address);
	dwarf_lineno(line, &number);
	dwarf_lineendsequence(line, &row->end);
	row->address = address;
	row->line = (__u32)number;
	row->file = dwarf_linesrc(line, NULL, NULL);
	row->function = dwarf_linefunctionname(c->dwarf, line);
	if (context && sequence + context - 1 < c->row_count)
		row->into = sequence + context - 1;
	c->row_count++;
}

static int table_read(struct cubin *c, Dwarf_Lines *lines, size_t count)
{
	struct row *larger;
	__u32 sequence = c->row_count;

	larger = reallocarray(c->rows, c->row_count + count, sizeof(*larger));
	if (!larger)
		return -ENOMEM;
	c->rows = larger;
	memset(c->rows + c->row_count, 0, count * sizeof(*larger));
	for (size_t i = 0; i < count; i++) {
		row_read(c, lines, count, i, sequence);
		if (c->rows[c->row_count - 1].end)
			sequence = c->row_count;
	}
	return 0;
}

static int by_address(const void *a, const void *b, void *rows)
{
	const __u32 x = *(const __u32 *)a, y = *(const __u32 *)b;
	const struct row *r = rows;

	if (r[x].address != r[y].address)
		return r[x].address < r[y].address ? -1 : 1;
	if (r[x].end != r[y].end) /* a sequence that begins here is what holds */
		return r[x].end ? -1 : 1;
	return x < y ? -1 : 1;
}

static int rows_sort(struct cubin *c)
{
	__u32 count = c->row_count - 1;

	c->order = calloc(count + 1, sizeof(*c->order));
	if (!c->order)
		return -ENOMEM;
	for (__u32 i = 0; i < count; i++)
		c->order[i] = i + 1;
	qsort_r(c->order, count, sizeof(*c->order), by_address, c->rows);
	return 0;
}

static int lines_read(struct cubin *c)
{
	Dwarf_Off at = 0, next;
	Dwarf_Files *files;
	Dwarf_Lines *lines;
	size_t file_count, count;
	Dwarf_CU *unit = NULL;
	int err = 0;

	c->rows = calloc(1, sizeof(*c->rows));
	if (!c->rows)
		return -ENOMEM;
	c->row_count = 1;
	if (!lines_are_too_many(c->elf))
		c->dwarf = dwarf_begin_elf(c->elf, DWARF_C_READ, NULL);
	while (!err && c->dwarf &&
	       !dwarf_next_lines(c->dwarf, at, &next, &unit, &files, &file_count, &lines, &count)) {
		if (count)
			err = table_read(c, lines, count);
		at = next;
	}
	return err ? err : rows_sort(c);
}

/* nvcc compresses no section, and a small one can stand for gigabytes. */
static bool is_compressed(Elf *elf)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return false;
	while ((section = elf_nextscn(elf, section))) {
		const char *name;

		if (!gelf_getshdr(section, &header))
			continue;
		name = elf_strptr(elf, names, header.sh_name);
		if (header.sh_flags & SHF_COMPRESSED || (name && !strncmp(name, ".zdebug", 7)))
			return true;
	}
	return false;
}

static int elf_open(Elf **ret, void *image, size_t bytes)
{
	GElf_Ehdr header;

	elf_version(EV_CURRENT);
	*ret = elf_memory(image, bytes);
	if (!*ret || elf_kind(*ret) != ELF_K_ELF || gelf_getclass(*ret) != ELFCLASS64 ||
	    !gelf_getehdr(*ret, &header) || header.e_machine != EM_CUDA_MACHINE ||
	    is_compressed(*ret))
		return -EBADMSG;
	return 0;
}

/* A copy of the image, with relocations applied. */
static int image_open(struct cubin *c, const void *image)
{
	Elf *elf = NULL;
	int err = elf_open(&elf, (void *)image, c->bytes);

	if (!err)
		lines_relocate(c, elf);
	elf_end(elf);
	return err ? err : elf_open(&c->elf, c->image, c->bytes);
}

int cubin_open(struct cubin **ret, const void *image, size_t bytes)
{
	struct cubin *c = calloc(1, sizeof(*c));
	int err = -ENOMEM;

	if (!c)
		return err;
	c->image = malloc(bytes ? bytes : 1);
	if (!c->image)
		goto fail;
	memcpy(c->image, image, bytes);
	c->bytes = bytes;
	err = image_open(c, image);
	if (!err)
		err = functions_read(c);
	if (!err)
		err = lines_read(c);
	if (err)
		goto fail;
	*ret = c;
	return 0;
fail:
	cubin_free(c);
	return err;
}

void cubin_free(struct cubin *c)
{
	if (!c)
		return;
	dwarf_end(c->dwarf);
	elf_end(c->elf);
	free(c->functions);
	free(c->order);
	free(c->rows);
	free(c->image);
	free(c);
}

bool cubin_has_lines(const struct cubin *c)
{
	return c->row_count > 1;
}

/* The row that holds at the address; 0: none. */
static __u32 row_find(const struct cubin *c, __u64 address)
{
	__u32 low = 0, high = c->row_count - 1;

	while (low < high) {
		__u32 middle = (low + high) / 2;

		if (c->rows[c->order[middle]].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || c->rows[c->order[low - 1]].end ||
	    c->rows[c->order[low - 1]].address >> SECTION_SHIFT != address >> SECTION_SHIFT)
		return 0;
	return c->order[low - 1];
}

/* Questions come function by function. */
static const struct function *function_find(const struct cubin *c, const char *name)
{
	struct function *last = &c->functions[c->function_count];

	if (last->name && !strcmp(last->name, name))
		return last;
	for (size_t i = 0; i < c->function_count; i++) {
		if (!strcmp(c->functions[i].name, name)) {
			*last = c->functions[i];
			return last;
		}
	}
	return NULL;
}

/* The innermost function there: a kernel's symbol spans the functions that it keeps for itself. */
static const char *name_at(const struct cubin *c, const struct function *within, __u64 address)
{
	const struct function *best = within;
	const char *own;

	for (size_t i = 0; i < c->function_count; i++) {
		const struct function *f = &c->functions[i];

		if (address >= f->address && address - f->address < f->bytes &&
		    f->bytes < best->bytes)
			best = f;
	}
	own = *best->name == '$' ? strrchr(best->name, '$') : NULL; /* "$kernel$function" */
	return own ? own + 1 : best->name;
}

unsigned int cubin_frames(const struct cubin *c, const char *function, __u64 pc,
			  struct cubin_frame frames[CUBIN_FRAMES])
{
	const struct function *f = c ? function_find(c, function) : NULL;
	unsigned int count = 0;
	const char *outer;
	__u32 at;

	if (!f || pc >= f->bytes)
		return 0;
	outer = name_at(c, f, f->address + pc);
	at = row_find(c, f->address + pc);
	while (at && count < CUBIN_FRAMES) {
		const struct row *row = &c->rows[at];
		const char *name = row->into ? row->function : outer;

		frames[count++] = (struct cubin_frame){name ? name : "?", row->file, row->line};
		at = row->into;
	}
	if (!count)
		frames[count++] = (struct cubin_frame){outer, NULL, 0};
	return count;
}

void cubin_each_function(const struct cubin *c,
			 void (*each)(void *arg, const char *name, __u64 bytes), void *arg)
{
	for (size_t i = 0; i < c->function_count; i++)
		each(arg, c->functions[i].name, c->functions[i].bytes);
}

const void *cubin_image(const struct cubin *c, size_t *ret_bytes)
{
	*ret_bytes = c->bytes;
	return c->image;
}
