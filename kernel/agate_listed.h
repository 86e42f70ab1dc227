/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tell the GPU which BOs a job listed.  The GPU then reports when the job touches
 * anything else (book/hardware.md, section 8.6).
 *
 * Memory that a job did not list may be present when the job touches it, or may
 * just have been purged or freed: such a job is wrong even when it works.  Because
 * the list costs register writes, only the module parameter tell_listed switches it
 * on.
 */
#ifndef AGATE_LISTED_H
#define AGATE_LISTED_H

struct agate_job;

/**
 * agate_listed_tell - write the list for the next chain of a job's slot
 * @job: from the scheduler; the caller calls agate_slot_run() next
 *
 * The slot's next START takes the list.  When the driver withdraws a chain from
 * NEXT, its list stays for the START that queues the chain again.  So the code that
 * starts chains need not know of lists, as long as it starts jobs in the order in
 * which it gets them.  If a job is not started now, the next job's list replaces
 * its list.
 *
 * The ranges need no lock: a job's mappings are complete before the job is pushed,
 * and a range does not change while somebody holds a reference to its mapping.  The
 * job holds one.
 *
 * Context: a thread in the fence-signalling path; takes slots.lock.
 */
void agate_listed_tell(struct agate_job *job);

#endif /* AGATE_LISTED_H */
