// SPDX-License-Identifier: MIT
/*
 * The process's seccomp filter (sandbox.h).
 *
 * It is a list of rules, each of which begins with the system call's number, so that none
 * depends on another; a call that matches no rule kills the process.
 */
#include "sandbox.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if !defined(__x86_64__)
#error "the filter names the system calls of x86-64"
#endif

/* An argument is 64 bits: two words, the lower one first. */
#define WORD(n)		(offsetof(struct seccomp_data, args) + (n) * sizeof(uint32_t))
#define ARG(n)		WORD(2 * (n))
#define ARG_HIGH(n)	WORD(2 * (n) + 1)

struct condition {
	uint32_t where;		/* of a word */
	uint32_t mask;
	uint32_t value;		/* word & mask */
};

struct program {
	struct sock_filter *code;
	unsigned int len;
};

static void emit(struct program *p, uint16_t code, uint32_t k, unsigned int jump_false)
{
	p->code[p->len++] = (struct sock_filter){ .code = code, .k = k, .jf = jump_false };
}

static void load(struct program *p, uint32_t where)
{
	emit(p, BPF_LD | BPF_W | BPF_ABS, where, 0);
}

/* A system call is allowed when all n conditions hold. */
static void allow_when(struct program *p, unsigned int number, const struct condition *c,
		       unsigned int n)
{
	unsigned int i;

	load(p, offsetof(struct seccomp_data, nr));
	emit(p, BPF_JMP | BPF_JEQ | BPF_K, number, 3 * n + 1);
	for (i = 0; i < n; i++) {
		load(p, c[i].where);
		emit(p, BPF_ALU | BPF_AND | BPF_K, c[i].mask, 0);
		emit(p, BPF_JMP | BPF_JEQ | BPF_K, c[i].value, 3 * (n - i - 1) + 1);
	}
	emit(p, BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0);
}

static void allow(struct program *p, unsigned int number)
{
	allow_when(p, number, NULL, 0);
}

/* The kernel, too, takes a descriptor from the lower word alone. */
static void allow_fd(struct program *p, unsigned int number, int fd)
{
	const struct condition same = { ARG(0), UINT32_MAX, (uint32_t)fd };

	allow_when(p, number, &same, 1);
}

static void allow_socket(struct program *p, int fd)
{
	/* Only to the other end, to no other address. */
	const struct condition send[] = {
		{ ARG(0), UINT32_MAX, (uint32_t)fd },
		{ ARG(4), UINT32_MAX, 0 },
		{ ARG_HIGH(4), UINT32_MAX, 0 },
	};

	allow_fd(p, SYS_recvfrom, fd);
	allow_when(p, SYS_sendto, send, 3);
	allow_fd(p, SYS_getsockopt, fd);
}

/* malloc(): it grows, moves and returns memory. */
static void allow_memory(struct program *p)
{
	const struct condition anonymous[] = {
		{ ARG(2), PROT_EXEC, 0 },
		{ ARG(3), MAP_ANONYMOUS | MAP_PRIVATE, MAP_ANONYMOUS | MAP_PRIVATE },
	};

	allow_when(p, SYS_mmap, anonymous, 2);
	allow(p, SYS_munmap);
	allow(p, SYS_mremap);
	allow(p, SYS_brk);
#ifdef __SANITIZE_ADDRESS__
	/* After an munmap() gcc 14's runtime gives back what it had noted about that memory. */
	allow(p, SYS_madvise);
#endif
}

/* An injection ends the process as a crash would. */
static void allow_death(struct program *p)
{
	const struct condition own[] = {
		{ ARG(0), UINT32_MAX, (uint32_t)getpid() },
		{ ARG(1), UINT32_MAX, SIGKILL },
	};

	allow(p, SYS_getpid);
	allow_when(p, SYS_kill, own, 2);
	allow(p, SYS_exit_group);
}

unsigned int sandbox_filter(const struct sandbox *sandbox,
			    struct sock_filter filter[SANDBOX_FILTER])
{
	struct program p = { .code = filter };
	unsigned int i;

	/* Numbers mean something else to a 32-bit program; x32's are too large to match. */
	load(&p, offsetof(struct seccomp_data, arch));
	emit(&p, BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1);
	emit(&p, BPF_JMP | BPF_JA, 1, 0);
	emit(&p, BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS, 0);

	for (i = 0; i < sandbox->writes; i++)
		allow_fd(&p, SYS_write, sandbox->write[i]);
	for (i = 0; i < sandbox->reads; i++)
		allow_fd(&p, SYS_read, sandbox->read[i]);
	allow(&p, SYS_poll);
	allow(&p, SYS_restart_syscall);	/* poll(), after the process was stopped */
	allow(&p, SYS_clock_gettime);	/* where the vDSO cannot tell */
	if (sandbox->socket >= 0)
		allow_socket(&p, sandbox->socket);
	allow_memory(&p);
	allow(&p, SYS_close);
	allow_death(&p);
	emit(&p, BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS, 0);
	return p.len;
}

int sandbox_enter(const struct sandbox *sandbox)
{
	struct sock_filter filter[SANDBOX_FILTER];
	struct sock_fprog program = {
		.len = sandbox_filter(sandbox, filter),
		.filter = filter,
	};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program))
		return errno;
	return 0;
}
