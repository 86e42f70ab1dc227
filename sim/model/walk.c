// SPDX-License-Identifier: MIT
/*
 * Page-table walks (hardware.md, section 4): four levels of 512 entries in the
 * Mali LPAE format.  A leaf is type 1 at levels 1 to 3 (1 GiB, 2 MiB, 4 KiB),
 * a table type 3 at levels 0 to 2; everything else translates nothing.
 */
#include "model.h"

#define PA_MASK		((1ull << AGATE_PHYS_BITS) - 1)

static unsigned int lpae_access(uint64_t pte)
{
	unsigned int access = 0;

	if (pte & LPAE_RD)
		access |= 1u << MMU_READ;
	if (pte & LPAE_WR)
		access |= 1u << MMU_WRITE;
	if ((pte & LPAE_RD) && (pte & LPAE_WR))
		access |= 1u << MMU_ATOMIC;
	if ((pte & LPAE_RD) && !(pte & LPAE_XN))
		access |= 1u << MMU_EXECUTE;
	return access;
}

static void walk_fail(struct walk *walk, unsigned int first, unsigned int level)
{
	walk->exception = first + level;
	walk->level = level;
}

static void walk_leaf(struct walk *walk, unsigned int level)
{
	uint64_t size = 1ull << AGATE_PT_SHIFT(level);

	walk->exception = AGATE_EXC_NOT_STARTED;
	walk->level = level;
	walk->access = lpae_access(walk->pte);
	walk->pa = walk->pte & LPAE_ADDR & ~(size - 1);
	if (walk->pa & ~PA_MASK)
		walk_fail(walk, AGATE_EXC_ADDR_SIZE_FAULT_OUT_0, level);
}

void walk_lpae(struct agate_sim *sim, uint64_t root, uint64_t va, struct walk *walk)
{
	uint64_t table = root;
	unsigned int level;

	*walk = (struct walk){ 0 };
	if (va >> AGATE_VA_BITS) {
		walk_fail(walk, AGATE_EXC_ADDR_SIZE_FAULT_IN_0, 0);
		return;
	}
	for (level = 0; level < AGATE_PT_LEVELS; level++) {
		uint64_t index = (va >> AGATE_PT_SHIFT(level)) % AGATE_PT_ENTRIES;
		unsigned int type;

		if (table & ~PA_MASK) {
			/* The entry that named the table is to blame. */
			walk_fail(walk, AGATE_EXC_ADDR_SIZE_FAULT_OUT_0, level ? level - 1 : 0);
			return;
		}
		if (phys_read(sim, table + 8 * index, &walk->pte, 8)) {
			walk_fail(walk, AGATE_EXC_TRANSTAB_BUS_FAULT_0, level);
			return;
		}
		type = LPAE_TYPE(walk->pte);
		if (type == LPAE_TYPE_LEAF && level > 0) {
			walk_leaf(walk, level);
			return;
		}
		if (type != LPAE_TYPE_TABLE || level == AGATE_PT_LEVELS - 1) {
			walk_fail(walk, AGATE_EXC_TRANSLATION_FAULT_0, level);
			return;
		}
		table = walk->pte & LPAE_ADDR;
	}
}
