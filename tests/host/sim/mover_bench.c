// SPDX-License-Identifier: MIT
/*
 * The card's test bench; see mover_bench.h.
 */
#include "mover_bench.h"

#include <string.h>

#include "crc_slowly.h"

void put_entry(struct bench *b, uint32_t addr, uint64_t pa, unsigned int vf)
{
	uint64_t entry = AGATE_GGTT_PRESENT | AGATE_GGTT_VF(vf);

	if (pa >= VRAM_PA)
		entry |= AGATE_GGTT_VRAM | (pa - VRAM_PA);
	else
		entry |= pa;
	b->gsm[addr / 4096] = entry;
}

void seal_blob(struct bench *b)
{
	struct agate_fw_header *header = blob(b);

	header->crc32 = crc_slowly((const uint8_t *)(header + 1), header->size - sizeof(*header));
}

void seal_context(struct bench *b, uint32_t head, uint32_t seqno)
{
	*context(b) = (struct agate_mover_context){
		.magic = AGATE_CONTEXT_MAGIC, .head = head, .seqno = seqno,
		.check = ~(AGATE_CONTEXT_MAGIC ^ head ^ seqno),
	};
}

static void put_firmware(struct bench *b)
{
	*blob(b) = (struct agate_fw_header){
		.magic = AGATE_FW_HEADER_MAGIC,
		.version = AGATE_FW_MAJOR << 16 | FW_VERSION,
		.size = sizeof(struct agate_fw_header) + BLOB_PAYLOAD,
		.reserved_bytes = FW_RESERVED,
	};
	put_pattern(shown(b, BLOB) + sizeof(struct agate_fw_header), BLOB_PAYLOAD, 7);
	seal_blob(b);
	*ads(b) = (struct agate_ads){
		.magic = AGATE_ADS_MAGIC, .version = AGATE_ADS_VERSION,
		.ring = RING, .ring_order = RING_ORDER, .context = CONTEXT, .scratch = SCRATCH,
	};
	seal_context(b, 0, 0);
}

struct bench *card_bench_new_with(const struct agate_sim_config *config)
{
	struct bench *b = bench_new_with(config);
	uint32_t at;

	for (at = 0; at < SHOWN_SIZE; at += 4096)
		put_entry(b, SHOWN + at, SHOWN_PA + at, 0);
	put_firmware(b);
	wr(b, CARD_INT_MASK, 0x1f);
	wr(b, FW_BASE, BLOB);
	wr(b, FW_SIZE, blob(b)->size);
	wr(b, FW_ADS, ADS);
	return b;
}

struct bench *card_bench_new(void)
{
	return card_bench_new_with(&(struct agate_sim_config){
		.gpu = AGATE_SIM_MIDGARD, .card = true, .seed = 1 });
}

uint32_t start_firmware(struct bench *b)
{
	wr(b, FW_CMD, FW_CMD_START);
	settle(b);
	assert_int_equal(rd(b, CARD_INT_STAT) & CARD_INT_FW, CARD_INT_FW);
	wr(b, CARD_INT_CLEAR, CARD_INT_FW);
	return rd(b, FW_STATUS);
}

struct bench *mover_bench_new(void)
{
	struct bench *b = card_bench_new();

	assert_int_equal(start_firmware(b), FW_STATUS_RUNNING | FW_VERSION << 16);
	no_hint(b);
	return b;
}

void put_cmd(struct bench *b, uint32_t at, const struct agate_mover_cmd *cmd)
{
	memcpy(shown(b, RING) + at % (1u << ads(b)->ring_order) * sizeof(*cmd), cmd, sizeof(*cmd));
}

void run_cmd(struct bench *b, const struct agate_mover_cmd *cmd)
{
	uint32_t tail = rd(b, RING_TAIL);

	put_cmd(b, tail, cmd);
	wr(b, RING_TAIL, tail + 1);
	settle(b);
}

uint32_t mover_reason(struct bench *b)
{
	uint32_t status = rd(b, MOVER_STATUS);

	assert_int_equal(!!(status & MOVER_STATUS_FAULT), !!MOVER_STATUS_REASON(status));
	return MOVER_STATUS_REASON(status);
}

void skip_cmd(struct bench *b)
{
	put_cmd(b, rd(b, RING_HEAD), &(struct agate_mover_cmd){ .op = AGATE_MOVER_NOP });
	rd(b, CARD_INT_STAT);
	wr(b, CARD_INT_CLEAR, CARD_INT_MOVER_FAULT);
	wr(b, MOVER_CMD, MOVER_CMD_RESET);
	settle(b);
	assert_int_equal(rd(b, MOVER_STATUS), 0);
}

void put_pattern(uint8_t *at, size_t len, uint32_t seed)
{
	while (len--) {
		seed = seed * 1664525u + 1013904223u;
		*at++ = seed >> 24;
	}
}
