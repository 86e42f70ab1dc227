/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a job listed, told to the GPU, which then says when the job touches
 * anything else (book/hardware.md, section 8.6).
 *
 * Memory that a job did not list may be there when the job touches it, or may
 * just have been purged or freed: such a job is wrong even where it works.  Only
 * the module parameter tell_listed switches this on: it costs register writes.
 */
#ifndef AGATE_LISTED_H
#define AGATE_LISTED_H

struct agate_job;

/**
 * agate_listed_tell - a list for the next chain of a job's slot
 * @job: the scheduler hands it out; agate_slot_run() follows
 *
 * The slot's next START takes the list, and a chain that is taken back from NEXT
 * leaves it for the START that queues that chain again.  So what starts chains
 * need not know of lists, as long as it starts what it is given, in that order.
 * A job that is not started now leaves its list to be replaced by the next one's.
 *
 * The ranges need no lock: a job's mappings are complete before it is pushed, and
 * a range stays as it is for as long as its mapping is referenced, which the job
 * does.
 *
 * Context: a thread in the fence-signalling path; takes slots.lock.
 */
void agate_listed_tell(struct agate_job *job);

#endif /* AGATE_LISTED_H */
