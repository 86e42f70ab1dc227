/* SPDX-License-Identifier: MIT */
/* EXPECT: `__asm__` is inline assembly */
__asm__(".incbin \"solutions/02-gem-object/agate_gem.c\"");
