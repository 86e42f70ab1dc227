// SPDX-License-Identifier: MIT
/*
 * Bring-up and fault service by register access alone, in the order of
 * hardware.md: power, UPDATE, start; then poll RAWSTAT until a slot is done.
 */
#include "driver.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define ALL_CORES	0xfu
/* Each step is bounded; a job that needs more steps hangs. */
#define MAX_STEPS	100000u

static int ram_read(void *ctx, uint64_t pa, void *buf, size_t len)
{
	const struct driver *drv = ctx;

	if (pa > GPU_RAM_SIZE || len > GPU_RAM_SIZE - pa)
		return -1;
	memcpy(buf, drv->ram + pa, len);
	return 0;
}

static int ram_write(void *ctx, uint64_t pa, const void *buf, size_t len)
{
	struct driver *drv = ctx;

	if (pa > GPU_RAM_SIZE || len > GPU_RAM_SIZE - pa)
		return -1;
	memcpy(drv->ram + pa, buf, len);
	return 0;
}

static void no_message(void *ctx, unsigned int vector)
{
	(void)ctx;
	(void)vector;
}

/* Page n of the GPU's addresses is page 37 n (mod 512) of RAM, after the tables. */
static uint32_t ram_offset(unsigned int page)
{
	return (GPU_TABLES + page * 37 % GPU_PAGES) * 4096;
}

static void set_entry(struct driver *drv, unsigned int table, unsigned int index, uint64_t pte)
{
	memcpy(drv->ram + table * 4096 + index * 8, &pte, sizeof(pte));
}

static void map_page(struct driver *drv, unsigned int page)
{
	set_entry(drv, 3, page, ram_offset(page) | LPAE_TYPE_LEAF | LPAE_RD | LPAE_WR);
}

/* GPU_VA is 1 GiB: entries 0, 1, 0 of levels 0 to 2. */
static void build_tables(struct driver *drv)
{
	set_entry(drv, 0, 0, 1 * 4096 | LPAE_TYPE_TABLE);
	set_entry(drv, 1, 1, 2 * 4096 | LPAE_TYPE_TABLE);
	set_entry(drv, 2, 0, 3 * 4096 | LPAE_TYPE_TABLE);
	for (unsigned int page = 0; page < GPU_PAGES; page++)
		map_page(drv, page);
}

static void power_up(struct driver *drv, uint32_t pwron, uint32_t ready, uint32_t cores)
{
	unsigned int steps = MAX_STEPS;

	agate_sim_write32(drv->sim, pwron, cores);
	while (agate_sim_read32(drv->sim, ready) != cores && steps--)
		agate_sim_step(drv->sim, 100);
	assert(agate_sim_read32(drv->sim, ready) == cores);
}

static void as_command(struct driver *drv, uint32_t command)
{
	unsigned int steps = MAX_STEPS;

	agate_sim_write32(drv->sim, AS_COMMAND(0), command);
	while ((agate_sim_read32(drv->sim, AS_STATUS(0)) & AS_STATUS_AS_ACTIVE) && steps--)
		agate_sim_step(drv->sim, 100);
}

/* Flush 32 KiB around va out of the TLB, which also retries stalled accesses. */
static void flush_region(struct driver *drv, uint64_t va)
{
	const uint64_t region = va & ~((1ull << AS_LOCK_MIN_ORDER) - 1);

	agate_sim_write32(drv->sim, AS_LOCKADDR_LO(0),
			  (uint32_t)region | (AS_LOCK_MIN_ORDER - 1));
	agate_sim_write32(drv->sim, AS_LOCKADDR_HI(0), (uint32_t)(region >> 32));
	as_command(drv, AS_COMMAND_LOCK);
	as_command(drv, AS_COMMAND_FLUSH_PT);
}

struct driver *driver_new(void)
{
	static const struct agate_sim_host_ops ops = {
		.mem_read = ram_read,
		.mem_write = ram_write,
		.raise = no_message,
	};
	struct driver *drv = calloc(1, sizeof(*drv));
	struct agate_sim_config config = { .gpu = AGATE_SIM_MIDGARD, .seed = 1 };

	assert(drv);
	config.vram = drv->vram;
	config.vram_size = sizeof(drv->vram);
	drv->sim = agate_sim_create(&config, &ops, drv);
	assert(drv->sim);

	agate_sim_write32(drv->sim, GPU_COHERENCY_ENABLE, GPU_COHERENCY_ACE);
	power_up(drv, GPU_L2_PWRON_LO, GPU_L2_READY_LO, 1);
	power_up(drv, GPU_SHADER_PWRON_LO, GPU_SHADER_READY_LO, ALL_CORES);
	power_up(drv, GPU_TILER_PWRON_LO, GPU_TILER_READY_LO, 1);
	build_tables(drv);
	agate_sim_write32(drv->sim, AS_TRANSTAB_LO(0), AS_TRANSTAB_LPAE_ADRMODE_TABLE |
			  AS_TRANSTAB_LPAE_READ_INNER);
	as_command(drv, AS_COMMAND_UPDATE);
	return drv;
}

void driver_free(struct driver *drv)
{
	agate_sim_destroy(drv->sim);
	free(drv);
}

void *driver_at(struct driver *drv, uint64_t va)
{
	assert(va >= GPU_VA && va < GPU_VA + GPU_PAGES * 4096ull);
	return drv->ram + ram_offset((unsigned int)((va - GPU_VA) / 4096)) + va % 4096;
}

void driver_put(struct driver *drv, uint64_t va, const void *from, uint32_t len)
{
	const uint8_t *bytes = from;

	while (len--)
		*(uint8_t *)driver_at(drv, va++) = *bytes++;
}

void driver_get(struct driver *drv, uint64_t va, void *to, uint32_t len)
{
	uint8_t *bytes = to;

	while (len--)
		*bytes++ = *(uint8_t *)driver_at(drv, va++);
}

void driver_unmap(struct driver *drv, unsigned int from, unsigned int to)
{
	for (unsigned int page = from; page < to; page++) {
		set_entry(drv, 3, page, 0);
		flush_region(drv, GPU_VA + page * 4096ull);
	}
	drv->served_from = from;
	drv->served_to = to;
}

static bool serve_fault(struct driver *drv)
{
	const uint64_t va = agate_sim_read32(drv->sim, AS_FAULTADDRESS_LO(0)) |
			    (uint64_t)agate_sim_read32(drv->sim, AS_FAULTADDRESS_HI(0)) << 32;
	const uint64_t page = (va - GPU_VA) / 4096;

	if (va < GPU_VA || page < drv->served_from || page >= drv->served_to)
		return false;
	drv->fault_va[drv->faults++] = va;
	agate_sim_write32(drv->sim, MMU_INT_CLEAR, MMU_INT_PAGE_FAULT(0));
	map_page(drv, (unsigned int)page);
	flush_region(drv, va);
	return true;
}

uint32_t driver_run(struct driver *drv, unsigned int slot, uint64_t va)
{
	const uint32_t ends = JOB_INT_DONE(slot) | JOB_INT_FAIL(slot);

	agate_sim_write32(drv->sim, JS_HEAD_NEXT_LO(slot), (uint32_t)va);
	agate_sim_write32(drv->sim, JS_HEAD_NEXT_HI(slot), (uint32_t)(va >> 32));
	agate_sim_write32(drv->sim, JS_AFFINITY_NEXT_LO(slot), ALL_CORES);
	agate_sim_write32(drv->sim, JS_CONFIG_NEXT(slot), JS_CONFIG_AS(0));
	agate_sim_write32(drv->sim, JS_COMMAND_NEXT(slot), JS_COMMAND_START);
	for (unsigned int steps = MAX_STEPS; steps; steps--) {
		agate_sim_step(drv->sim, 100);
		if (agate_sim_read32(drv->sim, JOB_INT_RAWSTAT) & ends)
			break;
		if ((agate_sim_read32(drv->sim, MMU_INT_RAWSTAT) & MMU_INT_PAGE_FAULT(0)) &&
		    !serve_fault(drv))
			return 0;
	}
	agate_sim_write32(drv->sim, JOB_INT_CLEAR, ends);
	return agate_sim_read32(drv->sim, JS_STATUS(slot));
}
