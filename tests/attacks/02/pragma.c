/* SPDX-License-Identifier: MIT */
/* EXPECT: #pragma gives the compiler orders */
#pragma GCC optimize("O0")
