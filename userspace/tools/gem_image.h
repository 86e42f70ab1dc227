/* SPDX-License-Identifier: MIT */
/*
 * From the passes of a frame to a PNG file.
 *
 * Each pass shifts the scene by a part of a pixel; the mean of the passes is a
 * smooth picture.  The GPU writes sRGB-encoded values, but light adds up linearly,
 * so the code takes the mean of decoded values and encodes it again.
 */
#ifndef GEM_IMAGE_H
#define GEM_IMAGE_H

#include <stdint.h>

struct gem_image {
	uint32_t size;		/* pixels, both ways */
	uint32_t passes;	/* added so far */
	uint32_t *sum;		/* size * size times r g b, linear */
	uint8_t *rgb;		/* the finished picture */
};

/* Returns 0 or -ENOMEM. */
int gem_image_create(struct gem_image *image, uint32_t size);
void gem_image_destroy(struct gem_image *image);

/* Start another picture. */
void gem_image_clear(struct gem_image *image);

/* Add a pass: size * size times R G B A.  At most 65,535 passes a picture. */
void gem_image_add(struct gem_image *image, const uint8_t *rgba);

/* Take the mean of the passes, at least one, into image->rgb. */
void gem_image_finish(struct gem_image *image);

/*
 * Write image->rgb as a PNG file, sRGB.  The file appears whole or not at all.
 * Returns 0 or a negative errno.
 */
int gem_image_write(const struct gem_image *image, const char *path);

#endif /* GEM_IMAGE_H */
