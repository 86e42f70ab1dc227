// SPDX-License-Identifier: MIT
/*
 * Listed memory (hardware.md, section 8.6).
 *
 * A job may touch only memory that its driver keeps in place: the memory that the
 * job listed at its submission.  The GPU cannot know that list, so a driver may
 * give it a list for each chain.  The GPU carries out an access outside the list
 * all the same; a counter and a hint say that it worked only by luck.
 */
#include "listed_memory.h"

#include <string.h>

#include "model.h"

#define LISTED_PAGE_SHIFT	12

/* ---- Lists ----------------------------------------------------------------- */

static void list_begin(struct listed_list *list)
{
	list->told = true;
	list->count = 0;
}

static void list_move(struct listed_list *to, struct listed_list *from)
{
	to->told = from->told;
	to->count = from->count;
	memcpy(to->range, from->range, from->count * sizeof(from->range[0]));
	from->told = false;
	from->count = 0;
}

/* Find the first range that ends at page or above; returns count if there is none. */
static unsigned int list_find(const struct listed_list *list, uint64_t page)
{
	unsigned int low = 0, high = list->count;

	while (low < high) {
		unsigned int middle = (low + high) / 2;

		if (list->range[middle].last < page)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Merge the range with ranges that it touches.  Returns false when there is no room. */
static bool list_add(struct listed_list *list, struct listed_range add)
{
	unsigned int i = list_find(list, add.first ? add.first - 1 : 0);
	unsigned int end = i;

	while (end < list->count && list->range[end].first <= add.last + 1) {
		if (list->range[end].first < add.first)
			add.first = list->range[end].first;
		if (list->range[end].last > add.last)
			add.last = list->range[end].last;
		end++;
	}
	if (end == i && list->count == AGATE_LISTED_RANGES)
		return false;
	memmove(&list->range[i + 1], &list->range[end],
		(list->count - end) * sizeof(list->range[0]));
	list->range[i] = add;
	list->count = list->count + 1 - (end - i);
	return true;
}

/* ---- A chain's way ---------------------------------------------------------- */

void listed_queue(struct listed *listed)
{
	list_move(&listed->next, &listed->made);
}

void listed_take_back(struct listed *listed)
{
	list_move(&listed->made, &listed->next);
}

void listed_start(struct listed *listed)
{
	list_move(&listed->current, &listed->next);
	listed->runs = 0;
	listed->oldest = 0;
}

/* ---- Accesses ---------------------------------------------------------------- */

static bool run_has(struct agate_sim *sim, struct listed_range *run, uint64_t page)
{
	if (page >= run->first && page <= run->last)
		return true;
	if (page == run->last + 1)
		run->last = page;
	else if (page + 1 == run->first)
		run->first = page;
	else
		return false;
	sim_count(sim, AGATE_CNT_UNLISTED, 1);
	return true;
}

static void listed_tell(struct agate_sim *sim, struct slot *slot, uint64_t va, bool write)
{
	struct listed *listed = &slot->listed;
	uint64_t page = va >> LISTED_PAGE_SHIFT;
	unsigned int i;

	for (i = 0; i < listed->runs; i++)
		if (run_has(sim, &listed->run[i], page))
			return;
	sim_count(sim, AGATE_CNT_UNLISTED, 1);
	if (listed->runs < LISTED_RUNS) {
		i = listed->runs++;
		sim_event(sim, AGATE_EV_UNLISTED, slot->index, va, slot->chain.job,
			  write ? "WRITE" : "READ");
		sim_hint(sim, 8, "a job touched memory that it did not list");
	} else {
		i = listed->oldest;
		listed->oldest = (i + 1) % LISTED_RUNS;
	}
	listed->run[i] = (struct listed_range){ page, page };
}

void listed_judge(struct agate_sim *sim, struct slot *slot, uint64_t va, bool write)
{
	struct listed *listed = &slot->listed;
	const struct listed_list *list = &listed->current;
	uint64_t page = va >> LISTED_PAGE_SHIFT;
	unsigned int i = listed->hit;

	if (i < list->count && page >= list->range[i].first && page <= list->range[i].last)
		return;
	i = list_find(list, page);
	if (i < list->count && page >= list->range[i].first)
		listed->hit = i;
	else
		listed_tell(sim, slot, va, write);
}

/* ---- Registers ---------------------------------------------------------------- */

#define LISTED_REG(reg)	((reg) - AGATE_LISTED_BASE)

/* A list that is too long counts as no list at all. */
static void listed_add(struct agate_sim *sim, struct listed *listed, uint32_t pages)
{
	struct listed_range add;

	if (!pages || !listed->made.told)
		return;
	add.first = (listed->start & ((1ull << AGATE_VA_BITS) - 1)) >> LISTED_PAGE_SHIFT;
	add.last = add.first + pages - 1;
	if (list_add(&listed->made, add))
		return;
	listed->made.told = false;
	sim_count(sim, AGATE_CNT_LISTS_DROPPED, 1);
}

static bool listed_read(struct agate_sim *sim, uint32_t offset, uint32_t *value)
{
	unsigned int n = (offset - AGATE_LISTED_BASE) / AGATE_LISTED_STRIDE;
	const struct listed *listed;

	if (n >= AGATE_MAX_SLOTS)
		return false;
	listed = &sim->slot[n].listed;
	switch ((offset - AGATE_LISTED_BASE) % AGATE_LISTED_STRIDE) {
	case LISTED_REG(AGATE_LISTED_START_LO(0)):
	case LISTED_REG(AGATE_LISTED_START_HI(0)):
		*value = reg_half(listed->start, offset & 4);
		break;
	case LISTED_REG(AGATE_LISTED_PAGES(0)):
		*value = 0;
		break;
	case LISTED_REG(AGATE_LISTED_COMMAND(0)):
		*value = listed->made.told ? AGATE_LISTED_COMMAND_BEGIN :
					     AGATE_LISTED_COMMAND_NONE;
		break;
	}
	return true;
}

static bool listed_write(struct agate_sim *sim, uint32_t offset, uint32_t value)
{
	unsigned int n = (offset - AGATE_LISTED_BASE) / AGATE_LISTED_STRIDE;
	struct listed *listed;

	if (n >= AGATE_MAX_SLOTS)
		return false;
	listed = &sim->slot[n].listed;
	switch ((offset - AGATE_LISTED_BASE) % AGATE_LISTED_STRIDE) {
	case LISTED_REG(AGATE_LISTED_START_LO(0)):
	case LISTED_REG(AGATE_LISTED_START_HI(0)):
		reg_set_half(&listed->start, offset & 4, value);
		break;
	case LISTED_REG(AGATE_LISTED_PAGES(0)):
		listed_add(sim, listed, value);
		break;
	case LISTED_REG(AGATE_LISTED_COMMAND(0)):
		if (value == AGATE_LISTED_COMMAND_BEGIN)
			list_begin(&listed->made);
		else if (value == AGATE_LISTED_COMMAND_NONE)
			listed->made.told = false;
		else
			sim_hint(sim, 8, "unknown LISTED_COMMAND");
		break;
	}
	return true;
}

const struct block listed_block = {
	.first = AGATE_LISTED_BASE,
	.last = AGATE_SOC_BASE - 1,
	.read = listed_read,
	.write = listed_write,
	.section = 8,
};
