// SPDX-License-Identifier: MIT
#include "fake_card.h"

#include <linux/kernel.h>

/* How many writes to GSM can wait, at most. */
#define PENDING_MAX	(2 * AGATE_GGTT_NUM_ENTRIES)

static struct card *card_of(struct agate_ggtt *g)
{
	return container_of(g, struct card, ggtt);
}

static bool has_port(const struct card *card)
{
	return card->features & CARD_FEATURE_GGTT_PORT;
}

/* ---- The table -------------------------------------------------------- */

static void write_entries(struct card *card, const struct pending *p)
{
	u32 i;

	assert_true(p->count && p->first + p->count <= AGATE_GGTT_NUM_ENTRIES);
	for (i = p->first; i < p->first + p->count; i++) {
		card->table[i] = p->pte;
		card->written[i] = true;
	}
}

static void drain(struct card *card)
{
	size_t i;

	for (i = 0; i < card->pending_count; i++)
		write_entries(card, &card->pending[i]);
	card->pending_count = 0;
}

static void commit(struct card *card, u32 count)
{
	const struct pending p = { .first = card->index, .count = count, .pte = card->last_pte };

	card->index += count;
	if (card->pending_count == AGATE_GGTT_PORT_DEPTH) {
		card->dropped++;
		return;
	}
	card->commits++;
	card->pending[card->pending_count++] = p;
}

u64 card_use(struct card *card, u64 addr)
{
	u32 i = addr / PAGE;

	if (!card->is_cached[i])
		card->cached[i] = card->table[i];
	card->is_cached[i] = true;
	return card->cached[i];
}

u64 card_entry(const struct card *card, u64 addr)
{
	return card->table[addr / PAGE];
}

/* ---- The operations --------------------------------------------------- */

static void used(struct card *card)
{
	assert_false(card->gone);
	assert_false(card->asleep);
}

static u32 op_read(struct agate_ggtt *g, u32 reg)
{
	struct card *card = card_of(g);
	u32 dropped = card->dropped;

	used(card);
	switch (reg) {
	case CARD_FEATURES:	return card->features | 40 << 8;
	case GGTT_ENTRIES:	return card->entries;
	case GGTT_RESERVED_MAX:	return RESERVED_MAX;
	case GGTT_USABLE_START:	return 0;	/* the firmware does not run yet */
	case GGTT_USABLE_END:	return card->usable_end;
	case GGTT_SYNC:
		assert_true(has_port(card) && g->lock.locked);
		drain(card);
		card->dropped = 0;
		return dropped;
	}
	fail_msg("read of register 0x%x", reg);
	return 0;
}

static void op_write(struct agate_ggtt *g, u32 reg, u32 value)
{
	struct card *card = card_of(g);

	used(card);
	if (reg == GGTT_INVALIDATE) {
		/* It may take long, and must not keep others from the table. */
		assert_false(g->lock.locked);
		if (has_port(card))
			drain(card);
		memset(card->is_cached, 0, sizeof(card->is_cached));
		card->invalidates++;
		return;
	}
	assert_true(has_port(card) && g->lock.locked);
	switch (reg) {
	case GGTT_PTE_INDEX:
		card->index = value;
		break;
	case GGTT_PTE_LO:
		card->lo = value;
		break;
	case GGTT_PTE_HI:
		card->last_pte = (u64)value << 32 | card->lo;
		commit(card, 1);
		break;
	case GGTT_PTE_REPEAT:
		commit(card, value);
		break;
	default:
		fail_msg("write of register 0x%x", reg);
	}
}

static void op_write_gsm(struct agate_ggtt *g, u32 index, u64 pte)
{
	struct card *card = card_of(g);
	const struct pending p = { .first = index, .count = 1, .pte = pte };

	used(card);
	assert_true(!has_port(card) && g->lock.locked);
	if (card->pending_count == PENDING_MAX)
		drain(card);
	card->pending[card->pending_count++] = p;
}

static void op_flush_gsm(struct agate_ggtt *g)
{
	used(card_of(g));
	assert_false(has_port(card_of(g)));
	drain(card_of(g));
}

static bool op_enter(struct agate_ggtt *g, int *idx)
{
	if (card_of(g)->gone)
		return false;
	*idx = ++card_of(g)->inside;
	return true;
}

static void op_exit(struct agate_ggtt *g, int idx)
{
	assert_int_equal(idx, card_of(g)->inside--);
}

static void op_get(struct agate_ggtt *g)
{
	assert_false(g->lock.locked);
	card_of(g)->asleep = false;
	card_of(g)->uses++;
}

static bool op_get_if_awake(struct agate_ggtt *g)
{
	if (card_of(g)->asleep)
		return false;
	card_of(g)->uses++;
	return true;
}

static void op_put(struct agate_ggtt *g)
{
	assert_false(g->lock.locked);
	assert_true(card_of(g)->uses-- > 0);
}

static void op_queue(struct agate_ggtt *g, struct agate_ggtt_node *node)
{
	assert_false(g->lock.locked);
	list_add_tail(&node->link, &card_of(g)->queued);
}

static bool may_allocate(struct card *card)
{
	assert_false(card->ggtt.lock.locked);
	if (!card->allowed)
		return false;
	if (card->allowed > 0)
		card->allowed--;
	return true;
}

static struct agate_ggtt_node *op_node_alloc(struct agate_ggtt *g)
{
	if (!may_allocate(card_of(g)))
		return NULL;
	card_of(g)->nodes++;
	return calloc(1, sizeof(struct agate_ggtt_node));
}

static void op_node_free(struct agate_ggtt *g, struct agate_ggtt_node *node)
{
	assert_false(agate_ggtt_node_allocated(node));
	card_of(g)->nodes--;
	free(node);
}

static struct agate_kmem *op_scratch_create(struct agate_ggtt *g, bool vram)
{
	struct agate_kmem *scratch;

	if (!may_allocate(card_of(g)))
		return NULL;
	card_of(g)->scratches++;
	scratch = calloc(1, sizeof(*scratch));
	*scratch = kmem_at(vram, vram ? SCRATCH_VRAM : SCRATCH_SYSTEM, PAGE);
	return scratch;
}

/* Nothing in the table may lead to memory that is freed. */
static void op_scratch_destroy(struct agate_ggtt *g, struct agate_kmem *scratch)
{
	struct card *card = card_of(g);
	u64 addr;

	for (addr = g->start; !card->gone && addr < g->end; addr += PAGE)
		assert_u64(card_use(card, addr) & AGATE_GGTT_PRESENT, 0);
	card->scratches--;
	free(scratch);
}

static const struct agate_ggtt_ops ops = {
	.read = op_read,
	.write = op_write,
	.write_gsm = op_write_gsm,
	.flush_gsm = op_flush_gsm,
	.enter = op_enter,
	.exit = op_exit,
	.get = op_get,
	.get_if_awake = op_get_if_awake,
	.put = op_put,
	.queue = op_queue,
	.node_alloc = op_node_alloc,
	.node_free = op_node_free,
	.scratch_create = op_scratch_create,
	.scratch_destroy = op_scratch_destroy,
};

/* ---- Cards ------------------------------------------------------------ */

struct card *card_new(u32 features)
{
	struct card *card = calloc(1, sizeof(*card));
	u32 i;

	assert_non_null(card);
	card->pending = calloc(PENDING_MAX, sizeof(*card->pending));
	assert_non_null(card->pending);
	card->features = features;
	card->usable_end = USABLE_END;
	card->entries = AGATE_GGTT_NUM_ENTRIES;
	card->allowed = -1;
	card->ggtt.ops = &ops;
	INIT_LIST_HEAD(&card->queued);
	for (i = 0; i < AGATE_GGTT_NUM_ENTRIES; i++)
		card->table[i] = NOISE;
	return card;
}

struct card *card_early(u32 features)
{
	struct card *card = card_new(features);

	assert_int_equal(agate_ggtt_init_early(&card->ggtt), 0);
	return card;
}

struct card *card_ready(u32 features)
{
	struct card *card = card_early(features);

	assert_int_equal(agate_ggtt_init(&card->ggtt), 0);
	return card;
}

void card_free(struct card *card)
{
	u32 i;

	assert_true(list_empty(&card->queued));
	if (card->ggtt.pt_ops)
		assert_int_equal(agate_ggtt_fini(&card->ggtt), 0);
	assert_int_equal(card->nodes, 0);
	assert_int_equal(card->scratches, 0);
	assert_int_equal(card->uses, 0);
	assert_int_equal(card->inside, 0);
	assert_u64(card->ggtt.dropped, 0);
	/* Nobody ever wrote the firmware's entries. */
	for (i = 0; i < AGATE_GGTT_NUM_ENTRIES; i++) {
		if (i < RESERVED_MAX / PAGE || i >= USABLE_END / PAGE)
			assert_false(card->written[i]);
	}
	free(card->pending);
	free(card);
}

void assert_entries(const struct card *card, u64 start, u64 size, u64 pte)
{
	u64 addr;

	for (addr = start; addr < start + size; addr += PAGE)
		assert_u64(card_entry(card, addr), pte);
}

void assert_mapped(struct card *card, const struct agate_kmem *kmem, u64 more)
{
	u64 offset;

	assert_non_null(kmem->node);
	assert_u64(agate_ggtt_node_size(kmem->node), kmem->size);
	for (offset = 0; offset < kmem->size; offset += PAGE) {
		const u64 addr = agate_ggtt_node_start(kmem->node) + offset;
		const u64 pte = (kmem->addr + offset) | more | AGATE_GGTT_PRESENT |
				(kmem->vram ? AGATE_GGTT_VRAM : 0);

		assert_u64(card_entry(card, addr), pte);
		assert_u64(card_use(card, addr), pte);
	}
}

void card_run_queue(struct card *card)
{
	while (!list_empty(&card->queued)) {
		struct agate_ggtt_node *node = list_first_entry(&card->queued,
								struct agate_ggtt_node, link);

		list_del(&node->link);
		op_get(&card->ggtt);
		agate_ggtt_node_remove_queued(node);
		op_put(&card->ggtt);
	}
}

struct agate_ggtt_node *new_node(struct card *card)
{
	struct agate_ggtt_node *node = agate_ggtt_node_init(&card->ggtt);

	assert_non_null(node);
	assert_ptr_equal(node->ggtt, &card->ggtt);
	assert_false(agate_ggtt_node_allocated(node));
	return node;
}

struct agate_kmem kmem_at(bool vram, u64 addr, u64 size)
{
	return (struct agate_kmem) { .vram = vram, .addr = addr, .size = size };
}

u64 random_below(u64 *state, u64 limit)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return (*state >> 16) % limit;
}
