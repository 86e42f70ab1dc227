// SPDX-License-Identifier: MIT
/*
 * The MMU's registers and commands (hardware.md, section 4).
 *
 * A command captures the registers when it is written, keeps the address space
 * active for a while, and takes effect when it completes.  The MMU drops another
 * command that is written before that; NOP does not count as a command.
 */
#include <assert.h>

#include "model.h"

#define AS_REG(reg)	((reg) - MMU_AS_BASE)

/* LOCKADDR: the region is 2^(width + 1) bytes, naturally aligned. */
#define LOCK_WIDTH(lockaddr)	((unsigned int)((lockaddr) & 0x3f))
#define LOCK_MIN_WIDTH		(AS_LOCK_MIN_ORDER - 1)

/* TRANSCFG's INA_BITS: a virtual address has this many bits, minus the field. */
#define INA_NONE		55u

#define PTW_NC			AS_TRANSCFG_PTW_MEMATTR(AS_TRANSCFG_PTW_MEMATTR_NC)

static int mmu_init(struct agate_sim *sim, const struct agate_sim_config *config)
{
	unsigned int n;

	irq_init(&sim->irq[AGATE_VECTOR_MMU], AGATE_VECTOR_MMU,
		 ((1u << MMU_NUM_AS) - 1) * 0x10001u, 0);
	for (n = 0; n < MMU_NUM_AS; n++)
		if (tlb_init(&sim->mmu.as[n].tlb, config->tlb_entries, config->seed + n))
			return -1;
	return 0;
}

static void mmu_fini(struct agate_sim *sim)
{
	unsigned int n;

	for (n = 0; n < MMU_NUM_AS; n++)
		tlb_fini(&sim->mmu.as[n].tlb);
}

static void mmu_reset(struct agate_sim *sim)
{
	unsigned int n;

	irq_reset(&sim->irq[AGATE_VECTOR_MMU]);
	sim->mmu.commands = 0;
	for (n = 0; n < MMU_NUM_AS; n++) {
		struct address_space *as = &sim->mmu.as[n];

		tlb_drop(&as->tlb, 0, UINT64_MAX);
		*as = (struct address_space){ .tlb = as->tlb };
	}
}

void mmu_attach(struct agate_sim *sim, struct mmu_client *client)
{
	assert(sim->mmu.clients < MMU_MAX_CLIENTS);
	sim->mmu.client[sim->mmu.clients++] = client;
}

static bool setup_equal(const struct as_setup *a, const struct as_setup *b)
{
	return a->transtab == b->transtab && a->memattr == b->memattr &&
	       a->transcfg == b->transcfg;
}

void mmu_judge_start(struct agate_sim *sim, unsigned int n)
{
	const struct address_space *as = &sim->mmu.as[n];
	bool updating = as->command == AS_COMMAND_UPDATE;

	if (as->mode == MMU_UNMAPPED && !updating && as->updated)
		sim_hint(sim, 4, "a job was started in an address space that UPDATE has unmapped");
	else if (as->mode == MMU_UNMAPPED && !updating)
		sim_hint(sim, 4, "a job was started in an address space that UPDATE never set up");
	else if (!setup_equal(&as->written, updating ? &as->command_setup : &as->latched))
		sim_hint(sim, 4, "a job was started after TRANSTAB, MEMATTR or TRANSCFG, but no UPDATE");
}

/* ---- Commands ---------------------------------------------------------- */

/* Every GPU has the LPAE format; only some have others to choose from. */
static bool as_has_format(const struct agate_sim *sim, uint64_t transcfg)
{
	switch (AS_TRANSCFG_MODE(transcfg)) {
	case AS_TRANSCFG_MODE_LEGACY:
		return true;
	case AS_TRANSCFG_MODE_UNMAPPED:
	case AS_TRANSCFG_MODE_IDENTITY:
	case AS_TRANSCFG_MODE_AARCH64_4K:
		return sim->identity->table_formats;
	}
	return false;
}

/* In LPAE the mode is in TRANSTAB's low bits. */
static enum mmu_mode lpae_mode(uint64_t transtab)
{
	switch (AS_TRANSTAB_LPAE_ADRMODE(transtab)) {
	case AS_TRANSTAB_LPAE_ADRMODE_TABLE:
		return MMU_TABLE_LPAE;
	case AS_TRANSTAB_LPAE_ADRMODE_IDENTITY:
		return MMU_IDENTITY;
	}
	return MMU_UNMAPPED;
}

static enum mmu_mode as_mode(const struct agate_sim *sim, const struct as_setup *setup)
{
	if (!as_has_format(sim, setup->transcfg))
		return MMU_UNMAPPED;
	switch (AS_TRANSCFG_MODE(setup->transcfg)) {
	case AS_TRANSCFG_MODE_LEGACY:
		return lpae_mode(setup->transtab);
	case AS_TRANSCFG_MODE_IDENTITY:
		return MMU_IDENTITY;
	case AS_TRANSCFG_MODE_AARCH64_4K:
		return MMU_TABLE_AARCH64;
	}
	return MMU_UNMAPPED;
}

static void as_update(struct agate_sim *sim, unsigned int n)
{
	struct address_space *as = &sim->mmu.as[n];
	const struct as_setup *setup = &as->command_setup;
	unsigned int ina = AS_TRANSCFG_INA_BITS(setup->transcfg);

	as->latched = *setup;
	as->updated = true;
	as->mode = as_mode(sim, setup);
	as->root = setup->transtab & LPAE_ADDR;
	as->va_bits = AGATE_VA_BITS;
	if (as->mode == MMU_TABLE_AARCH64 && INA_NONE - ina < AGATE_VA_BITS)
		as->va_bits = INA_NONE - ina;
	as->walks_uncached = as->mode == MMU_TABLE_AARCH64 &&
			     AS_TRANSCFG_PTW_MEMATTR(setup->transcfg) == PTW_NC;
	tlb_drop(&as->tlb, 0, UINT64_MAX);
	/* The fault belongs to the old table; a retry that fails again raises it again. */
	irq_settle(&sim->irq[AGATE_VECTOR_MMU], MMU_INT_PAGE_FAULT(n) | MMU_INT_BUS_ERROR(n));
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
	l2_clean(sim, true);
	if (as->locked)
		tlb_drop(&as->tlb, as->lock_first, as->lock_last);
	as->locked = false;
}

/* Report the setting now in force; only UPDATE reports more than its name. */
static void as_tell(struct agate_sim *sim, unsigned int n, uint32_t command)
{
	static const char *const formats[] = {
		[MMU_UNMAPPED] = "unmapped", [MMU_IDENTITY] = "identity",
		[MMU_TABLE_LPAE] = "lpae", [MMU_TABLE_AARCH64] = "aarch64",
	};
	const struct address_space *as = &sim->mmu.as[n];
	bool table = as->mode == MMU_TABLE_LPAE || as->mode == MMU_TABLE_AARCH64;

	if (command == AS_COMMAND_UPDATE)
		sim_event(sim, AGATE_EV_AS_DONE, n, command, table ? as->root : 0,
			  formats[as->mode]);
	else
		sim_event(sim, AGATE_EV_AS_DONE, n, command, 0, NULL);
}

static void as_complete(struct agate_sim *sim, unsigned int n)
{
	struct address_space *as = &sim->mmu.as[n];
	uint32_t command = as->command;

	as->command = AS_COMMAND_NOP;
	sim->mmu.commands--;
	switch (command) {
	case AS_COMMAND_LOCK:
		as_lock(as);
		break;
	case AS_COMMAND_UPDATE:
		as_update(sim, n);
		break;
	case AS_COMMAND_UNLOCK:
		as->locked = false;
		break;
	default:
		as_flush(sim, as);
		break;
	}
	as_tell(sim, n, command);
	if (command != AS_COMMAND_LOCK)
		mmu_retry(sim, n);
}

static bool mode_has_table(enum mmu_mode mode)
{
	return mode == MMU_TABLE_LPAE || mode == MMU_TABLE_AARCH64;
}

static bool as_has_job(const struct agate_sim *sim, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < AGATE_MAX_SLOTS; i++)
		if (sim->slot[i].active && sim->slot[i].client.as == n)
			return true;
	return false;
}

/* This concerns no chain that starts later, even before UPDATE is complete. */
static void as_judge_update(struct agate_sim *sim, unsigned int n)
{
	const struct address_space *as = &sim->mmu.as[n];

	if (!as_has_format(sim, as->written.transcfg))
		sim_hint(sim, 4, "TRANSCFG asks for a table format that this GPU does not have");
	else if (mode_has_table(as->mode) && mode_has_table(as_mode(sim, &as->written)) &&
		 as->root != (as->written.transtab & LPAE_ADDR) && as_has_job(sim, n))
		sim_hint(sim, 4, "UPDATE put another table under a running job");
}

static void as_judge(struct agate_sim *sim, unsigned int n, uint32_t command)
{
	const struct address_space *as = &sim->mmu.as[n];

	if (command == AS_COMMAND_LOCK && LOCK_WIDTH(as->lockaddr) < LOCK_MIN_WIDTH)
		sim_hint(sim, 4, "LOCKADDR names less than 32 KiB: 32 KiB are locked");
	if (command >= AS_COMMAND_FLUSH_PT && !as->locked)
		sim_hint(sim, 4, "a flush without a locked region drops nothing");
	if (command == AS_COMMAND_UPDATE)
		as_judge_update(sim, n);
}

static uint64_t as_due(struct agate_sim *sim)
{
	uint32_t unused;

	if (inject_strikes(sim, AGATE_SIM_INJECT_STICK_AS, 0, &unused))
		return TIME_NEVER;
	return sim_due(sim, AGATE_SIM_LATENCY_AS);
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
	if (!power_l2_ready(&sim->power))
		sim_hint(sim, 4, "an AS command while the L2 is off");
	as_judge(sim, n, command);
	as->command = command;
	sim->mmu.commands++;
	as->command_due = as_due(sim);
	as->command_watched = false;
	as->command_setup = as->written;
	as->command_lockaddr = as->lockaddr;
	sim_event(sim, AGATE_EV_AS, n, command, as->lockaddr, NULL);
}

static void mmu_run_due(struct agate_sim *sim)
{
	unsigned int n;

	for (n = 0; sim->mmu.commands && n < MMU_NUM_AS; n++) {
		const struct address_space *as = &sim->mmu.as[n];

		if (as->command != AS_COMMAND_NOP && as->command_due <= sim->time)
			as_complete(sim, n);
	}
}

/* Does a client wait for the command?  All commands except LOCK let accesses continue. */
static bool as_awaited(const struct agate_sim *sim, unsigned int n)
{
	unsigned int i;

	if (sim->mmu.as[n].command == AS_COMMAND_LOCK)
		return false;
	for (i = 0; i < sim->mmu.clients; i++) {
		const struct mmu_client *client = sim->mmu.client[i];

		if (client->stall.waiting && client->as == n)
			return true;
	}
	return false;
}

static uint64_t mmu_next_due(const struct agate_sim *sim, bool all)
{
	uint64_t due = TIME_NEVER;
	unsigned int n;

	for (n = 0; sim->mmu.commands && n < MMU_NUM_AS; n++) {
		const struct address_space *as = &sim->mmu.as[n];

		if (as->command == AS_COMMAND_NOP || as->command_due >= due)
			continue;
		if (all || as->command_watched || as_awaited(sim, n))
			due = as->command_due;
	}
	return due;
}

/* ---- Registers --------------------------------------------------------- */

static uint64_t *as_writable(struct address_space *as, uint32_t reg)
{
	switch (reg & ~4u) {
	case AS_REG(AS_TRANSTAB_LO(0)):
		return &as->written.transtab;
	case AS_REG(AS_MEMATTR_LO(0)):
		return &as->written.memattr;
	case AS_REG(AS_LOCKADDR_LO(0)):
		return &as->lockaddr;
	case AS_REG(AS_TRANSCFG_LO(0)):
		return &as->written.transcfg;
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

	if (wide) {
		reg_set_half(wide, reg & 4, value);
		return true;
	}
	if (reg == AS_REG(AS_COMMAND(0))) {
		as_command(sim, n, value);
		return true;
	}
	return false;
}

static bool mmu_read(struct agate_sim *sim, uint32_t offset, uint32_t *value)
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

static void mmu_was_read(struct agate_sim *sim, uint32_t offset)
{
	uint32_t at = offset - MMU_AS_BASE;

	if (offset <= MMU_INT_STAT)
		irq_was_read(&sim->irq[AGATE_VECTOR_MMU], (offset - MMU_INT_RAWSTAT) / 4);
	else if (at % MMU_AS_STRIDE == AS_REG(AS_STATUS(0)))
		sim->mmu.as[at / MMU_AS_STRIDE].command_watched = true;
}

static bool mmu_write(struct agate_sim *sim, uint32_t offset, uint32_t value)
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

const struct block mmu_block = {
	.init = mmu_init,
	.fini = mmu_fini,
	.reset = mmu_reset,
	.first = MMU_INT_RAWSTAT,
	.last = MMU_INT_RAWSTAT + 0xfff,
	.read = mmu_read,
	.was_read = mmu_was_read,
	.write = mmu_write,
	.section = 4,
	.run_due = mmu_run_due,
	.next_due = mmu_next_due,
};
