/* SPDX-License-Identifier: MIT */
/* EXPECT: \[\[ begins an attribute */
[[gnu::constructor]] static void attack(void)
{
}
