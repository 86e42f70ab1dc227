// SPDX-License-Identifier: GPL-2.0-only
/*
 * Page-table entries in Mali's LPAE format: a leaf has type 1 at every level, a
 * table has type 3; read and write are separate permissions, so memory can be
 * write-only; only bit 54 forbids execution.
 */
#include "agate_pgtable.h"
#include "agate_regs.h"

static u64 lpae_pte_to_phy_addr(u64 entry)
{
	return entry & LPAE_ADDR;
}

static bool lpae_ate_is_valid(u64 entry, unsigned int level)
{
	return LPAE_TYPE(entry) == LPAE_TYPE_LEAF;
}

static bool lpae_pte_is_valid(u64 entry, unsigned int level)
{
	return level < AGATE_PT_LEVELS - 1 && LPAE_TYPE(entry) == LPAE_TYPE_TABLE;
}

static u32 lpae_ate_prot(u64 entry)
{
	u32 prot = 0;

	if (entry & LPAE_RD)
		prot |= AGATE_PROT_READ;
	if (entry & LPAE_WR)
		prot |= AGATE_PROT_WRITE;
	if (entry & LPAE_XN)
		prot |= AGATE_PROT_NOEXEC;
	return prot;
}

static void lpae_entries_set_ate(__le64 *entries, unsigned int count, u64 phys, u32 prot,
				 unsigned int level)
{
	u64 value = LPAE_SH_OUTER | LPAE_ATTR(AGATE_PT_ATTR_SHARED) | LPAE_TYPE_LEAF;
	unsigned int i;

	if (prot & AGATE_PROT_READ)
		value |= LPAE_RD;
	if (prot & AGATE_PROT_WRITE)
		value |= LPAE_WR;
	if (prot & AGATE_PROT_NOEXEC)
		value |= LPAE_XN;
	for (i = 0; i < count; i++) {
		agate_pgtable_set_entry(&entries[i], value | (phys & LPAE_ADDR));
		phys += agate_pgtable_level_bytes(level);
	}
}

static void lpae_entry_set_pte(__le64 *entry, u64 phys)
{
	agate_pgtable_set_entry(entry, (phys & LPAE_ADDR) | LPAE_TYPE_TABLE);
}

static void lpae_entry_invalidate(__le64 *entry)
{
	agate_pgtable_set_entry(entry, 0);
}

static unsigned int lpae_ates_invalidate(__le64 *entries, unsigned int count,
					 unsigned int level)
{
	return agate_pgtable_invalidate(entries, count, level, lpae_ate_is_valid);
}

const struct agate_pgtable_format agate_pgtable_lpae = {
	.pte_to_phy_addr = lpae_pte_to_phy_addr,
	.ate_is_valid = lpae_ate_is_valid,
	.pte_is_valid = lpae_pte_is_valid,
	.ate_prot = lpae_ate_prot,
	.entries_set_ate = lpae_entries_set_ate,
	.entry_set_pte = lpae_entry_set_pte,
	.entry_invalidate = lpae_entry_invalidate,
	.ates_invalidate = lpae_ates_invalidate,
};
