// SPDX-License-Identifier: MIT
/*
 * The L2 cache (hardware.md, section 5): set-associative, write-back, physically
 * addressed; the seed alone decides the order of replacement.
 *
 * A mask says for each byte whether the GPU wrote it, so a clean never overwrites a
 * CPU's bytes next to it.  Under ACE the cache holds nothing at all.  Under
 * ACE-Lite a read takes memory's current contents and lays dirty bytes over them.
 * Without a protocol a read takes the line as it was filled, however old it is; a
 * comparison with memory serves only to give a hint.
 */
#include "l2.h"

#include <stdlib.h>
#include <string.h>

#include "model.h"

static int l2_init(struct agate_sim *sim, const struct agate_sim_config *config)
{
	uint32_t size = config->l2_size ? config->l2_size : sim->identity->l2_size;
	struct l2 *l2 = &sim->l2;

	if (size < L2_MIN_SIZE || size > L2_MAX_SIZE || (size & (size - 1)))
		return -1;
	l2->line = calloc(size / L2_LINE, sizeof(*l2->line));
	l2->data = calloc(1, size);
	l2->sets = size / L2_LINE / L2_WAYS;
	l2->protocol = GPU_COHERENCY_NONE;
	/* Any odd constant will do: the generator must not start at 0. */
	l2->random = config->seed ? config->seed : 0x9e3779b9;
	return l2->line && l2->data ? 0 : -1;
}

static void l2_fini(struct agate_sim *sim)
{
	free(sim->l2.line);
	free(sim->l2.data);
}

const struct block l2_block = {
	.init = l2_init,
	.fini = l2_fini,
};

uint32_t l2_size(const struct l2 *l2)
{
	return l2->sets * L2_WAYS * L2_LINE;
}

static uint32_t l2_random(struct l2 *l2)
{
	l2->random ^= l2->random << 13;
	l2->random ^= l2->random >> 17;
	l2->random ^= l2->random << 5;
	return l2->random;
}

/* ---- Lines ----------------------------------------------------------------- */

static uint8_t *line_data(const struct l2 *l2, const struct l2_line *line)
{
	return l2->data + (size_t)(line - l2->line) * L2_LINE;
}

/* Bits [first, first + count) of a mask of bytes. */
static uint64_t byte_mask(unsigned int first, unsigned int count)
{
	return (count == L2_LINE ? UINT64_MAX : (1ull << count) - 1) << first;
}

static struct l2_line *line_set(const struct l2 *l2, uint64_t tag)
{
	return &l2->line[(tag & (l2->sets - 1)) * L2_WAYS];
}

static struct l2_line *line_find(const struct l2 *l2, uint64_t pa)
{
	uint64_t tag = pa / L2_LINE;
	struct l2_line *set = line_set(l2, tag);
	unsigned int way;

	for (way = 0; way < L2_WAYS; way++)
		if (set[way].valid && set[way].tag == tag)
			return &set[way];
	return NULL;
}

/*
 * Write dirty bytes back, run by run: the bytes between them may belong to a CPU.  Returns
 * whether they were lost, which happens only to VRAM that has lost its power since, and its
 * contents.
 */
static bool line_clean(struct agate_sim *sim, struct l2_line *line)
{
	const uint8_t *data = line_data(&sim->l2, line);
	uint64_t left = line->dirty;
	bool lost = false;

	if (!left)
		return false;
	while (left) {
		unsigned int first = __builtin_ctzll(left);
		uint64_t run = ~(left >> first);
		unsigned int count = run ? (unsigned int)__builtin_ctzll(run) : L2_LINE;

		if (phys_write(sim, line->tag * L2_LINE + first, data + first, count))
			lost = true;
		left &= ~byte_mask(first, count);
	}
	line->dirty = 0;
	sim->l2.dirty--;
	sim_count(sim, AGATE_CNT_DIRTY_LOST, lost);
	return lost;
}

static void l2_lost_in_vram(struct agate_sim *sim)
{
	sim_hint(sim, 5, "dirty lines of VRAM were cleaned without its power: they are lost");
}

static void line_forget(struct l2 *l2, struct l2_line *line)
{
	if (line->dirty)
		l2->dirty--;
	if (line->valid)
		l2->used--;
	*line = (struct l2_line){ 0 };
}

/* Fill a line for pa, and replace another one if necessary; NULL: a bus fault. */
static struct l2_line *line_fill(struct agate_sim *sim, uint64_t pa)
{
	struct l2 *l2 = &sim->l2;
	uint64_t tag = pa / L2_LINE;
	struct l2_line *set = line_set(l2, tag);
	struct l2_line *line = NULL;
	uint8_t data[L2_LINE];
	unsigned int way;

	if (phys_read(sim, tag * L2_LINE, data, L2_LINE))
		return NULL;
	for (way = 0; way < L2_WAYS && !line; way++)
		if (!set[way].valid)
			line = &set[way];
	if (!line)
		line = &set[l2_random(l2) % L2_WAYS];
	if (line_clean(sim, line))
		l2_lost_in_vram(sim);
	line_forget(l2, line);
	*line = (struct l2_line){ .tag = tag, .valid = true, .checked = sim->unit };
	memcpy(line_data(l2, line), data, L2_LINE);
	l2->used++;
	return line;
}

/* Compare a line with memory, once a unit of work. */
static void line_compare(struct agate_sim *sim, struct l2_line *line)
{
	const uint8_t *data = line_data(&sim->l2, line);
	uint8_t memory[L2_LINE];
	unsigned int i;

	if (line->checked == sim->unit)
		return;
	line->checked = sim->unit;
	line->stale = 0;
	if (phys_read(sim, line->tag * L2_LINE, memory, L2_LINE) || !memcmp(data, memory, L2_LINE))
		return;
	for (i = 0; i < L2_LINE; i++)
		if (data[i] != memory[i])
			line->stale |= 1ull << i;
	line->stale &= ~line->dirty;
}

/* Check used bytes of a line, and give a hint when memory holds other bytes. */
static void line_judge(struct agate_sim *sim, struct l2_line *line, uint64_t bytes,
		       enum l2_use use)
{
	line_compare(sim, line);
	if (!(line->stale & bytes))
		return;
	line->stale = 0;	/* count it once in this unit */
	sim_count(sim, AGATE_CNT_STALE_LINES, 1);
	if (line->reported)
		return;
	line->reported = true;
	if (use == L2_TABLE)
		sim_hint(sim, 5, "a page table was read from a stale line of the L2");
	else
		sim_hint(sim, 5, "a stale line of the L2 was read: memory has other bytes");
}

/* ---- Accesses -------------------------------------------------------------- */

static size_t in_line(uint64_t pa, size_t len)
{
	size_t left = L2_LINE - pa % L2_LINE;

	return len < left ? len : left;
}

/* Lay the dirty bytes of cached lines over the contents of memory. */
static void overlay(const struct l2 *l2, uint64_t pa, uint8_t *buf, size_t len)
{
	while (len && l2->dirty) {
		size_t part = in_line(pa, len);
		const struct l2_line *line = line_find(l2, pa);
		unsigned int first = pa % L2_LINE;
		unsigned int i;

		for (i = 0; line && i < part; i++)
			if (line->dirty & (1ull << (first + i)))
				buf[i] = line_data(l2, line)[first + i];
		pa += part;
		buf += part;
		len -= part;
	}
}

int l2_peek(struct agate_sim *sim, uint64_t pa, void *buf, size_t len)
{
	if (phys_read(sim, pa, buf, len))
		return -1;
	overlay(&sim->l2, pa, buf, len);
	return 0;
}

int l2_read(struct agate_sim *sim, uint64_t pa, void *buf, size_t len, enum l2_use use)
{
	uint8_t *to = buf;

	if (sim->l2.protocol != GPU_COHERENCY_NONE)
		return l2_peek(sim, pa, buf, len);
	while (len) {
		size_t part = in_line(pa, len);
		struct l2_line *line = line_find(&sim->l2, pa);
		unsigned int first = pa % L2_LINE;

		if (line)
			line_judge(sim, line, byte_mask(first, part), use);
		else
			line = line_fill(sim, pa);
		if (!line)
			return -1;
		memcpy(to, line_data(&sim->l2, line) + first, part);
		pa += part;
		to += part;
		len -= part;
	}
	return 0;
}

int l2_write(struct agate_sim *sim, uint64_t pa, const void *buf, size_t len)
{
	const uint8_t *from = buf;

	if (sim->l2.protocol == GPU_COHERENCY_ACE)
		return phys_write(sim, pa, buf, len);
	while (len) {
		size_t part = in_line(pa, len);
		struct l2_line *line = line_find(&sim->l2, pa);
		unsigned int first = pa % L2_LINE;

		if (!line)
			line = line_fill(sim, pa);
		if (!line)
			return -1;
		memcpy(line_data(&sim->l2, line) + first, from, part);
		if (!line->dirty)
			sim->l2.dirty++;
		line->dirty |= byte_mask(first, part);
		line->stale &= ~line->dirty;
		pa += part;
		from += part;
		len -= part;
	}
	return 0;
}

/* ---- Maintenance ------------------------------------------------------------ */

void l2_clean(struct agate_sim *sim, bool invalidate)
{
	struct l2 *l2 = &sim->l2;
	bool lost = false;
	unsigned int i;

	for (i = 0; l2->dirty && i < l2->sets * L2_WAYS; i++)
		if (line_clean(sim, &l2->line[i]))
			lost = true;
	if (lost)
		l2_lost_in_vram(sim);
	if (!invalidate)
		return;
	l2_drop(sim);
	l2->flush_id++;
}

unsigned int l2_drop(struct agate_sim *sim)
{
	struct l2 *l2 = &sim->l2;
	unsigned int lost = l2->dirty;
	unsigned int i;

	sim_count(sim, AGATE_CNT_DIRTY_LOST, lost);
	for (i = 0; l2->used && i < l2->sets * L2_WAYS; i++)
		line_forget(l2, &l2->line[i]);
	return lost;
}

unsigned int l2_reset(struct agate_sim *sim)
{
	sim->l2.flush_id = 0;
	return l2_drop(sim);
}
