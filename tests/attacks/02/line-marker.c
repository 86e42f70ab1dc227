/* SPDX-License-Identifier: MIT */
/* EXPECT: #1 renames the lines */
# 1 "kernel/agate_gem.h" 3
#include <linux/fs.h>
