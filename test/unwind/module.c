/* SPDX-License-Identifier: Apache-2.0 */
/* Two libraries of one size whose code is alike and whose stacks are not. */
int MODULE(int (*callee)(void *), void *arg);

int MODULE(int (*callee)(void *), void *arg)
{
	volatile char memory[BYTES];

	memory[0] = 1;
	memory[BYTES - 1] = (char)callee(arg);
	return memory[0] + memory[BYTES - 1];
}
