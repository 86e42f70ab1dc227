/* SPDX-License-Identifier: MIT */
/*
 * The L2 cache, which jobs and table walks read and write through.  It makes the
 * difference between the GPU and memory when the two are not coherent.
 */
#ifndef AGATE_MODEL_L2_H
#define AGATE_MODEL_L2_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "block.h"

#define L2_LINE		64u
#define L2_WAYS		4u
#define L2_MIN_SIZE	4096u
#define L2_MAX_SIZE	(4096u << 10)

/* The purpose of a read: only hints depend on it. */
enum l2_use {
	L2_DATA,
	L2_TABLE,
};

struct l2_line {
	uint64_t tag;		/* physical address / L2_LINE */
	uint64_t dirty;		/* bit n: byte n was written, but not to memory yet */
	uint64_t stale;		/* bit n: memory has another byte n ... */
	uint64_t checked;	/* ... as it was found in this unit of work */
	bool valid;
	bool reported;		/* a hint said that it is stale */
};

struct l2 {
	uint32_t protocol;	/* GPU_COHERENCY_*: taken when it is powered on */
	struct l2_line *line;	/* sets * L2_WAYS */
	uint8_t *data;		/* L2_LINE bytes for each of them */
	unsigned int sets;	/* a power of two */
	unsigned int used;	/* lines that are valid ... */
	unsigned int dirty;	/* ... and those of them with a dirty byte */
	uint32_t flush_id;	/* LATEST_FLUSH_ID: counts cleans that invalidated */
	uint32_t random;
};

extern const struct block l2_block;

uint32_t l2_size(const struct l2 *l2);

/*
 * Like phys_read() and phys_write(), but through the L2: the access stays in one 4
 * KiB page, and -1 is a bus fault.
 */
int l2_read(struct agate_sim *sim, uint64_t pa, void *buf, size_t len, enum l2_use use);
int l2_write(struct agate_sim *sim, uint64_t pa, const void *buf, size_t len);

/* Read the bytes that memory would hold after a clean; changes nothing. */
int l2_peek(struct agate_sim *sim, uint64_t pa, void *buf, size_t len);

/* Write dirty bytes to memory; then, if invalidate is set, drop all lines. */
void l2_clean(struct agate_sim *sim, bool invalidate);

/* Drop all lines.  Returns the number of dirty lines lost. */
unsigned int l2_drop(struct agate_sim *sim);
unsigned int l2_reset(struct agate_sim *sim);	/* as the GPU's reset does */

#endif /* AGATE_MODEL_L2_H */
