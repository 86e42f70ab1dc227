// SPDX-License-Identifier: MIT
#include "gem_display.h"

#define PIXEL		4u
#define STRIDE_ALIGN	64u

static uint32_t stride_of(const struct gem_image *image)
{
	return (image->size * PIXEL + STRIDE_ALIGN - 1) / STRIDE_ALIGN * STRIDE_ALIGN;
}

static void write_pixels(const struct gem_image *image, uint8_t *row)
{
	const uint8_t *rgb = image->rgb;
	uint32_t x, y;

	for (y = 0; y < image->size; y++, row += stride_of(image)) {
		for (x = 0; x < image->size; x++, rgb += 3) {
			row[PIXEL * x] = rgb[0];
			row[PIXEL * x + 1] = rgb[1];
			row[PIXEL * x + 2] = rgb[2];
			row[PIXEL * x + 3] = 0xff;
		}
	}
}

/* The display keeps the BO as long as it shows it. */
int gem_display_show(struct gem_memory *memory, const struct gem_image *image)
{
	struct agate_flip flip = {
		.width = image->size, .height = image->size, .stride = stride_of(image),
		.format = AGATE_FORMAT_R8G8B8A8,
		.flags = memory->bos == GEM_BOS_CONTIGUOUS ? AGATE_FLIP_PHYS : 0,
	};
	void *pixels;
	int err;

	err = gem_memory_create_bo(memory, (uint64_t)flip.stride * image->size, 0, "gem picture",
				   &flip.bo);
	if (err)
		return err;
	err = agate_bo_mmap(flip.bo, &pixels);
	if (!err) {
		write_pixels(image, pixels);
		err = agate_flip(memory->dev, &flip);
	}
	agate_bo_unreference(flip.bo);
	return err;
}
