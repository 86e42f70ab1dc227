/* SPDX-License-Identifier: MIT */
/* EXPECT: `kasan_depth` changes the kernel */
static void __maybe_unused attack(void)
{
	current->kasan_depth++;
}
