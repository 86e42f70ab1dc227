/* SPDX-License-Identifier: MIT */
/*
 * The launcher: a guest on stock QEMU with the processes of its GPUs attached to it.
 *
 * A struct vm owns one QEMU, a process for each GPU, the memory they share and every
 * socket between them.  None of these has a name in a file system, and all
 * processes die with the thread that started them, however it ends: so nothing
 * stays behind, even after a SIGKILL.
 *
 * All calls for one struct vm come from the thread that called vm_start(), and that
 * thread has to outlive it.  Each call has a time limit, except vm_shell() and a
 * vm_exec() without a timeout; while a debugger may stop the guest no call has one.
 */
#ifndef AGATE_VM_H
#define AGATE_VM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct vm;

/* So much RAM is in one piece below the machine's devices. */
#define VM_RAM_MAX_MIB	2047

/* The GPUs of a guest have numbers from 0 on. */
#define VM_GPUS_MAX	2

/**
 * enum vm_status - how a call ended
 * @VM_OK:		as it should
 * @VM_HOST:		something is wrong on this side: a file, QEMU, memory; or the bytes
 *			that came over the control channel are not PID 1's
 * @VM_REFUSED:		PID 1 could not do it (no such program, file, ...)
 * @VM_CRASHED:		the guest's kernel panicked or reset; the console has the reason
 * @VM_TIMEOUT:		the deadline passed; the guest is still running
 * @VM_LOST:		QEMU ended without the guest asking for it
 * @VM_POWEROFF:	the guest powered off in good order
 * @VM_INTERRUPTED:	vm_config.interrupt_fd became readable
 *
 * After VM_CRASHED, VM_LOST and VM_POWEROFF a caller can only use vm_stop() and the
 * calls that report.
 */
enum vm_status {
	VM_OK,
	VM_HOST,
	VM_REFUSED,
	VM_CRASHED,
	VM_TIMEOUT,
	VM_LOST,
	VM_POWEROFF,
	VM_INTERRUPTED,
};

enum vm_accel {
	VM_ACCEL_AUTO,		/* KVM when a probe guest came up with it */
	VM_ACCEL_TCG,
	VM_ACCEL_KVM,
};

/**
 * struct vm_prepare - what a guest has, and has done, when vm_start() returns
 * @files:	files of the host that it gets first, @file_count of them
 * @programs:	what it runs then, in this order, @program_count of them; @kept as in
 *		vm_exec.  One that fails is a failure of vm_start().
 *
 * The launcher keeps a snapshot of the prepared guest, so no other start pays for this.  The
 * guest has no GPU yet, except in a cold boot.
 */
struct vm_prepare {
	const struct vm_file {
		const char *host_path;
		const char *guest_path;
		unsigned int mode;
	} *files;
	size_t file_count;
	const struct vm_program {
		const char *const *argv;	/* NULL-terminated */
		bool kept;
	} *programs;
	size_t program_count;
};

/**
 * struct vm_config - what to start
 * @kernel_dir:		directory that guest/build-kernel.sh printed
 * @initramfs:		from guest/mkinitramfs.sh
 * @sim:		program of each GPU's process, or NULL for a guest without GPU
 * @gpus:		how many GPUs, 0: one; up to VM_GPUS_MAX
 * @sim_args:		further arguments for each process, NULL-terminated, or NULL
 * @sim_log:		event log of the first GPU, or NULL; that of GPU n is called @sim_log.n
 * @sim_trace:		the same as a trace, named alike, or NULL
 * @append:		added to the kernel's command line, or NULL
 * @ram_mib:		0: the size that the kernel's flavour wants; up to VM_RAM_MAX_MIB
 * @prepare:		or NULL; used only within vm_start()
 * @seed:		seeds the first GPU's process; @seed + n that of GPU n
 * @accel:		see enum vm_accel
 * @cold:		boot with the GPUs plugged in from the start, use no snapshot
 * @timeout_ms:		how long the whole run may take, from vm_start(), by vm_time(); 0: no limit
 * @answer_ms:		how long PID 1, QEMU and the GPU's process may take by vm_time() for
 *			each request of the launcher itself; 0: one minute, two for a boot,
 *			and for a file one second more per MiB
 * @panic_ms:		how long a kernel that hangs may take to begin a panic, 0: 20 s
 * @interrupt_fd:	readable when the run has to end, or -1
 * @gdb:		path of a unix socket on which QEMU serves a debugger, or NULL
 * @gdb_wait:		the guest stands still until a debugger lets it go
 * @console:		gets the output of the guest's kernel, or NULL
 * @progress:		called before something that takes long (a boot, or a
 *			preparation, for a snapshot), or NULL
 * @arg:		first argument of @console and @progress
 */
struct vm_config {
	const char *kernel_dir;
	const char *initramfs;
	const char *sim;
	unsigned int gpus;
	const char *const *sim_args;
	const char *sim_log;
	const char *sim_trace;
	const char *append;
	unsigned int ram_mib;
	const struct vm_prepare *prepare;
	uint32_t seed;
	enum vm_accel accel;
	bool cold;
	bool realtime;
	unsigned int timeout_ms;
	unsigned int answer_ms;
	unsigned int panic_ms;
	int interrupt_fd;
	const char *gdb;
	bool gdb_wait;
	void (*console)(void *arg, const char *text, size_t len);
	void (*progress)(void *arg, const char *what);
	void *arg;
};

/**
 * struct vm_times - when the parts of vm_start() were done, in ns since its call
 * @sim_ready:		the last GPU's process said so (0: there is none)
 * @restored:		the guest runs, from the snapshot or after a cold boot
 * @plugged:		the guest's PCI core has the GPUs
 * @ready:		clock and random numbers are set; vm_start() returned
 * @snapshot_made:	when the snapshot was made, if this run had to make it first
 * @kvm:		the guest runs on KVM
 */
struct vm_times {
	uint64_t sim_ready;
	uint64_t restored;
	uint64_t plugged;
	uint64_t ready;
	uint64_t snapshot_made;
	bool kvm;
};

/**
 * vm_start() - bring a guest to the point where it takes requests
 * @config:	the callee copies the parts that it needs later
 * @out:	the guest, also after a failure (for the reports), or NULL if there
 *		was no memory for it.  Pass it to vm_stop().
 */
enum vm_status vm_start(const struct vm_config *config, struct vm **out);

/** vm_stop() - end all processes at once and free everything; NULL is fine */
void vm_stop(struct vm *vm);

/** vm_error() - what went wrong last, one line for a person */
const char *vm_error(const struct vm *vm);

/** vm_console() - the last part of the kernel's output, NUL-terminated */
const char *vm_console(const struct vm *vm);

/** vm_start_times() - see struct vm_times */
const struct vm_times *vm_start_times(const struct vm *vm);

/**
 * vm_time() - the guest's clock, in nanoseconds
 *
 * It never goes back, and stands still while the guest or its GPU waits for a
 * processor: time limits for a guest count by this clock.
 */
uint64_t vm_time(struct vm *vm);

/** vm_past() - has vm_time() reached @until?  Cheaper than a comparison until it has */
bool vm_past(struct vm *vm, uint64_t until);

/** vm_out_of_time() - has the run lasted for its @timeout_ms? */
bool vm_out_of_time(struct vm *vm);

/**
 * vm_put() - copy a file of the host into the guest, making directories as needed
 *
 * VM_TIMEOUT when PID 1 does not take it: the guest is then useless.  The same holds for
 * vm_put_bytes(), vm_get() and vm_poweroff().
 */
enum vm_status vm_put(struct vm *vm, const char *host_path, const char *guest_path,
		      unsigned int mode);

/** vm_put_bytes() - create a file in the guest */
enum vm_status vm_put_bytes(struct vm *vm, const void *data, size_t len,
			    const char *guest_path, unsigned int mode);

/** vm_get() - write a file of the guest to @fd, at most @max bytes (more: VM_REFUSED) */
enum vm_status vm_get(struct vm *vm, const char *guest_path, int fd, uint64_t max);

#define VM_HEALTH_MAX	4096u

/**
 * vm_health() - write the state of the guest's kernel to @fd, "KEY NUMBER" on each
 * line
 * @exact:	counts of memory have to be exact, and what was left to RCU freed, which
 *		takes longer
 *
 * PID 1 reads it from the kernel's own files: guest/init/kernel_health.c has the keys.  A kernel
 * without a check has no line for it.
 */
enum vm_status vm_health(struct vm *vm, bool exact, int fd);

enum vm_stream { VM_STDOUT, VM_STDERR, VM_REPORT };

/**
 * struct vm_exec - a program to run in the guest
 * @argv:	program and arguments, NULL-terminated
 * @report:	vm_input() feeds its standard input, and its descriptor 3 is
 *		VM_REPORT; without this, input is empty and 3 is closed
 * @output:	called with the bytes that it writes, or NULL
 * @output_arg:	first argument of @output
 * @output_max:	kill its process group when it has written more bytes than this, 0:
 *		never
 * @timeout_ms:	kill its process group after this long by vm_time(), 0: never
 * @grace_ms:	how long it may take to die after that, 0: 10 s
 * @ask_where:	vm_where_hung() before it is killed because of @timeout_ms, and
 *		a panic of the kernel shows what every CPU was doing
 * @kept:	PID 1 has a process of the program that it keeps for this become it, if the
 *		program can (guest/init/kept_proto.h)
 * @signaled:	out: ended by a signal
 * @value:	out: that signal, or the exit status
 * @timed_out:	out: it was killed because of @timeout_ms
 * @flooded:	out: it was killed because of @output_max; @output got that much
 *
 * @output may call vm_input(), vm_close_input() and vm_kill_sim().
 */
struct vm_exec {
	const char *const *argv;
	bool report;
	void (*output)(void *arg, enum vm_stream stream, const char *data, size_t len);
	void *output_arg;
	uint64_t output_max;
	unsigned int timeout_ms;
	unsigned int grace_ms;
	bool ask_where;
	bool kept;
	bool signaled;
	int value;
	bool timed_out;
	bool flooded;
};

/**
 * vm_exec() - run a program and wait for its end
 *
 * Returns VM_OK whatever the program's exit status is, and VM_TIMEOUT with
 * @timed_out or @flooded set when it was killed and did not die (it hangs in the
 * kernel): the guest is then useless.  VM_CRASHED with @timed_out set means that
 * @ask_where had to end the guest to get its answer.
 */
enum vm_status vm_exec(struct vm *vm, struct vm_exec *exec);

/**
 * vm_input() - send bytes to the standard input of the program that vm_exec() runs
 *
 * The program may leave at most 60 KiB unread: beyond that its input ends.
 */
enum vm_status vm_input(struct vm *vm, const void *data, size_t len);

/** vm_close_input() - end that input */
enum vm_status vm_close_input(struct vm *vm);

/**
 * vm_mark() - write @text to the kernel's log, and wait until the console has it
 * @text:	one line of at most 200 bytes
 * @timeout_ms:	how long that may take by vm_time()
 *
 * By then vm_config.console has received everything that the kernel printed before.
 * Only a @text that nobody in the guest can know in advance proves that.
 */
enum vm_status vm_mark(struct vm *vm, const char *text, unsigned int timeout_ms);

/**
 * vm_where_hung() - make a guest that hangs print on its console where it hangs
 *
 * Asks PID 1, which makes the kernel print what every CPU does and which tasks are
 * blocked (VM_OK; the guest goes on).  When PID 1 does not answer, an NMI makes the
 * kernel panic with a backtrace (VM_CRASHED).  When the kernel does not react
 * either, the launcher prints the CPUs' registers (VM_TIMEOUT).
 */
enum vm_status vm_where_hung(struct vm *vm);

#define VM_PAGE	4096u

/**
 * vm_search() - look for pages of the guest's RAM that begin with some bytes
 * @begin:	the bytes; @len of them, at most VM_PAGE
 * @found:	called for each such page; the guest may write to it meanwhile
 *
 * Also after the guest's end.
 */
void vm_search(const struct vm *vm, const void *begin, size_t len,
	       void (*found)(void *arg, const void *page), void *arg);

/**
 * vm_shell() - run a program on a terminal of its own, connected to ours
 * @argv:	program and arguments, NULL-terminated
 * @value:	out: exit status, or 128 + signal
 *
 * If standard input is a terminal, it is in raw mode meanwhile.
 */
enum vm_status vm_shell(struct vm *vm, const char *const *argv, int *value);

/** vm_kill_sim() - SIGKILL the process of GPU number @gpu: the guest loses that GPU */
enum vm_status vm_kill_sim(struct vm *vm, unsigned int gpu);

/** vm_sim_failed() - whether a GPU's process ended without vm_kill_sim() */
bool vm_sim_failed(const struct vm *vm);

/** vm_sim_status() - how that process ended, as waitpid() reports it */
int vm_sim_status(const struct vm *vm);

/** vm_broken() - the guest sent frames that are not PID 1's, and so caused a VM_HOST */
bool vm_broken(const struct vm *vm);

/**
 * vm_guest_did() - what code in the guest may have done to QEMU, to follow "the guest's
 * code"; NULL when QEMU was ended from outside, lacked something, or works
 *
 * After VM_LOST: QEMU ended by an abort or a fault of its own.  After VM_HOST: QEMU does not
 * answer, but uses a processor all the time.
 */
const char *vm_guest_did(const struct vm *vm);

/** vm_sim_control() - our end of the control socket of GPU number @gpu, or -1 */
int vm_sim_control(const struct vm *vm, unsigned int gpu);

/** vm_poweroff() - power the guest off in good order and wait for it */
enum vm_status vm_poweroff(struct vm *vm);

#endif /* AGATE_VM_H */
