/* SPDX-License-Identifier: MIT */
/* EXPECT: includes kernel/agate_vm.c, which is not among lab 02 */
#include "agate_vm.c"
