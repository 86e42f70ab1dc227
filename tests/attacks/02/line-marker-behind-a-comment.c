/* SPDX-License-Identifier: MIT */
/* EXPECT: #1 renames the lines */
/* A directive may begin
 * here */ # /* and go on
 */ 1 "kernel/agate_gem.h" 3
