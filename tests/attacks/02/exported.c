/* SPDX-License-Identifier: MIT */
/* EXPECT: ___ksymtab+agate_gem_create\|__ksymtab_strings */
#include <linux/export.h>
EXPORT_SYMBOL_GPL(agate_gem_create);
