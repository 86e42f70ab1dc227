/* SPDX-License-Identifier: MIT */
/* EXPECT: does not compile within the limits */
static char attack[1UL << 33] __used = { 1 };
