// SPDX-License-Identifier: MIT
/* Memory, file descriptors and processes: a client does this besides its calls. */
#include "fuzz.h"

#include <fcntl.h>
#include <linux/dma-buf.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define USER_PAGES	(FUZZ_FILES * FUZZ_SPACES * FUZZ_USER_PART)
#define CHILD_STEPS	16u
/*
 * Where nothing else of the process comes to lie: these parts get holes, and what is mapped there
 * takes the place of what was.
 */
#define USER_AT		((void *)0x100000000000)
#define MAPS_AT		0x200000000000
#define MAPS_APART	(1ull << 32)

/* ---- Maps --------------------------------------------------------------- */

static sigjmp_buf faulted;

static void on_fault(int number)
{
	(void)number;
	siglongjmp(faulted, 1);
}

bool fuzz_try(struct fuzz_client *client, void (*use)(struct fuzz_client *client, void *arg),
	      void *arg)
{
	bool well = false;

	signal(SIGSEGV, on_fault);
	signal(SIGBUS, on_fault);
	if (!sigsetjmp(faulted, 1)) {
		use(client, arg);
		well = true;
	}
	signal(SIGSEGV, SIG_DFL);
	signal(SIGBUS, SIG_DFL);
	return well;
}

static void read_byte(struct fuzz_client *client, void *at)
{
	(void)client;
	(void)*(volatile uint8_t *)at;
}

static void write_byte(struct fuzz_client *client, void *at)
{
	(void)client;
	*(volatile uint8_t *)at = 0x77;
}

/* The memory may be gone. */
static void touch(struct fuzz_client *client, uint8_t *at, bool write)
{
	fuzz_try(client, write ? write_byte : read_byte, at);
}

static void map_at(struct fuzz_client *client, int fd, uint64_t offset, uint64_t size)
{
	const uint32_t slot = fuzz_any(client, FUZZ_MAPS);
	struct fuzz_map *map = &client->map[slot];
	const int prot = fuzz_any(client, 4) ? PROT_READ | PROT_WRITE : (int)fuzz_any(client, 8);
	void *at;

	if (map->at)
		munmap(map->at, map->size);
	map->at = NULL;
	/* Now and then another part, more than there is, or nothing that was ever given out. */
	if (fuzz_once_in(client, 8))
		offset += PAGE * fuzz_any(client, 8);
	if (fuzz_once_in(client, 8))
		size += PAGE * fuzz_any(client, 8);
	if (fuzz_once_in(client, 32))
		offset = fuzz_any64(client) & ~(uint64_t)(PAGE - 1);
	at = mmap((void *)(uintptr_t)(MAPS_AT + slot * MAPS_APART), size, prot,
		  MAP_FIXED | (fuzz_once_in(client, 8) ? MAP_PRIVATE : MAP_SHARED), fd,
		  (off_t)offset);
	if (at != MAP_FAILED)
		*map = (struct fuzz_map){ at, size };
}

void fuzz_found_offset(struct fuzz_client *client, const void *arg, const void *sent, int err)
{
	const struct drm_agate_mmap_bo *map = arg;
	const struct fuzz_bo *bo;

	(void)sent;
	if (err)
		return;
	bo = fuzz_bo_of(client, map->handle);
	map_at(client, client->now->fd, map->offset, bo ? bo->size : PAGE);
}

static void use_map(struct fuzz_client *client)
{
	struct fuzz_map *map = &client->map[fuzz_any(client, FUZZ_MAPS)];
	uint8_t *at;

	if (!map->at)
		return;
	at = map->at + fuzz_any(client, (uint32_t)(map->size / PAGE)) * (size_t)PAGE;
	switch (fuzz_any(client, 8)) {
	case 0:
		munmap(map->at, map->size);
		map->at = NULL;
		break;
	case 1:
		munmap(at, PAGE);
		break;
	case 2:
		mprotect(at, PAGE, (int)fuzz_any(client, 4));
		break;
	case 3:
		madvise(at, PAGE, MADV_DONTNEED);
		break;
	default:
		touch(client, at, fuzz_any(client, 2));
		break;
	}
}

/* ---- Memory of the process ------------------------------------------------ */

/*
 * Each page is one of its own: the page that all untouched memory shares would soon have too
 * many users for the kernel's check of DMA.
 */
static void map_user_memory(uint8_t *at, size_t size, int flags)
{
	mmap(at, size, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | MAP_FIXED | MAP_POPULATE | flags, -1, 0);
}

static void change_user_memory(struct fuzz_client *client)
{
	const uint32_t page = fuzz_any(client, USER_PAGES);
	uint32_t pages = 1 + fuzz_any(client, 2 * FUZZ_USER_PART);
	uint8_t *at;
	size_t size;

	if (!client->user) {
		client->user = USER_AT;
		map_user_memory(client->user, USER_PAGES * PAGE, MAP_PRIVATE);
	}
	if (pages > USER_PAGES - page)
		pages = USER_PAGES - page;
	at = client->user + page * (size_t)PAGE;
	size = pages * (size_t)PAGE;
	switch (fuzz_any(client, 8)) {
	case 0:
		munmap(at, size);
		break;
	case 1:
		mprotect(at, size, (int)fuzz_any(client, 4));
		break;
	case 2:
		if (!madvise(at, size, MADV_DONTNEED))
			madvise(at, size, MADV_POPULATE_WRITE);
		break;
	case 3:
		map_user_memory(at, size, MAP_SHARED);
		break;
	case 4:
		touch(client, at, true);
		break;
	default:
		map_user_memory(at, size, MAP_PRIVATE);
		break;
	}
}

/* ---- File descriptors ------------------------------------------------------ */

static void send_fd(int sock, int fd)
{
	char byte = 0, control[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
	};
	struct cmsghdr *head = CMSG_FIRSTHDR(&msg);

	head->cmsg_level = SOL_SOCKET;
	head->cmsg_type = SCM_RIGHTS;
	head->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(head), &fd, sizeof(fd));
	sendmsg(sock, &msg, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static int receive_fd(int sock)
{
	char byte, control[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
	};
	struct cmsghdr *head;
	int fd = -1;

	if (recvmsg(sock, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) <= 0)
		return -1;
	head = CMSG_FIRSTHDR(&msg);
	if (head)
		memcpy(&fd, CMSG_DATA(head), sizeof(fd));
	return fd;
}

static void use_dmabuf(struct fuzz_client *client)
{
	int *slot = &client->dmabuf[fuzz_any(client, FUZZ_FDS)];
	struct dma_buf_sync sync = { .flags = fuzz_any(client, 8) };
	struct pollfd pollfd = { .fd = *slot, .events = POLLIN | POLLOUT };
	int fd;

	switch (fuzz_any(client, 6)) {
	case 0:
		if (*slot >= 0)
			send_fd(client->peer, *slot);
		break;
	case 1:
		fd = receive_fd(client->peer);
		if (fd >= 0)
			fuzz_keep_fd(slot, fd);
		break;
	case 2:
		if (*slot >= 0)
			map_at(client, *slot, 0, (1 + fuzz_any(client, 4)) * (uint64_t)PAGE);
		break;
	case 3:
		ioctl(*slot, DMA_BUF_IOCTL_SYNC, &sync);
		break;
	case 4:
		poll(&pollfd, 1, (int)fuzz_any(client, 3));
		break;
	default:
		fuzz_keep_fd(slot, -1);
		break;
	}
}

static void read_all(const char *path)
{
	char text[4096];
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	while (read(fd, text, sizeof(text)) > 0)
		;
	close(fd);
}

/* What the driver tells others about this client. */
static void look(struct fuzz_client *client)
{
	static const char *const files[] = {
		"counters", "bos", "vms", "busy", "pages", "regions", "vram", "ggtt", "moves",
		"clients",
	};
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", client->now->fd);
	read_all(path);
	snprintf(path, sizeof(path), "/sys/kernel/debug/dri/%d/%s", guest_minor(),
		 files[fuzz_any(client, sizeof(files) / sizeof(files[0]))]);
	read_all(path);
}

/* ---- Files and processes ---------------------------------------------------- */

static void change_file(struct fuzz_client *client)
{
	int fd;

	if (fuzz_any(client, 8)) {
		fd = dup(client->now->fd);
		if (fd < 0)
			return;
		close(client->now->fd);
		client->now->fd = fd;
	} else if (client->now != client->file && !client->child) {
		fuzz_close(client, client->now);
		if (!fuzz_open(client, client->now))
			fuzz_wrong(client, "the device does not open: %s", strerror(errno));
	}
}

/* A child has the files, the maps and, as copies, the memory.  It may be killed. */
static void fork_child(struct fuzz_client *client)
{
	const unsigned int kill_it = fuzz_once_in(client, 4);
	int status;
	pid_t pid;

	if (client->child)
		return;
	pid = fork();
	if (pid < 0)
		return;
	if (!pid) {
		client->child = true;
		for (unsigned int i = 0; i < CHILD_STEPS; i++)
			fuzz_step(client);
		_exit(0);
	}
	if (kill_it) {
		usleep(fuzz_any(client, 3000));
		kill(pid, SIGKILL);
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (!kill_it && status)
		fuzz_wrong(client, "its child ended with %#x", status);
}

/* All that keeps BOs, in all files. */
void fuzz_let_go(struct fuzz_client *client)
{
	for (int i = 0; i < FUZZ_MAPS; i++) {
		if (client->map[i].at)
			munmap(client->map[i].at, client->map[i].size);
		client->map[i].at = NULL;
	}
	for (int i = 0; i < FUZZ_FDS; i++) {
		fuzz_keep_fd(&client->dmabuf[i], -1);
		fuzz_keep_fd(&client->sync_file[i], -1);
	}
	for (int i = 1; i < FUZZ_FILES; i++) {
		fuzz_close(client, &client->file[i]);
		if (!fuzz_open(client, &client->file[i]))
			fuzz_wrong(client, "the device does not open: %s", strerror(errno));
	}
	/* The other client has this one, too. */
	for (uint32_t name = 1; name < 256; name++) {
		struct drm_agate_vm_destroy end = { .vm_id = name };

		guest_close_handle(client->file->fd, name);
		guest_ioctl(client->file->fd, DRM_IOCTL_AGATE_VM_DESTROY, &end);
	}
}

void fuzz_do_other(struct fuzz_client *client)
{
	const uint32_t what = fuzz_any(client, 128);

	if (what < 32)
		use_map(client);
	else if (what < 72)
		use_dmabuf(client);
	else if (what < 112)
		change_user_memory(client);
	else if (what < 120)
		look(client);
	else if (what < 126)
		change_file(client);
	else
		fork_child(client);
}
