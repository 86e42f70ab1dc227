/* SPDX-License-Identifier: MIT */
/* EXPECT: does not compile within the limits */
#include "agate_gem.c"
#include "agate_gem.c"
