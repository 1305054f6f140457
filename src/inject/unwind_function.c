/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/unwind_function.h"

#include <dwarf.h>

#include "src/inject/unwind_machine.h"

#define ENCODED_TABLE (DW_EH_PE_datarel | DW_EH_PE_sdata4)

/* What can be read from the address on. */
static struct cuprobe_bytes module_bytes(const struct dl_phdr_info *module, __u64 address)
{
	for (unsigned int i = 0; i < module->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &module->dlpi_phdr[i];
		__u64 begin = module->dlpi_addr + segment->p_vaddr;

		if (segment->p_type == PT_LOAD && (segment->p_flags & PF_R) && address >= begin &&
		    address - begin < segment->p_filesz)
			return (struct cuprobe_bytes){(const __u8 *)address,
						      (const __u8 *)begin + segment->p_filesz,
						      false};
	}
	return (struct cuprobe_bytes){.bad = true};
}

static __u64 encoded_number(struct cuprobe_bytes *b, __u8 format)
{
	switch (format & 0x0f) {
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		return cuprobe_bytes___u64(b);
	case DW_EH_PE_uleb128:
		return cuprobe_bytes_uleb(b);
	case DW_EH_PE_sleb128:
		return (__u64)cuprobe_bytes_sleb(b);
	case DW_EH_PE_udata2:
		return cuprobe_bytes___u16(b);
	case DW_EH_PE_sdata2:
		return (__u64)cuprobe_bytes___s16(b);
	case DW_EH_PE_udata4:
		return cuprobe_bytes___u32(b);
	case DW_EH_PE_sdata4:
		return (__u64)cuprobe_bytes___s32(b);
	default:
		b->bad = true;
		return 0;
	}
}

/* Addresses are absolute or count from where they stand. */
__u64 cuprobe_function_address(struct cuprobe_bytes *b, __u8 encoding)
{
	__u64 here = (__u64)b->at, number = encoded_number(b, encoding);

	if ((encoding & 0xf0) == DW_EH_PE_pcrel)
		return here + number;
	b->bad |= (encoding & 0xf0) != DW_EH_PE_absptr;
	return number;
}

/* An entry's content after its length; bad at the end of the list. */
static struct cuprobe_bytes entry_read(struct cuprobe_bytes *b)
{
	__u64 bytes = cuprobe_bytes___u32(b);

	if (bytes == 0xffffffff)
		bytes = cuprobe_bytes___u64(b);
	b->bad |= !bytes;
	return cuprobe_bytes_part(b, bytes);
}

static void augmentation_read(struct cuprobe_function *f, struct cuprobe_bytes *b,
			      const char *letters)
{
	struct cuprobe_bytes data = cuprobe_bytes_part(b, cuprobe_bytes_uleb(b));
	__u8 encoding;

	for (; *letters && !data.bad; letters++) {
		switch (*letters) {
		case 'R':
			f->encoding = cuprobe_bytes___u8(&data);
			break;
		case 'P':
			encoding = cuprobe_bytes___u8(&data);
			encoded_number(&data, encoding);
			break;
		case 'L':
			cuprobe_bytes___u8(&data);
			break;
		case 'S':
			f->is_signal = true;
			break;
		default: /* the length tells how to go on */
			return;
		}
	}
	b->bad |= data.bad;
}

static void common_read(struct cuprobe_function *f, struct cuprobe_bytes b)
{
	const char *letters;
	__u8 version;

	b.bad |= cuprobe_bytes___u32(&b) != 0;
	version = cuprobe_bytes___u8(&b);
	letters = (const char *)b.at;
	while (cuprobe_bytes___u8(&b))
		;
	f->code_align = cuprobe_bytes_uleb(&b);
	f->data_align = cuprobe_bytes_sleb(&b);
	b.bad |= (version == 1 ? cuprobe_bytes___u8(&b) : cuprobe_bytes_uleb(&b)) !=
		 CUPROBE_DWARF_PC;
	f->has_data = !b.bad && *letters == 'z';
	if (f->has_data)
		augmentation_read(f, &b, letters + 1);
	else
		b.bad |= !b.bad && *letters;
	f->common = b;
}

/* False when the entry is no function's, or damaged. `b` is its content. */
static bool function_read(struct cuprobe_function *f, const struct dl_phdr_info *module,
			  struct cuprobe_bytes b)
{
	__u64 here = (__u64)b.at;
	__u32 to_common = cuprobe_bytes___u32(&b);
	struct cuprobe_bytes common;

	if (!to_common || b.bad)
		return false;
	*f = (struct cuprobe_function){.encoding = DW_EH_PE_absptr};
	common = module_bytes(module, here - to_common);
	common_read(f, entry_read(&common));
	f->begin = cuprobe_function_address(&b, f->encoding);
	f->end = f->begin + encoded_number(&b, f->encoding);
	if (f->has_data)
		cuprobe_bytes_skip(&b, cuprobe_bytes_uleb(&b));
	f->program = b;
	return !f->common.bad && !b.bad;
}

static bool function_holds(const struct cuprobe_function *f, __u64 address)
{
	return address >= f->begin && address < f->end;
}

/* Every linker's table: pairs of the begin of a function and its entry, sorted, from `header` on.
 */
static bool table_find(struct cuprobe_function *f, const struct dl_phdr_info *module, __u64 header,
		       struct cuprobe_bytes table, __u64 count, __u64 address)
{
	__s64 wanted = (__s64)(address - header);
	__u64 low = 0, high = count;
	struct cuprobe_bytes b;
	__s32 pair[2];

	if (!count || count > (__u64)(table.end - table.at) / sizeof(pair))
		return false;
	while (high - low > 1) {
		__u64 middle = low + (high - low) / 2;

		memcpy(pair, table.at + middle * sizeof(pair), sizeof(pair));
		if (pair[0] <= wanted)
			low = middle;
		else
			high = middle;
	}
	memcpy(pair, table.at + low * sizeof(pair), sizeof(pair));
	b = module_bytes(module, header + (__u64)(__s64)pair[1]);
	return function_read(f, module, entry_read(&b)) && function_holds(f, address);
}

/* Without a table: one entry after the other. */
static bool list_find(struct cuprobe_function *f, const struct dl_phdr_info *module,
		      struct cuprobe_bytes list, __u64 address)
{
	while (cuprobe_bytes_left(&list)) {
		if (function_read(f, module, entry_read(&list)) && function_holds(f, address))
			return true;
	}
	return false;
}

static bool header_find(struct cuprobe_function *f, const struct dl_phdr_info *module, __u64 header,
			__u64 address)
{
	struct cuprobe_bytes b = module_bytes(module, header);
	__u8 version = cuprobe_bytes___u8(&b);
	__u8 list_encoding = cuprobe_bytes___u8(&b);
	__u8 count_encoding = cuprobe_bytes___u8(&b);
	__u8 table_encoding = cuprobe_bytes___u8(&b);
	__u64 list = cuprobe_function_address(&b, list_encoding);

	if (b.bad || version != 1)
		return false;
	if (count_encoding != DW_EH_PE_omit && table_encoding == ENCODED_TABLE) {
		__u64 count = encoded_number(&b, count_encoding);

		return !b.bad && table_find(f, module, header, b, count, address);
	}
	return list_find(f, module, module_bytes(module, list), address);
}

bool cuprobe_function_find(struct cuprobe_function *ret, const struct dl_phdr_info *module,
			   __u64 address)
{
	for (unsigned int i = 0; i < module->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &module->dlpi_phdr[i];

		if (segment->p_type == PT_GNU_EH_FRAME)
			return header_find(ret, module, module->dlpi_addr + segment->p_vaddr,
					   address);
	}
	return false;
}
