// SPDX-License-Identifier: MIT
/*
 * How fast the model's mover is, without a guest; run by bench.sh.
 *
 * The commands are those of the driver: 2 MiB at a time, between a range of VRAM and a list of
 * scattered pages.  The host's own memcpy() and memset() of the same size take turns with them,
 * so that a noisy machine affects all equally.
 */
#include "bench.h"
#include "bench_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agate_card.h"

#define ROUNDS		15
#define COMMANDS	8u
#define SAMPLE		(COMMANDS * AGATE_MOVER_MAX_LENGTH)	/* 16 MiB */
#define LIST_PAGES	(AGATE_MOVER_MAX_LENGTH / PAGE)

/* The first bytes of memory, which the GGTT shows from SHOWN on. */
#define BLOB		0x0000u
#define ADS		0x1000u
#define CONTEXT		0x2000u
#define SCRATCH		0x3000u
#define RING		0x4000u
#define RING_ORDER	8u
#define SHOWN_SIZE	0x8000u
#define SHOWN		0x800000u
/* Then come the lists of pages, and the pages. */
#define LISTS		0x10000u
#define PAGES		0x100000u
#define MEMORY_SIZE	(PAGES + SAMPLE)

/* Multiplying by an odd number visits a power of two of pages in a scattered order. */
#define SCATTER		40503u

struct card {
	struct model model;
	uint8_t *other;		/* memory as large as VRAM, for memcpy() */
	uint32_t tail;
};

static void put_lists(struct model *m)
{
	const uint32_t pages = SAMPLE / PAGE;
	uint64_t *list = (uint64_t *)(m->memory + LISTS);

	for (uint32_t i = 0; i < pages; i++)
		list[i] = VA + PAGES + (uint64_t)(i * SCATTER % pages) * PAGE;
}

static void put_firmware(struct model *m)
{
	const struct agate_fw_header blob = {
		.magic = AGATE_FW_HEADER_MAGIC, .version = AGATE_FW_MAJOR << 16 | 1,
		.size = sizeof(blob), .reserved_bytes = PAGE,
	};
	const struct agate_ads ads = {
		.magic = AGATE_ADS_MAGIC, .version = AGATE_ADS_VERSION, .ring = SHOWN + RING,
		.ring_order = RING_ORDER, .context = SHOWN + CONTEXT, .scratch = SHOWN + SCRATCH,
	};
	const struct agate_mover_context context = {
		.magic = AGATE_CONTEXT_MAGIC, .check = ~AGATE_CONTEXT_MAGIC,
	};

	model_put(m, BLOB, &blob, sizeof(blob));
	model_put(m, ADS, &ads, sizeof(ads));
	model_put(m, CONTEXT, &context, sizeof(context));
	for (uint32_t at = 0; at < SHOWN_SIZE; at += PAGE)
		m->gsm[(SHOWN + at) / PAGE] = AGATE_GGTT_PRESENT | (VA + at);
}

static void begin(struct card *card)
{
	struct model *m = &card->model;

	model_bring_up_card(m, MEMORY_SIZE, SAMPLE);
	card->other = aligned_alloc(PAGE, SAMPLE);
	if (!card->other)
		model_die("out of memory");
	memset(card->other, 1, SAMPLE);
	card->tail = 0;
	put_lists(m);
	put_firmware(m);
	agate_sim_write32(m->sim, FW_BASE, SHOWN + BLOB);
	agate_sim_write32(m->sim, FW_SIZE, sizeof(struct agate_fw_header));
	agate_sim_write32(m->sim, FW_ADS, SHOWN + ADS);
	agate_sim_write32(m->sim, FW_CMD, FW_CMD_START);
	model_poll(m, FW_STATUS, FW_STATUS_RUNNING | 1u << 16);
}

/* MB per second for all of VRAM by such commands, of which the n-th begins at its n-th part. */
static double move(struct card *card, const struct agate_mover_cmd *cmd)
{
	struct model *m = &card->model;
	double start;

	for (uint32_t i = 0; i < COMMANDS; i++) {
		const uint64_t part = (uint64_t)i * AGATE_MOVER_MAX_LENGTH;
		const uint64_t list = (uint64_t)i * LIST_PAGES * sizeof(uint64_t);
		struct agate_mover_cmd one = *cmd;

		one.src += (cmd->flags & 3) == AGATE_MOVER_PAGES ? list : part;
		one.dst += (cmd->flags >> 2 & 3) == AGATE_MOVER_PAGES ? list : part;
		model_put(m, RING + (card->tail++ % (1u << RING_ORDER)) * sizeof(one), &one,
			  sizeof(one));
	}
	start = model_now();
	agate_sim_write32(m->sim, RING_TAIL, card->tail);
	while (agate_sim_step(m->sim, UNITS_A_STEP))
		continue;
	start = model_now() - start;
	if (agate_sim_read32(m->sim, RING_HEAD) != card->tail)
		model_die("a command did not end well");
	return SAMPLE / start / 1e6;
}

static double move_in(struct card *card)
{
	return move(card, &(struct agate_mover_cmd){
		.op = AGATE_MOVER_COPY, .src = VA + LISTS, .dst = AGATE_PHYS_VRAM,
		.length = AGATE_MOVER_MAX_LENGTH,
		.flags = AGATE_MOVER_SRC(AGATE_MOVER_PAGES) | AGATE_MOVER_DST(AGATE_MOVER_PHYS),
	});
}

static double move_out(struct card *card)
{
	return move(card, &(struct agate_mover_cmd){
		.op = AGATE_MOVER_COPY, .src = AGATE_PHYS_VRAM, .dst = VA + LISTS,
		.length = AGATE_MOVER_MAX_LENGTH,
		.flags = AGATE_MOVER_SRC(AGATE_MOVER_PHYS) | AGATE_MOVER_DST(AGATE_MOVER_PAGES),
	});
}

static double clear(struct card *card)
{
	return move(card, &(struct agate_mover_cmd){
		.op = AGATE_MOVER_FILL, .dst = AGATE_PHYS_VRAM, .length = AGATE_MOVER_MAX_LENGTH,
		.flags = AGATE_MOVER_DST(AGATE_MOVER_PHYS),
	});
}

static double host_copy(struct card *card)
{
	const double start = model_now();

	memcpy(card->model.memory + PAGES, card->other, SAMPLE);
	/* Without this the compiler would see that nobody reads it. */
	__asm__ volatile("" : : "r"(card->model.memory) : "memory");
	return SAMPLE / (model_now() - start) / 1e6;
}

static double host_clear(struct card *card)
{
	const double start = model_now();

	memset(card->other, 0, SAMPLE);
	__asm__ volatile("" : : "r"(card->other) : "memory");
	return SAMPLE / (model_now() - start) / 1e6;
}

int main(void)
{
	double in[ROUNDS], out[ROUNDS], copied[ROUNDS], cleared[ROUNDS], set[ROUNDS];
	struct card card;

	begin(&card);
	for (int i = 0; i < ROUNDS; i++) {
		in[i] = move_in(&card);
		copied[i] = host_copy(&card);
		out[i] = move_out(&card);
		cleared[i] = clear(&card);
		set[i] = host_clear(&card);
	}
	bench_report("mover_copy_in", "MB/s", in, ROUNDS, "mover_memcpy");
	bench_report("mover_copy_out", "MB/s", out, ROUNDS, "mover_memcpy");
	bench_report("mover_memcpy", "MB/s", copied, ROUNDS, NULL);
	bench_report("mover_fill", "MB/s", cleared, ROUNDS, "mover_memset");
	bench_report("mover_memset", "MB/s", set, ROUNDS, NULL);
	free(card.other);
	model_free(&card.model);
	return 0;
}
