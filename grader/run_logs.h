/* SPDX-License-Identifier: MIT */
/*
 * The logs in a lab's folder of a run.
 */
#ifndef AGATE_GRADER_RUN_LOGS_H
#define AGATE_GRADER_RUN_LOGS_H

/* Removes the logs that an earlier run left in @folder. */
void run_logs_remove(const char *folder);

#endif /* AGATE_GRADER_RUN_LOGS_H */
