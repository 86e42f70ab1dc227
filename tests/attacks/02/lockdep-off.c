/* SPDX-License-Identifier: MIT */
/* EXPECT: `debug_locks` changes the kernel */
static void __maybe_unused attack(void)
{
	debug_locks = 0;
}
