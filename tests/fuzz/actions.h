/* SPDX-License-Identifier: MIT */
/*
 * The bytes that stand for actions in the inputs of the script targets.  Append new
 * ones at the end: the corpus refers to them by number.
 */
#ifndef AGATE_FUZZ_ACTIONS_H
#define AGATE_FUZZ_ACTIONS_H

/* The first byte of every input; bits of it. */
enum guest_kind {
	KIND_MIDGARD = 0,
	KIND_BIFROST = 1,	/* with LPAE tables */
	KIND_AARCH64 = 3,	/* with AArch64 tables */
	KIND_DIRECT = 4,	/* the model may look into RAM by itself */
	KIND_ACE = 0,
	KIND_ACE_LITE = 8,
	KIND_NONE = 16,		/* no coherency */
};

enum chain_action {
	CHAIN_HEADER,
	CHAIN_COMPUTE,
	CHAIN_WRITE_VALUE,
	CHAIN_START,
	CHAIN_STEP,
	CHAIN_STOP,
	CHAIN_POKE,
	CHAIN_WRITE,
	CHAIN_READ,
	CHAIN_SERVE,
	CHAIN_INTERRUPTS,
	CHAIN_GPU_COMMAND,
	CHAIN_ENTRY,
	CHAIN_AS_COMMAND,
	CHAIN_REVIVE,
	CHAIN_LIST,
	CHAIN_DUMP,
	CHAIN_ACTIONS
};

enum tables_action {
	TABLES_ENTRY,
	TABLES_FILL,
	TABLES_STEP,
	TABLES_UPDATE,
	TABLES_AS_COMMAND,
	TABLES_LOCK,
	TABLES_SERVE,
	TABLES_STOP,
	TABLES_INTERRUPTS,
	TABLES_REVIVE,
	TABLES_GPU_COMMAND,
	TABLES_ACTIONS
};

enum queue_action {
	QUEUE_ACCESS,
	QUEUE_RUN,
	QUEUE_MOVE_TAIL,
	QUEUE_SCRIBBLE,
	QUEUE_DOZE,
	QUEUE_TOUCH_RAM,
	QUEUE_HEADER,
	QUEUE_WRITE_VALUE,
	QUEUE_START,
	QUEUE_STEP,
	QUEUE_SERVE,
	QUEUE_POKE,
	QUEUE_ACTIONS
};

#endif /* AGATE_FUZZ_ACTIONS_H */
