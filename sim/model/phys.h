/* SPDX-License-Identifier: MIT */
/*
 * Physical memory as the GPU sees it: a table of regions.  An address in none of them is a
 * bus fault.
 */
#ifndef AGATE_MODEL_PHYS_H
#define AGATE_MODEL_PHYS_H

#include <stddef.h>
#include <stdint.h>

struct agate_sim;
struct agate_sim_config;

#define GPU_PAGE_SIZE	4096u

/* Every access stays in one 4 KiB page and in one region. */
struct phys_region {
	uint64_t first;		/* physical address of its first byte ... */
	uint64_t last;		/* ... and of its last */
	unsigned int line_cycles;	/* GPU cycles that a job pays for each line of an access */

	/* Its owner's; at is an offset in the region.  -1: no memory there, or not now. */
	int (*read)(struct agate_sim *sim, uint64_t at, void *buf, size_t len);
	int (*write)(struct agate_sim *sim, uint64_t at, const void *buf, size_t len);
	/* The address of these bytes in the host's memory, or NULL: it takes read and write. */
	void *(*map)(struct agate_sim *sim, uint64_t at, size_t len);
};

#define PHYS_MAX_REGIONS	4

struct phys {
	struct phys_region region[PHYS_MAX_REGIONS];
	unsigned int regions;
};

/* Guest RAM; the owner of any other memory adds it. */
void phys_init(struct agate_sim *sim, const struct agate_sim_config *config);
void phys_add(struct agate_sim *sim, const struct phys_region *region);

/* Return 0, or -1 for a bus fault: no memory at that address. */
int phys_read(struct agate_sim *sim, uint64_t pa, void *buf, size_t len);
int phys_write(struct agate_sim *sim, uint64_t pa, const void *buf, size_t len);

/* Read a page table's entry in one load: the CPU may be writing it at the same time. */
int phys_read_entry(struct agate_sim *sim, uint64_t pa, uint64_t *entry);

/* The same for a store: whoever reads the entry sees all of it, and all that was stored before. */
int phys_write_entry(struct agate_sim *sim, uint64_t pa, uint64_t entry);

/* Copy from one place to another, each within one page, as memmove() does. */
enum phys_copied {
	PHYS_COPIED,
	PHYS_NO_SRC,	/* no memory at the source */
	PHYS_NO_DST,
};

enum phys_copied phys_copy(struct agate_sim *sim, uint64_t dst, uint64_t src, size_t len);

/* Fill with a value, within one page; both ends are multiples of 8.  Returns as phys_write(). */
int phys_fill(struct agate_sim *sim, uint64_t pa, uint64_t value, size_t len);

/* GPU cycles that a job pays for the memory that its access reaches. */
unsigned int phys_cycles(const struct agate_sim *sim, uint64_t pa, size_t len);

#endif /* AGATE_MODEL_PHYS_H */
