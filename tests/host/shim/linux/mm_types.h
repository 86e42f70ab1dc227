/* SPDX-License-Identifier: MIT */
/* A page, as far as lists need it. */
#ifndef AGATE_SHIM_MM_TYPES_H
#define AGATE_SHIM_MM_TYPES_H

#include <linux/list.h>

struct page {
	struct list_head lru;
};

#endif /* AGATE_SHIM_MM_TYPES_H */
