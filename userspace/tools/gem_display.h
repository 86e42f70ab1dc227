/* SPDX-License-Identifier: MIT */
/*
 * A finished picture on the display of the GPU's card.
 */
#ifndef GEM_DISPLAY_H
#define GEM_DISPLAY_H

#include "gem_image.h"
#include "gem_memory.h"

/*
 * Have the display show image->rgb, from a BO of this kind of memory: the card's, by the
 * card's global table, or one piece, which the display reads without a table.  0 or a negative
 * errno; -EINVAL for other kinds.
 */
int gem_display_show(struct gem_memory *memory, const struct gem_image *image);

#endif /* GEM_DISPLAY_H */
