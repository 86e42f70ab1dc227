/* SPDX-License-Identifier: MIT */
/*
 * Kept programs: what PID 1 and a program that it keeps say to each other.
 *
 * PID 1 starts PROGRAM KEPT_OPTION, with one end of a socket of packets as descriptor
 * KEPT_SOCKET.  A packet to the program is a request: the arguments, each ended by NUL, and
 * with them the descriptors from 0 on that the process gets.  The program forks that
 * process, which goes on as if it had just been started with them, and sends two answers:
 * one when the process is there, one when it has ended.  At the end of file it exits.
 *
 * PID 1 waits for the first answer, so a program that does not know KEPT_OPTION has to end
 * when it gets it.
 */
#ifndef AGATE_KEPT_PROTO_H
#define AGATE_KEPT_PROTO_H

#include <stdint.h>

#define KEPT_OPTION	"--kept"
#define KEPT_SOCKET	3
#define KEPT_REQUEST	4096	/* bytes, at most */
#define KEPT_ARGS	16	/* arguments, at most */
#define KEPT_FDS	4	/* descriptors, at most */

struct kept_answer {
	int32_t pid;		/* of the process, or -errno: there is none */
	int32_t ended;		/* 0 or 1 */
	int32_t status;		/* as waitpid() has it, if it has ended */
};

#endif /* AGATE_KEPT_PROTO_H */
