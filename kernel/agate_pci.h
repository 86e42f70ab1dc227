/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * First contact (lab 01): from a PCI function to a GPU that answers.
 *
 * Probe enables the function, sets the DMA mask, lets the frame map the bus,
 * resets the GPU, reads its identity, and takes the four MSI-X vectors.  Each
 * vector has a hard handler, which looks whether the line is really up and
 * closes the mask, and a thread, which calls the topic that serves the block and
 * then opens the mask again.
 */
#ifndef AGATE_PCI_H
#define AGATE_PCI_H

#include <linux/interrupt.h>
#include <linux/types.h>

struct agate_device;

/**
 * struct agate_identity - what the GPU said about itself
 * @gpu_id: product, version and status, as the register has them
 *
 * The rest is named after the registers in agate_regs.h.
 */
struct agate_identity {
	u32 gpu_id;
	u32 l2_features;
	u32 core_features;
	u32 tiler_features;
	u32 mem_features;
	u32 mmu_features;
	u32 thread_features;
	u32 max_threads;
	u32 max_workgroup_size;
	u32 max_barrier_size;
	u32 coherency_features;
	u32 as_present;
	u32 js_present;
	u32 js_features[16];
	u64 shader_present;
	u64 tiler_present;
	u64 l2_present;
};

/**
 * struct agate_irq - one MSI-X vector
 * @adev: the device, for the handlers
 * @serve: set by the topic that owns the block, NULL while that is absent (the
 *	mask then stays closed); runs in the vector's thread, where it may sleep,
 *	with the mask closed, so that STAT is 0; clears what it has read
 * @base: the block's RAWSTAT register; CLEAR, MASK and STAT follow it.  0: the block
 *	has no registers, so nothing is written for it, and nobody serves the vector
 * @mask: bits that are open unless one of the reasons below keeps MASK 0;
 *	changed under @lock
 * @irq: Linux interrupt number, 0 while not requested; it stays until the handler is freed
 * @lock: orders changes of MASK against each other and against suspend: MASK is
 *	opened only while it is held, and the hard handler waits for it
 * @suspended: MASK stays 0 (reset or removal in progress)
 * @serving: MASK stays 0 until the thread is done
 */
struct agate_irq {
	struct agate_device *adev;
	void (*serve)(struct agate_device *adev);
	u32 base;
	u32 mask;
	int irq;
	spinlock_t lock;	/* MASK and the reasons for it */
	bool suspended;
	bool serving;
};

/**
 * agate_pci_init - bring the GPU up
 * @adev: the device; adev->pdev is the function
 *
 * Return: 0, or the error of the step that failed, with everything undone.
 */
int agate_pci_init(struct agate_device *adev);

/**
 * agate_pci_fini - undo agate_pci_init(); works on a GPU that is gone, too
 * @adev: the device
 *
 * A GPU that is still there is left reset.  If it is gone, or no reset completes, all the
 * rest is undone the same.
 */
void agate_pci_fini(struct agate_device *adev);

/**
 * agate_gpu_soft_reset - reset the GPU and wait for it
 * @adev: the device
 *
 * The GPU forgets everything but its identity: power, address spaces, masks.
 * The masks of vectors that are served, not suspended, and whose thread is not at
 * work are opened again, all others stay closed.  When the hard reset does not complete
 * either, this call writes nothing more to the GPU; a later call tries again, with a soft
 * reset first.  Calls that change a mask may come while this one waits, and count.
 *
 * Context: may sleep; no job may be running that matters.
 * Return: 0; -ETIMEDOUT when neither a soft nor a hard reset completed;
 * -ENODEV when the GPU is gone.
 */
int agate_gpu_soft_reset(struct agate_device *adev);

/**
 * agate_irq_enable - a topic is ready: set what serves a vector, open its mask
 * @adev: the device
 * @vector: AGATE_VECTOR_*
 * @mask: interrupt bits it wants, these and no others
 * @serve: see &struct agate_irq; NULL closes the mask, then waits for the thread
 *
 * A bit that is set already is served.  With a @serve the vector is not suspended afterwards.
 *
 * Context: may sleep; not from a vector's thread.  No other task enables or resumes the
 * vector meanwhile.
 */
void agate_irq_enable(struct agate_device *adev, unsigned int vector, u32 mask,
		      void (*serve)(struct agate_device *adev));

/**
 * agate_irq_set_mask - change the bits that are open, now or when resumed
 * @adev: the device
 * @vector: AGATE_VECTOR_*
 * @mask: interrupt bits
 *
 * Context: any; also from serve(), where MASK stays 0 until the thread is done.
 */
void agate_irq_set_mask(struct agate_device *adev, unsigned int vector, u32 mask);

/**
 * agate_irq_suspend - close one vector's mask, then wait until its thread is done
 * @adev: the device
 * @vector: AGATE_VECTOR_*
 *
 * Suspends are not counted: one agate_irq_resume() ends them all.  The call waits, too,
 * when the vector is suspended already.  No signal and no time ends the wait.
 *
 * Context: may sleep; not from the vector's own thread, but from that of another vector.
 */
void agate_irq_suspend(struct agate_device *adev, unsigned int vector);

/**
 * agate_irq_resume - open it again, with the bits that were set last
 * @adev: the device
 * @vector: AGATE_VECTOR_*
 *
 * What came meanwhile is served, because writing MASK makes the GPU look at the line.
 * While the thread is at work MASK stays 0; the end of the thread opens it then.
 */
void agate_irq_resume(struct agate_device *adev, unsigned int vector);

#endif /* AGATE_PCI_H */
