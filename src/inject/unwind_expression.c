/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/unwind_expression.h"

#include <dwarf.h>

#include "src/inject/unwind_bytes.h"
#include "src/inject/unwind_machine.h"

#define STACK 16

struct machine {
	struct cuprobe_value stack[STACK];
	__u32 depth;
	__u64 pc;
	bool failed;
};

static void push(struct machine *m, struct cuprobe_value value)
{
	if (m->depth < STACK)
		m->stack[m->depth++] = value;
	else
		m->failed = true;
}

static void push_constant(struct machine *m, __u64 value)
{
	push(m, (struct cuprobe_value){CUPROBE_VALUE_CONSTANT, 0, (__s64)value});
}

static void push_register(struct machine *m, __u32 reg, __s64 offset)
{
	if (reg == CUPROBE_DWARF_PC)
		push_constant(m, m->pc + (__u64)offset);
	else
		push(m, (struct cuprobe_value){CUPROBE_VALUE_REGISTER, reg, offset});
}

static struct cuprobe_value pop(struct machine *m)
{
	if (m->depth)
		return m->stack[--m->depth];
	m->failed = true;
	return (struct cuprobe_value){0};
}

static void pick(struct machine *m, __u32 below)
{
	if (below < m->depth)
		push(m, m->stack[m->depth - 1 - below]);
	else
		m->failed = true;
}

static void dereference(struct machine *m)
{
	struct cuprobe_value value = pop(m);

	m->failed |= value.kind != CUPROBE_VALUE_REGISTER;
	value.kind = CUPROBE_VALUE_MEMORY;
	push(m, value);
}

/* A constant moves a register's offset. */
static void add(struct machine *m, struct cuprobe_value a, struct cuprobe_value by, __u64 sign)
{
	m->failed |= by.kind != CUPROBE_VALUE_CONSTANT || a.kind == CUPROBE_VALUE_MEMORY;
	a.offset = (__s64)((__u64)a.offset + sign * (__u64)by.offset);
	push(m, a);
}

static bool calculate(__u8 op, __s64 a, __s64 b, __u64 *ret)
{
	__u64 shift = (__u64)b & 63;

	switch (op) {
	case DW_OP_and:
		*ret = (__u64)a & (__u64)b;
		return true;
	case DW_OP_or:
		*ret = (__u64)a | (__u64)b;
		return true;
	case DW_OP_xor:
		*ret = (__u64)a ^ (__u64)b;
		return true;
	case DW_OP_mul:
		*ret = (__u64)a * (__u64)b;
		return true;
	case DW_OP_shl:
		*ret = (__u64)a << shift;
		return true;
	case DW_OP_shr:
		*ret = (__u64)a >> shift;
		return true;
	case DW_OP_shra:
		*ret = (__u64)(a >> shift);
		return true;
	case DW_OP_eq:
		*ret = a == b;
		return true;
	case DW_OP_ne:
		*ret = a != b;
		return true;
	case DW_OP_lt:
		*ret = a < b;
		return true;
	case DW_OP_le:
		*ret = a <= b;
		return true;
	case DW_OP_gt:
		*ret = a > b;
		return true;
	case DW_OP_ge:
		*ret = a >= b;
		return true;
	default:
		return false;
	}
}

static void binary(struct machine *m, __u8 op)
{
	struct cuprobe_value b = pop(m), a = pop(m);
	__u64 value = 0;

	if (op == DW_OP_minus) {
		add(m, a, b, -1ull);
		return;
	}
	if (op == DW_OP_plus) {
		add(m, a.kind == CUPROBE_VALUE_CONSTANT ? b : a,
		    a.kind == CUPROBE_VALUE_CONSTANT ? a : b, 1);
		return;
	}
	m->failed |= a.kind != CUPROBE_VALUE_CONSTANT || b.kind != CUPROBE_VALUE_CONSTANT ||
		     !calculate(op, a.offset, b.offset, &value);
	push_constant(m, value);
}

/* Operands that are constants. False: the operation is none of these. */
static bool literal(struct machine *m, struct cuprobe_bytes *b, __u8 op)
{
	switch (op) {
	case DW_OP_lit0 ... DW_OP_lit31:
		push_constant(m, (__u64)op - DW_OP_lit0);
		return true;
	case DW_OP_const1u:
		push_constant(m, cuprobe_bytes___u8(b));
		return true;
	case DW_OP_const1s:
		push_constant(m, (__u64)cuprobe_bytes___s8(b));
		return true;
	case DW_OP_const2u:
		push_constant(m, cuprobe_bytes___u16(b));
		return true;
	case DW_OP_const2s:
		push_constant(m, (__u64)cuprobe_bytes___s16(b));
		return true;
	case DW_OP_const4u:
		push_constant(m, cuprobe_bytes___u32(b));
		return true;
	case DW_OP_const4s:
		push_constant(m, (__u64)cuprobe_bytes___s32(b));
		return true;
	case DW_OP_addr:
	case DW_OP_const8u:
	case DW_OP_const8s:
		push_constant(m, cuprobe_bytes___u64(b));
		return true;
	case DW_OP_constu:
		push_constant(m, cuprobe_bytes_uleb(b));
		return true;
	case DW_OP_consts:
		push_constant(m, (__u64)cuprobe_bytes_sleb(b));
		return true;
	default:
		return false;
	}
}

static void operate(struct machine *m, struct cuprobe_bytes *b)
{
	__u8 op = cuprobe_bytes___u8(b);
	__u64 reg;

	if (literal(m, b, op))
		return;
	switch (op) {
	case DW_OP_breg0 ... DW_OP_breg31:
		push_register(m, (__u32)op - DW_OP_breg0, cuprobe_bytes_sleb(b));
		break;
	case DW_OP_bregx:
		reg = cuprobe_bytes_uleb(b);
		push_register(m, (__u32)reg, cuprobe_bytes_sleb(b));
		break;
	case DW_OP_deref:
		dereference(m);
		break;
	case DW_OP_dup:
		pick(m, 0);
		break;
	case DW_OP_over:
		pick(m, 1);
		break;
	case DW_OP_drop:
		pop(m);
		break;
	case DW_OP_plus_uconst:
		push_constant(m, cuprobe_bytes_uleb(b));
		binary(m, DW_OP_plus);
		break;
	case DW_OP_nop:
		break;
	default:
		binary(m, op);
	}
}

struct cuprobe_value cuprobe_expression_value(struct cuprobe_bytes expression, __u64 pc,
					      struct cuprobe_value first)
{
	struct machine m = {.stack = {first}, .depth = 1, .pc = pc};
	struct cuprobe_value value;

	while (cuprobe_bytes_left(&expression) && !m.failed)
		operate(&m, &expression);
	value = pop(&m);
	if (m.failed || expression.bad)
		value.kind = CUPROBE_VALUE_OTHER;
	return value;
}
