// SPDX-License-Identifier: MIT
/*
 * PID 1 of the guest: mounts what programs expect, opens the control port, says
 * READY, and then does what the launcher asks until the power goes off.
 *
 * It has no policy: the host decides which programs run, how long they may take, and what
 * their output means.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/random.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "init.h"

static const struct {
	const char *type, *dir, *options;
} mounts[] = {
	{ "proc", "/proc", NULL },
	{ "sysfs", "/sys", NULL },
	{ "devtmpfs", "/dev", NULL },
	{ "devpts", "/dev/pts", "mode=0600,ptmxmode=0666" },
	{ "tmpfs", "/dev/shm", "mode=1777" },
	{ "tmpfs", "/tmp", "mode=1777" },
	{ "tmpfs", "/run", "mode=0755" },
	{ "debugfs", "/sys/kernel/debug", NULL },
};

static void mount_all(void)
{
	for (size_t i = 0; i < sizeof(mounts) / sizeof(mounts[0]); i++) {
		mkdir(mounts[i].dir, 0755);
		if (mount(mounts[i].type, mounts[i].dir, mounts[i].type, 0, mounts[i].options))
			fprintf(stderr, "init: %s: %s\n", mounts[i].dir, strerror(errno));
	}
}

/* The kernel opened the console for us if there is one. */
static void open_stdio(void)
{
	int fd = open("/dev/console", O_RDWR | O_NOCTTY);

	if (fd < 0)
		return;
	for (int i = 0; i < 3; i++)
		dup2(fd, i);
	if (fd > 2)
		close(fd);
}

static int seed_random(const uint8_t *seed, size_t len)
{
	struct {
		struct rand_pool_info info;
		uint8_t bytes[32];
	} pool = { .info = { .entropy_count = (int)len * 8, .buf_size = (int)len } };
	int fd, error = 0;

	if (len > sizeof(pool.bytes))
		return EINVAL;
	memcpy(pool.info.buf, seed, len);
	fd = open("/dev/urandom", O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return errno;
	if (ioctl(fd, RNDADDENTROPY, &pool) || ioctl(fd, RNDRESEEDCRNG))
		error = errno;
	close(fd);
	return error;
}

static void setup(const struct ctl_header *hdr, const uint8_t *data)
{
	struct ctl_setup req;
	struct timespec now;

	port_set_nonce(hdr->nonce);
	if (hdr->len != sizeof(req)) {
		port_ack(hdr->id, EINVAL);
		return;
	}
	memcpy(&req, data, sizeof(req));
	now.tv_sec = (time_t)req.seconds;
	now.tv_nsec = req.nanoseconds;
	if (clock_settime(CLOCK_REALTIME, &now)) {
		port_ack(hdr->id, errno);
		return;
	}
	port_ack(hdr->id, seed_random(req.seed, sizeof(req.seed)));
}

static void power_off(void)
{
	sync();
	reboot(RB_POWER_OFF);
}

static void frame(const struct ctl_header *hdr, const uint8_t *data)
{
	switch (hdr->type) {
	case CTL_SETUP:
		setup(hdr, data);
		break;
	case CTL_RESCAN:
		/* The write returns when new devices are bound. */
		port_ack(hdr->id, files_poke("/sys/bus/pci/rescan", "1"));
		break;
	case CTL_PUT:
		files_put(hdr, data);
		break;
	case CTL_PUT_DATA:
		files_put_data(hdr, data);
		break;
	case CTL_PUT_END:
		files_put_end(hdr);
		break;
	case CTL_GET:
		files_get(hdr, data);
		break;
	case CTL_EXEC:
		children_exec(hdr, data);
		break;
	case CTL_STDIN:
		children_input(hdr, data);
		break;
	case CTL_RESIZE:
		children_resize(hdr, data);
		break;
	case CTL_KILL:
		children_kill(hdr, data);
		break;
	case CTL_POWEROFF:
		power_off();
		break;
	case CTL_MARK:
		where_mark(hdr, data);
		break;
	case CTL_WHERE:
		where_hung(hdr, data);
		break;
	case CTL_HEALTH:
		health(hdr, data);
		break;
	default:
		fprintf(stderr, "init: unknown request %u\n", hdr->type);
	}
}

static int open_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGIO);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

static void drop_signals(int signals)
{
	struct signalfd_siginfo info;

	while (read(signals, &info, sizeof(info)) > 0)
		;
}

/* The port takes nothing until it knows that the launcher's end is open. */
static void wait_connected(int signals)
{
	struct pollfd p = { .fd = signals, .events = POLLIN };

	while (!port_connected()) {
		poll(&p, 1, -1);
		drop_signals(signals);
	}
}

static void serve(int signals)
{
	struct pollfd fds[2 + POLLED_MAX];
	size_t n;

	for (;;) {
		fds[0] = (struct pollfd){ .fd = signals, .events = POLLIN };
		/* Unconnected, the port would report a hang-up for ever: wait for SIGIO. */
		fds[1] = (struct pollfd){ .fd = port_connected() ? port_fd() : -1,
					  .events = POLLIN };
		n = children_poll(fds + 2);
		if (poll(fds, 2 + n, -1) < 0)
			continue;
		if (fds[1].revents & POLLIN)
			port_receive(frame);
		children_output(fds + 2, n);
		if (fds[0].revents) {
			drop_signals(signals);
			children_reap();
		}
	}
}

/*
 * A test's probe lasts for a few calls.  If the kernel made a jump of it, it would do so later,
 * and meanwhile keep everybody from setting or removing probes until every task has gone to
 * sleep once.
 */
static void keep_probes_simple(void)
{
	files_poke("/proc/sys/debug/kprobes-optimization", "0");
}

int main(void)
{
	uint32_t version = CTL_VERSION;
	int signals;

	mount_all();
	open_stdio();
	keep_probes_simple();
	if (chdir("/tmp") == 0)
		umask(022);
	setenv("PATH", "/usr/bin:/usr/sbin:/bin:/sbin", 1);
	setenv("HOME", "/root", 1);
	signals = open_signals();
	if (signals < 0 || port_open()) {
		fprintf(stderr, "init: no control port: %s\n", strerror(errno));
		power_off();
	}
	wait_connected(signals);
	port_send(CTL_READY, 0, &version, sizeof(version));
	serve(signals);
}
