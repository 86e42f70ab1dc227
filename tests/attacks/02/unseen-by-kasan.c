/* SPDX-License-Identifier: MIT */
/* EXPECT: `__no_sanitize_address` hides code */
static void __no_sanitize_address __maybe_unused attack(void)
{
}
