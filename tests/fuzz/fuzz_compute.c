// SPDX-License-Identifier: MIT
/*
 * COMPUTE: any payload, on pages that may fault first.  The target compares the
 * resulting memory, byte by byte, with the result that the specification demands.
 */
#include "hostile_guest.h"

#define JOB		GUEST_VA
#define PAYLOAD		(JOB + AGATE_JOB_HEADER_SIZE)
#define WINDOW		(GUEST_MAPPED * GUEST_PAGE)
#define MAX_JOBS	4u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint8_t image[WINDOW], expected[WINDOW], noise[WINDOW + 256];

static uint64_t take_stride(struct input *in, uint64_t size)
{
	unsigned int kind = take8(in);

	return kind < 0xf0 ? size + kind : take64(in);
}

/* Fields that the operation does not use are 0, mostly. */
static struct agate_compute_payload take_payload(struct input *in)
{
	unsigned int kind = take8(in);
	struct agate_compute_payload p = { .op = kind % 6 };

	if (kind >= 0xf0) {
		take_bytes(in, &p, sizeof(p));
		return p;
	}
	p.dst = take_va(in);
	p.size = take_size(in);
	if (p.op == AGATE_COMPUTE_FILL)
		p.value = take64(in);
	else
		p.src = take_va(in);
	if (p.op == AGATE_COMPUTE_CHECKSUM && kind < 0x80)
		p.dst &= ~3ull;
	if (p.op == AGATE_COMPUTE_COPY_2D) {
		p.rows = take8(in);
		p.dst_stride = take_stride(in, p.size);
		p.src_stride = kind & 0x40 ? p.dst_stride : take_stride(in, p.size);
	}
	return p;
}

/* ---- What the specification says ---- */

static uint32_t crc_of(const uint8_t *bytes, size_t size)
{
	uint32_t crc = ~0u;
	unsigned int bit;

	while (size--) {
		crc ^= *bytes++;
		for (bit = 0; bit < 8; bit++)
			crc = crc & 1 ? crc >> 1 ^ 0xedb88320u : crc >> 1;
	}
	return ~crc;
}

/* The offset of a range in the window; a job that is DONE has touched nothing else. */
static size_t within(uint64_t va, uint64_t size)
{
	REQUIRE(va >= GUEST_VA && size <= WINDOW && va - GUEST_VA <= WINDOW - size);
	return va - GUEST_VA;
}

static void expect_copy(const struct agate_compute_payload *p)
{
	uint64_t rows = p->op == AGATE_COMPUTE_COPY ? 1 : p->rows, row;

	for (row = 0; row < rows && p->size; row++)
		memcpy(expected + within(p->dst + row * p->dst_stride, p->size),
		       image + within(p->src + row * p->src_stride, p->size), p->size);
}

static void expect(const struct agate_compute_payload *p)
{
	uint32_t crc;
	uint64_t i;

	switch (p->op) {
	case AGATE_COMPUTE_FILL:
		for (i = 0; i < p->size; i++)
			expected[within(p->dst + i, 1)] = p->value >> i % 8 * 8;
		break;
	case AGATE_COMPUTE_CHECKSUM:
		crc = p->size ? crc_of(image + within(p->src, p->size), p->size) : 0;
		memcpy(expected + within(p->dst, sizeof(crc)), &crc, sizeof(crc));
		break;
	default:
		expect_copy(p);
	}
}

/* ---- One job ---- */

static void make_noise(void)
{
	uint32_t random = 1;
	size_t i;

	for (i = 0; i < sizeof(noise); i++) {
		random = random * 1664525u + 1013904223u;
		noise[i] = random >> 24;
	}
}

static void prepare(struct guest *g, const struct agate_compute_payload *p)
{
	uint64_t unmapped = take64(&g->in);
	unsigned int n;

	guest_put(GUEST_VA, noise + take8(&g->in), WINDOW);
	put_header(JOB, AGATE_JOB_COMPUTE, 0);
	guest_put(PAYLOAD, p, sizeof(*p));
	guest_get(GUEST_VA, image, WINDOW);
	memcpy(expected, image, WINDOW);
	for (n = 1; n < GUEST_MAPPED; n++)
		guest_map(g, n, unmapped >> n & 1 ? GUEST_NONE : GUEST_WRITE);
	/* The tables changed, but the TLB still holds old entries. */
	wr64(g, AS_LOCKADDR_LO(0), 0x3f);
	as_command(g, 0, AS_COMMAND_LOCK);
	as_command(g, 0, AS_COMMAND_FLUSH_PT);
}

static void run_job(struct guest *g)
{
	struct agate_compute_payload p = take_payload(&g->in);
	uint32_t status;

	prepare(g, &p);
	start_job(g, 1, JOB, JS_CONFIG_START_FLUSH_CLEAN_INVALIDATE |
		  JS_CONFIG_END_FLUSH_CLEAN_INVALIDATE);
	guest_finish(g);
	if (!(rd(g, JOB_INT_RAWSTAT) & (JOB_INT_DONE(1) | JOB_INT_FAIL(1)))) {
		/* The job is too long, or touches an address that nobody maps. */
		wr(g, JS_COMMAND(1), JS_COMMAND_HARD_STOP);
		wr(g, JOB_INT_CLEAR, ~0u);
		return;
	}
	status = rd(g, JS_STATUS(1));
	REQUIRE(status == AGATE_EXC_DONE || status == AGATE_EXC_DATA_INVALID_FAULT);
	wr(g, JOB_INT_CLEAR, ~0u);
	if (status == AGATE_EXC_DONE)
		expect(&p);
	guest_get(GUEST_VA, image, WINDOW);
	/* The GPU wrote the header back after the last byte of the job itself. */
	memcpy(expected, image, offsetof(struct agate_job_header, control));
	REQUIRE(!memcmp(image, expected, WINDOW));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct guest *g = guest_new(data, size, NULL);
	unsigned int n;

	if (!noise[0])
		make_noise();
	for (n = 0; n < MAX_JOBS && input_left(&g->in); n++)
		run_job(g);
	guest_check_unmapped();
	guest_end(g);
	return 0;
}
