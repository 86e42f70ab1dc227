/* SPDX-License-Identifier: MIT */
/* From a member to the structure around it. */
#ifndef AGATE_SHIM_CONTAINER_OF_H
#define AGATE_SHIM_CONTAINER_OF_H

#include <stddef.h>

#define container_of(ptr, type, member) \
	((type *)((char *)(ptr) - offsetof(type, member)))

#endif /* AGATE_SHIM_CONTAINER_OF_H */
