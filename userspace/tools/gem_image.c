// SPDX-License-Identifier: MIT
/*
 * Tables convert 8 encoded bits to 16 linear ones for the mean of the passes, and
 * back.  A fixed pattern dithers colours between two of the 256 values; without it,
 * the dark backdrop would show bands.
 */
#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <png.h>

#include "gem_image.h"
#include "gem_math.h"

#define LINEAR_MAX	65535

int gem_image_create(struct gem_image *image, uint32_t size)
{
	image->size = size;
	image->passes = 0;
	image->sum = calloc((size_t)size * size * 3, sizeof(*image->sum));
	image->rgb = malloc((size_t)size * size * 3);
	if (image->sum && image->rgb)
		return 0;
	gem_image_destroy(image);
	return -ENOMEM;
}

void gem_image_destroy(struct gem_image *image)
{
	free(image->sum);
	free(image->rgb);
	image->sum = NULL;
	image->rgb = NULL;
}

void gem_image_clear(struct gem_image *image)
{
	image->passes = 0;
	memset(image->sum, 0, (size_t)image->size * image->size * 3 * sizeof(*image->sum));
}

static void decode_table(uint32_t linear[256])
{
	unsigned int i;

	for (i = 0; i < 256; i++)
		linear[i] = (uint32_t)(gem_srgb_decode(i / 255.0) * LINEAR_MAX + 0.5);
}

void gem_image_add(struct gem_image *image, const uint8_t *rgba)
{
	const size_t pixels = (size_t)image->size * image->size;
	uint32_t *sum = image->sum;
	uint32_t linear[256];
	size_t i;

	decode_table(linear);
	for (i = 0; i < pixels; i++, sum += 3, rgba += 4) {
		sum[0] += linear[rgba[0]];
		sum[1] += linear[rgba[1]];
		sum[2] += linear[rgba[2]];
	}
	image->passes++;
}

/* For each linear value, the largest encoded one that is not brighter. */
static void encode_table(const uint32_t linear[256], uint8_t *encoded)
{
	unsigned int value, i = 0;

	for (value = 0; value <= LINEAR_MAX; value++) {
		while (i < 255 && value >= linear[i + 1])
			i++;
		encoded[value] = (uint8_t)i;
	}
}

/*
 * The order in which the 64 pixels of a square step up to the next value: bits of
 * x and x ^ y interleaved, so that pixels close in rank are far apart in place.
 */
static unsigned int dither_rank(uint32_t x, uint32_t y)
{
	const uint32_t a = x ^ y;

	return (a & 1) << 5 | (x & 1) << 4 | (a & 2) << 2 | (x & 2) << 1 | (a & 4) >> 1 |
	       (x & 4) >> 2;
}

void gem_image_finish(struct gem_image *image)
{
	uint8_t encoded[LINEAR_MAX + 1];
	const uint32_t *sum = image->sum;
	uint8_t *rgb = image->rgb;
	uint32_t linear[256], x, y;
	unsigned int channel;

	decode_table(linear);
	encode_table(linear, encoded);
	for (y = 0; y < image->size; y++) {
		for (x = 0; x < image->size; x++) {
			const unsigned int rank = dither_rank(x, y);

			for (channel = 0; channel < 3; channel++, sum++, rgb++) {
				const unsigned int low = encoded[*sum / image->passes];
				const uint32_t step = low < 255 ? linear[low + 1] - linear[low] : 0;
				const uint64_t over = *sum - (uint64_t)linear[low] * image->passes;

				*rgb = (uint8_t)(low + (128 * over >
							(2 * rank + 1) * (uint64_t)step *
							image->passes));
			}
		}
	}
}

/* libpng reports errors by longjmp(), so no variable here changes after setjmp(). */
static int write_rows(const struct gem_image *image, FILE *file)
{
	png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
	png_infop info = png ? png_create_info_struct(png) : NULL;
	uint32_t y;

	if (!info) {
		png_destroy_write_struct(&png, NULL);
		return -ENOMEM;
	}
	if (setjmp(png_jmpbuf(png))) {
		png_destroy_write_struct(&png, &info);
		return -EIO;
	}
	png_init_io(png, file);
	png_set_IHDR(png, info, image->size, image->size, 8, PNG_COLOR_TYPE_RGB,
		     PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
	/* For dithered smooth gradients libpng's own choice is larger and slower. */
	png_set_filter(png, PNG_FILTER_TYPE_BASE, PNG_FILTER_SUB);
	png_set_compression_level(png, 4);
	/* Alone: with gAMA and cHRM, versions of libpng write the three in different orders. */
	png_set_sRGB(png, info, PNG_sRGB_INTENT_PERCEPTUAL);
	png_write_info(png, info);
	for (y = 0; y < image->size; y++)
		png_write_row(png, image->rgb + (size_t)y * image->size * 3);
	png_write_end(png, info);
	png_destroy_write_struct(&png, &info);
	return 0;
}

int gem_image_write(const struct gem_image *image, const char *path)
{
	char temporary[PATH_MAX];
	FILE *file;
	int err;

	if (snprintf(temporary, sizeof(temporary), "%s.part", path) >= (int)sizeof(temporary))
		return -ENAMETOOLONG;
	file = fopen(temporary, "wbe");
	if (!file)
		return -errno;
	err = write_rows(image, file);
	if (fclose(file) && !err)
		err = -errno;
	if (!err && rename(temporary, path))
		err = -errno;
	if (err)
		remove(temporary);
	return err;
}
