/* SPDX-License-Identifier: MIT */
/*
 * Graded tests in processes that one program forks, as guest/init/kept_proto.h has it.
 */
#ifndef AGATE_GRADED_KEPT_H
#define AGATE_GRADED_KEPT_H

/*
 * Serves PID 1 until it lets the program go; returns the exit status.  @main_function is
 * called in each new process, with the arguments of its request.
 */
int graded_kept(int (*main_function)(int argc, char **argv));

#endif /* AGATE_GRADED_KEPT_H */
