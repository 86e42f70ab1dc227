/* SPDX-License-Identifier: MIT */
/* EXPECT: `__attri` is a piece of a word */
#define JOIN(a, b) a##b
static int attack JOIN(__attri, bute__)((used, section(".data\n\t.byte 1\n\t#")));
