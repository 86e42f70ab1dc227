// SPDX-License-Identifier: MIT
/*
 * Page-table walks (hardware.md, section 4): four levels of 512 entries, in one
 * of two formats.  Mali LPAE: a leaf is type 1 at levels 1 to 3, a table type 3
 * at levels 0 to 2.  AArch64 stage 1: the same, but a page at level 3 is type 3,
 * the access flag must be set, and MEMATTR must define the attribute.
 */
#include "model.h"

#define PA_MASK		((1ull << AGATE_PHYS_BITS) - 1)
#define LAST_LEVEL	(AGATE_PT_LEVELS - 1)

enum entry_kind {
	ENTRY_NOTHING,
	ENTRY_LEAF,
	ENTRY_TABLE,
};

static void walk_fail(struct walk *walk, unsigned int first, unsigned int level)
{
	walk->exception = first + level;
	walk->level = level;
}

/* ---- Mali LPAE ----------------------------------------------------------- */

static enum entry_kind lpae_kind(uint64_t pte, unsigned int level)
{
	if (LPAE_TYPE(pte) == LPAE_TYPE_LEAF && level > 0)
		return ENTRY_LEAF;
	if (LPAE_TYPE(pte) == LPAE_TYPE_TABLE && level < LAST_LEVEL)
		return ENTRY_TABLE;
	return ENTRY_NOTHING;
}

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

/* ---- AArch64 ------------------------------------------------------------- */

static enum entry_kind aarch64_kind(uint64_t pte, unsigned int level)
{
	unsigned int type = AARCH64_TYPE(pte);

	if (level == LAST_LEVEL)
		return type == AARCH64_TYPE_PAGE ? ENTRY_LEAF : ENTRY_NOTHING;
	if (type == AARCH64_TYPE_BLOCK && level > 0)
		return ENTRY_LEAF;
	return type == AARCH64_TYPE_TABLE ? ENTRY_TABLE : ENTRY_NOTHING;
}

/* Without bit 6 only privileged accesses are allowed, and the GPU's are not privileged. */
static unsigned int aarch64_access(uint64_t pte)
{
	uint64_t ap = pte & AARCH64_AP_MASK;
	unsigned int access = 0;

	if (ap == AARCH64_AP_RW || ap == AARCH64_AP_RO)
		access |= 1u << MMU_READ;
	if (ap == AARCH64_AP_RW)
		access |= 1u << MMU_WRITE | 1u << MMU_ATOMIC;
	if (access && !(pte & AARCH64_XN))
		access |= 1u << MMU_EXECUTE;
	return access;
}

static void aarch64_judge(const struct address_space *as, struct walk *walk)
{
	unsigned int byte = AS_MEMATTR_AARCH64(as->latched.memattr, AARCH64_ATTR_OF(walk->pte));

	walk->uncached = AS_MEMATTR_AARCH64_TYPE(byte) == AS_MEMATTR_AARCH64_TYPE_NC;
	if (!(walk->pte & AARCH64_AF))
		walk_fail(walk, AGATE_EXC_ACCESS_FLAG_0, walk->level);
	else if (AS_MEMATTR_AARCH64_TYPE(byte) == AS_MEMATTR_AARCH64_TYPE_FAULT)
		walk_fail(walk, AGATE_EXC_MEM_ATTR_FAULT_0, walk->level);
}

/* ---- Both ---------------------------------------------------------------- */

static void walk_leaf(const struct address_space *as, struct walk *walk, unsigned int level)
{
	uint64_t size = 1ull << AGATE_PT_SHIFT(level);
	bool lpae = as->mode == MMU_TABLE_LPAE;

	walk->exception = AGATE_EXC_NOT_STARTED;
	walk->level = level;
	walk->access = lpae ? lpae_access(walk->pte) : aarch64_access(walk->pte);
	walk->pa = walk->pte & LPAE_ADDR & ~(size - 1);
	if (walk->pa & ~PA_MASK)
		walk_fail(walk, AGATE_EXC_ADDR_SIZE_FAULT_OUT_0, level);
	else if (!lpae)
		aarch64_judge(as, walk);
}

static int walk_read(struct agate_sim *sim, const struct address_space *as, uint64_t pa,
		     enum walk_how how, uint64_t *pte)
{
	/* Under ACE the L2 holds nothing. */
	if (as->walks_uncached || sim->l2.protocol == GPU_COHERENCY_ACE)
		return phys_read_entry(sim, pa, pte);
	if (how == WALK_LOOK)
		return l2_peek(sim, pa, pte, sizeof(*pte));
	return l2_read(sim, pa, pte, sizeof(*pte), L2_TABLE);
}

void walk_tables(struct agate_sim *sim, const struct address_space *as, uint64_t va,
		 enum walk_how how, struct walk *walk)
{
	uint64_t table = as->root;
	unsigned int level;

	*walk = (struct walk){ 0 };
	if (va >> as->va_bits) {
		walk_fail(walk, AGATE_EXC_ADDR_SIZE_FAULT_IN_0, 0);
		return;
	}
	for (level = 0; level < AGATE_PT_LEVELS; level++) {
		uint64_t index = (va >> AGATE_PT_SHIFT(level)) % AGATE_PT_ENTRIES;
		enum entry_kind kind;

		if (table & ~PA_MASK) {
			/* Blame the entry that points to the table. */
			walk_fail(walk, AGATE_EXC_ADDR_SIZE_FAULT_OUT_0, level ? level - 1 : 0);
			return;
		}
		walk->table[level] = table;
		if (walk_read(sim, as, table + 8 * index, how, &walk->pte)) {
			walk_fail(walk, AGATE_EXC_TRANSTAB_BUS_FAULT_0, level);
			return;
		}
		kind = as->mode == MMU_TABLE_LPAE ? lpae_kind(walk->pte, level) :
						    aarch64_kind(walk->pte, level);
		if (kind == ENTRY_LEAF) {
			walk_leaf(as, walk, level);
			return;
		}
		if (kind == ENTRY_NOTHING) {
			walk_fail(walk, AGATE_EXC_TRANSLATION_FAULT_0, level);
			return;
		}
		table = walk->pte & LPAE_ADDR;
	}
}
