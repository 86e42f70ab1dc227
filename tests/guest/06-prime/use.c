// SPDX-License-Identifier: MIT
/* Jobs, another driver and another process use a dma-buf of this driver. */
#include "prime.h"

#include <linux/dma-buf.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define LEAVES_S	10

void test_jobs(void **state)
{
	int fd = prime_open(), dmabuf, timeline;
	struct bo bo = numbered_bo(fd, 0), jobs = guest_bo(fd, PAGE, 0);

	(void)state;
	dmabuf = export_bo(&bo);
	rule("a dma-buf has the BO's reservation: it is busy as long as a job writes the BO");
	check_true(is_idle(dmabuf), "an idle dma-buf before the first job", "a busy one");
	timeline = gated_write(&bo, &jobs, 0x77);
	check_true(!is_idle(dmabuf), "a busy dma-buf while a job waits to write", "an idle one");
	guest_timeline_advance(timeline);
	rule("a CPU that begins an access by the dma-buf waits for the BO's jobs");
	dmabuf_sync(dmabuf, DMA_BUF_SYNC_START | DMA_BUF_SYNC_READ);
	check_equal((int64_t)((volatile uint64_t *)bo.cpu)[1], 0x77, "the word that the job wrote");
	dmabuf_sync(dmabuf, DMA_BUF_SYNC_END | DMA_BUF_SYNC_READ);
	guest_destroy(&bo);
	guest_destroy(&jobs);
	close(timeline);
	close(dmabuf);
	close(fd);
	check_gone();
}

static void imported_by_another(int fd, uint32_t flags)
{
	struct bo bo = numbered_bo(fd, flags);
	struct foreign_import import;
	int dmabuf = export_bo(&bo);

	memset(bo.cpu, 0x42, 8);
	inject_count("dma_unmap_sg_attrs");
	import = foreign_import(dmabuf);
	rule("a BO is mapped for no device in the direction DMA_NONE");
	check_errno(-import.none, EINVAL, "dma_buf_map_attachment() with DMA_NONE");
	rule("another driver that imports the BO gets its memory");
	check_errno(-import.result, 0, "dma_buf_map_attachment()");
	check_at_least(import.entries, PAGES, "entries, for a device that takes a page in each");
	rule("a BO is mapped for the importer's device, not for the GPU");
	check_equal(import.other_device, 0, "entries that are longer than this device takes");
	rule("a BO is mapped in the direction that the importer asks for");
	check_true(!import.turned, "dma_map_sgtable() with DMA_FROM_DEVICE", "another direction");
	rule("an importer keeps one mapping until it detaches: cache_sgt_mapping");
	check_true(import.same, "the same table when it maps the BO again", "another table");
	rule("another driver maps the BO for the kernel");
	check_errno(-import.vmap, 0, "dma_buf_vmap()");
	check_equal((int64_t)import.word, 0x4242424242424242, "the first word");
	rule("when an importer detaches, what was mapped for it is unmapped");
	check_equal(inject_hits("dma_unmap_sg_attrs"), 1, "calls of dma_unmap_sg_attrs()");
	inject_clear();
	guest_destroy(&bo);
	close(dmabuf);
	check_gone();
}

/* A BO that nobody needs, and that only a VMA keeps when the importer has gone. */
static void let_go_after_import(int fd)
{
	struct bo bo = numbered_bo(fd, 0);
	int dmabuf;

	check_errno(advise(&bo, AGATE_MADV_DONTNEED), 0, "MADVISE with DONTNEED");
	dmabuf = export_bo(&bo);
	check_errno(-foreign_import(dmabuf).result, 0, "dma_buf_map_attachment()");
	check_errno(guest_close_handle(fd, bo.handle), 0, "GEM_CLOSE");
	close(dmabuf);
	shrink();
	rule("what an importer has pinned and mapped is unpinned and unmapped when it is done: then "
	     "the shrinker may take the contents");
	check_true(guest_debugfs_says("bos", "madv=purged"), "a BO that is purged",
		   "its contents stay");
	munmap(bo.cpu, SIZE);
	check_gone();
}

/* Nobody has touched the BO yet: the importer's attachment brings its memory. */
static void imported_before_use(int fd)
{
	struct foreign_import import;
	struct bo bo;
	int dmabuf;

	check_errno(guest_create(fd, SIZE, 0, &bo), 0, "CREATE_BO");
	dmabuf = export_bo(&bo);
	import = foreign_import(dmabuf);
	rule("another driver that attaches to a BO pins it: all of its memory is there and stays");
	check_errno(-import.result, 0, "dma_buf_map_attachment()");
	check_equal((int64_t)import.word, 0, "the first word of a new BO");
	check_errno(guest_close_handle(fd, bo.handle), 0, "GEM_CLOSE");
	close(dmabuf);
	check_gone();
}

/* The BO cannot be pinned: nobody may attach to it. */
static void not_attached(int fd)
{
	struct bo bo = numbered_bo(fd, 0);
	struct foreign_import import;
	int dmabuf = export_bo(&bo);

	inject_fail("agate_backing_pin", 1, ENFILE);
	import = foreign_try_import(dmabuf);
	inject_clear();
	rule("a device that attaches pins the BO, and does not attach when that fails: attach hands "
	     "on the error");
	check_errno(-import.attach, ENFILE, "dma_buf_attach() of a BO that cannot be pinned");
	guest_destroy(&bo);
	close(dmabuf);
	check_gone();
}

void test_importer(void **state)
{
	int fd = prime_open();

	(void)state;
	not_attached(fd);
	imported_before_use(fd);
	imported_by_another(fd, 0);
	imported_by_another(fd, AGATE_BO_CONTIGUOUS);
	let_go_after_import(fd);
	close(fd);
}

/* Makes a BO, sends it, and is killed. */
static _Noreturn void sender(int sock)
{
	int fd = guest_open();
	struct bo bo = numbered_bo(fd, 0);

	dmabuf_send(sock, export_bo(&bo));
	kill(getpid(), SIGKILL);
	abort();
}

void test_process(void **state)
{
	int fd = prime_open(), socks[2], dmabuf;
	struct bo bo;
	pid_t pid;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, socks), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid)
		sender(socks[1]);
	close(socks[1]);
	rule("a process sends a dma-buf to another one, which gets the BO even if the sender dies");
	dmabuf = dmabuf_receive(socks[0]);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	check_more("handles", 0, "handles of the process that is dead");
	bo = import_bo(fd, dmabuf);
	close(dmabuf);
	guest_map(&bo);
	check_numbers(bo.cpu, "from another process");
	guest_destroy(&bo);
	close(socks[0]);
	close(fd);
	check_gone();
}

void test_module(void **state)
{
	int fd = prime_open(), dmabuf, err;
	struct bo bo = numbered_bo(fd, 0);
	void *cpu = NULL;

	(void)state;
	dmabuf = export_bo(&bo);
	guest_destroy(&bo);
	close(fd);
	rule("while a dma-buf lives, the module of its calls cannot be unloaded");
	check_errno(module_unload(), EAGAIN, "unloading the module");
	check_errno(try_map(dmabuf, PROT_READ, MAP_SHARED, &cpu), 0, "mmap() of the dma-buf");
	check_numbers(cpu, "after that");
	munmap(cpu, SIZE);
	close(dmabuf);
	rule("when the dma-buf is gone, the module can be unloaded");
	err = module_unload();
	for (int i = 0; err == EAGAIN && i < LEAVES_S * 100; i++) {
		usleep(10000);
		err = module_unload();
	}
	check_errno(err, 0, "unloading the module");
	check_errno(module_load(""), 0, "loading it again");
}
