/* SPDX-License-Identifier: MIT */
/* EXPECT: __attribute__((__constructor__)) is not allowed */
static void __attribute__((__constructor__)) attack(void)
{
}
