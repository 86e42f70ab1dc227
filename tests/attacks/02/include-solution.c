/* SPDX-License-Identifier: MIT */
/* EXPECT: leads out of the folders with headers */
#include <../../solutions/02-gem-object/agate_gem.c>
