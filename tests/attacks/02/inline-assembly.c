/* SPDX-License-Identifier: MIT */
/* EXPECT: `asm` is inline assembly */
static void __maybe_unused attack(void)
{
	asm volatile("nop");
}
