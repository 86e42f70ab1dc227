/* SPDX-License-Identifier: MIT */
/* EXPECT: #ident is not allowed */
#ident "attack"
