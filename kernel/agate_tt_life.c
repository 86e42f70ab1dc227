// SPDX-License-Identifier: GPL-2.0-only
/*
 * The beginning and the end of the record of a placed BO's pages.
 *
 * The contract is agate_tt.h.
 */
#include <linux/file.h>
#include <linux/slab.h>

#include "agate_card.h"
#include "agate_device.h"
#include "agate_limit.h"
#include "agate_tt.h"

struct agate_tt *agate_tt_create(struct agate_device *adev, u64 size, u8 caching)
{
	struct agate_tt *tt = kzalloc(sizeof(*tt), GFP_KERNEL_ACCOUNT);

	if (!tt)
		return NULL;
	tt->adev = adev;
	tt->count = size >> PAGE_SHIFT;
	tt->caching = caching;
	tt->dma32 = CARD_FEATURES_DMA_BITS(adev->card.features) <= 32;
	return tt;
}

static void tt_free(struct agate_parked *parked)
{
	struct agate_tt *tt = container_of(parked, struct agate_tt, parked);
	struct agate_ttm *ttm = &tt->adev->ttm;

	agate_tt_unbind(tt);
	if (tt->state == AGATE_TT_UNBOUND)
		agate_tt_unpopulate(tt);
	if (tt->swap)
		fput(tt->swap);
	spin_lock(&ttm->lru_lock);
	list_del(&tt->link);
	spin_unlock(&ttm->lru_lock);
	kfree(tt);
}

void agate_tt_park(struct agate_tt *tt, struct dma_fence *fence)
{
	struct agate_ttm *ttm = &tt->adev->ttm;

	spin_lock(&ttm->lru_lock);
	list_add_tail(&tt->link, &tt->adev->pages.parked);
	spin_unlock(&ttm->lru_lock);
	agate_park(&ttm->park, &tt->parked, fence, tt_free);
	agate_limit_parked();
}
