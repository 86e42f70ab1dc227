/* SPDX-License-Identifier: MIT */
/* EXPECT: `__asm__` is inline assembly */
/* A line comment goes on behind a backslash, a string does not begin in a comment. */
// " \
/*
static void __maybe_unused attack(void) { __as\
m__("nop"); } /* */
