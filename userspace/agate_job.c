// SPDX-License-Identifier: MIT
/*
 * Writing job chains into a BO, and reading back how they ended.
 *
 * The library composes a job on the stack and copies it as a whole: the mapping may
 * be write-combining, where reading or patching in place is slow.  It checks every
 * rule of agate_job.h that needs no look into GPU memory, because here it can still
 * return an error to the caller.
 */
#include <errno.h>
#include <string.h>

#include "agate_bo.h"
#include "agate_regs.h"

#define MAX_JOBS	65535	/* a job's number is 16 bits wide */

static uint64_t align_job(uint64_t bytes)
{
	return (bytes + AGATE_JOB_ALIGN - 1) & ~(uint64_t)(AGATE_JOB_ALIGN - 1);
}

int agate_chain_begin_at(struct agate_chain *chain, struct agate_bo *bo, uint64_t offset,
			 uint64_t address)
{
	void *cpu;
	int err;

	if (!address || address % AGATE_JOB_ALIGN)
		return -EINVAL;
	if (offset % AGATE_JOB_ALIGN || offset >= bo->size)
		return -EINVAL;
	if (bo->flags & AGATE_ALLOC_CPU_READONLY)
		return -EINVAL;
	err = agate_bo_mmap(bo, &cpu);
	if (err)
		return err;
	*chain = (struct agate_chain) {
		.bo = bo,
		.address = address,
		.start = offset,
		.end = offset,
	};
	return 0;
}

int agate_chain_begin(struct agate_chain *chain, struct agate_bo *bo, uint64_t offset)
{
	/* Without an address there would be nothing to add the offset to. */
	return bo->va ? agate_chain_begin_at(chain, bo, offset, bo->va + offset) : -EINVAL;
}

uint64_t agate_chain_address(const struct agate_chain *chain)
{
	return chain->jobs ? chain->address : 0;
}

/* Where the CPU sees a byte of the chain's BO, which has been mapped since its beginning. */
static char *cpu_address(const struct agate_chain *chain, uint64_t offset)
{
	return (char *)chain->bo->cpu + offset;
}

/* Make the last job point at the new job at chain->end. */
static void link_job(struct agate_chain *chain)
{
	uint64_t next = chain->address + (chain->end - chain->start);
	char *header = cpu_address(chain, chain->last);

	memcpy(header + offsetof(struct agate_job_header, next), &next, sizeof(next));
}

static int append(struct agate_chain *chain, enum agate_job_type type, uint16_t after,
		  const void *payload, size_t payload_size)
{
	uint64_t size = align_job(AGATE_JOB_HEADER_SIZE + payload_size);
	struct agate_job_header header = {
		.control = AGATE_JOB_64BIT | AGATE_JOB_TYPE(type) |
			   AGATE_JOB_INDEX(chain->jobs + 1),
		.dependency1 = after,
	};
	char *job = cpu_address(chain, chain->end);

	if (after > chain->jobs)
		return -EINVAL;
	if (chain->jobs == MAX_JOBS || size > chain->bo->size - chain->end)
		return -ENOSPC;
	memset(job, 0, size);
	memcpy(job, &header, sizeof(header));
	if (payload_size)
		memcpy(job + AGATE_JOB_HEADER_SIZE, payload, payload_size);
	if (chain->jobs)
		link_job(chain);
	chain->last = chain->end;
	chain->end += size;
	chain->jobs++;
	return 0;
}

int agate_chain_null(struct agate_chain *chain, uint16_t after)
{
	return append(chain, AGATE_JOB_NULL, after, NULL, 0);
}

/* Bytes that a WRITE_VALUE of this type writes; 0 for an unknown type. */
static uint64_t write_value_size(uint32_t type)
{
	switch (type) {
	case AGATE_WRITE_CYCLE_COUNTER:
	case AGATE_WRITE_SYSTEM_TIMESTAMP:
	case AGATE_WRITE_ZERO:
	case AGATE_WRITE_IMMEDIATE_64:
		return 8;
	case AGATE_WRITE_IMMEDIATE_32:
		return 4;
	case AGATE_WRITE_IMMEDIATE_16:
		return 2;
	case AGATE_WRITE_IMMEDIATE_8:
		return 1;
	default:
		return 0;
	}
}

int agate_chain_write_value(struct agate_chain *chain, uint16_t after,
			    const struct agate_write_value_payload *payload)
{
	uint64_t size = write_value_size(payload->type);

	if (!size || !payload->address || payload->address % size || payload->reserved)
		return -EINVAL;
	return append(chain, AGATE_JOB_WRITE_VALUE, after, payload, sizeof(*payload));
}

int agate_chain_compute(struct agate_chain *chain, uint16_t after,
			const struct agate_compute_payload *payload)
{
	int err = agate_compute_check(payload);

	return err ? err : append(chain, AGATE_JOB_COMPUTE, after, payload, sizeof(*payload));
}

int agate_chain_tiler(struct agate_chain *chain, uint16_t after,
		      const struct agate_tiler_payload *payload)
{
	if (!payload->vertices || payload->vertices % 16 ||
	    !payload->indices || payload->indices % 4 || payload->index_count % 3)
		return -EINVAL;
	if (!payload->tiler || payload->tiler % 64)
		return -EINVAL;
	if (payload->flags & ~AGATE_TILER_CULL_BACK || payload->reserved)
		return -EINVAL;
	return append(chain, AGATE_JOB_TILER, after, payload, sizeof(*payload));
}

int agate_chain_fragment(struct agate_chain *chain, uint16_t after,
			 const struct agate_fragment_payload *payload)
{
	const unsigned int tiles = AGATE_MAX_FB_SIZE / AGATE_TILE_SIZE;

	if (payload->min_x > payload->max_x || payload->min_y > payload->max_y ||
	    payload->max_x >= tiles || payload->max_y >= tiles)
		return -EINVAL;
	if (!payload->framebuffer || payload->framebuffer % 64)
		return -EINVAL;
	return append(chain, AGATE_JOB_FRAGMENT, after, payload, sizeof(*payload));
}

int agate_chain_check(const struct agate_chain *chain, struct agate_chain_result *result)
{
	uint64_t offset = chain->start;
	uint32_t job;

	for (job = 1; job <= chain->jobs; job++) {
		struct agate_job_header header;
		uint32_t exception;

		memcpy(&header, cpu_address(chain, offset), sizeof(header));
		/* The bits above the code hold the kind of the failed access. */
		exception = header.exception_status & 0xff;
		if (exception != AGATE_EXC_DONE) {
			*result = (struct agate_chain_result) {
				.job = job,
				.type = AGATE_JOB_TYPE_OF(header.control),
				.exception = exception,
				.fault_pointer = header.fault_pointer,
			};
			return -EIO;
		}
		offset = chain->start + (header.next - chain->address);
		/* The GPU can write to next, too: do not follow it out of the chain. */
		if (job < chain->jobs && (offset < chain->start || offset > chain->last)) {
			*result = (struct agate_chain_result) { .job = job + 1 };
			return -EIO;
		}
	}
	return 0;
}
