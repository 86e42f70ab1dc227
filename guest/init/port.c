// SPDX-License-Identifier: MIT
/*
 * The control port: finding it, and frames in both directions.
 *
 * The device node appears when the virtio driver has talked to QEMU, which can
 * be after PID 1 started: so PID 1 listens to uevents before it looks for the node.  The
 * descriptor is close-on-exec and the kernel lets only one process open a port: no child
 * can read or write it.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "init.h"

static int port = -1;
static uint64_t nonce;
static uint8_t inbox[sizeof(struct ctl_header) + CTL_PAYLOAD_MAX];
static size_t inbox_len;

static int has_name(const char *dev)
{
	char path[300], name[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/sys/class/virtio-ports/%s/name", dev);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, name, sizeof(name) - 1);
	close(fd);
	if (n <= 0)
		return 0;
	name[n] = '\0';
	name[strcspn(name, "\n")] = '\0';
	return !strcmp(name, CTL_PORT);
}

static int try_open(void)
{
	char path[300];
	struct dirent *de;
	int fd = -1;
	DIR *dir;

	dir = opendir("/sys/class/virtio-ports");
	if (!dir)
		return -1;
	while (fd < 0 && (de = readdir(dir))) {
		if (de->d_name[0] == '.' || !has_name(de->d_name))
			continue;
		snprintf(path, sizeof(path), "/dev/%s", de->d_name);
		fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	}
	closedir(dir);
	return fd;
}

int port_open(void)
{
	struct sockaddr_nl addr = { .nl_family = AF_NETLINK, .nl_groups = 1 };
	char event[4096];
	int uevents;

	uevents = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_KOBJECT_UEVENT);
	if (uevents < 0)
		return -1;
	if (bind(uevents, (struct sockaddr *)&addr, sizeof(addr))) {
		close(uevents);
		return -1;
	}
	while ((port = try_open()) < 0) {
		if (recv(uevents, event, sizeof(event), 0) < 0 && errno != ENOBUFS &&
		    errno != EINTR)
			break;
	}
	close(uevents);
	if (port < 0)
		return -1;
	/* SIGIO signals that the launcher has connected; poll() cannot wait for that. */
	if (fcntl(port, F_SETOWN, getpid()) ||
	    fcntl(port, F_SETFL, O_RDWR | O_NONBLOCK | O_ASYNC))
		return -1;
	return 0;
}

int port_fd(void)
{
	return port;
}

int port_connected(void)
{
	struct pollfd p = { .fd = port };

	return poll(&p, 1, 0) == 0 || !(p.revents & POLLHUP);
}

static void write_all(const void *data, size_t len)
{
	const uint8_t *p = data;

	while (len) {
		ssize_t n = write(port, p, len);

		if (n > 0) {
			p += n;
			len -= (size_t)n;
		} else if (n < 0 && errno == EAGAIN) {
			struct pollfd pfd = { .fd = port, .events = POLLOUT };

			poll(&pfd, 1, -1);
		} else if (n < 0 && errno != EINTR) {
			return;		/* unplugged: nobody is left to report to */
		}
	}
}

void port_set_nonce(uint64_t value)
{
	nonce = value;
}

void port_send(uint32_t type, uint32_t id, const void *data, size_t len)
{
	static uint8_t frame[sizeof(struct ctl_header) + CTL_PAYLOAD_MAX];
	struct ctl_header hdr = {
		.len = (uint32_t)len, .type = type, .id = id, .nonce = nonce,
	};

	/* One write for one frame: each costs an exit from the guest. */
	memcpy(frame, &hdr, sizeof(hdr));
	if (len)
		memcpy(frame + sizeof(hdr), data, len);
	write_all(frame, sizeof(hdr) + len);
}

void port_ack(uint32_t id, int error)
{
	int32_t e = error;

	port_send(CTL_ACK, id, &e, sizeof(e));
}

/*
 * An impossible length means a broken launcher: the next frame cannot be found in the
 * stream, so drop all bytes read so far.
 */
static size_t take_frames(void (*frame)(const struct ctl_header *, const uint8_t *))
{
	struct ctl_header hdr;
	size_t used = 0;

	while (inbox_len - used >= sizeof(hdr)) {
		memcpy(&hdr, inbox + used, sizeof(hdr));
		if (hdr.len > CTL_PAYLOAD_MAX)
			return inbox_len;
		if (inbox_len - used < sizeof(hdr) + hdr.len)
			break;
		frame(&hdr, inbox + used + sizeof(hdr));
		used += sizeof(hdr) + hdr.len;
	}
	return used;
}

void port_receive(void (*frame)(const struct ctl_header *hdr, const uint8_t *data))
{
	size_t used;
	ssize_t n;

	n = read(port, inbox + inbox_len, sizeof(inbox) - inbox_len);
	if (n <= 0)
		return;
	inbox_len += (size_t)n;
	used = take_frames(frame);
	memmove(inbox, inbox + used, inbox_len - used);
	inbox_len -= used;
}
