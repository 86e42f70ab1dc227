// SPDX-License-Identifier: MIT
#include "clients.h"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest.h"

#define THREADS_MAX	16

void clients_run(int threads, void *(*thread)(void *arg), long each)
{
	pthread_t running[THREADS_MAX];

	assert_in_range(threads, 1, THREADS_MAX);
	for (int i = 0; i < threads; i++)
		assert_int_equal(pthread_create(&running[i], NULL, thread, NULL), 0);
	for (int i = 0; i < threads; i++) {
		void *good;

		assert_int_equal(pthread_join(running[i], &good), 0);
		assert_int_equal((long)good, each);
	}
}

void clients_kill(void (*child)(int ready))
{
	int pipefd[2], wstatus;
	pid_t pid;
	char byte;

	assert_int_equal(pipe(pipefd), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		child(pipefd[1]);
		_exit(3);
	}
	close(pipefd[1]);
	assert_int_equal(read(pipefd[0], &byte, 1), 1);
	close(pipefd[0]);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, &wstatus, 0), pid);
	assert_true(WIFSIGNALED(wstatus));
	assert_int_equal(WTERMSIG(wstatus), SIGKILL);
}

void clients_end(void (*child)(void *arg), void *arg, bool killed)
{
	pid_t pid = fork();
	int status;

	if (pid < 0)
		fail_msg("fork: %s", strerror(errno));
	if (!pid) {
		child(arg);
		if (killed)
			kill(getpid(), SIGKILL);
		_exit(0);
	}
	if (waitpid(pid, &status, 0) != pid || WIFSIGNALED(status) != killed)
		fail_msg("the child did not end as it should");
}

int clients_stall(void *pages, size_t size)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = {
		.range = { .start = (uintptr_t)pages, .len = size },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	int uffd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);

	if (uffd < 0 || ioctl(uffd, UFFDIO_API, &api) || ioctl(uffd, UFFDIO_REGISTER, &range))
		fail_msg("userfaultfd: %s", strerror(errno));
	return uffd;
}
