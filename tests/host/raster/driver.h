/* SPDX-License-Identifier: MIT */
/*
 * A minimal driver for the whole model: memory, page tables made by hand, power,
 * one address space, jobs, and page faults served by mapping.
 */
#ifndef DRIVER_H
#define DRIVER_H

#include <stdbool.h>
#include <stdint.h>

#include "agate_job.h"
#include "agate_regs.h"
#include "agate_sim.h"

/* The GPU sees pages of RAM at these addresses, scattered in physical memory. */
#define GPU_VA		0x40000000ull
#define GPU_PAGES	512u
#define GPU_TABLES	4u	/* pages: one table a level */
#define GPU_RAM_SIZE	((GPU_PAGES + GPU_TABLES) * 4096)

struct driver {
	struct agate_sim *sim;
	uint8_t ram[GPU_RAM_SIZE];
	uint8_t vram[4096];
	unsigned int faults;		/* served */
	uint64_t fault_va[GPU_PAGES];
	unsigned int served_from, served_to;	/* pages that may fault in */
};

/* A GPU that is powered, with all pages mapped in address space 0. */
struct driver *driver_new(void);
void driver_free(struct driver *drv);

/* The bytes at va, which stay in one page. */
void *driver_at(struct driver *drv, uint64_t va);
/* Copy, page by page. */
void driver_put(struct driver *drv, uint64_t va, const void *from, uint32_t len);
void driver_get(struct driver *drv, uint64_t va, void *to, uint32_t len);

/* Remove the pages [from, to) from the table; they fault in when touched. */
void driver_unmap(struct driver *drv, unsigned int from, unsigned int to);

/*
 * Run the chain at va on a slot, serving faults.  Returns JS_STATUS at its
 * end, or 0 when a fault cannot be served.
 */
uint32_t driver_run(struct driver *drv, unsigned int slot, uint64_t va);

#endif /* DRIVER_H */
