/* SPDX-License-Identifier: MIT */
/* EXPECT: `asm`, put together by a macro */
#define JOIN(a, b) a##b
static void __maybe_unused attack(void)
{
	JOIN(as, m)("nop");
}
