/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Differences between kernels, so that no other file has to know them.
 *
 * agate_compat_probe.sh compiles a few lines against a kernel to find out what it
 * offers.  The version would not tell: stable kernels take over signatures from
 * later ones.
 */
#ifndef AGATE_COMPAT_H
#define AGATE_COMPAT_H

#include <linux/mm.h>
#include <linux/shrinker.h>

#include "agate_compat_gen.h"

#ifndef HAVE_VM_FLAGS_SET
static inline void vm_flags_set(struct vm_area_struct *vma, unsigned long flags)
{
	vma->vm_flags |= flags;
}

static inline void vm_flags_clear(struct vm_area_struct *vma, unsigned long flags)
{
	vma->vm_flags &= ~flags;
}
#endif

typedef unsigned long (*agate_shrinker_fn)(struct shrinker *, struct shrink_control *);

#ifdef HAVE_SHRINKER_ALLOC

struct agate_shrinker {
	struct shrinker *base;
};

/* Return: the data that the shrinker was registered with. */
static inline void *agate_shrinker_data(const struct shrinker *shrinker)
{
	return shrinker->private_data;
}

static inline int agate_shrinker_register(struct agate_shrinker *shrinker, void *data,
					  agate_shrinker_fn count, agate_shrinker_fn scan,
					  const char *name)
{
	shrinker->base = shrinker_alloc(0, "%s", name);
	if (!shrinker->base)
		return -ENOMEM;
	shrinker->base->count_objects = count;
	shrinker->base->scan_objects = scan;
	shrinker->base->private_data = data;
	shrinker_register(shrinker->base);
	return 0;
}

static inline void agate_shrinker_unregister(struct agate_shrinker *shrinker)
{
	shrinker_free(shrinker->base);
}

#else

struct agate_shrinker {
	struct shrinker base;
	void *data;
};

static inline void *agate_shrinker_data(const struct shrinker *shrinker)
{
	return container_of(shrinker, const struct agate_shrinker, base)->data;
}

static inline int agate_shrinker_register(struct agate_shrinker *shrinker, void *data,
					  agate_shrinker_fn count, agate_shrinker_fn scan,
					  const char *name)
{
	shrinker->base.count_objects = count;
	shrinker->base.scan_objects = scan;
	shrinker->base.seeks = DEFAULT_SEEKS;
	shrinker->data = data;
	return register_shrinker(&shrinker->base, "%s", name);
}

static inline void agate_shrinker_unregister(struct agate_shrinker *shrinker)
{
	unregister_shrinker(&shrinker->base);
}

#endif

/* Offsets on the device's file are unsigned; some kernels need a flag that says so. */
#ifdef FOP_UNSIGNED_OFFSET
#define AGATE_FOP_FLAGS	.fop_flags = FOP_UNSIGNED_OFFSET,
#else
#define AGATE_FOP_FLAGS
#endif

#endif /* AGATE_COMPAT_H */
