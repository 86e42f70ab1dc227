/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Suspend (lab 26): the card loses its power while the system sleeps, and with it all of VRAM, the
 * global table, its registers and the mover's place in the ring.
 *
 * The order is the lesson.  The mover saves what belongs to clients, as long as it works; then
 * it stops, and the CPUs save what it works with:
 *
 *   1. BOs in VRAM that nobody needs there are evicted, and come back at their next use
 *   2. BOs that have to stay are copied aside: those that are pinned, and those of jobs that the
 *      sleep interrupts, because such a job finds its memory where it was
 *   3. the display and the mover finish, and the firmware stops
 *   4. kernel memory goes to its backup, which is there since the memory is
 *   5. the supply goes off
 *
 * Resume is the same the other way round, and nothing changes its place: kernel memory, then
 * the table that leads to it, then the firmware that needs both, then the mover, and with it the
 * BOs that had to stay.  Nobody saves what is filled again anyway (AGATE_KMEM_NO_SAVE).
 *
 * Frame: collects the BOs and gets pages for them, then stops the jobs, and starts them after this
 * (agate_sleep.h); copies (agate_move.h); removes later what leaves the table meanwhile
 * (agate_ggtt_frame.h).
 *
 * The model upstream is xe_bo_evict.c and xe_pm.c.
 */
#ifndef AGATE_SUSPEND_H
#define AGATE_SUSPEND_H

struct agate_device;

/**
 * agate_suspend - save what the card has, and switch it off
 * @adev: the device, with its engines, after agate_sleepers_prepare(); all jobs are off the GPU,
 *	and none starts
 *
 * Context: may sleep; under unplug_lock; holds no reservation but one at a time.
 * Return: 0; -ENOMEM; -EBUSY for a move, a flip or a mover that does not end; -EIO: the card has
 * lost its power already, its mover was given up, or a copy failed; -ETIMEDOUT: the firmware does
 * not stop, and if it does so later, the mover is given up; -ENODEV when the GPU is gone.
 * After an error the card works as before; BOs that were evicted come back at their next use, and
 * one whose copy failed is lost.
 */
int agate_suspend(struct agate_device *adev);

/**
 * agate_resume - switch the card on, and give it back what it had
 * @adev: the device, after agate_suspend(); no job runs yet
 *
 * A BO that cannot be brought back is lost: its next user gets -EIO.
 *
 * Context: as agate_suspend().
 * Return: 0; -EIO: the card has no power, or refuses its firmware; -ETIMEDOUT; -ENODEV.  After
 * an error the card is of no use any more.
 */
int agate_resume(struct agate_device *adev);

#endif /* AGATE_SUSPEND_H */
