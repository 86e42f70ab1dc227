/* SPDX-License-Identifier: MIT */
/* A reservation, as far as it is a lock. */
#ifndef AGATE_SHIM_DMA_RESV_H
#define AGATE_SHIM_DMA_RESV_H

#include <assert.h>
#include <stdbool.h>

struct dma_resv {
	bool locked;
};

#define dma_resv_assert_held(resv)	assert((resv)->locked)

#endif /* AGATE_SHIM_DMA_RESV_H */
