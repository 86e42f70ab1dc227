/* SPDX-License-Identifier: MIT */
/*
 * The process's command line.
 */
#ifndef AGATE_PROCESS_SIM_OPTIONS_H
#define AGATE_PROCESS_SIM_OPTIONS_H

#include <stdbool.h>

#include "agate_sim.h"
#include "inject_spec.h"
#include "log.h"
#include "ram.h"

struct options {
	int bar2_fd;
	int doorbell_fd;
	int vector_fd[AGATE_NUM_VECTORS];
	int ram_fd;
	int ready_fd;
	int control_fd;			/* -1: none */
	const char *log_path;		/* NULL: none */
	const char *trace_path;		/* NULL: none */
	const char *scanout_dir;	/* where frames go; NULL: nowhere */
	uint32_t number;		/* 0: the first GPU, whose frames have no number */
	enum log_level log_level;
	uint64_t log_limit;		/* bytes: of the log, the trace, all frames */
	bool idle_from_host;		/* model time passes while the GPU is idle */
	struct injections injections;
	struct ram ram;			/* ranges only */
	uint64_t vram_visible;		/* 0: as much as BAR2 has room for */
	struct agate_sim_config config;	/* all but the memory */
};

/* If the command line is wrong, prints the reason on stderr and returns false. */
bool options_parse(struct options *options, int argc, char **argv);

#endif /* AGATE_PROCESS_SIM_OPTIONS_H */
