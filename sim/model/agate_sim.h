/* SPDX-License-Identifier: MIT */
/*
 * The Agate GPU as a library: registers in, interrupts and memory accesses out.
 *
 * The model has no threads, no globals and no clock of its own: the owner of a
 * struct agate_sim drives it from one thread, with register accesses and with
 * agate_sim_step().  The model never calls back into itself, trusts nothing from
 * the guest, and allocates nothing after agate_sim_create().
 */
#ifndef AGATE_SIM_H
#define AGATE_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agate_regs.h"

struct agate_mover_cmd;
struct agate_sim;

enum agate_sim_gpu {
	AGATE_SIM_MIDGARD,	/* LPAE page tables */
	AGATE_SIM_BIFROST,	/* AArch64 page tables as well, through TRANSCFG */
};

/* The protocols that GPU_COHERENCY_FEATURES offers besides none at all. */
enum agate_sim_coherency {
	AGATE_SIM_COHERENCY_ACE,	/* ACE and ACE-Lite */
	AGATE_SIM_COHERENCY_ACE_LITE,	/* only ACE-Lite */
	AGATE_SIM_COHERENCY_NONE,
};

enum agate_sim_event_kind {
	AGATE_EV_REG_WRITE,	/* a: offset, b: value */
	AGATE_EV_REG_READ,	/* a: offset, b: value */
	AGATE_EV_IRQ,		/* a: vector, b: RAWSTAT & MASK */
	AGATE_EV_POWER,		/* a: domain, b: cores ready; text: on, off, ... */
	AGATE_EV_RESET,		/* a: 1 soft, 2 hard */
	AGATE_EV_AS,		/* a: address space, b: command, c: region */
	AGATE_EV_AS_DONE,	/* a: address space, b: command; UPDATE: c: table, text: format */
	AGATE_EV_WALK,		/* a: address space, b: va, c: pte; and walk */
	AGATE_EV_FAULT,		/* a: address space, b: va, c: FAULTSTATUS */
	AGATE_EV_FAULT_AGAIN,	/* a: address space, b: va: a retry failed as before */
	AGATE_EV_FAULT_RESUMED,	/* a: address space, b: va */
	AGATE_EV_CHAIN_START,	/* a: slot, b: head, c: CONFIG */
	AGATE_EV_CHAIN_END,	/* a: slot, b: tail, c: exception; text: reset, or NULL */
	AGATE_EV_CHAIN_CYCLIC,	/* a: slot, b: a job seen before; no more job events follow */
	AGATE_EV_JOB_START,	/* a: slot, b: job va, c: type */
	AGATE_EV_JOB_END,	/* a: slot, b: job va, c: exception; text: the same */
	AGATE_EV_FLUSH,		/* a: GPU_CMD */
	AGATE_EV_FLUSH_DONE,	/* a: GPU_CMD */
	AGATE_EV_UNLISTED,	/* a: slot, b: va, c: job va; text: READ or WRITE; a hint follows */
	AGATE_EV_TRAFFIC,	/* a: slot, b: bytes it has read so far, c: bytes written */
	AGATE_EV_CLOCK,		/* a: MHz, b: mV, c: POWER_IN */
	AGATE_EV_INJECTED,	/* a: enum agate_sim_injection_kind, b: arg */
	AGATE_EV_CARD_POWER,	/* a: on, b: losses so far; text: on, off, cut, back */
	AGATE_EV_GGTT_COMMIT,	/* a: first entry, b: how many, c: what they become */
	AGATE_EV_GGTT_INVALIDATE,
	AGATE_EV_FW,		/* a: FW_STATUS */
	AGATE_EV_MOVER_BEGIN,	/* a: RING_HEAD, b: op; and mover */
	/* The same, c: reason, 0: none; text: reset, stopped, withdrawn, lost, or NULL */
	AGATE_EV_MOVER_END,
	AGATE_EV_MOVER_FAULT,	/* a: RING_HEAD, b: address, c: reason */
	AGATE_EV_FLIP,		/* a: SCAN_BASE, b: SCAN_SIZE, c: SCAN_FORMAT */
	AGATE_EV_FLIP_DONE,	/* a: frames shown so far, b: SCAN_BASE, c: reason, 0: shown */
	/* a: section of hardware.md * 100, b: register + 1 or 0 for none, text: the rule */
	AGATE_EV_HINT,
};

/* The result of a page-table walk. */
struct agate_sim_walk {
	unsigned int level;	/* where it ended */
	enum agate_exception exception;	/* NOT_STARTED: it found a translation */
	unsigned int access;	/* ... which permits reads (bit 0), writes (1), execution (2) */
	uint64_t pa;		/* ... to this page or block */
	uint64_t table[AGATE_PT_LEVELS];	/* addresses of the tables, down to level */
};

struct agate_sim_event {
	enum agate_sim_event_kind kind;
	uint64_t time;		/* model time, bus cycles */
	uint64_t a, b, c;
	const char *text;	/* static string or NULL */
	const struct agate_sim_walk *walk;	/* AGATE_EV_WALK only; gone after the call */
	const struct agate_mover_cmd *mover;	/* AGATE_EV_MOVER_BEGIN and _END: likewise */
};

/* Services that the model needs from its owner.  The model passes ctx through. */
struct agate_sim_host_ops {
	/*
	 * Guest RAM at guest-physical pa.  len is at most 4096 and the access
	 * never crosses a 4 KiB page.  Return 0, or -1 when the range is not
	 * RAM: the GPU takes a bus fault.
	 */
	int (*mem_read)(void *ctx, uint64_t pa, void *buf, size_t len);
	int (*mem_write)(void *ctx, uint64_t pa, const void *buf, size_t len);
	/*
	 * Optional: return the address of these bytes of RAM in the host's memory,
	 * or NULL, so that the model can move large data without an intermediate
	 * copy.  The same rules hold; the address is valid until the next call into
	 * the model.
	 */
	void *(*mem_at)(void *ctx, uint64_t pa, size_t len);
	/* Send the message of one MSI-X vector.  Must not block. */
	void (*raise)(void *ctx, unsigned int vector);
	/* Report one event; NULL when nobody listens. */
	void (*event)(void *ctx, const struct agate_sim_event *event);
	/*
	 * Optional: the card reads out a frame.  Its rows follow from the top, width times
	 * R G B A each; the end says whether it is shown, or failed after some of them.
	 */
	void (*frame_begin)(void *ctx, uint32_t number, uint32_t width, uint32_t height);
	void (*frame_row)(void *ctx, const uint8_t *rgba);
	void (*frame_end)(void *ctx, bool shown);
};

struct agate_sim_config {
	enum agate_sim_gpu gpu;
	uint32_t gpu_id;	/* 0: Agate's own */
	uint32_t seed;
	void *vram;		/* vram_size bytes that outlive the model: what BAR2 shows */
	size_t vram_size;
	bool card;		/* the rest of the card's configuration matters only with it */
	uint64_t vram_total;	/* bytes of VRAM, shown or not; 0: vram_size */
	void *gsm;		/* gsm_size bytes that outlive the model; for midgard's GGTT */
	size_t gsm_size;
	bool ggtt_64k;		/* engines use VRAM in groups of 64 KiB */
	unsigned int dma_bits;	/* of system addresses; 0: AGATE_PHYS_BITS */
	bool power_in_off;	/* the firmware leaves POWER_IN off */
	uint32_t power_latency;	/* bus cycles for a power transition; 0: default */
	uint32_t reset_latency;	/* bus cycles for a soft reset; 0: default */
	uint32_t hard_reset_latency;	/* ... for a hard one; 0: default */
	uint32_t as_latency;	/* bus cycles an AS command is active; 0: default */
	uint32_t stop_latency;	/* bus cycles until a stop takes effect; 0: default */
	uint32_t tlb_entries;	/* per address space; 0: default */
	enum agate_sim_coherency coherency;
	uint32_t ram_line_cycles;	/* GPU cycles that a job pays for each 64 bytes of RAM; 0:
					 * 3 with a card, else none */
	uint32_t l2_size;	/* bytes, a power of two from 4 KiB to 4 MiB; 0: the GPU's own */
};

enum agate_sim_latency {
	AGATE_SIM_LATENCY_POWER,
	AGATE_SIM_LATENCY_RESET,	/* a soft one */
	AGATE_SIM_LATENCY_HARD_RESET,
	AGATE_SIM_LATENCY_AS,
	AGATE_SIM_LATENCY_STOP,
	AGATE_SIM_LATENCY_FW,	/* checking the card's firmware */
	AGATE_SIM_LATENCY_FLIP,
	AGATE_SIM_LATENCIES
};

/* A latency that never ends: the transition gets stuck. */
#define AGATE_SIM_LATENCY_STUCK	UINT32_MAX

/* Returns NULL when memory ran out or the configuration makes no sense. */
struct agate_sim *agate_sim_create(const struct agate_sim_config *config,
				   const struct agate_sim_host_ops *ops, void *ctx);
void agate_sim_destroy(struct agate_sim *sim);

/*
 * One register access by the guest; offset in bytes.  Each costs one bus cycle
 * of model time.  Unaligned and unknown offsets read 0 and ignore writes, and
 * are reported as a hint.
 */
void agate_sim_write32(struct agate_sim *sim, uint32_t offset, uint32_t value);
uint32_t agate_sim_read32(struct agate_sim *sim, uint32_t offset);

/*
 * Do at most budget units of work (a unit: one triangle in one tile, one row
 * of a tile, one job header, ...).  With no job to run, model time jumps to the
 * next pending transition that somebody waits for.  The driver waits for a
 * transition if it has read a register that reports it since it began (READY,
 * PWRTRANS, AS_STATUS, GPU_INT_RAWSTAT, ...), or if its interrupt is unmasked; a
 * job may wait for it, too.  Returns true while there is more to do without any
 * further register access, false when the GPU is idle or only waits for the driver
 * (every running job stalled on a fault).
 */
bool agate_sim_step(struct agate_sim *sim, unsigned int budget);

/*
 * Let so many bus cycles pass without work, as they do between two frames.  Transitions that
 * are due meanwhile end, also those that nobody waits for.  Returns false, and no time
 * passes, while the GPU has work to do.
 */
bool agate_sim_idle(struct agate_sim *sim, uint64_t cycles);

/* Set the bus cycles that transitions take which begin from now on; 0: default. */
void agate_sim_set_latency(struct agate_sim *sim, enum agate_sim_latency which,
			   uint32_t cycles);
/*
 * The same for only the next transition of that kind; later ones take the first
 * latency again.
 */
void agate_sim_set_latency_once(struct agate_sim *sim, enum agate_sim_latency which,
				uint32_t cycles);

/* Registers that can be made to read another value: nothing depends on them. */
enum agate_sim_identity {
	AGATE_SIM_GPU_ID,
	AGATE_SIM_L2_FEATURES,
	AGATE_SIM_CORE_FEATURES,
	AGATE_SIM_TILER_FEATURES,
	AGATE_SIM_MEM_FEATURES,
	AGATE_SIM_MMU_FEATURES,
	AGATE_SIM_THREAD_FEATURES,
	AGATE_SIM_THREAD_MAX_THREADS,
	AGATE_SIM_THREAD_MAX_WORKGROUP_SIZE,
	AGATE_SIM_THREAD_MAX_BARRIER_SIZE,
	AGATE_SIM_IDENTITIES
};

/* Set the value that such a register reads from now on. */
void agate_sim_set_identity(struct agate_sim *sim, enum agate_sim_identity which,
			    uint32_t value);

/*
 * From now on, the GPU reports a fault of its own memory access with these values
 * once after each reset, as soon as FAULT is unmasked; status 0: never.
 */
void agate_sim_set_fault(struct agate_sim *sim, uint32_t status, uint64_t address);

/*
 * Take the card's supply away, whatever the driver wants, or give it back: the card then has
 * power if CARD_POWER says so.
 */
void agate_sim_power_cut(struct agate_sim *sim, bool cut);

/*
 * Undo what the calls above have set since the GPU was created.  A reset that would
 * never have ended now ends after the time of a normal one.
 */
void agate_sim_restore(struct agate_sim *sim);

/*
 * The CRC-32 (of Ethernet and zlib) of physical memory, and of entries of the GGTT as the
 * table has them.  -1: not all of that is memory, or an entry.
 */
int agate_sim_crc_phys(struct agate_sim *sim, uint64_t pa, uint64_t len, uint32_t *crc);
int agate_sim_crc_ggtt(struct agate_sim *sim, uint32_t first, uint32_t count, uint32_t *crc);

/* Failures that can be injected. */
enum agate_sim_injection_kind {
	AGATE_SIM_INJECT_DROP_IRQ,	/* a message is not sent */
	AGATE_SIM_INJECT_DELAY_IRQ,	/* a message is sent arg bus cycles later */
	AGATE_SIM_INJECT_STICK_AS,	/* an AS command never completes */
	AGATE_SIM_INJECT_FAIL_POWER,	/* a power-up ends with the cores off */
	AGATE_SIM_INJECT_CORRUPT_HEADER,	/* a header's status is written xor arg */
	AGATE_SIM_INJECT_REFUSE_CLOCK,	/* CLK_SELECT or VOLT_SELECT keeps its value */
	AGATE_SIM_INJECT_FAIL_MOVER,	/* a command fails for reason arg; 0: INJECTED */
	AGATE_SIM_INJECT_FAIL_FW,	/* the firmware is refused, as for a wrong CRC */
	AGATE_SIM_INJECT_FAIL_FLIP,	/* a frame is not shown */
	AGATE_SIM_INJECTION_KINDS
};

struct agate_sim_injection {
	enum agate_sim_injection_kind kind;
	uint32_t n;		/* strikes once, at the n-th occasion from now; from 1 */
	uint32_t arg;
	uint32_t vectors;	/* messages: bit v: count those of vector v; 0: count all */
};

#define AGATE_SIM_MAX_INJECTIONS	16

/* Returns -1 when the injection makes no sense, or when too many are pending already. */
int agate_sim_inject(struct agate_sim *sim, const struct agate_sim_injection *injection);
unsigned int agate_sim_inject_room(const struct agate_sim *sim);

/* Drop all pending injections. */
void agate_sim_inject_none(struct agate_sim *sim);

/*
 * Report a broken rule of that section of hardware.md that the transport of
 * register accesses has detected: a hint like the model's own.  The text is a
 * constant.
 */
void agate_sim_hint(struct agate_sim *sim, unsigned int section, const char *text);

/* Model time in bus cycles since creation; it never goes back, not even by a reset. */
uint64_t agate_sim_time(const struct agate_sim *sim);

/* A counter, also readable by the guest from AGATE_COUNTER_BASE. */
uint64_t agate_sim_counter(const struct agate_sim *sim, enum agate_counter counter);

/* Bus cycles that a slot has worked so far: the same work takes more at a slow clock. */
uint64_t agate_sim_slot_busy(const struct agate_sim *sim, unsigned int slot);

#endif /* AGATE_SIM_H */
