/* SPDX-License-Identifier: MIT */
/*
 * A GPU under a hostile guest: the model, memory that ASan checks page by page, and
 * the invariants that hold whatever the guest does:
 *
 *  - the model accesses only RAM and VRAM, and obeys the rules of
 *    agate_sim_host_ops;
 *  - it allocates nothing and frees nothing;
 *  - its time never goes back;
 *  - STAT is RAWSTAT & MASK, and the GPU has sent a message for a line that is up;
 *  - after a reset the GPU runs a job again.
 *
 * A broken invariant aborts, which the fuzzer reports as a crash.
 */
#ifndef AGATE_FUZZ_HOSTILE_GUEST_H
#define AGATE_FUZZ_HOSTILE_GUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agate_job.h"
#include "agate_regs.h"
#include "agate_sim.h"
#include "input.h"

#define GUEST_PAGE	4096u
#define GUEST_RAM	0x40000000ull	/* physical */
#define GUEST_PAGES	64u
#define GUEST_VRAM	0x4000u		/* bytes */

/*
 * RAM, by page: first the tables (those in use have levels 0 to 3), then the pages
 * that GUEST_VA maps, then pages that are mapped nowhere.  VA page n is RAM page
 * GUEST_DATA + n, readable and writable.
 */
#define GUEST_TABLES	8u
#define GUEST_DATA	8u
#define GUEST_MAPPED	40u
#define GUEST_VA	0x8080600000ull
#define GUEST_VA_END	(GUEST_VA + GUEST_MAPPED * GUEST_PAGE)

/* The page of the final job; no target uses it for anything else. */
#define GUEST_LAST_JOB	(GUEST_VA_END - GUEST_PAGE)

struct guest {
	struct agate_sim *sim;
	struct input in;
	bool bifrost;
	bool aarch64;		/* the tables' format */
	bool direct;		/* the model may look into RAM by itself */
	bool told[AGATE_NUM_VECTORS];	/* a message came since the line was last down */
	uint64_t time;
	unsigned int units;	/* remaining units of work */
	void (*event)(const struct agate_sim_event *event);
	uint8_t vram[GUEST_VRAM];	/* what a CPU sees of it */
};

#define REQUIRE(what)	((what) ? (void)0 : guest_broken(__FILE__, __LINE__, #what))
_Noreturn void guest_broken(const char *file, int line, const char *what);

struct guest_options {
	void *vram;		/* NULL: allocate it */
	size_t vram_size;
	void (*event)(const struct agate_sim_event *event);	/* or NULL */
	/* A card's configuration: the guest has one if .card is set; NULL: none. */
	const struct agate_sim_config *card;
};

/*
 * The first byte of the input selects the GPU.  Power is on, address space 0 is set
 * up, and interrupts are unmasked.  Only one guest exists at a time; options may be
 * NULL.
 */
struct guest *guest_new(const uint8_t *data, size_t size, const struct guest_options *options);
/* Let started chains run, and serve faults, while there are units left. */
void guest_finish(struct guest *g);
/* Pages that are mapped nowhere were never written; for targets that leave the tables alone. */
void guest_check_unmapped(void);
/* Check the invariants, including the reset, and free everything. */
void guest_end(struct guest *g);

void wr(struct guest *g, uint32_t reg, uint32_t value);
uint32_t rd(struct guest *g, uint32_t reg);
void wr64(struct guest *g, uint32_t reg_lo, uint64_t value);
/* False when the GPU has nothing to do, or when the input has used up its units of work. */
bool step(struct guest *g, unsigned int units);

/* For a target that calls the model directly. */
void guest_enter(void);
void guest_leave(struct guest *g);

void guest_check_lines(struct guest *g);

void guest_clear_ram(void);
/* len bytes of RAM by physical address, in one page; NULL: not RAM. */
uint8_t *guest_ram(uint64_t pa, size_t len);
/* Bytes at a VA in GUEST_VA .. GUEST_VA_END, whatever the tables contain now. */
void guest_put(uint64_t va, const void *from, size_t len);
void guest_get(uint64_t va, void *to, size_t len);

void guest_put_tables(struct guest *g);
enum guest_access {
	GUEST_NONE,
	GUEST_READ,
	GUEST_WRITE,		/* and read */
};

/* The entry of VA page n. */
void guest_map(struct guest *g, unsigned int n, enum guest_access access);
void guest_set_entry(unsigned int table, unsigned int index, uint64_t entry);

void as_command(struct guest *g, unsigned int as, uint32_t command);
void as_update(struct guest *g, unsigned int as);
void start_job(struct guest *g, unsigned int slot, uint64_t head, uint32_t config);
void put_header(uint64_t va, unsigned int type, uint64_t next);

/*
 * Serve a page fault of address space 0 as a driver does: map, clear, flush.  False
 * when there is none, or when mapping a page would not end it.
 */
bool guest_serve(struct guest *g);

/* ---- What the input says ---- */

uint64_t take_va(struct input *in);
uint64_t take_size(struct input *in);

#endif /* AGATE_FUZZ_HOSTILE_GUEST_H */
