// SPDX-License-Identifier: MIT
/* CPUs and imported memory, and the ends of an import: its BO's, and its device's. */
#include "prime.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sleeps.h"

#define RW		(PROT_READ | PROT_WRITE)
#define TRUE_AS_ERRNO	255	/* the last byte of -255, which is a bool's, is 1 */
#define ASLEEP_MS	5000
#define PATIENCE_MS	500	/* a wrong removal is over by then; a right one waits */
#define REST_LOOKS	100	/* and has slept for so long, without a break */

/* ---- CPUs ---------------------------------------------------------------- */

static void refused_mmap(int fd)
{
	int dmabuf = foreign_dmabuf(FOREIGN_SCATTERED, FOREIGN_NO_MMAP);
	struct bo bo = import_bo(fd, dmabuf);
	void *cpu = NULL;

	rule("when the exporter's mmap() fails, that is the error, and no reference is put twice");
	for (int i = 0; i < 3; i++)
		check_errno(try_map_bo(&bo, RW, &cpu), ENXIO, "mmap()");
	check_more("bos", 1, "BOs after three of them");
	gpu_writes(&bo, 0, 1);
	check_errno(guest_close_handle(fd, bo.handle), 0, "GEM_CLOSE");
	close(dmabuf);
	check_undone(1);
}

/* A mapping that may only be read never becomes another one. */
static void mapped_to_read(int fd)
{
	int dmabuf = foreign_dmabuf(FOREIGN_SCATTERED, FOREIGN_READ);
	struct bo bo = import_bo(fd, dmabuf);
	void *cpu = NULL;

	rule("a dma-buf without DRM_RDWR becomes a BO that no CPU may write");
	check_errno(try_map_bo(&bo, PROT_READ, &cpu), 0, "mmap() to read");
	check_errno(mprotect(cpu, SIZE, RW) ? errno : 0, EACCES, "mprotect() to write");
	munmap(cpu, SIZE);
	check_errno(guest_close_handle(fd, bo.handle), 0, "GEM_CLOSE");
	close(dmabuf);
	check_undone(1);
}

void test_cpu(void **state)
{
	int fd = prime_open(), dmabuf = foreign_dmabuf(FOREIGN_SCATTERED, 0);
	struct bo bo = import_bo(fd, dmabuf);
	void *cpu = NULL, *theirs = NULL;

	(void)state;
	rule("a process maps an imported BO as any other, and sees the other driver's memory");
	check_errno(try_map(dmabuf, RW, MAP_SHARED, &theirs), 0, "mmap() of the dma-buf");
	number_pages(theirs);
	check_errno(try_map_bo(&bo, RW, &cpu), 0, "mmap() of the BO");
	rule("the exporter gets a VMA without vm_ops and vm_private_data of this driver");
	check_equal(foreign_seen().vma_used, 0, "VMAs that still had them");
	check_numbers(cpu, "of another driver");
	((volatile uint8_t *)cpu)[PAGE] = 0x55;
	check_equal(((volatile uint8_t *)theirs)[PAGE], 0x55, "the byte that was written");
	close(dmabuf);
	munmap(theirs, SIZE);
	check_errno(guest_close_handle(fd, bo.handle), 0, "GEM_CLOSE");
	rule("the VMA is the exporter's, and keeps the memory but not our BO");
	check_more("bos", 0, "BOs that are left");
	check_equal(((volatile uint8_t *)cpu)[PAGE], 0x55, "the byte after GEM_CLOSE");
	munmap(cpu, SIZE);
	check_undone(1);
	refused_mmap(fd);
	mapped_to_read(fd);
	close(fd);
	check_gone();
}

/* The newest BO, mapped for the kernel and unmapped: "RESULT PINS PINS". */
static int kernel_maps(void)
{
	int result = -1;
	FILE *file;

	inject_load();
	file = fopen("/sys/kernel/debug/agate_vmap", "re");
	if (!file || fscanf(file, "%d", &result) != 1)
		fail_msg("agate_vmap: %s", strerror(errno));
	fclose(file);
	return -result;
}

void test_kernel_map(void **state)
{
	int fd = prime_open(), dmabuf = foreign_dmabuf(FOREIGN_SCATTERED, 0);
	struct bo bo = import_bo(fd, dmabuf);
	struct foreign_seen seen;

	(void)state;
	rule("the kernel maps an imported BO as its exporter does, and undoes it");
	check_errno(kernel_maps(), 0, "vmap of the backing");
	seen = foreign_seen();
	check_equal(seen.vmapped, 1, "calls of the exporter's vmap()");
	check_equal(seen.vunmapped, 1, "calls of the exporter's vunmap()");
	check_equal(seen.unlocked, 0, "of them, those without the dma-buf's reservation");
	check_errno(guest_close_handle(fd, bo.handle), 0, "GEM_CLOSE");
	close(dmabuf);
	dmabuf = foreign_dmabuf(FOREIGN_SCATTERED, FOREIGN_NO_VMAP);
	bo = import_bo(fd, dmabuf);
	rule("when the exporter cannot map it for the kernel, that is the error");
	check_errno(kernel_maps(), EINVAL, "vmap of the backing");
	check_errno(guest_close_handle(fd, bo.handle), 0, "GEM_CLOSE");
	close(dmabuf);
	check_undone(1);
	close(fd);
	check_gone();
}

/* ---- The device goes ----------------------------------------------------- */

/* Open files and dma-bufs have references to the module of their calls. */
static long module_users(void)
{
	long users = -1;
	FILE *file = fopen("/sys/module/agate/refcnt", "re");

	if (!file || fscanf(file, "%ld", &users) != 1)
		could_not_look("the references to the module cannot be read");
	fclose(file);
	return users;
}

/* The last job's end may put the import, and so the dma-buf, a little later than we do. */
static void wait_for_release(long users)
{
	for (int i = 0; i < 1000 && module_users() != users; i++)
		usleep(10000);
	rule("when the import is closed, the dma-buf is released");
	check_equal(module_users(), users, "references to the module");
}

/* The same driver has exported the BO, for a device that is gone. */
void test_other_device(void **state)
{
	const long users = module_users();
	int fd = prime_open(), dmabuf;
	struct bo bo = numbered_bo(fd, 0), import;
	void *cpu = NULL;

	(void)state;
	dmabuf = export_bo(&bo);
	guest_destroy(&bo);
	close(fd);
	watch_device_end();
	check_errno(device_unbind(), 0, "unbinding the device");
	check_errno(device_bind(), 0, "binding it again, which makes another one");
	fd = guest_open();
	import = import_bo(fd, dmabuf);
	rule("a dma-buf of this driver, but of another device, is another driver's");
	check_true(guest_debugfs_says("bos", "imported"), "a BO that was imported", "another one");
	gpu_writes(&import, PAGE + 8, 0x600d);
	check_errno(try_map(dmabuf, RW, MAP_SHARED, &cpu), 0, "mmap() of the dma-buf");
	check_equal((int64_t)((volatile uint64_t *)cpu)[PAGE / 8 + 1], 0x600d,
		    "the word that the GPU wrote");
	check_numbers(cpu, "beside the word");
	munmap(cpu, SIZE);
	check_errno(guest_close_handle(fd, import.handle), 0, "GEM_CLOSE");
	close(dmabuf);
	close(fd);
	wait_for_release(users);
	check_device_ended();
}

struct going {
	pthread_t thread;
	int fd, dmabuf, err;
	atomic_int tid;		/* of run_close() or run_unbind(), or 0 */
};

static void *run_import(void *arg)
{
	struct going *going = arg;
	uint32_t handle;

	going->err = dmabuf_try_import(going->fd, going->dmabuf, &handle);
	return NULL;
}

static void *run_unbind(void *arg)
{
	struct going *going = arg;

	atomic_store(&going->tid, gettid());
	going->err = device_unbind();
	return NULL;
}

static void start(struct going *going, void *(*run)(void *arg))
{
	assert_int_equal(pthread_create(&going->thread, NULL, run, going), 0);
}

static bool is_unplugged(int fd)
{
	struct drm_agate_get_param arg = { .param = DRM_AGATE_PARAM_FEATURES };

	for (int i = 0; i < 1000; i++) {
		if (guest_ioctl(fd, DRM_IOCTL_AGATE_GET_PARAM, &arg) == ENODEV)
			return true;
		usleep(10000);
	}
	return false;
}

/* Gives a wrong removal time for so many calls. */
static void await_hits(const char *symbol, unsigned int hits, const struct going *removal)
{
	struct sleep_rest rest = { 0 };

	for (int i = 0; i < PATIENCE_MS && inject_hits(symbol) < hits; i++) {
		if (sleep_rests(atomic_load(&removal->tid), REST_LOOKS, &rest))
			break;
		usleep(1000);
	}
}

void come_again(int fd, int dmabuf, unsigned int imports)
{
	close(fd);
	close(dmabuf);
	check_undone(imports);
	check_errno(device_bind(), 0, "binding the device again");
}

/* The device goes while an import is about to begin, which holds object_name_lock. */
static void removal_before_import(void)
{
	int fd = prime_open(), first = foreign_dmabuf(FOREIGN_SCATTERED, 0);
	struct going import = { .fd = fd }, unbind = { 0 };

	import_bo(fd, first);
	import.dmabuf = foreign_dmabuf(FOREIGN_SCATTERED, 0);
	inject_count("dma_buf_detach");
	inject_hold_entry("agate_prime_import", 1, INJECT_BOUND_MS);
	start(&import, run_import);
	rule("FD_TO_HANDLE calls agate_prime_import()");
	check_true(inject_await_held("agate_prime_import", INJECT_BOUND_MS), "that call", "none");
	start(&unbind, run_unbind);
	if (!is_unplugged(fd))
		could_not_look("the device was not unplugged");
	rule("agate_prime_topic_fini() takes object_name_lock before it undoes an import");
	await_hits("dma_buf_detach", 1, &unbind);
	check_equal(inject_hits("dma_buf_detach"), 0, "imports undone while another has that lock");
	if (!inject_let_go("agate_prime_import"))
		could_not_look("the import was not held until now");
	pthread_join(import.thread, NULL);
	pthread_join(unbind.thread, NULL);
	rule("an import fails with ENODEV when the device is gone");
	check_errno(import.err, ENODEV, "FD_TO_HANDLE");
	check_errno(unbind.err, 0, "unbinding the device");
	check_equal(foreign_seen().mapped, 0, "mappings that it made");
	rule("when the device goes, all imports are unmapped and detached");
	check_equal(inject_hits("dma_buf_detach"), 1, "calls of dma_buf_detach()");
	inject_clear();
	close(fd);
	close(first);
	close(import.dmabuf);
	check_errno(device_bind(), 0, "binding the device again");
}

/* The device goes while an import has its BO, and the core has not completed that yet. */
static void removal_within_import(void)
{
	int fd = prime_open(), dmabuf = foreign_dmabuf(FOREIGN_SCATTERED, 0);
	struct going import = { .fd = fd, .dmabuf = dmabuf }, unbind = { 0 };

	inject_count("agate_topics_fini");
	inject_hold_return("agate_prime_import_sg_table", 1, INJECT_BOUND_MS);
	start(&import, run_import);
	rule("drm_gem_prime_import() calls agate_prime_import_sg_table()");
	check_true(inject_await_held("agate_prime_import_sg_table", INJECT_BOUND_MS), "that call",
		   "none");
	start(&unbind, run_unbind);
	if (!is_unplugged(fd))
		could_not_look("the device was not unplugged");
	rule("drm_dev_enter() and drm_dev_exit() enclose the whole import: the device does not go "
	     "before that is complete");
	await_hits("agate_topics_fini", 1, &unbind);
	check_equal(inject_hits("agate_topics_fini"), 0, "removals in the middle of the import");
	if (!inject_let_go("agate_prime_import_sg_table"))
		could_not_look("the import was not held until now");
	pthread_join(import.thread, NULL);
	pthread_join(unbind.thread, NULL);
	inject_clear();
	come_again(fd, dmabuf, 1);
}

void test_removal(void **state)
{
	(void)state;
	removal_before_import();
	removal_within_import();
}

/* What the end of the topic leaves of all imports. */
static void check_fini(struct going *unbind)
{
	struct foreign_look look;

	inject_hold_return("agate_prime_topic_fini", 1, INJECT_BOUND_MS);
	start(unbind, run_unbind);
	rule("the device's end calls agate_prime_topic_fini(), which returns");
	check_true(inject_await_held("agate_prime_topic_fini", INJECT_BOUND_MS), "that call", "none");
	look = foreign_look();
	if (!inject_let_go("agate_prime_topic_fini"))
		could_not_look("the end of the topic was not held until now");
	pthread_join(unbind->thread, NULL);
	rule("agate_prime_topic_fini() leaves import.sgt, backing.bounced and base.import_attach NULL, "
	     "of all imports");
	check_equal(look.tables, 0, "imports with an import.sgt");
	check_equal(look.attachments, 0, "imports with a base.import_attach");
	check_equal(look.tables_bounced, 0, "imports with a backing.bounced");
	rule("when the device goes, the exporter's reservation stays until the BO dies");
	check_equal(look.own_resvs, 0, "imports whose base.resv is their own again");
}

/* So many have the file, as the kernel reports it. */
static long dmabuf_references(int dmabuf)
{
	char path[64], line[128];
	long count = -1;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", dmabuf);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "count: %ld", &count) == 1)
			break;
	if (file)
		fclose(file);
	if (count < 0)
		could_not_look("the kernel does not tell how many have the dma-buf");
	return count;
}

/* Neither mapping nor attachment outlasts the device, and the end of the BO finds that done. */
void test_unplug(void **state)
{
	int fd = prime_open(), other = guest_open();
	int dmabuf = foreign_dmabuf(FOREIGN_SCATTERED, 0);
	struct foreign_seen seen;
	struct going unbind = { 0 };
	void *cpu = NULL;
	struct bo bo;
	uint32_t mapped;
	long references;

	(void)state;
	/* As where DMA is bounced, so that this import has a backing.bounced. */
	inject_fail("agate_sgt_needs_sync", 1, TRUE_AS_ERRNO);
	bo = import_bo(fd, dmabuf);
	inject_clear();
	import_bo(other, dmabuf);
	/* A file has its own BO, or the BO that the other one has. */
	mapped = foreign_seen().mapped;
	gpu_writes(&bo, 0, 9);
	check_errno(try_map_bo(&bo, RW, &cpu), 0, "mmap() of the BO");
	watch_device_end();
	references = dmabuf_references(dmabuf);
	check_fini(&unbind);
	rule("when the device goes, an import is unmapped and detached, and keeps the dma-buf");
	check_errno(unbind.err, 0, "unbinding the device");
	check_equal(dmabuf_references(dmabuf), references, "references to the dma-buf");
	seen = foreign_seen();
	check_equal(seen.unmapped, mapped, "times that the exporter unmapped its memory");
	check_equal(seen.detached, mapped, "times that the device detached");
	close(dmabuf);
	check_equal(foreign_seen().alive, 1, "the exporter's dma-buf while files have the BO");
	check_equal((int64_t)*(volatile uint64_t *)cpu, 9, "what a process has mapped");
	munmap(cpu, SIZE);
	close(other);
	close(fd);
	check_undone(mapped);
	check_device_ended();
	check_errno(device_bind(), 0, "binding the device again");
}

static void *run_close(void *arg)
{
	struct going *going = arg;

	atomic_store(&going->tid, gettid());
	going->err = guest_close_handle(going->fd, (uint32_t)going->dmabuf);
	return NULL;
}

/* Each end by itself: it holds the lock until the import is undone. */
static void check_guarded(void)
{
	int fd = prime_open(), dmabuf = foreign_dmabuf(FOREIGN_SCATTERED, 0);
	struct bo bo = import_bo(fd, dmabuf);

	check_errno(guest_close_handle(fd, bo.handle), 0, "GEM_CLOSE");
	check_gone();
	rule("release holds prime.lock while it undoes an import: else the device may be gone before "
	     "it has done so");
	check_equal(foreign_seen().unguarded, 0, "unmaps and detaches without prime.lock");
	close(dmabuf);
	check_undone(1);
	dmabuf = foreign_dmabuf(FOREIGN_SCATTERED, 0);
	import_bo(fd, dmabuf);
	check_errno(device_unbind(), 0, "unbinding the device");
	rule("agate_prime_topic_fini() holds prime.lock while it undoes an import: else a BO that "
	     "dies may put the dma-buf before");
	check_equal(foreign_seen().unguarded, 0, "unmaps and detaches without prime.lock");
	come_again(fd, dmabuf, 1);
}

/* While the BO's end undoes its import, the device goes. */
static void check_together(void)
{
	int fd = prime_open(), dmabuf = foreign_dmabuf(FOREIGN_SCATTERED, 0);
	struct going closing = { .fd = fd }, unbind = { 0 };

	closing.dmabuf = (int)import_bo(fd, dmabuf).handle;
	inject_hold_entry("dma_buf_detach", 1, INJECT_BOUND_MS);
	start(&closing, run_close);
	rule("an import is undone when its BO dies");
	check_true(inject_await_held("dma_buf_detach", INJECT_BOUND_MS),
		   "a call of dma_buf_detach()", "none");
	start(&unbind, run_unbind);
	if (!is_unplugged(fd))
		could_not_look("the device was not unplugged");
	rule("prime.lock protects the sgt of an import: the device's end waits for the BO's end");
	await_hits("dma_buf_detach", 2, &unbind);
	check_equal(inject_hits("dma_buf_detach"), 1, "calls of dma_buf_detach()");
	if (!inject_let_go("dma_buf_detach"))
		could_not_look("dma_buf_detach() was not held until now");
	pthread_join(closing.thread, NULL);
	pthread_join(unbind.thread, NULL);
	inject_clear();
	check_errno(unbind.err, 0, "unbinding the device");
	come_again(fd, dmabuf, 1);
}

/* Nobody has a reference to the BO any more, and it has not begun to release its backing. */
static void check_dying(void)
{
	int fd = prime_open(), dmabuf = foreign_dmabuf(FOREIGN_SCATTERED, 0);
	struct going closing = { .fd = fd };

	closing.dmabuf = (int)import_bo(fd, dmabuf).handle;
	inject_hold_entry("agate_backing_release", 1, INJECT_BOUND_MS);
	start(&closing, run_close);
	if (!inject_await_held("agate_backing_release", INJECT_BOUND_MS))
		could_not_look("the BO's end was not held");
	check_errno(device_unbind(), 0, "unbinding the device");
	rule("agate_prime_topic_fini() undoes all imports, also that of a BO that is about to die");
	check_equal(foreign_seen().unmapped, 1, "times that the exporter unmapped its memory");
	check_equal(foreign_seen().detached, 1, "times that the device detached");
	if (!inject_let_go("agate_backing_release"))
		could_not_look("the BO's end was not held until now");
	pthread_join(closing.thread, NULL);
	inject_clear();
	come_again(fd, dmabuf, 1);
}

/* The device's end is in the middle of an import, and its BO's end waits for that. */
static void check_looks_again(void)
{
	int fd = prime_open(), dmabuf = foreign_dmabuf(FOREIGN_SCATTERED, 0);
	struct going closing = { .fd = fd }, unbind = { 0 };
	long sleeps;

	closing.dmabuf = (int)import_bo(fd, dmabuf).handle;
	inject_hold_entry("agate_backing_release", 1, INJECT_BOUND_MS);
	inject_hold_entry("dma_buf_detach", 1, INJECT_BOUND_MS);
	start(&closing, run_close);
	if (!inject_await_held("agate_backing_release", INJECT_BOUND_MS))
		could_not_look("the BO's end was not held");
	start(&unbind, run_unbind);
	rule("agate_prime_topic_fini() undoes all imports, also that of a BO that is about to die");
	check_true(inject_await_held("dma_buf_detach", INJECT_BOUND_MS),
		   "a call of dma_buf_detach()", "none");
	sleeps = sleeps_of(atomic_load(&closing.tid));
	if (!inject_let_go("agate_backing_release"))
		could_not_look("the BO's end was not held until now");
	/* It sleeps again when it wants prime.lock; a right one has not looked at sgt before. */
	for (int i = 0; i < ASLEEP_MS && sleeps_of(atomic_load(&closing.tid)) <= sleeps; i++)
		usleep(1000);
	rule("release holds prime.lock from its look at import.sgt on: what it saw before it had the "
	     "lock, the device's end may have undone since");
	if (!inject_let_go("dma_buf_detach"))
		could_not_look("dma_buf_detach() was not held until now");
	pthread_join(closing.thread, NULL);
	pthread_join(unbind.thread, NULL);
	check_equal(inject_hits("dma_buf_detach"), 1, "calls of dma_buf_detach()");
	inject_clear();
	check_errno(unbind.err, 0, "unbinding the device");
	come_again(fd, dmabuf, 1);
}

void test_two_ends(void **state)
{
	(void)state;
	check_guarded();
	check_dying();
	check_together();
	check_looks_again();
}
