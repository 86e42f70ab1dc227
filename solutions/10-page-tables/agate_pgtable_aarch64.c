// SPDX-License-Identifier: GPL-2.0-only
/*
 * Page-table entries in the Arm architecture's stage 1 format, which Bifrost GPUs
 * use: a block has type 1 and a page type 3, the access flag must be set, and
 * writable memory is also readable.  The GPU counts as unprivileged.
 */
#include "agate_pgtable.h"
#include "agate_regs.h"

#define LAST_LEVEL	(AGATE_PT_LEVELS - 1)

static u64 aarch64_pte_to_phy_addr(u64 entry)
{
	return entry & AARCH64_ADDR;
}

/* At the last level type 3 is a page; above it, type 3 points to a table. */
static bool aarch64_ate_is_valid(u64 entry, unsigned int level)
{
	if (level == LAST_LEVEL)
		return AARCH64_TYPE(entry) == AARCH64_TYPE_PAGE;
	return level > 0 && AARCH64_TYPE(entry) == AARCH64_TYPE_BLOCK;
}

static bool aarch64_pte_is_valid(u64 entry, unsigned int level)
{
	return level < LAST_LEVEL && AARCH64_TYPE(entry) == AARCH64_TYPE_TABLE;
}

static u32 aarch64_ate_prot(u64 entry)
{
	u32 prot = AGATE_PROT_READ;

	if ((entry & AARCH64_AP_MASK) == AARCH64_AP_RW)
		prot |= AGATE_PROT_WRITE;
	if (entry & AARCH64_XN)
		prot |= AGATE_PROT_NOEXEC;
	return prot;
}

static void aarch64_entries_set_ate(__le64 *entries, unsigned int count, u64 phys, u32 prot,
				    unsigned int level)
{
	u64 value = AARCH64_AF | AARCH64_SH_OUTER | AARCH64_ATTR(AGATE_PT_ATTR_SHARED);
	unsigned int i;

	value |= level == LAST_LEVEL ? AARCH64_TYPE_PAGE : AARCH64_TYPE_BLOCK;
	value |= prot & AGATE_PROT_WRITE ? AARCH64_AP_RW : AARCH64_AP_RO;
	if (prot & AGATE_PROT_NOEXEC)
		value |= AARCH64_XN;
	for (i = 0; i < count; i++) {
		agate_pgtable_set_entry(&entries[i], value | (phys & AARCH64_ADDR));
		phys += agate_pgtable_level_bytes(level);
	}
}

static void aarch64_entry_set_pte(__le64 *entry, u64 phys)
{
	agate_pgtable_set_entry(entry, (phys & AARCH64_ADDR) | AARCH64_AF | AARCH64_TYPE_TABLE);
}

static void aarch64_entry_invalidate(__le64 *entry)
{
	agate_pgtable_set_entry(entry, 0);
}

static unsigned int aarch64_ates_invalidate(__le64 *entries, unsigned int count,
					    unsigned int level)
{
	return agate_pgtable_invalidate(entries, count, level, aarch64_ate_is_valid);
}

const struct agate_pgtable_format agate_pgtable_aarch64 = {
	.pte_to_phy_addr = aarch64_pte_to_phy_addr,
	.ate_is_valid = aarch64_ate_is_valid,
	.pte_is_valid = aarch64_pte_is_valid,
	.ate_prot = aarch64_ate_prot,
	.entries_set_ate = aarch64_entries_set_ate,
	.entry_set_pte = aarch64_entry_set_pte,
	.entry_invalidate = aarch64_entry_invalidate,
	.ates_invalidate = aarch64_ates_invalidate,
};
