/* SPDX-License-Identifier: MIT */
/* EXPECT: __attribute__ without ((NAME)) behind it */
#define ATTACK __attribute__
static int attack ATTACK((section(".gnu.lto_attack")));
