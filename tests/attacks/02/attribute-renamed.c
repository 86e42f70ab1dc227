/* SPDX-License-Identifier: MIT */
/* EXPECT: __attribute__((ATTACK)) is not allowed */
#define ATTACK constructor
static void __attribute__((used, ATTACK)) attack(void)
{
}
