/* SPDX-License-Identifier: MIT */
/*
 * Address spaces: registers, commands, translation, faults.
 *
 * walk.c reads page tables, tlb.c caches translations, translate.c decides the fate
 * of an access (an address, a wait, or a fault), and mmu.c has the registers.
 */
#ifndef AGATE_MODEL_MMU_H
#define AGATE_MODEL_MMU_H

#include <stdbool.h>
#include <stdint.h>

#include "agate_regs.h"
#include "block.h"

#define MMU_NUM_AS	8

/* Access types, numbered as AS_FAULTSTATUS reports them. */
enum mmu_access {
	MMU_ATOMIC = AS_FAULTSTATUS_ACCESS_ATOMIC,
	MMU_EXECUTE = AS_FAULTSTATUS_ACCESS_EX,
	MMU_READ = AS_FAULTSTATUS_ACCESS_READ,
	MMU_WRITE = AS_FAULTSTATUS_ACCESS_WRITE,
};

/* How an address space translates an address; latched by UPDATE. */
enum mmu_mode {
	MMU_UNMAPPED,
	MMU_IDENTITY,
	MMU_TABLE_LPAE,
	MMU_TABLE_AARCH64,
};

/* The destination of an access. */
struct mmu_place {
	uint64_t pa;
	bool uncached;		/* bypasses the L2 */
};

/* ---- walk.c ------------------------------------------------------------ */

struct address_space;

struct walk {
	enum agate_exception exception;	/* AGATE_EXC_NOT_STARTED: translated */
	unsigned int level;		/* where the walk ended */
	unsigned int access;		/* bit n: access type n is permitted */
	uint64_t pa;			/* of the page or block's first byte */
	uint64_t pte;			/* last entry read */
	uint64_t table[AGATE_PT_LEVELS];	/* where each level's table was */
	bool uncached;			/* accesses bypass the L2 */
};

enum walk_how {
	WALK_USE,	/* through the L2, as the GPU does */
	WALK_LOOK,	/* to read the tables' present contents */
};

/* Walk an address space's tables for va. */
void walk_tables(struct agate_sim *sim, const struct address_space *as, uint64_t va,
		 enum walk_how how, struct walk *walk);

static inline bool walk_failed(const struct walk *walk)
{
	return walk->exception != AGATE_EXC_NOT_STARTED;
}

/* ---- tlb.c ------------------------------------------------------------- */

#define TLB_WAYS		4
#define TLB_DEFAULT_ENTRIES	256
#define TLB_MAX_ENTRIES		4096

struct tlb_entry {
	uint64_t tag;		/* va >> AGATE_PT_SHIFT(level) */
	uint64_t pa;
	uint64_t checked;	/* unit of work in which it was last compared */
	uint8_t level;		/* 1 .. 3; 0: the entry is free */
	uint8_t access;		/* as in struct walk */
	bool uncached;
	bool reported;		/* a hint said that it is stale */
};

struct tlb {
	struct tlb_entry *entry;	/* sets * TLB_WAYS */
	unsigned int sets;		/* a power of two */
	unsigned int used[AGATE_PT_LEVELS];	/* entries, by level */
	uint32_t random;
};

int tlb_init(struct tlb *tlb, unsigned int entries, uint32_t seed);
void tlb_fini(struct tlb *tlb);
struct tlb_entry *tlb_find(struct tlb *tlb, uint64_t va);
struct tlb_entry *tlb_insert(struct tlb *tlb, uint64_t va, const struct walk *walk);
/* Drop all entries that translate an address in first .. last. */
void tlb_drop(struct tlb *tlb, uint64_t first, uint64_t last);

/* ---- mmu.c: registers and commands ------------------------------------- */

/* Registers that UPDATE captures. */
struct as_setup {
	uint64_t transtab;
	uint64_t memattr;
	uint64_t transcfg;
};

struct address_space {
	/* Registers as written; they have no effect until a command reads them. */
	struct as_setup written;
	uint64_t lockaddr;

	/* Registers that UPDATE latched, and their meaning. */
	struct as_setup latched;
	bool updated;		/* by any UPDATE since the last reset */
	enum mmu_mode mode;
	uint64_t root;
	unsigned int va_bits;
	bool walks_uncached;
	struct tlb tlb;

	/* The command in progress, with the registers it captured. */
	uint32_t command;	/* AS_COMMAND_NOP: none */
	uint64_t command_due;
	bool command_watched;
	struct as_setup command_setup;
	uint64_t command_lockaddr;

	bool locked;
	uint64_t lock_first;
	uint64_t lock_last;

	uint32_t fault_status;
	uint64_t fault_address;
	bool fault_latched;	/* the driver has not handled it yet */
	unsigned int fault_source;	/* the client whose access it was */
};

/* A client's access that waits for a command on its address space. */
struct mmu_stall {
	bool waiting;
	bool faulted;		/* a fault, not a lock or an UPDATE in progress */
	bool announced;		/* that fault has been latched before */
	enum mmu_access access;
	uint64_t va;
	enum agate_exception exception;
};

/* A unit that accesses memory through an address space: a slot, or the dump of counters. */
struct mmu_client {
	unsigned int as;
	unsigned int source;	/* its number in FAULTSTATUS */
	bool polls;		/* retries a waiting access itself; for the others the MMU does */
	struct mmu_stall stall;
};

#define MMU_MAX_CLIENTS	8

struct mmu {
	struct address_space as[MMU_NUM_AS];
	unsigned int commands;	/* in progress, in all address spaces */
	struct mmu_client *client[MMU_MAX_CLIENTS];
	unsigned int clients;
};

enum mmu_result {
	MMU_OK,
	MMU_STALL,	/* client->stall holds the reason */
	MMU_KILL,	/* unmapped: *exception is what the job ends with */
};

extern const struct block mmu_block;

/* Make a client known, once; it stays at its address. */
void mmu_attach(struct agate_sim *sim, struct mmu_client *client);

/* A job starts in that address space: check that the driver has set it up. */
void mmu_judge_start(struct agate_sim *sim, unsigned int as);

/* ---- translate.c: what an access gets ---------------------------------- */

/* Translate one access of a client; *place is va's own byte. */
enum mmu_result mmu_translate(struct agate_sim *sim, struct mmu_client *client, uint64_t va,
			      enum mmu_access access, struct mmu_place *place,
			      enum agate_exception *exception);

/* Retry stalled accesses after a command of that address space has completed. */
void mmu_retry(struct agate_sim *sim, unsigned int as);

/* The client's job ended: drop its waiting access, so that another fault can be latched. */
void mmu_forget(struct agate_sim *sim, struct mmu_client *client);

#endif /* AGATE_MODEL_MMU_H */
