// SPDX-License-Identifier: MIT
/*
 * Translation look-aside buffers (hardware.md, section 4), one for each address
 * space: set-associative, with an entry for a page or block of any size; the seed
 * alone decides the order of replacement.  This file never reads a page table: an
 * entry stays until it is dropped or its place is needed.
 */
#include <stdlib.h>

#include "model.h"

int tlb_init(struct tlb *tlb, unsigned int entries, uint32_t seed)
{
	if (!entries)
		entries = TLB_DEFAULT_ENTRIES;
	if (entries < TLB_WAYS || entries > TLB_MAX_ENTRIES || (entries & (entries - 1)))
		return -1;
	tlb->entry = calloc(entries, sizeof(*tlb->entry));
	if (!tlb->entry)
		return -1;
	tlb->sets = entries / TLB_WAYS;
	/* Any odd constant will do: the generator must not start at 0. */
	tlb->random = seed ? seed : 0x9e3779b9;
	return 0;
}

void tlb_fini(struct tlb *tlb)
{
	free(tlb->entry);
	tlb->entry = NULL;
}

static uint32_t tlb_random(struct tlb *tlb)
{
	tlb->random ^= tlb->random << 13;
	tlb->random ^= tlb->random >> 17;
	tlb->random ^= tlb->random << 5;
	return tlb->random;
}

static struct tlb_entry *tlb_set(struct tlb *tlb, uint64_t tag)
{
	return &tlb->entry[(tag & (tlb->sets - 1)) * TLB_WAYS];
}

struct tlb_entry *tlb_find(struct tlb *tlb, uint64_t va)
{
	unsigned int level, way;

	for (level = AGATE_PT_LEVELS - 1; level > 0; level--) {
		uint64_t tag = va >> AGATE_PT_SHIFT(level);
		struct tlb_entry *set = tlb_set(tlb, tag);

		if (!tlb->used[level])
			continue;
		for (way = 0; way < TLB_WAYS; way++)
			if (set[way].tag == tag && set[way].level == level)
				return &set[way];
	}
	return NULL;
}

static void tlb_free(struct tlb *tlb, struct tlb_entry *entry)
{
	if (entry->level)
		tlb->used[entry->level]--;
	entry->level = 0;
}

struct tlb_entry *tlb_insert(struct tlb *tlb, uint64_t va, const struct walk *walk)
{
	uint64_t tag = va >> AGATE_PT_SHIFT(walk->level);
	struct tlb_entry *set = tlb_set(tlb, tag);
	struct tlb_entry *victim = NULL;
	unsigned int way;

	for (way = 0; way < TLB_WAYS && !victim; way++)
		if (!set[way].level)
			victim = &set[way];
	if (!victim)
		victim = &set[tlb_random(tlb) % TLB_WAYS];
	tlb_free(tlb, victim);
	*victim = (struct tlb_entry){
		.tag = tag,
		.pa = walk->pa,
		.level = walk->level,
		.access = walk->access,
		.uncached = walk->uncached,
	};
	tlb->used[walk->level]++;
	return victim;
}

void tlb_drop(struct tlb *tlb, uint64_t first, uint64_t last)
{
	unsigned int i;

	for (i = 0; i < tlb->sets * TLB_WAYS; i++) {
		struct tlb_entry *entry = &tlb->entry[i];
		unsigned int shift = AGATE_PT_SHIFT(entry->level);

		if (!entry->level)
			continue;
		if (entry->tag >= first >> shift && entry->tag <= last >> shift)
			tlb_free(tlb, entry);
	}
}
