/* SPDX-License-Identifier: MIT */
/* EXPECT: #line renames the lines */
#li\
ne 1 "kernel/agate_gem.h"
