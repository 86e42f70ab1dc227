/* SPDX-License-Identifier: MIT */
/* EXPECT: `__section` chooses a section */
static int __used attack __section(".gnu.lto_attack");
