// SPDX-License-Identifier: MIT
/*
 * COMPUTE (hardware.md, section 3): fill, copy, copy of a rectangle, checksum.
 *
 * The job moves memory in pieces, each within one source page and one destination
 * page, and translates both addresses before it moves the first byte.  So a piece
 * that has to wait has changed nothing, and the job resumes at exactly that byte,
 * in either direction.  A unit of work moves at most two pages or some small rows,
 * so that stops and other slots do not wait.
 */
#include <string.h>

#include "jobs_compute.h"
#include "job_exec.h"
#include "model.h"

#define COMPUTE_CYCLES_SETUP	16
#define COMPUTE_CYCLES_PIECE	2
#define COMPUTE_BEAT		16	/* bytes read or written in a cycle */
#define COMPUTE_UNIT_PIECES	64	/* a unit ends at either limit */
#define COMPUTE_UNIT_BYTES	(2 * GPU_PAGE_SIZE)

#define VA_END			(1ull << AGATE_VA_BITS)

struct compute_job {
	bool ready;			/* the payload has been read and is valid */
	bool backward;			/* last byte first, because of an overlap */
	struct agate_compute_payload p;
	uint32_t row;			/* COPY_2D: rows done */
	uint64_t done;			/* bytes, of this row */
	uint32_t crc;			/* CHECKSUM: before its inversion */
	uint8_t value[GPU_PAGE_SIZE + 8];	/* FILL: value, repeated */
};

_Static_assert(sizeof(struct compute_job) <= AGATE_JOB_STATE_MAX, "job state");
_Static_assert(sizeof(struct agate_compute_payload) == 64, "payload layout");

static bool range_ok(uint64_t va, uint64_t size)
{
	return size <= VA_END && va <= VA_END - size;
}

/* Compute the bytes that the rows span; return false when there are too many to count. */
static bool extent(const struct agate_compute_payload *p, uint64_t stride, uint64_t *bytes)
{
	if (stride < p->size)
		return false;
	if (!p->rows || !p->size) {
		*bytes = 0;
		return true;
	}
	return !__builtin_mul_overflow(stride, p->rows - 1, bytes) &&
	       !__builtin_add_overflow(*bytes, p->size, bytes);
}

static bool overlap(uint64_t a, uint64_t a_size, uint64_t b, uint64_t b_size)
{
	return a < b + b_size && b < a + a_size;
}

static bool copy_2d_ok(const struct agate_compute_payload *p)
{
	uint64_t dst_size, src_size;

	if (!extent(p, p->dst_stride, &dst_size) || !extent(p, p->src_stride, &src_size) ||
	    !range_ok(p->dst, dst_size) || !range_ok(p->src, src_size))
		return false;
	/* With equal strides there is an order in which no byte is lost. */
	return p->dst_stride == p->src_stride || !overlap(p->dst, dst_size, p->src, src_size);
}

static bool payload_ok(const struct agate_compute_payload *p)
{
	const bool one_row = !p->rows && !p->dst_stride && !p->src_stride;

	if (p->reserved || (p->value && p->op != AGATE_COMPUTE_FILL))
		return false;
	switch (p->op) {
	case AGATE_COMPUTE_FILL:
		return one_row && !p->src && range_ok(p->dst, p->size);
	case AGATE_COMPUTE_COPY:
		return one_row && range_ok(p->dst, p->size) && range_ok(p->src, p->size);
	case AGATE_COMPUTE_COPY_2D:
		return copy_2d_ok(p);
	case AGATE_COMPUTE_CHECKSUM:
		return one_row && p->dst % 4 == 0 && range_ok(p->dst, 4) &&
		       range_ok(p->src, p->size);
	}
	return false;
}

/* If dst overlaps src and lies above it, the copy must start with the last byte. */
static bool copies_backward(const struct agate_compute_payload *p)
{
	uint64_t reach = p->dst_stride * (p->rows - 1) + p->size;	/* fits: payload_ok() */

	return p->dst > p->src && p->rows && p->size && p->dst < p->src + reach;
}

static void fill_prepare(struct compute_job *job)
{
	size_t i;

	/* Little-endian, like the GPU and every supported host. */
	for (i = 0; i < sizeof(job->value); i += sizeof(job->p.value))
		memcpy(job->value + i, &job->p.value, sizeof(job->p.value));
}

static enum agate_run compute_setup(struct agate_exec *x, struct compute_job *job)
{
	const uint64_t va = x->job + AGATE_JOB_HEADER_SIZE;
	struct agate_compute_payload *p = &job->p;
	enum agate_run why;

	if (agate_exec_read(x, va, p, sizeof(*p), &why))
		return why;
	if (!payload_ok(p))
		return agate_exec_fail(x, AGATE_EXC_DATA_INVALID_FAULT, va);
	if (p->op != AGATE_COMPUTE_COPY_2D)
		p->rows = 1;
	if (p->op == AGATE_COMPUTE_CHECKSUM)
		job->crc = UINT32_MAX;
	else if (p->op == AGATE_COMPUTE_FILL)
		fill_prepare(job);
	else
		job->backward = copies_backward(p);
	job->ready = true;
	agate_exec_cost(x, COMPUTE_CYCLES_SETUP);
	return AGATE_RUN_AGAIN;
}

/* ---- Pieces -------------------------------------------------------------- */

static unsigned int beats(uint64_t bytes)
{
	return (unsigned int)((bytes + COMPUTE_BEAT - 1) / COMPUTE_BEAT);
}

static size_t at_most(uint64_t left, uint64_t room)
{
	return left < room ? left : room;
}

/* How many of the left bytes that end at va lie in the last page. */
static size_t room_below(uint64_t va, uint64_t left)
{
	return at_most(left, (va - 1) % GPU_PAGE_SIZE + 1);
}

static size_t room_above(uint64_t va, uint64_t left)
{
	return at_most(left, GPU_PAGE_SIZE - va % GPU_PAGE_SIZE);
}

static enum agate_run fill_piece(struct agate_exec *x, struct compute_job *job, size_t *moved)
{
	const uint64_t va = job->p.dst + job->done;
	const size_t len = room_above(va, job->p.size - job->done);
	enum agate_run why;

	if (agate_exec_write(x, va, job->value + job->done % 8, len, &why))
		return why;
	agate_exec_cost(x, COMPUTE_CYCLES_PIECE + beats(len));
	job->done += len;
	*moved = len;
	return AGATE_RUN_AGAIN;
}

static enum agate_run copy_piece(struct agate_exec *x, struct compute_job *job, size_t *moved)
{
	const struct agate_compute_payload *p = &job->p;
	const uint64_t row = job->backward ? p->rows - 1 - job->row : job->row;
	const uint64_t left = p->size - job->done;
	uint64_t dst = p->dst + row * p->dst_stride;
	uint64_t src = p->src + row * p->src_stride;
	enum agate_run why;
	size_t len;

	if (job->backward) {
		len = room_below(src + left, room_below(dst + left, left));
		dst += left - len;
		src += left - len;
	} else {
		dst += job->done;
		src += job->done;
		len = room_above(src, room_above(dst, left));
	}
	if (agate_exec_move(x, dst, src, len, &why))
		return why;
	agate_exec_cost(x, COMPUTE_CYCLES_PIECE + 2 * beats(len));
	agate_exec_count(x, AGATE_CNT_BYTES_COPIED, len);
	job->done += len;
	*moved = len;
	return AGATE_RUN_AGAIN;
}

static enum agate_run checksum_piece(struct agate_exec *x, struct compute_job *job,
				     size_t *moved)
{
	const uint64_t va = job->p.src + job->done;
	const size_t len = room_above(va, job->p.size - job->done);
	uint8_t piece[GPU_PAGE_SIZE];
	enum agate_run why;

	if (agate_exec_read(x, va, piece, len, &why))
		return why;
	agate_exec_cost(x, COMPUTE_CYCLES_PIECE + beats(len));
	job->crc = crc32_update(&x->sim->crc32, job->crc, piece, len);
	job->done += len;
	*moved = len;
	return AGATE_RUN_AGAIN;
}

static enum agate_run compute_piece(struct agate_exec *x, struct compute_job *job,
				    size_t *moved)
{
	switch (job->p.op) {
	case AGATE_COMPUTE_FILL:
		return fill_piece(x, job, moved);
	case AGATE_COMPUTE_CHECKSUM:
		return checksum_piece(x, job, moved);
	default:
		return copy_piece(x, job, moved);
	}
}

/* ---- The job -------------------------------------------------------------- */

static enum agate_run compute_finish(struct agate_exec *x, const struct compute_job *job)
{
	const uint32_t crc = ~job->crc;
	enum agate_run why;

	if (job->p.op == AGATE_COMPUTE_CHECKSUM &&
	    agate_exec_write(x, job->p.dst, &crc, sizeof(crc), &why))
		return why;
	return AGATE_RUN_DONE;
}

static enum agate_run compute_run(struct agate_exec *x, void *state)
{
	struct compute_job *job = state;
	size_t budget = COMPUTE_UNIT_BYTES;
	unsigned int i;

	if (!job->ready)
		return compute_setup(x, job);
	for (i = 0; i < COMPUTE_UNIT_PIECES; i++) {
		enum agate_run r;
		size_t moved;

		/* Empty rows need no work, however many there are. */
		if (job->row == job->p.rows || !job->p.size)
			return compute_finish(x, job);
		r = compute_piece(x, job, &moved);
		if (r != AGATE_RUN_AGAIN)
			return r;
		if (job->done == job->p.size) {
			job->row++;
			job->done = 0;
		}
		if (moved >= budget)
			break;
		budget -= moved;
	}
	return AGATE_RUN_AGAIN;
}

const struct agate_job_ops compute_ops = {
	.state_size = sizeof(struct compute_job),
	.run = compute_run,
};
