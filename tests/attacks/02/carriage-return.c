/* SPDX-License-Identifier: MIT */
/* EXPECT: a carriage return does not belong */
// \ 
asm("nop");
