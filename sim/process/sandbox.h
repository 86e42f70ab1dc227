/* SPDX-License-Identifier: MIT */
/*
 * The system calls that the process may make once it serves a guest: a seccomp filter,
 * installed when everything is open and mapped.  Any other call kills the process.
 *
 * The filter allows: reading and writing the descriptors named here, poll(), answers on
 * the control socket, anonymous memory that is not executable, the time, closing
 * descriptors, and exiting.  The process can no longer open a file or a socket, nor
 * signal or trace another process.
 *
 * A filter sees numbers, not memory: it knows to which descriptor the process writes, but
 * not which bytes.  And everything that is mapped stays mapped, guest RAM included.
 */
#ifndef AGATE_PROCESS_SANDBOX_H
#define AGATE_PROCESS_SANDBOX_H

#include <linux/filter.h>

#define SANDBOX_FDS	10
#define SANDBOX_FILTER	256	/* instructions, at most */

struct sandbox {
	int read[SANDBOX_FDS];
	int write[SANDBOX_FDS];
	unsigned int reads, writes;
	int socket;			/* -1: none */
};

/* The filter's instructions; returns how many. */
unsigned int sandbox_filter(const struct sandbox *sandbox,
			    struct sock_filter filter[SANDBOX_FILTER]);

/*
 * Allow only that from here on.  Returns 0, or an errno when the host has no seccomp; in
 * both cases the process can no longer gain privileges.
 */
int sandbox_enter(const struct sandbox *sandbox);

#endif /* AGATE_PROCESS_SANDBOX_H */
