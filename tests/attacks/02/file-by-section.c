/* SPDX-License-Identifier: MIT */
/* EXPECT: __attribute__((section)) is not allowed */
static int attack __attribute__((used, section(".data\n\t.incbin \"/etc/passwd\"\n\t#")));
