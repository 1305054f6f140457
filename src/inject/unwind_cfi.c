/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/unwind_cfi.h"

#include <dwarf.h>
#include <stdbool.h>

#include "src/inject/unwind_bytes.h"
#include "src/inject/unwind_expression.h"
#include "src/inject/unwind_function.h"
#include "src/inject/unwind_machine.h"

#define REMEMBERED 8 /* rows that a program may put aside */

/* Where the caller's value of a register is. */
struct place {
	enum { PLACE_KEPT, PLACE_UNDEFINED, PLACE_CFA, PLACE_MEMORY, PLACE_OTHER } kind;
	struct cuprobe_value value; /* PLACE_CFA: only the offset from there; else its address */
};

/* What holds from one address to the next; only of the registers that lead to the caller. */
struct row {
	struct cuprobe_value cfa;
	struct place fp, pc;
};

struct run {
	const struct cuprobe_function *function;
	__u64 address; /* the row for this one is looked for */
	__u64 at;
	struct row row, initial, remembered[REMEMBERED];
	__u32 depth;
	bool failed;
};

static struct cuprobe_bytes block_read(struct cuprobe_bytes *b)
{
	return cuprobe_bytes_part(b, cuprobe_bytes_uleb(b));
}

static struct place *row_place(struct row *row, __u64 reg)
{
	if (reg == CUPROBE_DWARF_FP)
		return &row->fp;
	return reg == CUPROBE_DWARF_PC ? &row->pc : NULL;
}

static void place_set(struct run *r, __u64 reg, int kind, __s64 offset)
{
	struct place *place = row_place(&r->row, reg);

	if (place)
		*place = (struct place){kind, {.offset = offset}};
}

static void place_restore(struct run *r, __u64 reg)
{
	struct place *place = row_place(&r->row, reg);

	if (place)
		*place = *row_place(&r->initial, reg);
}

static void place_evaluate(struct run *r, __u64 reg, struct cuprobe_bytes expression)
{
	struct place *place = row_place(&r->row, reg);

	if (place)
		*place = (struct place){
			PLACE_MEMORY, cuprobe_expression_value(expression, r->address, r->row.cfa)};
}

static void cfa_set(struct run *r, __u64 reg, __s64 offset)
{
	r->row.cfa = (struct cuprobe_value){CUPROBE_VALUE_REGISTER, (__u32)reg, offset};
}

static void row_remember(struct run *r)
{
	if (r->depth < REMEMBERED)
		r->remembered[r->depth++] = r->row;
	else
		r->failed = true;
}

static void row_recall(struct run *r)
{
	if (r->depth)
		r->row = r->remembered[--r->depth];
	else
		r->failed = true;
}

/* Offsets are given in units of the function's; damaged ones may be anything. */
static __s64 scaled(const struct run *r, __u64 units)
{
	return (__s64)(units * (__u64)r->function->data_align);
}

static void advance(struct run *r, __u64 units)
{
	r->at += units * r->function->code_align;
}

/* Operations on the canonical frame address. False: the operation is none of these. */
static bool cfa_operate(struct run *r, struct cuprobe_bytes *b, __u8 op)
{
	__u64 reg;

	switch (op) {
	case DW_CFA_def_cfa:
		reg = cuprobe_bytes_uleb(b);
		cfa_set(r, reg, (__s64)cuprobe_bytes_uleb(b));
		return true;
	case DW_CFA_def_cfa_sf:
		reg = cuprobe_bytes_uleb(b);
		cfa_set(r, reg, scaled(r, (__u64)cuprobe_bytes_sleb(b)));
		return true;
	case DW_CFA_def_cfa_register:
		cfa_set(r, cuprobe_bytes_uleb(b), r->row.cfa.offset);
		return true;
	case DW_CFA_def_cfa_offset:
		r->row.cfa.offset = (__s64)cuprobe_bytes_uleb(b);
		return true;
	case DW_CFA_def_cfa_offset_sf:
		r->row.cfa.offset = scaled(r, (__u64)cuprobe_bytes_sleb(b));
		return true;
	case DW_CFA_def_cfa_expression:
		r->row.cfa = cuprobe_expression_value(block_read(b), r->address,
						      (struct cuprobe_value){0});
		return true;
	default:
		return false;
	}
}

/* Operations on where registers are. False: the operation is none of these. */
static bool place_operate(struct run *r, struct cuprobe_bytes *b, __u8 op)
{
	__u64 reg = cuprobe_bytes_uleb(b);

	switch (op) {
	case DW_CFA_offset_extended:
		place_set(r, reg, PLACE_CFA, scaled(r, cuprobe_bytes_uleb(b)));
		return true;
	case DW_CFA_offset_extended_sf:
		place_set(r, reg, PLACE_CFA, scaled(r, (__u64)cuprobe_bytes_sleb(b)));
		return true;
	case DW_CFA_GNU_negative_offset_extended:
		place_set(r, reg, PLACE_CFA, scaled(r, -cuprobe_bytes_uleb(b)));
		return true;
	case DW_CFA_restore_extended:
		place_restore(r, reg);
		return true;
	case DW_CFA_undefined:
		place_set(r, reg, PLACE_UNDEFINED, 0);
		return true;
	case DW_CFA_same_value:
		place_set(r, reg, PLACE_KEPT, 0);
		return true;
	case DW_CFA_register:
	case DW_CFA_val_offset:
	case DW_CFA_val_offset_sf:
		cuprobe_bytes_uleb(b);
		place_set(r, reg, PLACE_OTHER, 0);
		return true;
	case DW_CFA_expression:
		place_evaluate(r, reg, block_read(b));
		return true;
	case DW_CFA_val_expression:
		block_read(b);
		place_set(r, reg, PLACE_OTHER, 0);
		return true;
	default:
		return false;
	}
}

static void operate(struct run *r, struct cuprobe_bytes *b)
{
	__u8 op = cuprobe_bytes___u8(b), low = op & 0x3f;

	switch (op & 0xc0 ? op & 0xc0 : op) {
	case DW_CFA_advance_loc:
		advance(r, low);
		break;
	case DW_CFA_advance_loc1:
		advance(r, cuprobe_bytes___u8(b));
		break;
	case DW_CFA_advance_loc2:
		advance(r, cuprobe_bytes___u16(b));
		break;
	case DW_CFA_advance_loc4:
		advance(r, cuprobe_bytes___u32(b));
		break;
	case DW_CFA_set_loc:
		r->at = cuprobe_function_address(b, r->function->encoding);
		break;
	case DW_CFA_offset:
		place_set(r, low, PLACE_CFA, scaled(r, cuprobe_bytes_uleb(b)));
		break;
	case DW_CFA_restore:
		place_restore(r, low);
		break;
	case DW_CFA_remember_state:
		row_remember(r);
		break;
	case DW_CFA_restore_state:
		row_recall(r);
		break;
	case DW_CFA_GNU_args_size:
		cuprobe_bytes_uleb(b);
		break;
	case DW_CFA_nop:
		break;
	default:
		r->failed |= !cfa_operate(r, b, op) && !place_operate(r, b, op);
	}
}

/* Goes through the program as far as the address that is looked for. */
static void run_through(struct run *r, struct cuprobe_bytes program)
{
	struct row reached = r->row;

	while (cuprobe_bytes_left(&program) && !r->failed) {
		operate(r, &program);
		if (r->at > r->address) {
			r->row = reached;
			return;
		}
		reached = r->row;
	}
	r->failed |= program.bad;
}

static bool row_find(const struct cuprobe_function *f, __u64 address, struct row *ret)
{
	struct run r = {.function = f, .address = address, .at = f->begin};

	r.row.pc.kind = PLACE_OTHER;
	run_through(&r, f->common);
	r.initial = r.row;
	run_through(&r, f->program);
	*ret = r.row;
	return !r.failed;
}

static bool place_is_at(const struct place *place, __u32 reg, __s64 offset)
{
	return place->kind == PLACE_MEMORY && place->value.kind == CUPROBE_VALUE_REGISTER &&
	       place->value.reg == reg && place->value.offset == offset;
}

static bool row_is_signal(const struct row *row)
{
	return row->cfa.kind == CUPROBE_VALUE_MEMORY && row->cfa.reg == CUPROBE_DWARF_SP &&
	       row->cfa.offset == CUPROBE_SIGNAL_SP &&
	       place_is_at(&row->fp, CUPROBE_DWARF_SP, CUPROBE_SIGNAL_FP) &&
	       place_is_at(&row->pc, CUPROBE_DWARF_SP, CUPROBE_SIGNAL_PC);
}

/* How many words below the canonical address; 0: nowhere there. */
static __u64 words_below(const struct place *place, __u64 most)
{
	__u64 words = -(__u64)place->value.offset / sizeof(__u64);

	if (place->kind != PLACE_CFA || place->value.offset % (__s64)sizeof(__u64) || words > most)
		return 0;
	return words;
}

static enum cuprobe_rule_kind cfa_kind(const struct row *row)
{
	bool is_sp = row->cfa.reg == CUPROBE_DWARF_SP;

	if ((!is_sp && row->cfa.reg != CUPROBE_DWARF_FP) ||
	    row->cfa.offset != (__s32)row->cfa.offset)
		return CUPROBE_RULE_CHAIN;
	if (row->cfa.kind == CUPROBE_VALUE_REGISTER)
		return is_sp ? CUPROBE_RULE_SP : CUPROBE_RULE_FP;
	if (row->cfa.kind == CUPROBE_VALUE_MEMORY && !is_sp &&
	    place_is_at(&row->fp, CUPROBE_DWARF_FP, 0))
		return CUPROBE_RULE_FP_MEMORY;
	return CUPROBE_RULE_CHAIN;
}

static struct cuprobe_rule row_rule(const struct row *row, bool is_signal)
{
	struct cuprobe_rule rule = {.offset = (__s32)row->cfa.offset,
				    .pc = (__u8)words_below(&row->pc, 0xff),
				    .fp = (__u16)words_below(&row->fp, 0xffff),
				    .kind = (__u8)cfa_kind(row)};

	if (row->pc.kind == PLACE_UNDEFINED)
		return (struct cuprobe_rule){.kind = CUPROBE_RULE_END};
	if (is_signal && row_is_signal(row))
		return (struct cuprobe_rule){.kind = CUPROBE_RULE_SIGNAL};
	if (rule.kind == CUPROBE_RULE_CHAIN || !rule.pc ||
	    (row->fp.kind == PLACE_CFA && !rule.fp) || row->fp.kind == PLACE_OTHER ||
	    (row->fp.kind == PLACE_MEMORY && rule.kind != CUPROBE_RULE_FP_MEMORY))
		return CUPROBE_RULE_UNKNOWN;
	return rule;
}

struct cuprobe_rule cuprobe_cfi_rule(const struct dl_phdr_info *module, __u64 address)
{
	struct cuprobe_function f;
	struct row row;

	if (cuprobe_function_find(&f, module, address) && row_find(&f, address, &row))
		return row_rule(&row, f.is_signal);
	return CUPROBE_RULE_UNKNOWN;
}
