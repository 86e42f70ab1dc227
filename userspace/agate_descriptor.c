// SPDX-License-Identifier: MIT
/*
 * Checks of COMPUTE's payload and of the descriptors that TILER and FRAGMENT jobs
 * point at, and names of the GPU's exceptions.
 */
#include <errno.h>

#include "agate.h"
#include "agate_exceptions.h"
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

const char *agate_exception_name(uint32_t exception)
{
	const char *name = agate_exc_name(exception);

	return name ? name : "UNKNOWN";
}
