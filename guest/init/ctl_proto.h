/* SPDX-License-Identifier: MIT */
/*
 * The control channel: the protocol between the launcher and PID 1 of a guest, over the
 * virtio-serial port named CTL_PORT.
 *
 * Both directions carry frames: a header, then `len` bytes.  All integers are
 * little-endian.  The launcher picks the ids; an answer carries the id of its request.
 * Only PID 1 ever holds the port, so the launcher cannot mistake a test's or a driver's
 * output for a frame.
 *
 * Every frame carries the nonce of the run, which the launcher makes and PID 1
 * takes from the header of CTL_SETUP: a frame from before the snapshot, or from a driver
 * that found the port, has another nonce, and both sides reject it.
 */
#ifndef AGATE_CTL_PROTO_H
#define AGATE_CTL_PROTO_H

#include <stdint.h>

#define CTL_PORT	"agate.ctl"
#define CTL_VERSION	4
#define CTL_PAYLOAD_MAX	(64u << 10)
#define CTL_MARK_MAX	200u

struct ctl_header {
	uint32_t len;		/* bytes that follow, at most CTL_PAYLOAD_MAX */
	uint32_t type;		/* enum ctl_type */
	uint32_t id;
	uint32_t reserved;	/* 0 */
	uint64_t nonce;		/* 0 before CTL_SETUP */
};

enum ctl_type {
	/* guest to host, once, when PID 1 is ready; payload: uint32_t CTL_VERSION */
	CTL_READY = 1,
	/* guest to host: a request ended; payload: int32_t, 0 or an errno */
	CTL_ACK,
	/* guest to host: bytes of the file that CTL_GET named, or lines of CTL_HEALTH */
	CTL_DATA,
	/* guest to host: output of the process that CTL_EXEC started */
	CTL_STDOUT,
	CTL_STDERR,
	/* guest to host: the output on descriptor 3, with CTL_EXEC_REPORT */
	CTL_REPORT,
	/* guest to host: the process is gone; payload: struct ctl_exit */
	CTL_EXIT,

	/* host to guest: struct ctl_setup; answered by ACK */
	CTL_SETUP = 64,
	/* host to guest: look for new PCI devices and wait until they are bound; ACK */
	CTL_RESCAN,
	/* host to guest: uint32_t mode, then the path; no answer by itself */
	CTL_PUT,
	/* host to guest: bytes of the file; no answer by itself */
	CTL_PUT_DATA,
	/* host to guest: the file is whole; ACK with the first error since CTL_PUT */
	CTL_PUT_END,
	/* host to guest: the path; answered by DATA frames, then ACK */
	CTL_GET,
	/* host to guest: struct ctl_exec, then argv, each ended by NUL; then EXIT */
	CTL_EXEC,
	/*
	 * host to guest: input for the terminal of the process of this id, or for
	 * its pipe with CTL_EXEC_REPORT, where no bytes at all mean the end
	 */
	CTL_STDIN,
	/* host to guest: struct ctl_winsize for the terminal of the process of this id */
	CTL_RESIZE,
	/* host to guest: int32_t signal for the process group of this id */
	CTL_KILL,
	/* host to guest: sync and power off; no answer */
	CTL_POWEROFF,
	/* host to guest: a line for the kernel's log; ACK when it is there */
	CTL_MARK,
	/* host to guest: make the kernel log where each task hangs, then as CTL_MARK */
	CTL_WHERE,
	/*
	 * host to guest: the kernel's state; payload: uint32_t, 1: counts have to be
	 * exact, and pending frees done, which takes longer; answered by DATA, "KEY NUMBER" on each line, then ACK
	 */
	CTL_HEALTH,
};

/*
 * A restored guest repeats its random numbers and believes it is still the day
 * of the snapshot, until the launcher corrects both.
 */
struct ctl_setup {
	uint64_t seconds;	/* CLOCK_REALTIME */
	uint32_t nanoseconds;
	uint8_t seed[32];
	uint32_t reserved;
};

struct ctl_winsize {
	uint16_t rows;
	uint16_t cols;
};

#define CTL_EXEC_TTY	1u	/* on a terminal of its own; all output is CTL_STDOUT */
#define CTL_EXEC_REPORT	2u	/* input from CTL_STDIN, and descriptor 3 is CTL_REPORT */
#define CTL_EXEC_TRACED	4u	/* a panic from now on shows what every CPU was doing */
#define CTL_EXEC_KEPT	8u	/* by a process that was kept (kept_proto.h), if it can */

struct ctl_exec {
	uint32_t flags;
	struct ctl_winsize size;	/* of the terminal, with CTL_EXEC_TTY */
};

enum ctl_exit_how {
	CTL_EXITED,		/* value: exit status */
	CTL_SIGNALED,		/* value: signal */
	CTL_NOT_STARTED,	/* value: errno */
};

struct ctl_exit {
	uint32_t how;		/* enum ctl_exit_how */
	uint32_t value;
};

#endif /* AGATE_CTL_PROTO_H */
