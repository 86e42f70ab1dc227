// SPDX-License-Identifier: MIT
/*
 * The MMU's registers and commands (hardware.md, section 4).
 *
 * A command takes the registers as they are when it is written, keeps the
 * address space active for a while, and takes effect when it completes.
 * Another command written before that is dropped; NOP is none.
 */
#include "model.h"

#define AS_REG(reg)	((reg) - MMU_AS_BASE)

/* LOCKADDR: the region is 2^(width + 1) bytes, naturally aligned. */
#define LOCK_WIDTH(lockaddr)	((unsigned int)((lockaddr) & 0x3f))
#define LOCK_MIN_WIDTH		(AS_LOCK_MIN_ORDER - 1)

int mmu_init(struct agate_sim *sim, unsigned int tlb_entries, uint32_t seed)
{
	unsigned int n;

	irq_init(&sim->irq[AGATE_VECTOR_MMU], AGATE_VECTOR_MMU,
		 ((1u << MMU_NUM_AS) - 1) * 0x10001u, 0);
	for (n = 0; n < MMU_NUM_AS; n++)
		if (tlb_init(&sim->mmu.as[n].tlb, tlb_entries, seed + n))
			return -1;
	return 0;
}

void mmu_fini(struct agate_sim *sim)
{
	unsigned int n;

	for (n = 0; n < MMU_NUM_AS; n++)
		tlb_fini(&sim->mmu.as[n].tlb);
}

void mmu_reset(struct agate_sim *sim)
{
	unsigned int n;

	for (n = 0; n < MMU_NUM_AS; n++) {
		struct address_space *as = &sim->mmu.as[n];

		tlb_drop(&as->tlb, 0, UINT64_MAX);
		*as = (struct address_space){ .tlb = as->tlb };
	}
}

bool mmu_is_set_up(const struct agate_sim *sim, unsigned int n)
{
	const struct address_space *as = &sim->mmu.as[n];

	return as->mode != MMU_UNMAPPED || as->command == AS_COMMAND_UPDATE;
}

/* ---- Commands ---------------------------------------------------------- */

static void as_update(struct address_space *as)
{
	uint64_t transtab = as->command_transtab;

	as->root = transtab & LPAE_ADDR;
	as->mode = MMU_UNMAPPED;
	if (AS_TRANSCFG_MODE(as->command_transcfg) == AS_TRANSCFG_MODE_LEGACY) {
		if (AS_TRANSTAB_LPAE_ADRMODE(transtab) == AS_TRANSTAB_LPAE_ADRMODE_TABLE)
			as->mode = MMU_TABLE_LPAE;
		if (AS_TRANSTAB_LPAE_ADRMODE(transtab) == AS_TRANSTAB_LPAE_ADRMODE_IDENTITY)
			as->mode = MMU_IDENTITY;
	}
	tlb_drop(&as->tlb, 0, UINT64_MAX);
}

static void as_lock(struct address_space *as)
{
	unsigned int width = LOCK_WIDTH(as->command_lockaddr);
	uint64_t within;

	if (width < LOCK_MIN_WIDTH)
		width = LOCK_MIN_WIDTH;
	within = width == 63 ? UINT64_MAX : (2ull << width) - 1;
	as->locked = true;
	as->lock_first = as->command_lockaddr & ~within;
	as->lock_last = as->lock_first | within;
}

static void as_flush(struct agate_sim *sim, struct address_space *as)
{
	sim->gpu.flush_id++;
	if (as->locked)
		tlb_drop(&as->tlb, as->lock_first, as->lock_last);
	as->locked = false;
}

static void as_complete(struct agate_sim *sim, unsigned int n)
{
	struct address_space *as = &sim->mmu.as[n];
	uint32_t command = as->command;

	as->command = AS_COMMAND_NOP;
	switch (command) {
	case AS_COMMAND_LOCK:
		as_lock(as);
		return;
	case AS_COMMAND_UPDATE:
		as_update(as);
		break;
	case AS_COMMAND_UNLOCK:
		as->locked = false;
		break;
	default:
		as_flush(sim, as);
		break;
	}
	mmu_retry(sim, n);
}

static void as_judge(struct agate_sim *sim, const struct address_space *as, uint32_t command)
{
	if (command == AS_COMMAND_LOCK && LOCK_WIDTH(as->lockaddr) < LOCK_MIN_WIDTH)
		sim_hint(sim, 4, "LOCKADDR names less than 32 KiB: 32 KiB are locked");
	if (command >= AS_COMMAND_FLUSH_PT && !as->locked)
		sim_hint(sim, 4, "a flush without a locked region drops nothing");
	if (command == AS_COMMAND_UPDATE &&
	    AS_TRANSCFG_MODE(as->transcfg) != AS_TRANSCFG_MODE_LEGACY)
		sim_hint(sim, 4, "TRANSCFG asks for a table format that this GPU does not have");
}

static void as_command(struct agate_sim *sim, unsigned int n, uint32_t command)
{
	struct address_space *as = &sim->mmu.as[n];

	if (command == AS_COMMAND_NOP)
		return;
	if (as->command != AS_COMMAND_NOP) {
		sim_count(sim, AGATE_CNT_AS_CMD_DROPPED, 1);
		sim_hint(sim, 4, "a command written while AS_ACTIVE was set is dropped");
		return;
	}
	if (command > AS_COMMAND_FLUSH_MEM) {
		sim_hint(sim, 4, "unknown AS_COMMAND");
		return;
	}
	as_judge(sim, as, command);
	as->command = command;
	as->command_due = sim_due(sim, AGATE_SIM_LATENCY_AS);
	as->command_watched = false;
	as->command_transtab = as->transtab;
	as->command_transcfg = as->transcfg;
	as->command_lockaddr = as->lockaddr;
	sim_event(sim, AGATE_EV_AS, n, command, as->lockaddr, NULL);
}

void mmu_run_due(struct agate_sim *sim)
{
	unsigned int n;

	for (n = 0; n < MMU_NUM_AS; n++) {
		const struct address_space *as = &sim->mmu.as[n];

		if (as->command != AS_COMMAND_NOP && as->command_due <= sim->time)
			as_complete(sim, n);
	}
}

/* A job waits for the command's end: everything but LOCK lets accesses on. */
static bool as_awaited(const struct agate_sim *sim, unsigned int n)
{
	unsigned int i;

	if (sim->mmu.as[n].command == AS_COMMAND_LOCK)
		return false;
	for (i = 0; i < AGATE_MAX_SLOTS; i++) {
		const struct slot *slot = &sim->slot[i];

		if (slot->active && slot->stall.waiting && slot_as(slot) == n)
			return true;
	}
	return false;
}

uint64_t mmu_jump(const struct agate_sim *sim)
{
	uint64_t due = TIME_NEVER;
	unsigned int n;

	for (n = 0; n < MMU_NUM_AS; n++) {
		const struct address_space *as = &sim->mmu.as[n];

		if (as->command == AS_COMMAND_NOP || as->command_due >= due)
			continue;
		if (as->command_watched || as_awaited(sim, n))
			due = as->command_due;
	}
	return due;
}

/* ---- Registers --------------------------------------------------------- */

static uint64_t *as_writable(struct address_space *as, uint32_t reg)
{
	switch (reg & ~4u) {
	case AS_REG(AS_TRANSTAB_LO(0)):
		return &as->transtab;
	case AS_REG(AS_MEMATTR_LO(0)):
		return &as->memattr;
	case AS_REG(AS_LOCKADDR_LO(0)):
		return &as->lockaddr;
	case AS_REG(AS_TRANSCFG_LO(0)):
		return &as->transcfg;
	}
	return NULL;
}

static bool as_read(struct address_space *as, uint32_t reg, uint32_t *value)
{
	const uint64_t *wide = as_writable(as, reg);

	if (wide) {
		*value = reg_half(*wide, reg & 4);
		return true;
	}
	switch (reg) {
	case AS_REG(AS_FAULTSTATUS(0)):
		*value = as->fault_status;
		return true;
	case AS_REG(AS_FAULTADDRESS_LO(0)):
	case AS_REG(AS_FAULTADDRESS_HI(0)):
		*value = reg_half(as->fault_address, reg & 4);
		return true;
	case AS_REG(AS_STATUS(0)):
		as->command_watched = true;
		*value = as->command != AS_COMMAND_NOP ? AS_STATUS_AS_ACTIVE : 0;
		return true;
	case AS_REG(AS_COMMAND(0)):
	case AS_REG(AS_FAULTEXTRA_LO(0)):
	case AS_REG(AS_FAULTEXTRA_HI(0)):
		*value = 0;
		return true;
	}
	return false;
}

static bool as_write(struct agate_sim *sim, unsigned int n, uint32_t reg, uint32_t value)
{
	struct address_space *as = &sim->mmu.as[n];
	uint64_t *wide = as_writable(as, reg);
	uint32_t ignored;

	if (wide) {
		reg_set_half(wide, reg & 4, value);
		return true;
	}
	if (reg == AS_REG(AS_COMMAND(0))) {
		as_command(sim, n, value);
		return true;
	}
	if (!as_read(as, reg, &ignored))
		return false;
	sim_hint(sim, 4, "a write to a read-only register is ignored");
	return true;
}

bool mmu_read(struct agate_sim *sim, uint32_t offset, uint32_t *value)
{
	unsigned int n = (offset - MMU_AS_BASE) / MMU_AS_STRIDE;

	if (offset <= MMU_INT_STAT) {
		*value = irq_read(&sim->irq[AGATE_VECTOR_MMU], (offset - MMU_INT_RAWSTAT) / 4);
		return true;
	}
	if (offset < MMU_AS_BASE || n >= MMU_NUM_AS)
		return false;
	return as_read(&sim->mmu.as[n], (offset - MMU_AS_BASE) % MMU_AS_STRIDE, value);
}

bool mmu_write(struct agate_sim *sim, uint32_t offset, uint32_t value)
{
	unsigned int n = (offset - MMU_AS_BASE) / MMU_AS_STRIDE;

	if (offset <= MMU_INT_STAT) {
		irq_write(sim, &sim->irq[AGATE_VECTOR_MMU], (offset - MMU_INT_RAWSTAT) / 4, value);
		return true;
	}
	if (offset < MMU_AS_BASE || n >= MMU_NUM_AS)
		return false;
	return as_write(sim, n, (offset - MMU_AS_BASE) % MMU_AS_STRIDE, value);
}
