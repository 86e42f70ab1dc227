/* SPDX-License-Identifier: MIT */
/*
 * What the process may still ask of its host once it serves a guest: a seccomp
 * filter, installed when everything is open and mapped.  Whatever else is asked for
 * kills the process.
 *
 * Left are: reading and writing of the descriptors named here, poll(), answers on
 * the control socket, anonymous memory that cannot be executed, the time, to close
 * descriptors, and to end.  Nothing can be opened any more, no file, no socket; and
 * nobody else can be signalled or traced.
 *
 * What a filter cannot see: it judges numbers, not memory.  So it knows which
 * descriptor is written to, and not what; and all of what is mapped stays mapped, guest
 * RAM among it.
 */
#ifndef AGATE_PROCESS_SANDBOX_H
#define AGATE_PROCESS_SANDBOX_H

#include <linux/filter.h>

#define SANDBOX_FDS	8
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
 * From here on only that.  Returns 0, or an errno when the host has no seccomp;
 * new privileges cannot be had in any case.
 */
int sandbox_enter(const struct sandbox *sandbox);

#endif /* AGATE_PROCESS_SANDBOX_H */
