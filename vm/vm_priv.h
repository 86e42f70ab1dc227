/* SPDX-License-Identifier: MIT */
/*
 * Declarations that the launcher's files share.  Each function is documented at its
 * definition; each group below is one file.
 */
#ifndef AGATE_VM_PRIV_H
#define AGATE_VM_PRIV_H

#include <jansson.h>
#include <sys/types.h>

#include "arch.h"
#include "ctl_proto.h"
#include "vm.h"

#define VM_SNAPSHOT_MAGIC	"agatesn4"	/* changes with the file's form */
#define VM_VECTORS	4	/* MSI-X vectors of a GPU: GPU, JOB, MMU, DISPLAY */
#define VM_PEER_SIM	0
#define VM_PEER_QEMU	1
#define VM_WATCHES_MAX	(6 + 2 * VM_GPUS_MAX)
#define VM_CONSOLE_KEEP	(64u << 10)
#define VM_CLOCK_THREADS	32
#define VM_QUEUE_MAX	(1u << 20)	/* unsent bytes for the guest; nothing is added beyond
					 * that */

/* Handles a descriptor that is ready; vm_pump() returns what this returns, if not VM_OK. */
typedef enum vm_status vm_callback_fn(void *data, short revents);

/* A descriptor that the loop polls while it is not negative. */
struct vm_watch {
	int fd;
	short events;		/* POLLIN, POLLOUT */
	vm_callback_fn *callback;
	void *data;
};

/* loop.c; a watch is a part of struct vm, and stays registered */
struct vm_loop {
	struct vm_watch *watches[VM_WATCHES_MAX];
	size_t count;
};

/* A child process; it dies with the thread that started it. */
struct vm_proc {
	pid_t pid;		/* 0: never started, or reaped */
	struct vm_watch exit;	/* of a pidfd */
	int status;		/* of waitpid(), once reaped */
	bool ended;
};

/* How a thread gets a processor. */
struct vm_policy {
	bool sleeps;		/* mostly, and others spin until it has done its work */
	bool realtime;		/* before all usual processes, if the host permits it */
};

/* Bytes that have arrived but are not yet a whole message, or that still have to go out. */
struct vm_buf {
	char *data;
	size_t len;
	size_t cap;
};

struct vm_qmp {
	struct vm_watch watch;	/* our end; QEMU's is qemu_fd */
	int qemu_fd;
	struct vm_buf in;
	json_t *reply;		/* to the command in flight */
	bool greeted;
	bool panicked_reset;	/* SHUTDOWN because the guest reset itself */
	bool guest_shutdown;	/* SHUTDOWN because the guest powered off */
	char migration[32];	/* last MIGRATION event's status */
};

/* A request to PID 1, and its result so far. */
struct vm_request {
	uint32_t id;		/* 0: none */
	uint64_t until;		/* deadline by vm_time(), 0: none */
	bool done;		/* ACK or EXIT has come */
	int error;		/* ACK's errno, or EXIT's when it did not start */
	struct ctl_exit exit;
	void (*data)(struct vm *vm, uint32_t type, const void *data, size_t len);
};

/* One request is in flight at a time; a second one may begin and end while the first goes on. */
struct vm_ctl {
	struct vm_watch watch;
	int qemu_fd;
	struct vm_buf in;
	struct vm_buf out;
	uint64_t nonce;		/* every frame has to carry it; 0 before SETUP */
	uint32_t last_id;
	struct vm_request req;
	struct vm_request outer;	/* the first request, while @req is the second one */
	bool ready;
	const char *broken;	/* why the launcher ignores further input, or NULL */
};

/* What the guest's kernel printed. */
struct vm_console {
	struct vm_watch watch;
	int qemu_fd;
	char text[VM_CONSOLE_KEEP + 1];	/* the tail, with its NUL */
	size_t len;
	uint64_t total;		/* all that was ever printed */
	size_t mark_from;	/* vm_mark() looks for it in @text from here on */
};

struct vm_clock_thread {
	int tid;
	uint64_t waited;	/* for a processor, ns */
	uint64_t ran;
};

/* clock.c */
struct vm_clock {
	struct vm_clock_thread threads[VM_CLOCK_THREADS];
	size_t count;
	uint64_t looked;	/* when it was last read, CLOCK_MONOTONIC, ns */
	uint64_t stood;		/* how long it has stood still so far, ns */
	uint64_t owed;		/* how long it still has to stand still, ns */
};

/* A GPU: its process, and what that shares with the guest. */
struct vm_gpu {
	struct vm *vm;
	unsigned int number;
	int bar2_fd;
	void *bar2;
	int doorbell;		/* eventfd: guest to GPU */
	int vectors[VM_VECTORS];	/* eventfds: GPU to guest */
	int ivshmem_fd;		/* the server's end; QEMU's is ivshmem_qemu_fd */
	int ivshmem_qemu_fd;
	struct vm_proc proc;
	bool killed;		/* because the caller asked for it */
	struct vm_watch answer;	/* read end, until the process has said that it is ready */
	bool ready;
	int control;
};

#define VM_CACHE_NAME	64

struct vm_snapshot {
	int file;		/* -1: there is none */
	char name[VM_CACHE_NAME];	/* in the cache */
};

/* A guest is restored from the boot's, and then from the prepared one if there is one. */
struct vm_snapshots {
	struct vm_snapshot boot, prepared;
};

struct vm {
	struct vm_config cfg;
	unsigned int ram_mib;
	bool kvm;
	int bad_snapshot;	/* the file that QEMU or the launcher could not restore, or -1 */
	uint64_t started;	/* CLOCK_MONOTONIC, ns */
	uint64_t deadline;	/* by vm_time(), 0: none */
	struct vm_loop loop;
	struct vm_clock clock;
	struct vm_times times;
	char error[512];
	char guest_did[256];	/* vm_guest_did() */

	int ram_fd;
	struct vm_gpu gpu[VM_GPUS_MAX];
	unsigned int gpus;	/* that the guest has */

	struct vm_proc qemu;
	int qemu_stderr;	/* memfd */

	struct vm_qmp qmp;
	struct vm_ctl ctl;
	struct vm_console console;
	struct vm_watch interrupt;	/* the caller's */

	int gdb_fd;		/* listens; QEMU has it too */

	/* vm_exec(), vm_get() and vm_shell(), while they run */
	struct vm_exec *exec;
	uint64_t exec_bytes;	/* that it has written */
	int get_fd;
	uint64_t get_left;
	int get_error;
	struct vm_watch input;	/* what a person types */
	bool input_ended;
};

/* util.c */
enum vm_status vm_fail(struct vm *vm, enum vm_status status, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
uint64_t vm_now(void);
void vm_progress(const struct vm *vm, const char *what);
void vm_close(int *fd);
bool vm_socketpair(int *ours, int *theirs);
bool vm_buf_append(struct vm_buf *buf, const void *data, size_t len);
void vm_buf_consume(struct vm_buf *buf, size_t len);
bool vm_send_fd(int sock, const void *data, size_t len, int fd);
bool vm_write_all(int fd, const void *data, size_t len);

/* clock.c: nanoseconds by vm_time() */
#define VM_ANSWER_MS	60000u
/* QEMU itself answers in milliseconds, whatever its guest does. */
#define VM_QMP_MS	20000u
/* Ten times what the slowest boot takes on a slow machine. */
#define VM_BOOT_MS	120000u
/* The time by which an answer has to be there; 0 (never) while a debugger may stop the guest. */
uint64_t vm_answer_until(struct vm *vm, unsigned int usual_ms);
/* The least real time until then; the clock may stand still meanwhile. */
uint64_t vm_clock_left(const struct vm *vm, uint64_t until);

/* policy.c */
void vm_policy_set(pid_t tid, struct vm_policy policy);
void vm_policy_tell(const struct vm *vm);

/* proc.c */
bool vm_proc_start(struct vm_proc *proc, const char *const *argv, const int *fds, size_t nfds,
		   int err_fd, struct vm_policy policy);
void vm_proc_reap(struct vm_proc *proc);
void vm_proc_kill(struct vm_proc *proc);

/* memory.c */
enum vm_status vm_memory_init(struct vm *vm);
void vm_memory_set_alive(struct vm_gpu *gpu, bool alive);
void vm_memory_fini(struct vm *vm);

/* ivshmem.c */
enum vm_status vm_ivshmem_serve(struct vm_gpu *gpu);

/* qemu.c */
enum vm_status vm_qemu_start(struct vm *vm, bool incoming);

/* qemu_end.c */
void vm_qemu_watch(struct vm *vm);
enum vm_status vm_channel_closed(struct vm *vm, const char *what);
enum vm_status vm_qemu_gone(struct vm *vm);
/* The time for which QEMU has used a processor, in nanoseconds. */
uint64_t vm_qemu_ran(const struct vm *vm);
/* QEMU has not answered for @ns, and has used a processor for @ran of it. */
void vm_qemu_stuck(struct vm *vm, uint64_t ns, uint64_t ran);

/* gdb.c */
enum vm_status vm_gdb_serve(struct vm *vm);
void vm_gdb_close(struct vm *vm);

/* qmp.c */
bool vm_qmp_open(struct vm *vm);
enum vm_status vm_qmp_greet(struct vm *vm);
enum vm_status vm_qmp_command(struct vm *vm, const char *name, json_t *args);
enum vm_status vm_qmp_getfd(struct vm *vm, const char *name, int fd);
enum vm_status vm_qmp_migrate(struct vm *vm, const char *name, int file);

/* ctl.c */
bool vm_ctl_open(struct vm *vm);
enum vm_status vm_ctl_ready(struct vm *vm);
enum vm_status vm_ctl_send(struct vm *vm, uint32_t type, const void *a, size_t alen,
			   const void *b, size_t blen);
enum vm_status vm_ctl_send_for(struct vm *vm, const struct vm_request *req, uint32_t type,
			       const void *a, size_t alen, const void *b, size_t blen);
void vm_ctl_begin(struct vm *vm, void (*data)(struct vm *, uint32_t, const void *, size_t));
void vm_ctl_aside(struct vm *vm);
void vm_ctl_resume(struct vm *vm);
enum vm_status vm_ctl_wait(struct vm *vm);
enum vm_status vm_ctl_request(struct vm *vm, uint32_t type, const void *data, size_t len);

/* loop.c */
void vm_loop_add(struct vm *vm, struct vm_watch *watch, vm_callback_fn *callback, void *data);
bool vm_loop_connect(struct vm *vm, struct vm_watch *watch, int *qemu_fd, vm_callback_fn *callback);
void vm_loop_drain(struct vm_watch *watch);
enum vm_status vm_pump(struct vm *vm, uint64_t until);

/* console.c */
bool vm_console_open(struct vm *vm);
void vm_console_append(struct vm *vm, const char *text, size_t len);

/* gpu_process.c */
void vm_gpus_init(struct vm *vm);
enum vm_status vm_sims_start(struct vm *vm);
enum vm_status vm_sims_wait_ready(struct vm *vm);
void vm_sims_stop(struct vm *vm);

/* request.c */
enum vm_status vm_setup(struct vm *vm);

/* program.c */
enum vm_status vm_send_exec(struct vm *vm, const struct ctl_exec *req, const char *const *argv);

/* snapshot.c */
int vm_snapshot_create(int dir_fd);
enum vm_status vm_snapshot_finish(struct vm *vm, int file, int base, int dir_fd, const char *name);
/* Did vm_snapshot_finish() leave this file whole?  This does not check the bytes inside. */
bool vm_snapshot_whole(const struct vm *vm, int file);
enum vm_status vm_snapshot_load(struct vm *vm, int file);

/* cache.c */
int vm_cache_open(void);
enum vm_status vm_cache_lock(struct vm *vm, int dir_fd);
void vm_cache_unlock(int dir_fd);
int vm_cache_create(int dir_fd);
/* Names of snapshots: of the boot, and of the guest that is prepared after it. */
enum vm_status vm_cache_boot_name(struct vm *vm, char name[VM_CACHE_NAME]);
enum vm_status vm_cache_prepared_name(struct vm *vm, int boot, char name[VM_CACHE_NAME]);
void vm_cache_accel_name(char *name, size_t size);
bool vm_cache_publish(int file, int dir_fd, const char *name);
void vm_cache_prune(int dir_fd);

/* boot.c */
/* Of a guest that boots (@base -1), or of one that is prepared after the snapshot @base. */
enum vm_status vm_make_snapshot(struct vm *vm, int base, int dir_fd, const char *name);
enum vm_status vm_prepare_guest(struct vm *vm);
enum vm_status vm_accel_choose(struct vm *vm, int dir_fd);

/* vm.c */
/* Restores from these files of snapshots; -1: there is no prepared one. */
enum vm_status vm_restore(struct vm *vm, int boot, int prepared);
struct vm *vm_new(const struct vm_config *config);

#endif /* AGATE_VM_PRIV_H */
