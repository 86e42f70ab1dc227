// SPDX-License-Identifier: MIT
/*
 * Checks of COMPUTE's payload and of the descriptors that TILER and FRAGMENT jobs
 * point at, and names of the GPU's exceptions.
 */
#include <errno.h>

#include "agate.h"
#include "agate_regs.h"

static bool size_valid(uint32_t width, uint32_t height)
{
	return width && height && width <= AGATE_MAX_FB_SIZE && height <= AGATE_MAX_FB_SIZE;
}

static bool stride_valid(uint32_t stride, uint32_t width)
{
	return stride % 4 == 0 && stride / 4 >= width;
}

static bool unit_range(float x)
{
	return x >= 0.0f && x <= 1.0f;	/* false for a NaN */
}

static int depth_check(const struct agate_framebuffer *fb)
{
	if (!unit_range(fb->clear_depth))
		return -EINVAL;
	if (fb->depth)
		return fb->depth % 64 || !stride_valid(fb->depth_stride, fb->width) ?
		       -EINVAL : 0;
	/* Without a depth buffer to load, depth has to start from the clear value. */
	if (fb->flags & AGATE_FB_DEPTH_TEST && !(fb->flags & AGATE_FB_CLEAR_DEPTH))
		return -EINVAL;
	return 0;
}

int agate_framebuffer_check(const struct agate_framebuffer *fb)
{
	const uint32_t flags = AGATE_FB_CLEAR_COLOR | AGATE_FB_CLEAR_DEPTH | AGATE_FB_DEPTH_TEST;
	size_t i;

	if (!fb->color || fb->color % 64 || fb->tiler % 64)
		return -EINVAL;
	if (!size_valid(fb->width, fb->height) || !stride_valid(fb->stride, fb->width))
		return -EINVAL;
	if (fb->format != AGATE_FORMAT_R8G8B8A8 && fb->format != AGATE_FORMAT_B8G8R8A8)
		return -EINVAL;
	if (fb->flags & ~flags)
		return -EINVAL;
	for (i = 0; i < 4; i++) {
		if (!unit_range(fb->clear_color[i]))
			return -EINVAL;
	}
	for (i = 0; i < sizeof(fb->reserved) / sizeof(fb->reserved[0]); i++) {
		if (fb->reserved[i])
			return -EINVAL;
	}
	return depth_check(fb);
}

int agate_tiler_context_check(const struct agate_tiler_context *context)
{
	const uint64_t start = context->heap_start;
	const uint64_t end = context->heap_end;
	const uint64_t top = context->heap_top;

	if (!start || start % AGATE_HEAP_CHUNK_SIZE || end % AGATE_HEAP_CHUNK_SIZE ||
	    top % AGATE_HEAP_CHUNK_SIZE || top < start || top > end)
		return -EINVAL;
	if (!context->bins || context->bins % _Alignof(struct agate_tiler_bin))
		return -EINVAL;
	if (!size_valid(context->width, context->height))
		return -EINVAL;
	if (context->reserved[0] || context->reserved[1] || context->reserved[2])
		return -EINVAL;
	return 0;
}

/* size bytes at va are valid addresses; 0 is never an address. */
static bool range_valid(uint64_t va, uint64_t size)
{
	const uint64_t end = 1ull << AGATE_VA_BITS;

	return va && size <= end && va <= end - size;
}

/* Compute the bytes that the rows span; return false when no address space has so many. */
static bool rows_valid(const struct agate_compute_payload *p, uint64_t va, uint64_t stride,
		       uint64_t *reach)
{
	*reach = 0;
	if (stride < p->size)
		return false;
	if (p->rows && p->size &&
	    (__builtin_mul_overflow(stride, p->rows - 1, reach) ||
	     __builtin_add_overflow(*reach, p->size, reach)))
		return false;
	return range_valid(va, *reach);
}

static bool copy_2d_valid(const struct agate_compute_payload *p)
{
	uint64_t dst, src;

	if (!rows_valid(p, p->dst, p->dst_stride, &dst) ||
	    !rows_valid(p, p->src, p->src_stride, &src))
		return false;
	return p->dst_stride == p->src_stride || p->dst >= p->src + src ||
	       p->src >= p->dst + dst;
}

int agate_compute_check(const struct agate_compute_payload *p)
{
	const bool flat = !p->rows && !p->dst_stride && !p->src_stride;
	bool valid = !p->reserved && (!p->value || p->op == AGATE_COMPUTE_FILL);

	switch (p->op) {
	case AGATE_COMPUTE_FILL:
		valid = valid && flat && !p->src && range_valid(p->dst, p->size);
		break;
	case AGATE_COMPUTE_COPY:
		valid = valid && flat && range_valid(p->dst, p->size) &&
			range_valid(p->src, p->size);
		break;
	case AGATE_COMPUTE_COPY_2D:
		valid = valid && copy_2d_valid(p);
		break;
	case AGATE_COMPUTE_CHECKSUM:
		valid = valid && flat && p->dst % 4 == 0 && range_valid(p->dst, 4) &&
			range_valid(p->src, p->size);
		break;
	default:
		valid = false;
		break;
	}
	return valid ? 0 : -EINVAL;
}

static const struct {
	uint8_t code;
	const char *name;
} exceptions[] = {
	{ AGATE_EXC_NOT_STARTED, "NOT_STARTED" },
	{ AGATE_EXC_DONE, "DONE" },
	{ AGATE_EXC_INTERRUPTED, "INTERRUPTED" },
	{ AGATE_EXC_STOPPED, "STOPPED" },
	{ AGATE_EXC_TERMINATED, "TERMINATED" },
	{ AGATE_EXC_KABOOM, "KABOOM" },
	{ AGATE_EXC_EUREKA, "EUREKA" },
	{ AGATE_EXC_ACTIVE, "ACTIVE" },
	{ AGATE_EXC_JOB_CONFIG_FAULT, "JOB_CONFIG_FAULT" },
	{ AGATE_EXC_JOB_POWER_FAULT, "JOB_POWER_FAULT" },
	{ AGATE_EXC_JOB_READ_FAULT, "JOB_READ_FAULT" },
	{ AGATE_EXC_JOB_WRITE_FAULT, "JOB_WRITE_FAULT" },
	{ AGATE_EXC_JOB_AFFINITY_FAULT, "JOB_AFFINITY_FAULT" },
	{ AGATE_EXC_JOB_BUS_FAULT, "JOB_BUS_FAULT" },
	{ AGATE_EXC_INSTR_INVALID_PC, "INSTR_INVALID_PC" },
	{ AGATE_EXC_INSTR_INVALID_ENC, "INSTR_INVALID_ENC" },
	{ AGATE_EXC_INSTR_TYPE_MISMATCH, "INSTR_TYPE_MISMATCH" },
	{ AGATE_EXC_INSTR_OPERAND_FAULT, "INSTR_OPERAND_FAULT" },
	{ AGATE_EXC_INSTR_TLS_FAULT, "INSTR_TLS_FAULT" },
	{ AGATE_EXC_INSTR_BARRIER_FAULT, "INSTR_BARRIER_FAULT" },
	{ AGATE_EXC_INSTR_ALIGN_FAULT, "INSTR_ALIGN_FAULT" },
	{ AGATE_EXC_DATA_INVALID_FAULT, "DATA_INVALID_FAULT" },
	{ AGATE_EXC_TILE_RANGE_FAULT, "TILE_RANGE_FAULT" },
	{ AGATE_EXC_ADDR_RANGE_FAULT, "ADDR_RANGE_FAULT" },
	{ AGATE_EXC_IMPRECISE_FAULT, "IMPRECISE_FAULT" },
	{ AGATE_EXC_OUT_OF_MEMORY, "OUT_OF_MEMORY" },
	{ AGATE_EXC_DELAYED_BUS_FAULT, "DELAYED_BUS_FAULT" },
	{ AGATE_EXC_GPU_SHAREABILITY_FAULT, "GPU_SHAREABILITY_FAULT" },
	{ AGATE_EXC_SYS_SHAREABILITY_FAULT, "SYS_SHAREABILITY_FAULT" },
	{ AGATE_EXC_GPU_CACHEABILITY_FAULT, "GPU_CACHEABILITY_FAULT" },
};

/* The MMU's faults form groups, with the level in the low bits. */
static const char *mmu_exception_name(uint32_t exception)
{
	switch (exception & 0xfc) {
	case AGATE_EXC_TRANSLATION_FAULT_0:
	case AGATE_EXC_TRANSLATION_FAULT_0 + 4:
		return "TRANSLATION_FAULT";
	case AGATE_EXC_PERMISSION_FAULT_0:
		return "PERMISSION_FAULT";
	case AGATE_EXC_TRANSTAB_BUS_FAULT_0:
		return "TRANSTAB_BUS_FAULT";
	case AGATE_EXC_ACCESS_FLAG_0:
		return "ACCESS_FLAG";
	case AGATE_EXC_ADDR_SIZE_FAULT_IN_0:
		return "ADDRESS_SIZE_FAULT_IN";
	case AGATE_EXC_ADDR_SIZE_FAULT_OUT_0:
		return "ADDRESS_SIZE_FAULT_OUT";
	case AGATE_EXC_MEM_ATTR_FAULT_0:
		return "MEMORY_ATTRIBUTE_FAULT";
	default:
		return "UNKNOWN";
	}
}

const char *agate_exception_name(uint32_t exception)
{
	size_t i;

	for (i = 0; i < sizeof(exceptions) / sizeof(exceptions[0]); i++) {
		if (exceptions[i].code == exception)
			return exceptions[i].name;
	}
	return exception > 0xff ? "UNKNOWN" : mmu_exception_name(exception);
}
