/* SPDX-License-Identifier: MIT */
/* EXPECT: #include names a header */
#define ATTACK "/etc/passwd"
#include ATTACK
