/* SPDX-License-Identifier: MIT */
/* EXPECT: `__asm__`, put together by a macro */
static void __maybe_unused attack(void)
{
	___PASTE(__as, m__)("nop");
}
