// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tell the GPU which BOs a job listed: see agate_listed.h.
 */
#include <linux/module.h>
#include <linux/moduleparam.h>

#include "agate_device.h"
#include "agate_gem.h"
#include "agate_listed.h"
#include "agate_regs.h"
#include "agate_slot.h"
#include "agate_vm.h"

static bool tell_listed;
module_param(tell_listed, bool, 0444);
MODULE_PARM_DESC(tell_listed, "Report when a job touches memory that it did not list (default N)");

static void write_list(struct agate_job *job)
{
	struct agate_device *adev = job->adev;
	unsigned int n = job->slot;
	unsigned int i;

	/*
	 * The job may use all that is bound; or that is more than the GPU keeps, and too many
	 * writes under a spinlock.
	 */
	if (agate_vm_is_bound(job->vm) || job->bo_count > AGATE_LISTED_RANGES) {
		gpu_write(adev, AGATE_LISTED_COMMAND(n), AGATE_LISTED_COMMAND_NONE);
		return;
	}
	gpu_write(adev, AGATE_LISTED_COMMAND(n), AGATE_LISTED_COMMAND_BEGIN);
	for (i = 0; i < job->bo_count; i++) {
		const struct agate_mapping *mapping = job->bos[i].mapping;

		gpu_write64(adev, AGATE_LISTED_START_LO(n), agate_mapping_va(mapping));
		gpu_write(adev, AGATE_LISTED_PAGES(n), mapping->size >> PAGE_SHIFT);
	}
}

/* A job that agate_slot_run() will not start needs no list, and a GPU in reset loses writes. */
void agate_listed_tell(struct agate_job *job)
{
	struct agate_device *adev = job->adev;

	if (!tell_listed)
		return;
	spin_lock(&adev->slots.lock);
	if (!adev->slots.dead && !atomic_read(&adev->reset.pending) && !job->on_slot &&
	    !job->ended)
		write_list(job);
	spin_unlock(&adev->slots.lock);
}
