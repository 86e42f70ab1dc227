/* SPDX-License-Identifier: MIT */
/*
 * Names of the numbers in registers, events and counters.
 */
#ifndef AGATE_MODEL_NAMES_H
#define AGATE_MODEL_NAMES_H

#include <stddef.h>
#include <stdint.h>

/* Big enough for any register's name. */
#define NAME_SIZE	40

/* The register's name in buf, or its offset when it has none. */
const char *name_register(uint32_t offset, char buf[NAME_SIZE]);

/* Static strings; "unknown" for a number without a name. */
const char *name_exception(unsigned int exception);
const char *name_job_type(unsigned int type);
const char *name_access(unsigned int access);
const char *name_vector(unsigned int vector);
const char *name_power_domain(unsigned int domain);
const char *name_as_command(unsigned int command);
const char *name_gpu_command(unsigned int command);
const char *name_injection(unsigned int kind);
const char *name_fw_state(unsigned int state);
const char *name_fw_reason(unsigned int reason);
const char *name_mover_op(unsigned int op);
const char *name_mover_reason(unsigned int reason);	/* ... or of a flip */
const char *name_counter(unsigned int counter);

#endif /* AGATE_MODEL_NAMES_H */
