/* SPDX-License-Identifier: MIT */
/* EXPECT: `_Pragma` gives the compiler orders */
_Pragma("GCC optimize(\"O0\")")
