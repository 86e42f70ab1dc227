/* SPDX-License-Identifier: MIT */
/*
 * A client of the driver that makes any call with any arguments, most of which make sense.
 *
 * The parts: what a client has (fuzz_world.c), a table of all calls and their fields
 * (fuzz_structs.c), values for fields (fuzz_values.c), one call and what is expected of it
 * (fuzz_calls.c), and what a client does besides calls (fuzz_memory.c).
 */
#ifndef AGATE_TESTS_FUZZ_H
#define AGATE_TESTS_FUZZ_H

#include "guest.h"

#include <stdio.h>

#define FUZZ_FILES	3	/* the first one is the same file in all clients */
#define FUZZ_BOS	12
#define FUZZ_SPACES	2
#define FUZZ_SYNC_SLOTS	4
#define FUZZ_USER_PART	8u	/* pages of the process for each address space */
#define FUZZ_MAPS	6
#define FUZZ_FDS	4
#define FUZZ_LARGE	(4ull << 20)	/* such a BO never gets pages */
#define FUZZ_MOST_WAITS	16u	/* sync objects of one of DRM's own calls */
#define FUZZ_ARG	256u		/* room for any call's struct */

/* Where clients bind things in address spaces. */
#define FUZZ_JOBS_VA	0x10000000ull
#define FUZZ_AREA	0x20000000ull
#define FUZZ_AREA_PAGES	2048u

struct fuzz_bo {
	uint32_t handle;	/* 0: none */
	uint32_t flags;
	uint32_t placement;
	uint32_t vm;
	uint64_t size;
	uint64_t va;		/* 0: none */
	void *cpu;		/* or NULL; the first PAGE of it */
};

struct fuzz_space {
	uint32_t vm;		/* 0: none */
	bool endless;		/* its jobs may run for ever */
	uint32_t jobs;		/* a BO, bound at FUZZ_JOBS_VA, as long as nobody changes that */
	void *cpu;
};

struct fuzz_file {
	int fd;
	struct fuzz_bo bo[FUZZ_BOS];
	struct fuzz_space space[FUZZ_SPACES];
	uint32_t sync[FUZZ_SYNC_SLOTS];
};

struct fuzz_map {
	uint8_t *at;		/* NULL: none */
	size_t size;
};

/* What the processes of one run share. */
struct fuzz_shared {
	struct fuzz_count {
		uint64_t made, went_well;
	} count[2][32];
};

struct fuzz_client {
	unsigned int number;
	bool card, child, trace;
	uint64_t seed;
	uint64_t random;
	uint64_t step;
	struct fuzz_file file[FUZZ_FILES];
	struct fuzz_file *now;		/* the file of this step */
	struct fuzz_map map[FUZZ_MAPS];
	int dmabuf[FUZZ_FDS];
	int sync_file[FUZZ_FDS];
	int peer;			/* a socket to the other client */
	size_t placed;			/* bytes of the arena, by the arrays of this call */
	uint8_t *arena;			/* memory for arrays: see fuzz_arena_init() */
	uint8_t *user;			/* memory that the GPU may be given */
	struct fuzz_shared *shared;
};

/* ---- Fields ------------------------------------------------------------ */

enum fuzz_kind {
	FUZZ_PAD,		/* must be zero */
	FUZZ_OUT,		/* the call writes it */
	FUZZ_IN_OUT,		/* the caller and the call do; its values are those of a choice */
	FUZZ_CHOICE,		/* a number below @most */
	FUZZ_FLAGS,		/* bits of @most */
	FUZZ_ANY,		/* any number */
	FUZZ_HANDLE,		/* of a BO */
	FUZZ_SPACE,		/* of VM_CREATE, or 0 */
	FUZZ_SYNC,		/* a sync object */
	FUZZ_DMABUF,		/* a file descriptor */
	FUZZ_SYNC_FILE,		/* likewise */
	FUZZ_SIZE,		/* of a BO, at most @most */
	FUZZ_JC,		/* of a job */
	FUZZ_ADDRESS,		/* in an address space */
	FUZZ_RANGE,		/* likewise, and the bytes in a BO */
	FUZZ_OFFSET,		/* in a BO */
	FUZZ_TIME,		/* a deadline */
	FUZZ_COUNT,		/* of an array that comes later in the table, at most @most */
	/* Pointers to arrays; @count is where their number of elements is. */
	FUZZ_SYNCS,
	FUZZ_HANDLES,
	FUZZ_BO_FLAGS,
	FUZZ_SYNC_HANDLES,
	FUZZ_POINTS,
	FUZZ_TEXT,
	FUZZ_REGIONS,
};

struct fuzz_field {
	const char *name;
	enum fuzz_kind kind;
	uint16_t offset, size;
	uint16_t count;
	uint64_t most;
};

/* One call.  @fit makes the fields match each other, and @forbidden says if the call must fail. */
struct fuzz_call {
	const char *name;
	unsigned long request;
	unsigned int size, fields, weight;
	const struct fuzz_field *field;
	uint64_t errors;	/* bits 1 << errno, of those below 61; for others see fuzz_structs.c */
	bool absent;		/* on a GPU without a card it gives EOPNOTSUPP */
	void (*fit)(struct fuzz_client *client, void *arg);
	bool (*forbidden)(const void *arg);
	void (*after)(struct fuzz_client *client, const void *arg, const void *sent, int err);
};

extern const struct fuzz_call fuzz_table[];
extern const unsigned int fuzz_table_size;

uint64_t fuzz_get(const void *arg, const struct fuzz_field *field);
void fuzz_set(void *arg, const struct fuzz_field *field, uint64_t value);

/* ---- Values ------------------------------------------------------------ */

/* Below @below, from the seed. */
uint32_t fuzz_any(struct fuzz_client *client, uint32_t below);
uint64_t fuzz_any64(struct fuzz_client *client);
/* Once in @times. */
bool fuzz_once_in(struct fuzz_client *client, uint32_t times);

void fuzz_arena_init(struct fuzz_client *client);
/* Memory with @size bytes of @data, of which the end may be unmapped; or no memory at all. */
void *fuzz_place(struct fuzz_client *client, const void *data, size_t size, bool edge);

/* Does this array have an element that makes the call fail?  Never, if it cannot be read. */
bool fuzz_array_forbidden(const struct fuzz_client *client, const struct fuzz_field *field,
			  const void *arg);
/* A value that makes sense, or a value at some edge. */
uint64_t fuzz_value(struct fuzz_client *client, const struct fuzz_field *field, const void *arg,
		    bool edge);

/* ---- The rest ---------------------------------------------------------- */

/* Any BO of the file of this step; one that an address space (0: any) can bind, if there is one. */
struct fuzz_bo *fuzz_bo(struct fuzz_client *client);
struct fuzz_bo *fuzz_placed_bo(struct fuzz_client *client, uint32_t vm);
const struct fuzz_bo *fuzz_bo_of(const struct fuzz_client *client, uint32_t handle);
void fuzz_bo_forget(struct fuzz_client *client, struct fuzz_bo *bo);
struct fuzz_space *fuzz_space_of(struct fuzz_client *client, uint32_t vm);
/* Write a chain that does anything into the memory at @cpu, which is at @va for the GPU. */
void fuzz_chain(struct fuzz_client *client, void *cpu, uint64_t va, const struct fuzz_space *space);

/* What the calls made, and what they took away: fuzz_call's after. */
void fuzz_made_bo(struct fuzz_client *client, const void *arg, const void *sent, int err);
void fuzz_closed_bo(struct fuzz_client *client, const void *arg, const void *sent, int err);
void fuzz_found_offset(struct fuzz_client *client, const void *arg, const void *sent, int err);
void fuzz_made_space(struct fuzz_client *client, const void *arg, const void *sent, int err);
void fuzz_ended_space(struct fuzz_client *client, const void *arg, const void *sent, int err);
void fuzz_exported(struct fuzz_client *client, const void *arg, const void *sent, int err);
void fuzz_imported(struct fuzz_client *client, const void *arg, const void *sent, int err);
void fuzz_made_sync(struct fuzz_client *client, const void *arg, const void *sent, int err);
void fuzz_destroyed_sync(struct fuzz_client *client, const void *arg, const void *sent, int err);
void fuzz_exported_sync(struct fuzz_client *client, const void *arg, const void *sent, int err);

/* Use memory that may be gone, without a signal: did it work? */
bool fuzz_try(struct fuzz_client *client, void (*use)(struct fuzz_client *client, void *arg),
	      void *arg);

void fuzz_keep_fd(int *slot, int fd);
bool fuzz_open(struct fuzz_client *client, struct fuzz_file *file);
void fuzz_close(struct fuzz_client *client, struct fuzz_file *file);

/* Make one call of the table; ends the process if its result is wrong. */
void fuzz_make_call(struct fuzz_client *client);
/* Do something else with memory, descriptors or processes. */
void fuzz_do_other(struct fuzz_client *client);
/* Free all memory. */
void fuzz_let_go(struct fuzz_client *client);
/* One step: any of these. */
void fuzz_step(struct fuzz_client *client);

/* Is the table one of the structures, byte by byte?  Fails the test. */
void fuzz_check_table(void);

_Noreturn void fuzz_wrong(const struct fuzz_client *client, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif /* AGATE_TESTS_FUZZ_H */
