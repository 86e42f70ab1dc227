/* SPDX-License-Identifier: MIT */
/* EXPECT: `asm` is inline assembly\|#include names a header */
#if 0
#include "x\"/*
#endif
asm("nop");
/* */
