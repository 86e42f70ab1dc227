/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Topic "ggtt" (lab 20): the card's global table.
 *
 * The card's engines (firmware, mover, scanout) find memory by GGTT addresses.  The table is
 * flat: one entry of 64 bits for each page of 4 KiB.  On Midgard the entries are in GSM, which
 * the CPU writes; on Bifrost they are behind a port, whose buffer holds AGATE_GGTT_PORT_DEPTH
 * commits and drops what comes on top of that.
 *
 * Both ends of the table belong to the firmware.  How much it takes at the bottom is known
 * only once it runs, so the driver leaves out the most that any firmware takes.  An address
 * that nobody has leads to a scratch page.
 *
 * The card caches entries until GGTT_INVALIDATE, also those of the scratch page.  So the
 * driver invalidates after every change, and does so without the lock, because it may take
 * long; until then the card may use the old entry.
 *
 * The code has no global variables: each card has a table of its own.  It reaches the card
 * and the rest of the driver by struct agate_ggtt_ops, and compiles for host tests.
 */
#ifndef AGATE_GGTT_H
#define AGATE_GGTT_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/types.h>

#include "agate_card.h"
#include "agate_range.h"

struct agate_ggtt;
struct agate_ggtt_node;
struct agate_kmem;

#define AGATE_GGTT_PAGE_SIZE	4096ull
#define AGATE_GGTT_GROUP_SIZE	(AGATE_GGTT_GROUP * AGATE_GGTT_PAGE_SIZE)

/* The highest virtual function that an entry can name. */
#define AGATE_GGTT_VF_MAX	1023u

/* How engines cache a page, in the PAT bits of its entry. */
#define AGATE_GGTT_PAT_WB	0
#define AGATE_GGTT_PAT_WC	1

/**
 * struct agate_ggtt_ops - what the frame does for a table
 * @read: read a register of the card
 * @write: write one
 * @write_gsm: write an entry of GSM, which the card may see later
 * @flush_gsm: all entries that were written are in GSM when this returns
 * @enter: returns false when the card is gone; otherwise it stays until @exit, which gets *@idx
 * @exit: the opposite
 * @get: wake the card, and keep it awake until @put
 * @get_if_awake: the same if the card is awake; otherwise return false
 * @put: the opposite of both
 * @queue: call agate_ggtt_node_remove_queued() for a node once the card is awake; its link is
 *	free for that.  Must not wait.
 * @node_alloc: a node, zeroed, or NULL
 * @node_free: free a node
 * @scratch_create: one page of kernel memory, zeroed, VRAM or system memory; NULL when there
 *	is none
 * @scratch_destroy: give it back
 *
 * agate_ggtt.lock is held in @write_gsm, in @flush_gsm and while the port is used, but not in
 * the others, and not while GGTT_INVALIDATE is written.
 */
struct agate_ggtt_ops {
	u32 (*read)(struct agate_ggtt *g, u32 reg);
	void (*write)(struct agate_ggtt *g, u32 reg, u32 value);
	void (*write_gsm)(struct agate_ggtt *g, u32 index, u64 pte);
	void (*flush_gsm)(struct agate_ggtt *g);
	bool (*enter)(struct agate_ggtt *g, int *idx);
	void (*exit)(struct agate_ggtt *g, int idx);
	void (*get)(struct agate_ggtt *g);
	bool (*get_if_awake)(struct agate_ggtt *g);
	void (*put)(struct agate_ggtt *g);
	void (*queue)(struct agate_ggtt *g, struct agate_ggtt_node *node);
	struct agate_ggtt_node *(*node_alloc)(struct agate_ggtt *g);
	void (*node_free)(struct agate_ggtt *g, struct agate_ggtt_node *node);
	struct agate_kmem *(*scratch_create)(struct agate_ggtt *g, bool vram);
	void (*scratch_destroy)(struct agate_ggtt *g, struct agate_kmem *scratch);
};

/**
 * struct agate_ggtt_pt_ops - how a platform writes entries
 * @pte_encode: an entry for the page at @addr: an offset in VRAM, or a system address
 * @set_pte: write the entry of the GGTT address @addr
 * @fill: write the same entry for @count pages, 1 at least, from @addr on
 * @flush: what was written is in the table when this returns
 *
 * The caller holds agate_ggtt.lock for all but @pte_encode.
 */
struct agate_ggtt_pt_ops {
	u64 (*pte_encode)(const struct agate_ggtt *g, u64 addr, bool vram, unsigned int pat);
	void (*set_pte)(struct agate_ggtt *g, u64 addr, u64 pte);
	void (*fill)(struct agate_ggtt *g, u64 addr, u64 pte, u64 count);
	void (*flush)(struct agate_ggtt *g);
};

/**
 * struct agate_ggtt - the table of one card
 * @ops: the frame's services; set before agate_ggtt_init_early()
 * @pt_ops: the platform's
 * @features: CARD_FEATURES
 * @lock: protects the entries, @range and everything below; outside of all locks of registers
 * @range: the addresses that the driver gives away
 * @start: the first of them
 * @end: first address behind them
 * @scratch: memory of addresses that nobody has; NULL before agate_ggtt_init()
 * @scratch_pte: its entry; 0, which maps nothing, without @scratch
 * @access_count: commits through the port since they were drained last
 * @dropped: commits that the port has dropped; always 0 in a driver without a bug
 */
struct agate_ggtt {
	const struct agate_ggtt_ops *ops;
	const struct agate_ggtt_pt_ops *pt_ops;
	u32 features;
	struct mutex lock;	/* entries and addresses */
	struct agate_range range;
	u64 start;
	u64 end;
	struct agate_kmem *scratch;
	u64 scratch_pte;
	unsigned int access_count;
	u64 dropped;
};

/**
 * struct agate_ggtt_node - addresses of a table
 * @ggtt: the table
 * @range: the addresses, when they are allocated
 * @kmem: what they lead to; NULL for the scratch page
 * @vf: the virtual function that may use them; 0 is the card's own
 * @invalidate: what the caller of agate_ggtt_node_remove() wants
 * @link: the frame's, while the node is queued
 */
struct agate_ggtt_node {
	struct agate_ggtt *ggtt;
	struct agate_range_node range;
	struct agate_kmem *kmem;
	unsigned int vf;
	bool invalidate;
	struct list_head link;
};

static inline bool agate_ggtt_node_allocated(const struct agate_ggtt_node *node)
{
	return node && agate_range_node_allocated(&node->range);
}

/** agate_ggtt_node_start - the first address of an allocated node */
static inline u64 agate_ggtt_node_start(const struct agate_ggtt_node *node)
{
	return node->range.start;
}

/** agate_ggtt_node_size - its bytes */
static inline u64 agate_ggtt_node_size(const struct agate_ggtt_node *node)
{
	return node->range.size;
}

/* ---- The table -------------------------------------------------------- */

/**
 * agate_ggtt_init_early - set the table up as far as firmware needs it
 * @g: zeroed, with @ops
 *
 * From here on nodes can be inserted.  The addresses are those from GGTT_RESERVED_MAX to
 * GGTT_USABLE_END.  Writes no entry: somebody may be using the table already.
 *
 * Return: 0; -ENODEV when the card names no such addresses.
 */
int agate_ggtt_init_early(struct agate_ggtt *g);

/**
 * agate_ggtt_init - give the free addresses a scratch page
 * @g: after agate_ggtt_init_early(); the card is awake
 *
 * Entries of nodes stay as they are.  The scratch page is in VRAM; on a card with
 * CARD_FEATURE_GGTT_64K it is in system memory, because there one page of VRAM would make a
 * torn group.
 *
 * Return: 0; -ENOMEM, and then nothing has changed.
 */
int agate_ggtt_init(struct agate_ggtt *g);

/**
 * agate_ggtt_fini - give up the scratch page
 * @g: the table; no engine uses it, and nothing is queued
 *
 * Unless the card is gone, the addresses map nothing any more.
 *
 * Return: 0; -EBUSY while there are nodes, and then nothing has changed.
 */
int agate_ggtt_fini(struct agate_ggtt *g);

/**
 * agate_ggtt_invalidate - make the card forget the entries that it has cached
 * @g: the table; the card is awake
 *
 * Context: does not hold the lock.
 */
void agate_ggtt_invalidate(struct agate_ggtt *g);

/* ---- Nodes ------------------------------------------------------------ */

/**
 * agate_ggtt_node_init - a node without addresses
 * @g: the table
 *
 * Return: the node, or NULL.
 */
struct agate_ggtt_node *agate_ggtt_node_init(struct agate_ggtt *g);

/**
 * agate_ggtt_node_fini - free a node
 * @node: without addresses
 */
void agate_ggtt_node_fini(struct agate_ggtt_node *node);

/**
 * agate_ggtt_node_insert - give a node addresses
 * @node: without addresses
 * @size: bytes, a multiple of AGATE_GGTT_PAGE_SIZE
 * @align: of the first address, a power of two; less than a page counts as a page
 * @mode: where
 *
 * Writes no entry: the addresses go on leading to the scratch page.
 *
 * Return: 0; -EINVAL; -EBUSY when the node has addresses already; -ENOSPC.
 */
int agate_ggtt_node_insert(struct agate_ggtt_node *node, u64 size, u64 align,
			   enum agate_range_mode mode);

/** agate_ggtt_node_insert_locked - the same; the caller holds agate_ggtt.lock */
int agate_ggtt_node_insert_locked(struct agate_ggtt_node *node, u64 size, u64 align,
				  enum agate_range_mode mode);

/**
 * agate_ggtt_node_insert_balloon - keep everybody else away from some addresses
 * @node: without addresses
 * @start: the first one, a multiple of AGATE_GGTT_PAGE_SIZE
 * @end: first one behind them, likewise
 *
 * Their entries stay as they are, here and in agate_ggtt_node_remove_balloon().
 *
 * Return: 0; -EINVAL; -EBUSY when the node has addresses already; -ENOSPC when some of them are
 * not free.
 */
int agate_ggtt_node_insert_balloon(struct agate_ggtt_node *node, u64 start, u64 end);

/**
 * agate_ggtt_node_remove_balloon - the opposite
 * @node: from agate_ggtt_node_insert_balloon(); nothing happens if it has no addresses
 *
 * The node itself stays, for agate_ggtt_node_fini() or for another use.
 */
void agate_ggtt_node_remove_balloon(struct agate_ggtt_node *node);

/**
 * agate_ggtt_node_remove - take a node's addresses away, and free it
 * @node: the node; NULL does nothing
 * @invalidate: an engine may have cached its entries
 *
 * The node's memory, if it has some, belongs to the caller alone when this returns, and
 * agate_kmem.node is NULL.
 *
 * If the card is awake, the addresses lead to the scratch page before others can get them.
 * While it sleeps its table cannot be written, so the frame does that later, and nobody gets
 * the addresses until then.  If the card is gone, there is no table.
 *
 * Context: does not hold the lock.  Does not wake the card, and does not wait for it.
 */
void agate_ggtt_node_remove(struct agate_ggtt_node *node, bool invalidate);

/**
 * agate_ggtt_node_remove_queued - do what agate_ggtt_ops.queue() was called for
 * @node: the node; the caller keeps the card awake, if it is not gone
 */
void agate_ggtt_node_remove_queued(struct agate_ggtt_node *node);

/**
 * agate_ggtt_assign - let a virtual function use a node's addresses, and nobody else
 * @node: with addresses
 * @vf: its number; 0 is the card itself
 *
 * Addresses without memory lead to the scratch page, if there is one.
 *
 * Return: 0; -EINVAL for a number above AGATE_GGTT_VF_MAX; -ENODEV when the card is gone.
 */
int agate_ggtt_assign(struct agate_ggtt_node *node, unsigned int vf);

/* ---- Memory ----------------------------------------------------------- */

/**
 * agate_ggtt_insert - give kernel memory addresses, and write their entries
 * @g: the table
 * @kmem: the memory
 * @start: lowest address that it may have
 * @end: first one above those that it may have; U64_MAX: no limit
 *
 * Memory that has addresses keeps them.  On a card with CARD_FEATURE_GGTT_64K memory in VRAM
 * gets whole groups.
 *
 * Context: may sleep and wake the card.
 * Return: 0, with agate_kmem.node; -EINVAL for a wrong size, address or range; -ENOMEM; -ENOSPC;
 * -ENODEV when the card is gone.  After an error nothing has changed.
 */
int agate_ggtt_insert(struct agate_ggtt *g, struct agate_kmem *kmem, u64 start, u64 end);

/**
 * agate_ggtt_map - write the entries of kernel memory again
 * @g: the table; the card is awake
 * @kmem: the memory; nothing happens if it has no addresses
 *
 * For a card that has lost its table.  The addresses are the same as before.
 */
void agate_ggtt_map(struct agate_ggtt *g, struct agate_kmem *kmem);

/* ---- What there is ---------------------------------------------------- */

/**
 * agate_ggtt_largest_hole - how much can be allocated at once?
 * @g: the table
 * @align: of both ends of a hole, a power of two
 * @spare: in: bytes that are to be left for others; out: how many of them would have to come
 *	from the largest hole, because the other ones have no room for them; may be NULL
 *
 * Return: bytes of the largest hole.
 */
u64 agate_ggtt_largest_hole(struct agate_ggtt *g, u64 align, u64 *spare);

/**
 * agate_ggtt_holes - show what is free
 * @g: the table
 * @align: of both ends of a hole, a power of two
 * @show: called for every hole that has room then; holds the lock
 * @arg: for @show
 *
 * Return: the bytes of all of them.
 */
u64 agate_ggtt_holes(struct agate_ggtt *g, u64 align,
		     void (*show)(void *arg, u64 start, u64 size), void *arg);

/**
 * agate_ggtt_dump - show what is allocated, by address
 * @g: the table
 * @show: called for every node; holds the lock
 * @arg: for @show
 */
void agate_ggtt_dump(struct agate_ggtt *g,
		     void (*show)(void *arg, const struct agate_ggtt_node *node), void *arg);

#endif /* AGATE_GGTT_H */
