/* SPDX-License-Identifier: MIT */
/* EXPECT: `alternative` is inline assembly */
static void __maybe_unused attack(void)
{
	alternative("nop", "nop", X86_FEATURE_FPU);
}
