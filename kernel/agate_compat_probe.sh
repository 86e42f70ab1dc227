#!/bin/sh
# SPDX-License-Identifier: MIT
#
# What does this kernel offer?  Each probe is a few lines that compile only where
# the answer is yes; the answers become HAVE_* in the header that is written.
#
# usage: agate_compat_probe.sh OUTPUT COMPILER FLAGS...
set -eu

output=$1
shift
object=$output.o
trap 'rm -f "$object" "$object".d "$output.new"' EXIT

# probe NAME: the lines to compile are read from standard input.
probe() {
	name=$1
	shift
	if "$@" -Werror -c -x c -o "$object" - 2>/dev/null; then
		echo "#define $name 1" >> "$output.new"
	fi
}

echo "/* Made by agate_compat_probe.sh. */" > "$output.new"

# A probe that must succeed: without it every other answer would be a silent no.
probe HAVE_KERNEL "$@" << 'END'
#include <linux/module.h>
END
grep -q HAVE_KERNEL "$output.new" || {
	echo "$0: the compiler cannot use this kernel's headers" >&2
	exit 1
}

probe HAVE_VM_FLAGS_SET "$@" << 'END'
#include <linux/mm.h>
void probe(struct vm_area_struct *vma);
void probe(struct vm_area_struct *vma) { vm_flags_set(vma, VM_PFNMAP); }
END

probe HAVE_SHRINKER_ALLOC "$@" << 'END'
#include <linux/shrinker.h>
struct shrinker *probe(void);
struct shrinker *probe(void) { return shrinker_alloc(0, "probe"); }
END

probe HAVE_SCHED_INIT_ARGS "$@" << 'END'
#include <drm/gpu_scheduler.h>
int probe(struct drm_gpu_scheduler *sched, const struct drm_sched_init_args *args);
int probe(struct drm_gpu_scheduler *sched, const struct drm_sched_init_args *args)
{
	return drm_sched_init(sched, args);
}
END

# Schedulers that run on a workqueue have run queues of their own.
probe HAVE_SCHED_SUBMIT_WQ "$@" << 'END'
#include <drm/gpu_scheduler.h>
void *probe(struct drm_gpu_scheduler *sched);
void *probe(struct drm_gpu_scheduler *sched) { return sched->submit_wq; }
END

probe HAVE_SCHED_JOB_INIT_CREDITS "$@" << 'END'
#include <drm/gpu_scheduler.h>
int probe(struct drm_sched_job *job, struct drm_sched_entity *entity);
int probe(struct drm_sched_job *job, struct drm_sched_entity *entity)
{
	return drm_sched_job_init(job, entity, 1, NULL);
}
END

probe HAVE_SCHED_JOB_INIT_CLIENT "$@" << 'END'
#include <drm/gpu_scheduler.h>
int probe(struct drm_sched_job *job, struct drm_sched_entity *entity);
int probe(struct drm_sched_job *job, struct drm_sched_entity *entity)
{
	return drm_sched_job_init(job, entity, 1, NULL, (u64)0);
}
END

probe HAVE_SCHED_START_RECOVERY "$@" << 'END'
#include <drm/gpu_scheduler.h>
void probe(struct drm_gpu_scheduler *sched);
void probe(struct drm_gpu_scheduler *sched) { drm_sched_start(sched, true); }
END

probe HAVE_SCHED_START_ERRNO "$@" << 'END'
#include <drm/gpu_scheduler.h>
void probe(struct drm_gpu_scheduler *sched);
void probe(struct drm_gpu_scheduler *sched)
{
	_Static_assert(__builtin_types_compatible_p(__typeof__(drm_sched_start),
						    void(struct drm_gpu_scheduler *, int)), "");
}
END

# With that function the core began to hold the reservation when it calls a BO's pin and unpin.
probe HAVE_GEM_PIN_LOCKED "$@" << 'END'
#include <drm/drm_gem_shmem_helper.h>
int probe(struct drm_gem_shmem_object *obj);
int probe(struct drm_gem_shmem_object *obj) { return drm_gem_shmem_pin_locked(obj); }
END

# With that function the core began to hold the reservation when it calls a BO's vmap and vunmap.
probe HAVE_GEM_VMAP_LOCKED "$@" << 'END'
#include <linux/dma-buf.h>
int probe(struct dma_buf *dmabuf, struct iosys_map *map);
int probe(struct dma_buf *dmabuf, struct iosys_map *map)
{
	return dma_buf_vmap_unlocked(dmabuf, map);
}
END

mv "$output.new" "$output"
