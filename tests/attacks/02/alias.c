/* SPDX-License-Identifier: MIT */
/* EXPECT: __attribute__((alias)) is not allowed */
static int attack(void) __attribute__((alias("label_valid")));
