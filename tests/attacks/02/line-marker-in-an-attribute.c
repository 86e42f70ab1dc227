/* SPDX-License-Identifier: MIT */
/* EXPECT: __attribute__ without ((NAME)) behind it */
static int attack __attribute__((unused
# 1 "kernel/agate_gem.h" 3
));
