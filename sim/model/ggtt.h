/* SPDX-License-Identifier: MIT */
/*
 * The GGTT: the global table by which the card's engines reach memory.
 *
 * ggtt.c translates, through a cache that only INVALIDATE and a loss of power empty;
 * ggtt_port.c has the port, with its write buffer.
 */
#ifndef AGATE_MODEL_GGTT_H
#define AGATE_MODEL_GGTT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agate_card.h"
#include "block.h"

#define GGTT_PAGE		4096u
#define GGTT_TABLE_SIZE		(AGATE_GGTT_NUM_ENTRIES * sizeof(uint64_t))
#define GGTT_RESERVED_BYTES	0x00800000u	/* GGTT_RESERVED_MAX */
#define GGTT_END		0x0fe00000u	/* GGTT_USABLE_END */

/* Entries first to first + count - 1 that the port has taken, and the table does not have yet. */
struct ggtt_commit {
	uint32_t first;
	uint32_t count;
	uint64_t entry;
};

struct ggtt_port {
	uint32_t index;			/* PTE_INDEX */
	uint32_t lo;			/* PTE_LO */
	uint64_t last;			/* the entry that REPEAT repeats */
	struct ggtt_commit pending[AGATE_GGTT_PORT_DEPTH];
	unsigned int count;
	uint32_t dropped;		/* since SYNC was read last */
	uint32_t commits;
};

struct ggtt_cached {
	uint64_t entry;
	bool valid;
	bool reported;			/* a hint said that the table has changed */
};

enum ggtt_access {
	GGTT_READ,
	GGTT_WRITE,
};

struct ggtt {
	uint64_t *table;		/* GSM, which the guest writes, too; or the card's own */
	bool own;			/* ... reached through the port */
	struct ggtt_cached *cached;	/* one for each entry */
	uint32_t usable_start;		/* 0: no firmware runs */
	uint64_t outside[2];		/* pages outside that were read and written last: for hints */
	uint32_t noise;
	struct ggtt_port port;
};

extern const struct block ggtt_block;

/*
 * What an engine's access on behalf of a VF gets.  addr is a GGTT address, and the access
 * stays in its 4 KiB page.  AGATE_REASON_NONE: done; else why it failed, and nothing was
 * read or written.  Outside the usable range ggtt_read() gives noise and ggtt_write() does
 * nothing: both succeed.
 */
enum agate_mover_reason ggtt_read(struct agate_sim *sim, uint64_t addr, unsigned int vf,
				  void *buf, size_t len);
enum agate_mover_reason ggtt_write(struct agate_sim *sim, uint64_t addr, unsigned int vf,
				   const void *buf, size_t len);

/*
 * The same in two steps.  On success *pa is the physical address, or GGTT_OUTSIDE when the
 * engine has to ignore the access.
 */
#define GGTT_OUTSIDE	UINT64_MAX
enum agate_mover_reason ggtt_translate(struct agate_sim *sim, uint64_t addr, unsigned int vf,
				       enum ggtt_access access, uint64_t *pa);

/* Bytes that an engine reads outside the usable range. */
void ggtt_noise(struct agate_sim *sim, void *buf, size_t len);

/* The firmware took so many bytes at the bottom and runs; 0: it stopped. */
void ggtt_set_usable(struct agate_sim *sim, uint32_t start);

/* ---- ggtt_port.c -------------------------------------------------------------- */

/* Move pending commits into the table. */
void ggtt_drain(struct ggtt *ggtt);

/* The entry that the table has as soon as nothing is pending. */
uint64_t ggtt_newest(const struct ggtt *ggtt, uint32_t n);

bool ggtt_port_read(struct agate_sim *sim, uint32_t offset, uint32_t *value);
void ggtt_port_was_read(struct agate_sim *sim, uint32_t offset);
bool ggtt_port_write(struct agate_sim *sim, uint32_t offset, uint32_t value);

/* An entry of the table, in one load: the guest may be writing it at the same time. */
static inline uint64_t ggtt_entry(const struct ggtt *ggtt, uint32_t n)
{
	return __atomic_load_n(&ggtt->table[n], __ATOMIC_RELAXED);
}

#endif /* AGATE_MODEL_GGTT_H */
