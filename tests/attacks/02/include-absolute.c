/* SPDX-License-Identifier: MIT */
/* EXPECT: leads out of the folders with headers */
#include "/etc/passwd"
