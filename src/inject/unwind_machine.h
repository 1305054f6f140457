/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All that the unwinder knows of the processor: its registers' numbers in DWARF, where a call
 * leaves the return address, what a signal handler's frame looks like, and how to begin.
 */
#ifndef CUPROBE_INJECT_UNWIND_MACHINE_H
#define CUPROBE_INJECT_UNWIND_MACHINE_H

#include <linux/types.h>

/* Where a frame is: `pc` is where a call returns to; in code that a signal interrupted, one more.
 */
struct cuprobe_registers {
	__u64 pc, sp, fp;
};

#if defined(__x86_64__)

enum {
	CUPROBE_DWARF_FP = 6,
	CUPROBE_DWARF_SP = 7,
	CUPROBE_DWARF_PC = 16,
};

/* The interrupted registers in the ucontext that the kernel leaves at sp: gregs[] of RBP, RSP, RIP.
 */
enum {
	CUPROBE_SIGNAL_FP = 120,
	CUPROBE_SIGNAL_SP = 160,
	CUPROBE_SIGNAL_PC = 168,
};

#define CUPROBE_FRAME_ALIGNMENT 8

/* Without a rule, where fp points to: the caller's fp, then the return address. */
#define CUPROBE_FRAME_BYTES 16

/* The caller of the function that this is used in, which then has a frame pointer. */
#define CUPROBE_REGISTERS_OF_CALLER()                                                              \
	({                                                                                         \
		const __u64 *frame_ = __builtin_frame_address(0);                                  \
		(struct cuprobe_registers){                                                        \
			.pc = frame_[1],                                                           \
			.sp = (__u64)frame_ + CUPROBE_FRAME_BYTES,                                 \
			.fp = frame_[0],                                                           \
		};                                                                                 \
	})

#else
#error "the unwinder knows x86-64 only"
#endif

#endif
