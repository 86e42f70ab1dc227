// SPDX-License-Identifier: MIT
/*
 * Child processes that cannot outlive us.
 *
 * PR_SET_PDEATHSIG makes the kernel kill the child when the thread that forked
 * it ends, even by SIGKILL; the check of getppid() closes the gap between fork()
 * and prctl().  A group of its own keeps a Ctrl-C on our terminal away from it.  It stays
 * in our session: where the host schedules sessions as groups, QEMU and the GPU's process
 * must be in the same one, or each waits for the other's group.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "vm_priv.h"

static void child(const char *const *argv, const int *fds, size_t nfds, int err_fd,
		  struct vm_policy policy, pid_t parent, int report)
{
	int null, error;
	sigset_t none;

	setpgid(0, 0);
	vm_policy_set(0, policy);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent)
		_exit(127);
	null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	dup2(null, 0);
	if (err_fd >= 0)
		dup2(err_fd, 2);
	dup2(2, 1);
	for (size_t i = 0; i < nfds; i++)
		fcntl(fds[i], F_SETFD, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	execvp(argv[0], (char *const *)argv);
	error = errno;
	if (write(report, &error, sizeof(error)) < 0)
		_exit(126);
	_exit(127);
}

/*
 * Starts @argv with just @fds inherited, under their numbers; its output goes to
 * @err_fd, or to our standard error when that is -1.  False with errno set.
 */
bool vm_proc_start(struct vm_proc *proc, const char *const *argv, const int *fds, size_t nfds,
		   int err_fd, struct vm_policy policy)
{
	int report[2], error = 0;
	pid_t parent = getpid();

	*proc = (struct vm_proc){ .exit.fd = -1 };
	if (pipe2(report, O_CLOEXEC))
		return false;
	proc->pid = fork();
	if (proc->pid == 0)
		child(argv, fds, nfds, err_fd, policy, parent, report[1]);
	if (proc->pid < 0) {
		error = errno;
		proc->pid = 0;
	}
	close(report[1]);
	if (proc->pid && read(report[0], &error, sizeof(error)) != sizeof(error)) {
		proc->exit.fd = pidfd_open(proc->pid, 0);
		if (proc->exit.fd < 0)
			error = errno;
	}
	close(report[0]);
	if (!error)
		return true;
	vm_proc_kill(proc);
	errno = error;
	return false;
}

/* Waits until the process has ended, and takes its status. */
void vm_proc_reap(struct vm_proc *proc)
{
	if (proc->pid <= 0)
		return;
	while (waitpid(proc->pid, &proc->status, 0) < 0 && errno == EINTR)
		;
	proc->pid = 0;
	proc->ended = true;
	vm_close(&proc->exit.fd);
}

void vm_proc_kill(struct vm_proc *proc)
{
	if (proc->pid <= 0)
		return;
	kill(proc->pid, SIGKILL);
	vm_proc_reap(proc);
}
