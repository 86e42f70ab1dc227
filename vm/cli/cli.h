/* SPDX-License-Identifier: MIT */
/*
 * agate-vm: the launcher as a program. cli.c has the options and the exit status,
 * run_steps.c the steps between start and stop.
 */
#ifndef AGATE_VM_CLI_H
#define AGATE_VM_CLI_H

#include "vm.h"

/*
 * Exit status.  A guest program's status is passed on unchanged up to GUEST_MAX;
 * after a signal it is 128 + signal.
 */
enum cli_exit {
	EXIT_GUEST_MAX = 239,
	EXIT_CRASHED = 240,	/* the guest's kernel panicked */
	EXIT_TIMED_OUT = 241,	/* --timeout, or a step's own limit */
	EXIT_LOST = 242,	/* QEMU ended by itself, or the guest switched off */
	EXIT_HOST = 243,	/* a file, QEMU or the GPU's process: on our side */
	EXIT_REFUSED = 244,	/* PID 1 could not do a step */
	EXIT_USAGE = 245,
	EXIT_INTERRUPTED = 246,	/* SIGINT, SIGTERM, SIGHUP */
};

#define STEPS_MAX	256

struct cli_step {
	const char *text;
	uint64_t ns;		/* how long it took */
};

struct cli {
	struct vm_config cfg;
	const char *timings;
	bool shell;
	struct cli_step steps[STEPS_MAX];
	size_t nsteps;
	size_t done;		/* steps that were begun */
	const char *kill_on;	/* kill a GPU when this appears in the output */
	unsigned int kill_gpu;	/* that GPU's number */
	size_t matched;
	size_t output_max;	/* further output is dropped */
	size_t written;		/* bytes of the programs' output, all steps together */
	bool dropped;		/* the output after them */
	struct vm *vm;
};

uint64_t cli_now(void);

/* Writes all bytes, or as many as the reader takes before the run is out of time. */
void cli_write(struct cli *cli, int fd, const char *data, size_t len);

/* True when @text is a step that run_step() knows. */
bool step_valid(const char *text);

/* Runs one step; *exit_code is not 0 when its program did not succeed. */
enum vm_status step_run(struct cli *cli, const char *text, int *exit_code);

#endif /* AGATE_VM_CLI_H */
