// SPDX-License-Identifier: MIT
/*
 * The fate of an access (hardware.md, section 4).  It gets a physical address; or
 * it waits for a locked region, an UPDATE in progress or a fault that the driver
 * must handle; or it ends its job, when the address space is unmapped.
 *
 * Each address space latches one fault in its registers.  Later ones wait in their
 * client's struct mmu_stall, and are latched after the driver has handled the first.
 */
#include <string.h>

#include "model.h"

static uint64_t mmu_offset(uint64_t va, unsigned int level)
{
	return va & ((1ull << AGATE_PT_SHIFT(level)) - 1);
}

/*
 * A retry that fails as before raises the bit again, but counts as the same fault.
 * The number of retries depends on what else the driver flushes, and the log and
 * the counter must not.
 */
static void mmu_announce(struct agate_sim *sim, struct mmu_client *client, uint32_t status)
{
	struct mmu_stall *stall = &client->stall;

	if (stall->announced) {
		sim_event(sim, AGATE_EV_FAULT_AGAIN, client->as, stall->va, 0, NULL);
		return;
	}
	stall->announced = true;
	sim_count(sim, AGATE_CNT_FAULTS, 1);
	sim_event(sim, AGATE_EV_FAULT, client->as, stall->va, status, NULL);
}

static void mmu_latch(struct agate_sim *sim, struct mmu_client *client)
{
	unsigned int n = client->as;
	struct address_space *as = &sim->mmu.as[n];
	const struct mmu_stall *stall = &client->stall;
	bool bus = stall->exception >= AGATE_EXC_TRANSTAB_BUS_FAULT_0 &&
		   stall->exception < AGATE_EXC_ACCESS_FLAG_0;

	as->fault_latched = true;
	as->fault_source = client->source;
	as->fault_address = stall->va;
	as->fault_status = stall->exception | (uint32_t)stall->access << 8 | client->source << 16;
	mmu_announce(sim, client, as->fault_status);
	irq_raise(sim, &sim->irq[AGATE_VECTOR_MMU],
		  bus ? MMU_INT_BUS_ERROR(n) : MMU_INT_PAGE_FAULT(n));
}

static enum mmu_result mmu_fault(struct agate_sim *sim, struct mmu_client *client, uint64_t va,
				 enum mmu_access access, enum agate_exception exception)
{
	const struct mmu_stall *was = &client->stall;
	bool same = was->faulted && was->va == va && was->access == access &&
		    was->exception == exception;

	client->stall = (struct mmu_stall){
		.waiting = true,
		.faulted = true,
		.announced = same && was->announced,
		.access = access,
		.va = va,
		.exception = exception,
	};
	if (!sim->mmu.as[client->as].fault_latched)
		mmu_latch(sim, client);
	return MMU_STALL;
}

/* Wait for a command; a fault that the access took before is remembered. */
static enum mmu_result mmu_wait(struct mmu_client *client, uint64_t va, enum mmu_access access)
{
	client->stall.waiting = true;
	client->stall.va = va;
	client->stall.access = access;
	return MMU_STALL;
}

/*
 * Compare a cached translation with the tables, once in each unit of work.  The GPU
 * uses the cached one all the same: this only reports that the driver forgot a
 * flush.
 */
static void mmu_check_stale(struct agate_sim *sim, const struct address_space *as,
			    uint64_t va, struct tlb_entry *entry)
{
	struct walk now;

	if (entry->checked == sim->unit)
		return;
	entry->checked = sim->unit;
	walk_tables(sim, as, va, WALK_LOOK, &now);
	if (!walk_failed(&now) && now.access == entry->access &&
	    now.uncached == entry->uncached &&
	    (now.pa | mmu_offset(va, now.level)) == (entry->pa | mmu_offset(va, entry->level)))
		return;
	sim_count(sim, AGATE_CNT_STALE_USED, 1);
	if (!entry->reported)
		sim_hint(sim, 4, "a stale translation was used: its entry changed without a flush");
	entry->reported = true;
}

static void mmu_tell_walk(struct agate_sim *sim, unsigned int n, uint64_t va,
			  const struct walk *walk)
{
	struct agate_sim_walk told = {
		.level = walk->level,
		.exception = walk->exception,
		.pa = walk->pa,
	};

	if (walk->access & 1u << MMU_READ)
		told.access |= 1;
	if (walk->access & 1u << MMU_WRITE)
		told.access |= 2;
	if (walk->access & 1u << MMU_EXECUTE)
		told.access |= 4;
	memcpy(told.table, walk->table, sizeof(told.table));
	sim_walk_event(sim, n, va, walk->pte, &told);
}

/* Find va in the TLB or the tables; NULL: *walk holds the fault. */
static struct tlb_entry *mmu_lookup(struct agate_sim *sim, unsigned int n, uint64_t va,
				    struct walk *walk)
{
	struct address_space *as = &sim->mmu.as[n];
	struct tlb_entry *entry = tlb_find(&as->tlb, va);

	if (entry) {
		sim_count(sim, AGATE_CNT_TLB_HITS, 1);
		mmu_check_stale(sim, as, va, entry);
		return entry;
	}
	sim_count(sim, AGATE_CNT_TLB_MISSES, 1);
	sim_count(sim, AGATE_CNT_WALKS, 1);
	walk_tables(sim, as, va, WALK_USE, walk);
	sim->time += walk->level + 1;	/* one memory access for each level */
	mmu_tell_walk(sim, n, va, walk);
	if (walk_failed(walk))
		return NULL;
	entry = tlb_insert(&as->tlb, va, walk);
	entry->checked = sim->unit;
	return entry;
}

static enum mmu_result mmu_translate_table(struct agate_sim *sim, struct mmu_client *client,
					   uint64_t va, enum mmu_access access,
					   struct mmu_place *place)
{
	struct walk walk;
	struct tlb_entry *entry = mmu_lookup(sim, client->as, va, &walk);

	if (!entry)
		return mmu_fault(sim, client, va, access, walk.exception);
	if (!(entry->access & (1u << access)))
		return mmu_fault(sim, client, va, access,
				 AGATE_EXC_PERMISSION_FAULT_0 + entry->level);
	place->pa = entry->pa | mmu_offset(va, entry->level);
	place->uncached = entry->uncached;
	return MMU_OK;
}

enum mmu_result mmu_translate(struct agate_sim *sim, struct mmu_client *client, uint64_t va,
			      enum mmu_access access, struct mmu_place *place,
			      enum agate_exception *exception)
{
	const struct address_space *as = &sim->mmu.as[client->as];

	if (as->command == AS_COMMAND_UPDATE)
		return mmu_wait(client, va, access);
	if (as->locked && va >= as->lock_first && va <= as->lock_last)
		return mmu_wait(client, va, access);

	switch (as->mode) {
	case MMU_UNMAPPED:
		*exception = client->stall.faulted ? client->stall.exception :
						   AGATE_EXC_TRANSLATION_FAULT_0;
		return MMU_KILL;
	case MMU_IDENTITY:
		if (va >> AGATE_PHYS_BITS)
			return mmu_fault(sim, client, va, access, AGATE_EXC_ADDR_SIZE_FAULT_OUT_0);
		*place = (struct mmu_place){ .pa = va };
		return MMU_OK;
	case MMU_TABLE_LPAE:
	case MMU_TABLE_AARCH64:
		break;
	}
	return mmu_translate_table(sim, client, va, access, place);
}

/* Try a waiting access again; its client continues unless the access has to wait again. */
static void mmu_retry_client(struct agate_sim *sim, struct mmu_client *client)
{
	struct mmu_stall was = client->stall;
	enum agate_exception exception;
	struct mmu_place place;

	client->stall.waiting = false;
	if (mmu_translate(sim, client, was.va, was.access, &place, &exception) != MMU_OK)
		return;
	client->stall = (struct mmu_stall){ 0 };
	if (was.faulted)
		sim_event(sim, AGATE_EV_FAULT_RESUMED, client->as, was.va, 0, NULL);
}

void mmu_retry(struct agate_sim *sim, unsigned int n)
{
	unsigned int i;

	sim->mmu.as[n].fault_latched = false;
	for (i = 0; i < sim->mmu.clients; i++) {
		struct mmu_client *client = sim->mmu.client[i];

		if (!client->polls && client->stall.waiting && client->as == n)
			mmu_retry_client(sim, client);
	}
}

void mmu_forget(struct agate_sim *sim, struct mmu_client *gone)
{
	unsigned int n = gone->as;
	struct address_space *as;
	unsigned int i;

	gone->stall = (struct mmu_stall){ 0 };
	if (n >= MMU_NUM_AS)
		return;
	as = &sim->mmu.as[n];
	if (!as->fault_latched || as->fault_source != gone->source)
		return;
	as->fault_latched = false;
	for (i = 0; i < sim->mmu.clients; i++) {
		struct mmu_client *client = sim->mmu.client[i];

		if (!client->polls && client->stall.waiting && client->stall.faulted &&
		    client->as == n) {
			mmu_latch(sim, client);
			return;
		}
	}
}
