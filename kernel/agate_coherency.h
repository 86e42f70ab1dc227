/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Topic "coherency" (lab 16): which caches snoop which, and what the driver does where they
 * do not.
 *
 * There are two caches between a CPU and the GPU, and each needs care of its own:
 *
 *  - the CPUs' caches, or the memory that the DMA layer gives the GPU in place of a BO's pages
 *    (it bounces them).  The DMA API cares for those: dma_sync_*_for_device() cleans what a CPU
 *    wrote, and dma_sync_*_for_cpu() invalidates what a CPU would read.  It knows when there is
 *    nothing to do.  No protocol of the GPU makes it unnecessary: memory is bounced all
 *    the same
 *  - the GPU's L2.  A chain that starts drops the lines that memory has overtaken, and a chain
 *    that ends writes its dirty lines to memory, if CONFIG of its slot says so.  How much of that
 *    is necessary depends on the protocol:
 *
 *      protocol   the GPU snoops the CPUs   the CPUs snoop the L2   start             end
 *      NONE       no                        no                      clean, inval.     clean, inval.
 *      ACE-Lite   yes                       no                      nothing           clean
 *      ACE        yes                       yes                     nothing           nothing
 *
 * The GPU's features say what it could do, not how the SoC is wired.  A driver for a SoC reads
 * that in the device tree; here it is the module's parameter "coherency": none, which is the
 * default, ace-lite or ace.  A protocol that the GPU does not have is not used.
 *
 * In protected mode no CPU may see what the GPU works on.  Under ACE the CPUs snoop
 * its L2, so ACE-Lite takes the place of ACE there.
 */
#ifndef AGATE_COHERENCY_H
#define AGATE_COHERENCY_H

#include <linux/dma-direction.h>
#include <linux/types.h>

struct agate_device;
struct agate_job;

/**
 * struct agate_coherency - what this topic keeps of a device
 * @wired: GPU_COHERENCY_*: how the SoC is wired; does not change while the topic is present
 * @protected: the GPU is in protected mode from the next agate_coherency_select() on
 */
struct agate_coherency {
	u32 wired;
	bool protected;
};

/**
 * agate_coherency_topic_init - choose how the SoC is wired
 * @adev: the device, whose identity is known
 *
 * That is what the module's parameter says if the GPU has the protocol, and none otherwise.  The
 * log says which.
 *
 * Return: 0.
 */
int agate_coherency_topic_init(struct agate_device *adev);
void agate_coherency_topic_fini(struct agate_device *adev);

/**
 * agate_coherency_protocol - the protocol that the L2 uses while it is on
 * @adev: the device
 *
 * Return: GPU_COHERENCY_*: the wired one, but ACE-Lite for ACE in protected mode.
 */
u32 agate_coherency_protocol(const struct agate_device *adev);

/**
 * agate_coherency_name - the name of a protocol, as the module's parameter has it
 * @protocol: GPU_COHERENCY_*
 */
const char *agate_coherency_name(u32 protocol);

/**
 * agate_coherency_select - tell the GPU the protocol, and to enter protected mode if it shall
 * @adev: the device; its L2 is off: it could hold lines of another protocol
 *
 * A reset ends both.
 *
 * Return: 0; -ETIMEDOUT when the GPU is not in protected mode, and shall be; -ENODEV when it is
 * gone.
 */
int agate_coherency_select(struct agate_device *adev);

/**
 * agate_coherency_protect - decide whether the GPU is in protected mode
 * @adev: the device, whose GPU is off; the caller resets it before it calls
 *	agate_coherency_select(): nothing else ends protected mode
 * @on: it is
 */
void agate_coherency_protect(struct agate_device *adev, bool on);

/**
 * agate_coherency_flushes - what a chain does with the L2 when it starts and when it ends
 * @adev: the device
 *
 * Context: atomic.
 * Return: JS_CONFIG_START_FLUSH_* and JS_CONFIG_END_FLUSH_*.
 */
u32 agate_coherency_flushes(const struct agate_device *adev);

/**
 * agate_coherency_to_device - what a CPU wrote to memory becomes visible to the GPU
 * @adev: the device
 * @addr: in memory that is mapped for DMA, not from dma_alloc_*()
 * @size: bytes
 * @dir: direction of that mapping
 *
 * Context: atomic.
 */
void agate_coherency_to_device(struct agate_device *adev, dma_addr_t addr, size_t size,
			       enum dma_data_direction dir);

/**
 * agate_coherency_to_cpu - what the GPU wrote to memory becomes visible to the CPUs
 * @adev: the device
 * @addr: as above
 * @size: bytes
 * @dir: direction of that mapping
 *
 * What a CPU wrote there since the last agate_coherency_to_device() may be lost.
 *
 * Context: atomic.
 */
void agate_coherency_to_cpu(struct agate_device *adev, dma_addr_t addr, size_t size,
			    enum dma_data_direction dir);

/**
 * agate_coherency_clear_header - let a chain that starts again look as if it had not started
 * @job: the GPU does not have its chain; slots.lock is held
 *
 * After a reset a chain that did not stop starts again from its head, where the GPU may have
 * written how that job ended.  This sets the three fields of the header at job->jc that the GPU
 * writes to 0, as the client left them.  The GPU may have written other bytes of that
 * cache line, and they stay.
 *
 * A header that is not in a BO that the job lists, or not in the driver's own pages, stays as it
 * is; so does one in a GPU_READONLY BO, to which the GPU has not written.
 *
 * Context: atomic, in the fence-signalling path.
 */
void agate_coherency_clear_header(struct agate_job *job);

#endif /* AGATE_COHERENCY_H */
