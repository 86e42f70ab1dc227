/* SPDX-License-Identifier: MIT */
/* EXPECT: __attribute__((optimize)) is not allowed */
static void __attribute__((unused, optimize("O0"))) attack(void)
{
}
