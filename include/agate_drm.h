/* SPDX-License-Identifier: MIT */
/*
 * The uAPI of the agate DRM driver.
 *
 * Rules that hold for every ioctl here:
 *  - fields have fixed sizes and natural alignment, and are the same for 32-
 *    and 64-bit callers;
 *  - every pad field must be zero and every flag must be a listed one; otherwise
 *    the call fails with EINVAL and does nothing;
 *  - a field marked "out" is written by the call: what it holds before does not matter,
 *    and after an error it means nothing; all other fields come back as they were;
 *  - pointers are passed as __u64; a bad one gives EFAULT;
 *  - a handle that this file does not have gives ENOENT;
 *  - after the GPU is gone every call gives ENODEV;
 *  - a call that fails changes nothing and leaves no handle, and one that
 *    succeeds returns exactly 0.  (DRM itself makes one exception: when the kernel
 *    cannot write back the result of CREATE_BO, the call gives EFAULT, and the
 *    handle lives until the file is closed);
 *  - DRM's rule for sizes holds: the missing end of a shorter struct counts as zero
 *    and is not written back, the end of a longer struct is ignored;
 *  - a call for a part of the driver that is absent gives EOPNOTSUPP.
 */
#ifndef AGATE_DRM_H
#define AGATE_DRM_H

#include "drm.h"

#if defined(__cplusplus)
extern "C" {
#endif

/*
 * drmGetVersion() tells these.  A change of the major one breaks clients; the minor one
 * counts what was added:
 *
 *   1   SUBMIT: bo_flags; WAIT_BO: flags
 *   2   CREATE_BO: AGATE_BO_CONTIGUOUS; PRIME
 *   3   SUBMIT: AGATE_JD_REQ_ONLY_COMPUTE
 *   4   CREATE_BO: placement
 *   5   QUERY_REGIONS; FLIP; PRIME: BOs with a placement
 *   6   VM_CREATE, VM_DESTROY, VM_BIND; CREATE_BO and SUBMIT: vm_id
 *   7   MADVISE: label
 *   8   VM_BIND: AGATE_VM_BIND_USERPTR
 *   9   VM_CREATE: AGATE_VM_LONG_RUNNING; VM_BIND: BOs of other drivers
 *   10  VM_CREATE: AGATE_VM_FAULT_MODE
 *
 * A driver ignores what a later version appended to a struct, but not a flag that it does
 * not know: before a client sets one, it asks for the version.
 */
#define AGATE_DRM_MAJOR	1
#define AGATE_DRM_MINOR	10

#define DRM_AGATE_SUBMIT		0x00
#define DRM_AGATE_WAIT_BO		0x01
#define DRM_AGATE_CREATE_BO		0x02
#define DRM_AGATE_MMAP_BO		0x03
#define DRM_AGATE_GET_PARAM		0x04
#define DRM_AGATE_GET_BO_OFFSET		0x05
/* 0x06 and 0x07 are reserved for performance counters. */
#define DRM_AGATE_MADVISE		0x08
#define DRM_AGATE_SET_LABEL		0x09
#define DRM_AGATE_VM_CREATE		0x0a
#define DRM_AGATE_VM_DESTROY		0x0b
#define DRM_AGATE_VM_BIND		0x0c
/* From version 1.5 on. */
#define DRM_AGATE_QUERY_REGIONS		0x0d
#define DRM_AGATE_FLIP			0x0e

#define DRM_IOCTL_AGATE_SUBMIT		DRM_IOW(DRM_COMMAND_BASE + DRM_AGATE_SUBMIT, struct drm_agate_submit)
#define DRM_IOCTL_AGATE_WAIT_BO		DRM_IOW(DRM_COMMAND_BASE + DRM_AGATE_WAIT_BO, struct drm_agate_wait_bo)
#define DRM_IOCTL_AGATE_CREATE_BO	DRM_IOWR(DRM_COMMAND_BASE + DRM_AGATE_CREATE_BO, struct drm_agate_create_bo)
#define DRM_IOCTL_AGATE_MMAP_BO		DRM_IOWR(DRM_COMMAND_BASE + DRM_AGATE_MMAP_BO, struct drm_agate_mmap_bo)
#define DRM_IOCTL_AGATE_GET_PARAM	DRM_IOWR(DRM_COMMAND_BASE + DRM_AGATE_GET_PARAM, struct drm_agate_get_param)
#define DRM_IOCTL_AGATE_GET_BO_OFFSET	DRM_IOWR(DRM_COMMAND_BASE + DRM_AGATE_GET_BO_OFFSET, struct drm_agate_get_bo_offset)
#define DRM_IOCTL_AGATE_MADVISE		DRM_IOWR(DRM_COMMAND_BASE + DRM_AGATE_MADVISE, struct drm_agate_madvise)
#define DRM_IOCTL_AGATE_SET_LABEL	DRM_IOW(DRM_COMMAND_BASE + DRM_AGATE_SET_LABEL, struct drm_agate_set_label)
#define DRM_IOCTL_AGATE_VM_CREATE	DRM_IOWR(DRM_COMMAND_BASE + DRM_AGATE_VM_CREATE, struct drm_agate_vm_create)
#define DRM_IOCTL_AGATE_VM_DESTROY	DRM_IOW(DRM_COMMAND_BASE + DRM_AGATE_VM_DESTROY, struct drm_agate_vm_destroy)
#define DRM_IOCTL_AGATE_VM_BIND		DRM_IOW(DRM_COMMAND_BASE + DRM_AGATE_VM_BIND, struct drm_agate_vm_bind)
#define DRM_IOCTL_AGATE_QUERY_REGIONS	DRM_IOWR(DRM_COMMAND_BASE + DRM_AGATE_QUERY_REGIONS, struct drm_agate_query_regions)
#define DRM_IOCTL_AGATE_FLIP		DRM_IOW(DRM_COMMAND_BASE + DRM_AGATE_FLIP, struct drm_agate_flip)

/* With this bit the chain runs on slot 0 (fragment), without it on slot 1. */
#define AGATE_JD_REQ_FS		(1 << 0)
/*
 * The chain has no TILER job, so the driver may leave the tiler without power; a TILER job may
 * end with -EIO then.  A chain on slot 0 has none anyway.
 */
#define AGATE_JD_REQ_ONLY_COMPUTE	(1 << 1)

/**
 * struct drm_agate_sync - one sync object to wait on or to signal
 */
struct drm_agate_sync {
	/** @handle: a drm_syncobj handle; ENOENT when there is none. */
	__u32 handle;
	/** @pad: zero. */
	__u32 pad;
	/** @point: a timeline point, or 0 for a binary sync object. */
	__u64 point;
};

/*
 * How a chain uses a listed BO.  Chains that only read a BO may run at the same time; one
 * that writes it runs alone.  At least one of the first two.
 */
#define AGATE_SUBMIT_BO_READ		(1 << 0)
#define AGATE_SUBMIT_BO_WRITE		(1 << 1)
/* The chain does not wait for others that use the BO; they wait for this one as usual. */
#define AGATE_SUBMIT_BO_NO_IMPLICIT	(1 << 2)

/**
 * struct drm_agate_submit - run one job chain
 *
 * The call does not wait for the chain.  It waits while AGATE_SUBMIT_MAX_JOBS chains of
 * this file have not ended yet; a signal ends that wait with EINTR, or restarts the
 * call.  The chain runs after the in-syncs have signalled, after all earlier jobs are
 * done with the BOs that it writes, and after their earlier writers are done with those
 * that it only reads.  Its completion fence goes into the out-syncs and into every listed
 * BO.
 *
 * Waiting for a fence succeeds however the chain ended.  The fence's status says
 * how it ended; a sync_file made from an out-sync reports it (SYNC_IOC_FILE_INFO):
 * 1 for success, else
 *
 *   -EINVAL     the chain asked for something impossible: a bad job, an address
 *               outside all BOs, or an access that is not allowed
 *   -ENOMEM     a heap could not grow
 *   -EIO        power or the bus failed, or the GPU does not take the chain
 *   -ETIME      it ran for too long and was stopped
 *   -ECANCELED  its file was closed while it ran; also -ESRCH if it had not
 *               begun
 *   -ENODEV     the GPU is gone
 *
 * A fault or hang ends only the chain itself: other chains of the same file run,
 * also those that waited for it.
 *
 * From this call until the last of its jobs has ended a listed BO belongs to the
 * GPU.  A CPU that accesses it meanwhile may read old bytes and lose what it writes: on
 * some machines the driver copies the whole BO to and from memory that the GPU can
 * reach.  The driver does that when the job begins and when it ends, before the
 * completion fence signals.  While all of its jobs only read the BO, a CPU may read it,
 * too.  CPU writes to an AGATE_BO_GPU_READONLY BO are never lost, but only a job that
 * begins later is sure to read them.
 *
 * A chain that writes to a BO which it listed as read-only harms nobody who does not use
 * that BO, but the bytes that it wrote may be lost.
 *
 * Every BO the chain touches must be listed, once: EINVAL for a repeated handle.
 * EINVAL also for an in-sync that has no fence yet; EFAULT for a BO whose pages
 * were taken (see MADVISE), because its contents are lost; EIO for a BO with a placement whose
 * contents were lost when it moved; ENOSPC when the BOs with a placement do not fit into their
 * memory at the same time.  That goes for what is bound in the address space of @vm_id, too, and
 * for its AGATE_VM_BIND_USERPTR bindings what is said there.
 */
struct drm_agate_submit {
	/** @jc: GPU address of the first job header, 64-aligned, not 0. */
	__u64 jc;
	/** @in_syncs: pointer to struct drm_agate_sync[in_sync_count]. */
	__u64 in_syncs;
	/** @out_syncs: pointer to struct drm_agate_sync[out_sync_count]. */
	__u64 out_syncs;
	/** @bo_handles: pointer to __u32[bo_handle_count]. */
	__u64 bo_handles;
	/** @in_sync_count: at most AGATE_SUBMIT_MAX_SYNCS. */
	__u32 in_sync_count;
	/** @out_sync_count: at most AGATE_SUBMIT_MAX_SYNCS. */
	__u32 out_sync_count;
	/** @bo_handle_count: at most AGATE_SUBMIT_MAX_BOS. */
	__u32 bo_handle_count;
	/** @requirements: AGATE_JD_REQ_* bits. */
	__u32 requirements;
	/* -- from version 1.1 on -- */
	/**
	 * @bo_flags: pointer to __u32[bo_handle_count], AGATE_SUBMIT_BO_*, or 0: the
	 * chain reads and writes all of them.  EINVAL for an unknown bit, and for a BO
	 * that is neither read nor written.
	 */
	__u64 bo_flags;
	/* -- from version 1.6 on -- */
	/**
	 * @vm_id: run in this address space of VM_CREATE, and use all that is bound there:
	 * bo_handle_count is 0.  A BO counts as written, except one of no vm_id whose bindings
	 * are all AGATE_VM_BIND_READONLY.  Chains do not wait for each other because of BOs of
	 * this vm_id.  ENOENT; ECANCELED: it is AGATE_VM_LONG_RUNNING, and one of its jobs
	 * failed.  0: the file's own address space.
	 */
	__u32 vm_id;
	/** @flags: none are defined; zero. */
	__u32 flags;
};

#define AGATE_SUBMIT_MAX_SYNCS	1024
/* A client that queues faster than the GPU works waits here, and not for memory. */
#define AGATE_SUBMIT_MAX_JOBS	1024
/* Each listed BO's reservation is locked, and lockdep counts up to 2,047 of one class. */
#define AGATE_SUBMIT_MAX_BOS	2000

/* From version 1.1 on: wait only for the jobs that write the BO. */
#define AGATE_WAIT_BO_WRITERS	(1 << 0)

/**
 * struct drm_agate_wait_bo - wait until no job uses a BO
 *
 * EBUSY when timeout_ns is 0 and the BO is busy, ETIMEDOUT when the time runs out
 * first; EINVAL for a private BO of an address space that is AGATE_VM_LONG_RUNNING.
 */
struct drm_agate_wait_bo {
	/** @handle: the BO. */
	__u32 handle;
	/** @flags: AGATE_WAIT_BO_* bits; zero before version 1.1. */
	__u32 flags;
	/** @timeout_ns: absolute CLOCK_MONOTONIC nanoseconds; 0 polls. */
	__s64 timeout_ns;
};

/** The GPU may not execute from this BO. */
#define AGATE_BO_NOEXEC		(1 << 0)
/**
 * The BO gets pages when the GPU first touches them, 2 MiB at a time; the CPU
 * cannot map it (MMAP_BO gives EINVAL).  Needs AGATE_BO_NOEXEC.
 *
 * Nobody can wait for memory then.  So SUBMIT keeps the pages for 2 MiB more at hand: each
 * chain can make the BO grow by as much, and by more if there is free memory.
 */
#define AGATE_BO_HEAP		(1 << 1)
/** CPU maps of this BO are read-only and stay so. */
#define AGATE_BO_CPU_READONLY	(1 << 2)
/** The GPU may not write to this BO. */
#define AGATE_BO_GPU_READONLY	(1 << 3)
/**
 * From version 1.2 on: the BO is one piece of memory, for hardware that cannot gather
 * pages.  It has all of its memory from the beginning, does not lose it (MADVISE gives
 * EINVAL for DONTNEED), and is never copied at the edges of jobs.  A CPU map has its whole
 * page table at once.  Such memory is scarce: ENOMEM when no piece is large enough.  EINVAL
 * with AGATE_BO_HEAP; EOPNOTSUPP without AGATE_FEATURE_CMA.
 */
#define AGATE_BO_CONTIGUOUS	(1 << 4)
/**
 * From version 1.4 on, and only with a placement: MMAP_BO works, so the BO's VRAM is in the
 * part of it that the CPUs reach.  Without the flag MMAP_BO gives EINVAL, except for a BO
 * whose placement is system memory alone.
 */
#define AGATE_BO_CPU_VISIBLE	(1 << 5)
/** Likewise: the BO has memory from the beginning, for which others may have to leave. */
#define AGATE_BO_POPULATE	(1 << 6)
/**
 * From version 1.6 on, and only with a placement: the BO has no address in the file's own
 * address space, and is for VM_BIND.  A BO with a vm_id never has one.
 */
#define AGATE_BO_NO_VA		(1 << 7)

/* How the CPUs map the pages of a BO that has a placement. */
#define AGATE_CACHING_WB	0	/* cached; system memory only */
#define AGATE_CACHING_WC	1	/* write-combining */
#define AGATE_CACHING_UC	2	/* uncached; system memory only */

/** The kinds of memory that a placement names. */
enum drm_agate_region_type {
	DRM_AGATE_REGION_SYSTEM = 0,
	DRM_AGATE_REGION_VRAM = 1,
};

/** The largest BO, in bytes. */
#define AGATE_BO_MAX_SIZE	(1ULL << 30)

/**
 * struct drm_agate_create_bo - make a buffer object
 *
 * Reserves GPU addresses; takes no page until the BO is first used, unless it is
 * AGATE_BO_CONTIGUOUS.  ENOMEM when memory runs out, ENOSPC when the address space is full.
 */
struct drm_agate_create_bo {
	/** @size: bytes, 1 .. AGATE_BO_MAX_SIZE; rounded up to whole pages. */
	__u64 size;
	/** @flags: AGATE_BO_* bits. */
	__u32 flags;
	/** @handle: out, the GEM handle, never 0. */
	__u32 handle;
	/**
	 * @offset: out, the BO's address in this file's GPU address space, valid while
	 * the handle lives; 0 with AGATE_BO_NO_VA or vm_id, and never otherwise.
	 */
	__u64 offset;
	/* -- from version 1.4 on -- */
	/**
	 * @placement: bits 1 << enum drm_agate_region_type: where the BO may be when a
	 * chain uses it.  0: it never moves.  EINVAL for an unknown bit, with HEAP or
	 * CONTIGUOUS, and for a BO that may only be in VRAM and is larger than all of it, or
	 * with CPU_VISIBLE than the part that the CPUs reach; EOPNOTSUPP for a GPU without a
	 * card.  Where the GPU does not reach system memory where it lies, as on a machine that
	 * bounces all DMA, EOPNOTSUPP comes from each call that has to put the BO there.
	 */
	__u32 placement;
	/** @caching: AGATE_CACHING_*; WC with VRAM, and 0 without a placement. */
	__u32 caching;
	/* -- from version 1.6 on; before, both are zero -- */
	/**
	 * @vm_id: only this address space of VM_CREATE may bind the BO, which is never exported
	 * (EPERM).  ENOENT; EINVAL without a placement.  0: any may.
	 */
	__u32 vm_id;
	/** @pad: zero. */
	__u32 pad;
};

/**
 * struct drm_agate_mmap_bo - get the offset to pass to mmap()
 */
struct drm_agate_mmap_bo {
	/** @handle: the BO. */
	__u32 handle;
	/** @flags: none are defined; zero. */
	__u32 flags;
	/** @offset: out, the offset on the device's file. */
	__u64 offset;
};

/** The parameters of GET_PARAM. */
enum drm_agate_param {
	DRM_AGATE_PARAM_GPU_ID = 0,		/* the register, whole */
	DRM_AGATE_PARAM_L2_FEATURES,
	DRM_AGATE_PARAM_CORE_FEATURES,
	DRM_AGATE_PARAM_TILER_FEATURES,
	DRM_AGATE_PARAM_MEM_FEATURES,
	DRM_AGATE_PARAM_MMU_FEATURES,
	DRM_AGATE_PARAM_THREAD_FEATURES,
	DRM_AGATE_PARAM_MAX_THREADS,
	DRM_AGATE_PARAM_THREAD_MAX_WORKGROUP_SZ,
	DRM_AGATE_PARAM_THREAD_MAX_BARRIER_SZ,
	DRM_AGATE_PARAM_COHERENCY_FEATURES,
	DRM_AGATE_PARAM_SHADER_PRESENT,
	DRM_AGATE_PARAM_TILER_PRESENT,
	DRM_AGATE_PARAM_L2_PRESENT,
	DRM_AGATE_PARAM_AS_PRESENT,
	DRM_AGATE_PARAM_JS_PRESENT,
	DRM_AGATE_PARAM_VA_START,		/* lowest GPU address of a BO */
	DRM_AGATE_PARAM_VA_END,			/* one past the highest */
	/** AGATE_FEATURE_* bits: which parts of the driver are present. */
	DRM_AGATE_PARAM_FEATURES,
};

/** Topics of the driver that initialised; see kernel/agate_topics.c. */
#define AGATE_FEATURE_GEM	(1ULL << 0)
#define AGATE_FEATURE_SHMEM	(1ULL << 1)
#define AGATE_FEATURE_MMAP	(1ULL << 2)
#define AGATE_FEATURE_PURGE	(1ULL << 3)
#define AGATE_FEATURE_POWER	(1ULL << 4)
#define AGATE_FEATURE_PGTABLE	(1ULL << 5)
#define AGATE_FEATURE_MMU	(1ULL << 6)
#define AGATE_FEATURE_FAULT	(1ULL << 7)
#define AGATE_FEATURE_SLOT	(1ULL << 8)
#define AGATE_FEATURE_SUBMIT	(1ULL << 9)
#define AGATE_FEATURE_RESET	(1ULL << 10)
#define AGATE_FEATURE_CMA	(1ULL << 11)
#define AGATE_FEATURE_PRIME	(1ULL << 12)
#define AGATE_FEATURE_COHERENCY	(1ULL << 13)
#define AGATE_FEATURE_DVFS	(1ULL << 14)
#define AGATE_FEATURE_PM	(1ULL << 15)
#define AGATE_FEATURE_CARD	(1ULL << 16)	/* VRAM */
#define AGATE_FEATURE_ENGINES	(1ULL << 17)	/* firmware and mover: BOs may have a placement */
#define AGATE_FEATURE_VM_BIND	(1ULL << 18)	/* address spaces of VM_CREATE */
#define AGATE_FEATURE_VM_TABLES	(1ULL << 19)	/* their page tables; VM_BIND needs it */

/**
 * struct drm_agate_get_param - ask for one number; EINVAL for an unknown one
 */
struct drm_agate_get_param {
	/** @param: enum drm_agate_param. */
	__u32 param;
	/** @pad: zero. */
	__u32 pad;
	/** @value: out. */
	__u64 value;
};

/**
 * struct drm_agate_get_bo_offset - a BO's address in this file's GPU space
 */
struct drm_agate_get_bo_offset {
	/** @handle: the BO. */
	__u32 handle;
	/** @pad: zero. */
	__u32 pad;
	/** @offset: out, never 0; EINVAL for a BO that has none. */
	__u64 offset;
};

/*
 * From version 1.2 on DRM's PRIME ioctls share BOs with other processes and drivers; before,
 * and without AGATE_FEATURE_PRIME, they give EOPNOTSUPP or ENOSYS.
 *
 * PRIME_HANDLE_TO_FD: EINVAL for AGATE_BO_HEAP, and before version 1.5 for a BO with a
 * placement; EFAULT for a BO whose pages were taken.  A BO
 * has one dma-buf, whose access rights are those of the first export: without DRM_RDWR
 * nobody maps the dma-buf writable.  An AGATE_BO_CPU_READONLY BO is never mapped writable.  While a
 * dma-buf lives, the BO keeps its pages and the driver cannot be unloaded.
 *
 * PRIME_FD_TO_HANDLE: the same dma-buf gives the same handle, however often, and one GEM_CLOSE
 * closes it; the dma-buf of a BO of the same GPU gives the BO itself.  A BO of another
 * driver is AGATE_BO_NOEXEC; if its dma-buf has no DRM_RDWR, neither the CPU nor the GPU may
 * write to it.  EINVAL for one larger than AGATE_BO_MAX_SIZE.  MMAP_BO and mmap() work if
 * the other driver's mmap() does.
 *
 * As long as another driver has imported a BO with a placement, it is in system memory,
 * whatever its placement says, and jobs use it there.  While FLIP shows it from VRAM the
 * import gives EINVAL.
 *
 * Jobs of all drivers that share a BO wait for each other as those of one driver do.  A CPU
 * that accesses a dma-buf encloses that in DMA_BUF_IOCTL_SYNC, which waits for the jobs.
 */

#define AGATE_MADV_WILLNEED	0	/* in use: keep the pages */
#define AGATE_MADV_DONTNEED	1	/* the kernel may take the pages */

/**
 * struct drm_agate_madvise - say whether a BO's contents matter
 *
 * EINVAL for any other advice, and for DONTNEED on a BO that is shared with another
 * file or driver, is in one piece, or has a placement.
 *
 * From version 1.7 on the call can give the BO another label as well, as SET_LABEL does and
 * with the same errors.  Any error leaves both the label and the advice as they were.
 */
struct drm_agate_madvise {
	/** @handle: the BO. */
	__u32 handle;
	/** @madv: AGATE_MADV_*. */
	__u32 madv;
	/** @retained: out, 1 as long as the BO was not purged, 0 once its pages were taken. */
	__u32 retained;
	/** @pad: zero. */
	__u32 pad;
	/** @label: pointer to the bytes of a label, or 0: the BO keeps the one that it has. */
	__u64 label;
	/** @len: bytes at @label; 0 removes the label.  Without @label: 0. */
	__u32 len;
	/** @pad2: zero. */
	__u32 pad2;
};

/** Bytes of a label, without a terminating zero. */
#define AGATE_LABEL_MAX		63

/**
 * struct drm_agate_set_label - name a BO for debugfs
 *
 * Length 0 removes the label, whatever the pointer.  EINVAL for a label that is longer
 * than AGATE_LABEL_MAX or holds a control character: a byte below 0x20, or 0x7f.
 */
struct drm_agate_set_label {
	/** @handle: the BO. */
	__u32 handle;
	/** @len: bytes at @label, no terminating zero needed. */
	__u32 len;
	/** @label: pointer to the bytes. */
	__u64 label;
};

/**
 * struct drm_agate_region - a kind of memory that BOs with a placement may be in
 */
struct drm_agate_region {
	/** @type: enum drm_agate_region_type. */
	__u32 type;
	/** @id: its bit in a placement is 1 << @id. */
	__u32 id;
	/** @size: bytes; of system memory those that all cards together may take. */
	__u64 size;
	/** @used: of these, how many are taken now. */
	__u64 used;
	/** @cpu_visible: bytes of @size that the CPUs can map. */
	__u64 cpu_visible;
	/** @cpu_visible_used: of these, how many are taken now. */
	__u64 cpu_visible_used;
	/** @min_align: the size of a BO that may be there is rounded up to it. */
	__u32 min_align;
	/** @pad: zero. */
	__u32 pad;
};

/**
 * struct drm_agate_query_regions - ask for the kinds of memory
 *
 * EOPNOTSUPP without AGATE_FEATURE_ENGINES.
 */
struct drm_agate_query_regions {
	/** @regions: pointer to struct drm_agate_region[count], or 0 to ask for @count alone. */
	__u64 regions;
	/**
	 * @count: how many there is room for; out: how many there are.  Those that find no
	 * room are left out.
	 */
	__u32 count;
	/**
	 * @region_size: bytes of the caller's struct drm_agate_region; out: of the driver's.
	 * The end of a longer one is filled with zeros.  EINVAL, unless @regions is 0, for
	 * less than the 48 bytes of version 1.5, and for more than 4,096.
	 */
	__u32 region_size;
};

/** For a display without an MMU: BOs that are AGATE_BO_CONTIGUOUS, or may be in VRAM. */
#define AGATE_FLIP_PHYS		(1 << 0)

/**
 * struct drm_agate_flip - have the card's display show a BO
 *
 * Waits for the jobs that write the BO, and until the display has shown it.  From then on
 * until the next frame is shown the BO stays where it is: in VRAM or in system memory; with
 * AGATE_FLIP_PHYS in one piece.  When the file that showed it is closed, the BO may move again.
 *
 * EINVAL for a BO without a placement, except with AGATE_FLIP_PHYS and AGATE_BO_CONTIGUOUS; with
 * AGATE_FLIP_PHYS for one whose placement has no VRAM, or that must stay in system memory
 * because another driver has imported it; for a frame that makes no sense or is not inside of
 * the BO.  ENOSPC when the BO does not fit into its memory, or the frame not into the
 * display's table.  EIO for a BO whose contents were lost, for a frame that the display cannot
 * read, and when the card has lost its power; ETIMEDOUT when the display does not answer.  After
 * an error the display goes on showing what it showed before.  EOPNOTSUPP without
 * AGATE_FEATURE_ENGINES.
 *
 * A signal that ends the wait may come when the display has begun: then the frame is shown, and
 * shown again by a call that is restarted.
 */
struct drm_agate_flip {
	/** @handle: the BO; 0: show nothing that this file has shown; the rest is zero then. */
	__u32 handle;
	/** @flags: AGATE_FLIP_* bits. */
	__u32 flags;
	/** @offset: of the first pixel in the BO, a multiple of 64. */
	__u64 offset;
	/** @width: pixels, 1 .. 4096. */
	__u32 width;
	/** @height: pixels, 1 .. 4096. */
	__u32 height;
	/** @stride: bytes from row to row, a multiple of 64, at least 4 * @width. */
	__u32 stride;
	/** @format: enum agate_format: 4 bytes a pixel, in this order. */
	__u32 format;
};

/**
 * From version 1.9 on: the jobs of the address space may run for ever.
 *
 * No fence tells when such a job has ended: SUBMIT takes no out-syncs (EINVAL), and WAIT_BO of a
 * BO that is not private does not wait for it.  It says what it has to say by what it writes to memory.  It runs on the
 * compute slot, as with AGATE_JD_REQ_ONLY_COMPUTE; AGATE_JD_REQ_FS is EINVAL.  The jobs of one
 * address space run one after the other; different address spaces take turns.
 *
 * When memory that is bound has to move, when bindings are replaced or removed, and when a turn
 * is over, the driver stops the chain at the end of one of its jobs, and goes on later with the
 * next one.  If a job of the chain does not end within half a second while others wait for memory,
 * the chain is killed.  So it is if a job has not ended ten seconds after its turn was over while
 * another address space waits.  A reset of the GPU may run a job of the chain a second time.
 *
 * Nobody waits for such a job because of the BOs that are bound, and it does not wait for those
 * of other drivers that are in a BO's reservation.  A client that shares memory with it has to
 * synchronise in another way.
 *
 * Memory of processes (AGATE_VM_BIND_USERPTR) that is not there is waited for while other address
 * spaces have the slot.  64 address spaces of one file may wait at a time; a chain that would be
 * one more fails.
 *
 * A chain that was killed, or failed, bans its address space, and so does memory that does not
 * come back: the jobs that it still has end, and SUBMIT and VM_BIND give ECANCELED.
 * VM_DESTROY ends all its jobs.
 */
#define AGATE_VM_LONG_RUNNING	(1 << 0)
/**
 * From version 1.10 on: what is bound may be absent until the GPU touches it.  Needs
 * AGATE_VM_LONG_RUNNING (EINVAL).
 *
 * VM_BIND takes no memory.  Where the GPU finds nothing, its job stands still, the driver brings
 * the memory of that binding, as SUBMIT does in other address spaces, and the job goes on.  So what
 * is bound need not be there all at once.  But a fault moves nothing away that is bound in the
 * same address space, if it has a reservation with it (CREATE_BO: vm_id).
 *
 * When memory has to move, and when bindings change, the chain is not stopped (a VM_BIND that
 * replaces or removes memory of a process waits for the changes before it); a process's memory
 * may go, come and change while the job runs, and each access finds what the process would find.
 * Memory that comes late, such as a file's, is waited for as long as no other address space needs
 * the slot.
 *
 * The chain fails where nothing is bound, where it writes and the binding is READONLY, where a
 * process's memory is gone, and where no memory can be had.
 */
#define AGATE_VM_FAULT_MODE	(1 << 1)

/**
 * struct drm_agate_vm_create - make an address space, whose owner chooses the addresses
 *
 * From version 1.6 on, besides the file's own.
 */
struct drm_agate_vm_create {
	/** @flags: AGATE_VM_* bits. */
	__u32 flags;
	/** @vm_id: out, never 0; a name in this file. */
	__u32 vm_id;
	/** @va_start: out, the lowest address that can be bound. */
	__u64 va_start;
	/** @va_end: out, one past the highest. */
	__u64 va_end;
};

/**
 * struct drm_agate_vm_destroy - give an address space's name back; ENOENT
 *
 * Its jobs run to their end, and keep what is bound until then; those of an address space that
 * is AGATE_VM_LONG_RUNNING end now.
 */
struct drm_agate_vm_destroy {
	/** @vm_id: the address space. */
	__u32 vm_id;
	/** @pad: zero. */
	__u32 pad;
};

#define AGATE_VM_BIND_MAP	0	/* bind a part of a BO, instead of what the range held */
#define AGATE_VM_BIND_UNMAP	1	/* the range holds nothing; parts of bindings may go */

/** The GPU may not write there. */
#define AGATE_VM_BIND_READONLY	(1 << 0)
/** The GPU may not execute from there. */
#define AGATE_VM_BIND_NOEXEC	(1 << 1)
/**
 * From version 1.8 on: MAP binds memory of the calling process, and not of a BO.
 *
 * The memory stays what it is: the process may unmap, move, protect or share it, and the kernel
 * may swap it out.  The process, or the kernel, waits then for the jobs that the address space
 * has.  The next SUBMIT looks for the memory again, as if the process itself accessed it: EFAULT
 * if it is there no more, or if the GPU may write and the process may not.  Unbind the part that
 * is gone, at an end of the binding, and the rest works.  Only the process that bound it may
 * use SUBMIT for the address space; the others get EPERM, and so does a process that has
 * called exec().  EAGAIN if memory changes faster than it can be looked for: make the call again,
 * as libdrm's drmIoctl() does by itself.  In an address space that is AGATE_VM_LONG_RUNNING, and
 * not AGATE_VM_FAULT_MODE, VM_BIND gives EPERM to a second process, too.
 *
 * The call: EINVAL for a handle, and for a range that wraps or is larger than a BO may be;
 * EFAULT for what is not all memory of the process, or is a device's, or a BO's, and for what
 * it may not write, except with READONLY; ENOSPC for more than AGATE_SUBMIT_MAX_BOS such
 * bindings; EOPNOTSUPP where the GPU does not reach the memory where it lies.  The memory is
 * not charged to anybody a second time: nothing is pinned.
 */
#define AGATE_VM_BIND_USERPTR	(1 << 2)

/**
 * struct drm_agate_vm_bind - change what a range of an address space holds
 *
 * The operations of an address space take effect in the order of the calls, each behind its
 * in-syncs; a SUBMIT for the address space comes after all calls before it, so a client need
 * not wait.  A change that replaces or removes a binding waits for the jobs that the address
 * space has by then.  The fence of the change is in the out-syncs.
 *
 * A BO has a placement, or is, from version 1.9 on, of another driver: EOPNOTSUPP where the GPU
 * does not reach its memory where it lies.  Jobs wait for those of the other driver that are
 * in the BO's reservation, and it can wait for them.
 *
 * EPERM for a BO that belongs to another address space.  EINVAL for one without a placement,
 * unless it is of another driver, and for a range or an offset that is empty, outside of the BO or of the address space, or
 * not a multiple of 4 KiB.  ENOSPC if the BO does not fit into its memory, and if
 * AGATE_SUBMIT_MAX_BOS other BOs of no vm_id are bound; EIO if its contents are lost; ENOMEM.
 * Like SUBMIT the call waits while AGATE_SUBMIT_MAX_JOBS jobs of this file have not ended.
 */
struct drm_agate_vm_bind {
	/** @vm_id: the address space; ENOENT. */
	__u32 vm_id;
	/** @op: AGATE_VM_BIND_MAP or AGATE_VM_BIND_UNMAP. */
	__u32 op;
	/** @flags: AGATE_VM_BIND_* bits; 0 with UNMAP. */
	__u32 flags;
	/** @handle: MAP: the BO; else 0, and 0 with USERPTR. */
	__u32 handle;
	/** @addr: the first GPU address. */
	__u64 addr;
	/** @range: bytes. */
	__u64 range;
	/** @offset: MAP: the first byte in the BO; USERPTR: the address in the process; else 0. */
	__u64 offset;
	/** @in_syncs: pointer to struct drm_agate_sync[in_sync_count]. */
	__u64 in_syncs;
	/** @out_syncs: pointer to struct drm_agate_sync[out_sync_count]. */
	__u64 out_syncs;
	/** @in_sync_count: at most AGATE_SUBMIT_MAX_SYNCS. */
	__u32 in_sync_count;
	/** @out_sync_count: at most AGATE_SUBMIT_MAX_SYNCS. */
	__u32 out_sync_count;
};

#if defined(__cplusplus)
}
#endif

#endif /* AGATE_DRM_H */
