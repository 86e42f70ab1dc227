/* SPDX-License-Identifier: MIT */
/* Error numbers. */
#ifndef AGATE_SHIM_ERRNO_H
#define AGATE_SHIM_ERRNO_H

#include <asm/errno.h>

#endif /* AGATE_SHIM_ERRNO_H */
