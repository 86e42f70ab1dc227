// SPDX-License-Identifier: MIT
/* Lab 07, step 2: how many pages the shrinker counts, which it takes, and what is left of them. */
#include "purge.h"

#include <dirent.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define SHRINKERS	"/sys/kernel/debug/shrinker"

void test_count(void **state)
{
	unsigned int pages = (unsigned int)param("PAGES");
	int fd = purge_open(), file = look_at(false), used;
	struct bo bo, kept, empty, half;

	(void)state;
	rule("count_objects answers with the pages of BOs that nobody needs");
	check_equal(count(file), 0, "pages, while there is no BO");
	bo = full_bo(fd, pages, 1);
	used = look_at(true);
	kept = full_bo(fd, 7, 2);
	check_equal(count(file), 0, "pages, while all BOs are needed");
	dontneed(&bo);
	check_equal(count(file), pages, "pages, while one BO is not needed");
	rule("count_objects does not ask who uses a BO");
	told(used, "use");
	told(used, "fence 1");
	check_equal(count(file), pages, "pages, while a job uses the BO that is not needed");
	rule("count_objects takes no lock but purge.lock: it counts a BO whose backing.lock is taken");
	told(used, "hold backing");
	check_equal(count(used), pages, "pages, while another thread has backing.lock of the BO");
	told(used, "let-go");
	close(used);
	rule("count_objects answers with the pages of BOs that nobody needs");
	empty = make_bo(fd, 30);
	dontneed(&empty);
	check_equal(count(file), pages, "pages, with another one that has no pages");
	half = make_bo(fd, 9);
	half.cpu = map_more(&half, 9);
	check_true(can_read(word(half.cpu, 4)), "a page", "SIGBUS");
	dontneed(&half);
	check_equal(count(file), pages + 1, "pages, with another one that has one page");
	check_true(can_read(word(half.cpu, 5)), "a page", "SIGBUS");
	check_equal(count(file), pages + 2, "pages, when that one has got another page");
	willneed(&bo);
	check_equal(count(file), 2, "pages, when the first one is needed again");
	guest_destroy(&half);
	check_equal(count(file), 0, "pages, when the last one was closed");
	check_full(bo.cpu, pages, 1, "after the shrinker has counted");
	guest_destroy(&bo);
	guest_destroy(&empty);
	guest_destroy(&kept);
	close(file);
	close(fd);
	check_nothing_left();
}

static struct bo unneeded_bo(int fd, unsigned int pages, int *file)
{
	struct bo bo = full_bo(fd, pages, 50);

	*file = look_at(true);
	dontneed(&bo);
	return bo;
}

static unsigned int purged_of(const int *files, unsigned int n)
{
	unsigned int purged = 0;

	while (n--)
		purged += is_purged(files[n]);
	return purged;
}

/* The others of its pages were never there. */
static void scan_a_part(int fd)
{
	struct bo bo = make_bo(fd, 8);
	int file = look_at(true);

	bo.cpu = map_more(&bo, 8);
	for (unsigned int i = 0; i < 3; i++)
		check_true(can_read(word(bo.cpu, 2 * i)), "a page", "SIGBUS");
	dontneed(&bo);
	rule("scan_objects returns the number of pages that it has taken, and a BO has only its present pages to give");
	check_equal(scan(file, ALL), 3, "pages of a BO with 8 pages, of which 3 are present");
	close(file);
	guest_destroy(&bo);
}

#define SCANNED	4

void test_scan(void **state)
{
	unsigned int pages = (unsigned int)param("PAGES");
	int fd = purge_open(), files[SCANNED], file, kept_file;
	struct bo bos[SCANNED], kept, empty;

	(void)state;
	rule("scan_objects returns SHRINK_STOP when it has taken nothing");
	file = look_at(false);
	check_equal(scan_answer(file, ALL), STOP, "scan_objects without a BO; SHRINK_STOP is -1");
	empty = make_bo(fd, 40);
	dontneed(&empty);
	inject_count("agate_vm_try_teardown_bo");
	check_equal(scan_answer(file, ALL), STOP, "scan_objects of a BO without pages; SHRINK_STOP is -1");
	rule("the shrinker looks first whether a BO has pages, and then takes the GPU's entries");
	check_equal(inject_hits("agate_vm_try_teardown_bo"), 0,
		    "calls of agate_vm_try_teardown_bo() for a BO without pages");
	inject_clear();
	rule("scan_objects returns SHRINK_STOP when it has taken nothing");
	kept = full_bo(fd, 5, 9);
	kept_file = look_at(true);
	check_equal(scan_answer(file, ALL), STOP, "scan_objects of a BO that is needed; SHRINK_STOP is -1");
	/* All of one size: another test looks at their order. */
	for (int i = 0; i < SCANNED; i++)
		bos[i] = unneeded_bo(fd, pages, &files[i]);
	rule("scan_objects purges whole BOs until it has the pages that it was asked for, and returns their number");
	check_equal(scan_answer(file, 0), STOP, "scan_objects, when no page was asked for; SHRINK_STOP is -1");
	check_equal(purged_of(files, SCANNED), 0, "BOs that were purged, when no page was asked for");
	check_equal(scan(file, pages), pages, "pages, when the pages of one BO were asked for");
	check_equal(purged_of(files, SCANNED), 1, "BOs that were purged by then");
	check_equal(scan(file, pages + 1), 2 * pages, "pages, when one more was asked for than a BO has");
	check_equal(purged_of(files, SCANNED), 3, "BOs that were purged by then");
	check_equal(scan(file, 1), pages, "pages of the last BO, when one was asked for");
	for (int i = 0; i < SCANNED; i++)
		check_purged(files[i], "one of four BOs that nobody needs");
	rule("scan_objects returns SHRINK_STOP when it has taken nothing");
	check_equal(scan_answer(file, ALL), STOP, "scan_objects when there is nothing left; SHRINK_STOP is -1");
	rule("the shrinker takes nothing from a BO that is needed, and does not purge one without pages");
	check_kept(kept_file, "a BO that is needed");
	check_full(kept.cpu, 5, 9, "a BO that is needed");
	scan_a_part(fd);
	willneed(&empty);
	for (int i = 0; i < SCANNED; i++) {
		close(files[i]);
		guest_destroy(&bos[i]);
	}
	close(kept_file);
	close(file);
	guest_destroy(&kept);
	guest_destroy(&empty);
	close(fd);
	check_nothing_left();
}

#define BOS	6

/* Advice comes in another order than the BOs, and some of it again. */
void test_order(void **state)
{
	static const char *const names[BOS] = {
		"the first BO, which was needed in between and advised DONTNEED again",
		"the second BO, which was advised DONTNEED twice",
		"the third BO, which was needed in between and advised DONTNEED again, as the last",
		"the fourth BO, which was advised DONTNEED once",
		"the fifth BO, which was advised DONTNEED once, before all others had their last advice",
		"the sixth BO, which was advised DONTNEED twice",
	};
	static const int order[BOS] = { 4, 1, 0, 5, 3, 2 };
	int fd = purge_open(), file = look_at(false), files[BOS];
	struct bo bos[BOS];

	(void)state;
	for (int i = 0; i < BOS; i++) {
		bos[i] = full_bo(fd, 2, 7);
		files[i] = look_at(true);
	}
	rule("retained is 1 as long as the BO was not purged, whatever the advice");
	for (int i = 2; i >= 0; i--)
		dontneed(&bos[i]);
	dontneed(&bos[4]);
	dontneed(&bos[5]);
	/* Those that are advised again are the youngest, with WILLNEED in between or without. */
	willneed(&bos[2]);
	dontneed(&bos[1]);
	willneed(&bos[0]);
	dontneed(&bos[0]);
	dontneed(&bos[5]);
	dontneed(&bos[3]);
	dontneed(&bos[2]);
	for (int i = 0; i < BOS; i++) {
		rule("the BO whose advice is the oldest goes first; the advice that counts is the latest");
		check_equal(scan(file, 1), 2, "pages of one BO");
		check_purged(files[order[i]], names[order[i]]);
		for (int k = i + 1; k < BOS; k++)
			check_kept(files[order[k]], names[order[k]]);
	}
	for (int i = 0; i < BOS; i++) {
		close(files[i]);
		guest_destroy(&bos[i]);
	}
	close(file);
	close(fd);
	check_nothing_left();
}

/* Pages that the BO's file has, also those that nobody holds. */
static long pages_of_files(void)
{
	char line[128];
	FILE *f = fopen("/proc/meminfo", "re");
	long kib = -1;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "Shmem: %ld kB", &kib) == 1)
			break;
	if (f)
		fclose(f);
	return kib < 0 ? -1 : kib / 4;
}

/* A purged BO has a label as any other. */
static void label_a_purged_bo(const struct bo *bo)
{
	static const char text[] = "an empty shell";
	struct drm_agate_madvise arg = {
		.handle = bo->handle, .madv = AGATE_MADV_WILLNEED, .retained = 77,
		.label = (uintptr_t)text, .len = sizeof(text) - 1,
	};

	rule("MADVISE gives a BO the label that the client brings, also when the BO was purged");
	check_errno(guest_ioctl(bo->fd, DRM_IOCTL_AGATE_MADVISE, &arg), 0, "MADVISE with a label");
	check_equal(arg.retained, 0, "retained");
	check_true(guest_debugfs_says("bos", text), "the new label", "none, or another one");
	rule("MADVISE with a label has the errors of SET_LABEL, also when the BO was purged");
	arg.label = PAGE;
	check_errno(guest_ioctl(bo->fd, DRM_IOCTL_AGATE_MADVISE, &arg), EFAULT,
		    "a label that nobody can read");
}

void test_purged(void **state)
{
	int fd = purge_open(), file;
	struct bo bo, next;
	long pages, shmem;

	(void)state;
	pages = guest_counter("pages");
	bo = unneeded_bo(fd, 300, &file);
	shmem = pages_of_files();
	rule("a BO that nobody needs, and that has pages, can be purged");
	check_equal(scan(file, 1), 300, "pages that were taken");
	check_purged(file, "the BO");
	rule("a purge gives the memory back to the system, and bo->madv is -1");
	check_equal(guest_counter("pages"), pages, "counter pages");
	check_at_least(shmem - pages_of_files(), 250, "pages by which Shmem in /proc/meminfo is less");
	rule("a purge takes the BO off the list");
	check_listed(0, "after the purge");
	rule("a purged BO stays purged, whatever userspace advises: retained is 0");
	advised(&bo, AGATE_MADV_WILLNEED, false, "WILLNEED");
	check_purged(file, "the BO, after WILLNEED");
	advised(&bo, AGATE_MADV_DONTNEED, false, "DONTNEED");
	check_purged(file, "the BO, after DONTNEED");
	advised(&bo, AGATE_MADV_DONTNEED, false, "DONTNEED, once more");
	check_listed(0, "after DONTNEED to a BO that was purged");
	rule("the shrinker has nothing to do with a BO that was purged");
	check_equal(count(file), 0, "pages that it counts");
	check_equal(scan(file, ALL), 0, "pages that it takes");
	advised(&bo, AGATE_MADV_WILLNEED, false, "WILLNEED");
	label_a_purged_bo(&bo);
	/* A second entry for it breaks the list: look before the shrinker uses the list. */
	close(file);
	guest_destroy(&bo);
	check_listed(0, "after a purged BO was closed");
	rule("after a purge the shrinker works as before");
	next = unneeded_bo(fd, 4, &file);
	check_equal(scan(file, ALL), 4, "pages of the next BO");
	close(file);
	guest_destroy(&next);
	close(fd);
	check_nothing_left();
}

#define PURGE	"agate_backing_purge_locked"

/* In the moment in which the pages go nobody may see them any more. */
static void unmapped_first(int file)
{
	struct scanning scanning = { .file = file };
	unsigned int unmapped;
	bool locked;

	inject_count("unmap_mapping_range");
	inject_hold_entry(PURGE, 1, INJECT_BOUND_MS);
	scanning_start(&scanning);
	rule("a BO that nobody needs, and that has pages, can be purged");
	check_true(aside_is_held(&scanning.aside, PURGE), "a call of agate_backing_purge_locked()",
		   "the scan ends without it");
	unmapped = inject_hits("unmap_mapping_range");
	locked = look(file, "backing");
	let_go(PURGE);
	aside_join(&scanning.aside);
	inject_clear();
	rule("the page tables of all processes lose the BO before its pages go");
	check_at_least(unmapped, 1, "calls of unmap_mapping_range(), which drm_vma_node_unmap() makes, when the pages go");
	rule("agate_backing_purge_locked() is called with backing.lock held");
	check_true(locked, "backing.lock taken", "backing.lock free");
}

/* A child has the mappings, too: it has read the page, and does so again when it is told to. */
static pid_t fork_reader(void *cpu, int sock[2])
{
	pid_t pid;
	char byte;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, sock))
		fail_msg("socketpair: %s", strerror(errno));
	pid = fork();
	if (!pid) {
		close(sock[0]);
		if (!can_read(word(cpu, 2)) || write(sock[1], "", 1) != 1 ||
		    read(sock[1], &byte, 1) != 1)
			_exit(2);
		_exit(can_read(word(cpu, 2)));
	}
	close(sock[1]);
	if (pid < 0 || read(sock[0], &byte, 1) != 1)
		fail_msg("a child does not get as far as its first page");
	return pid;
}

void test_mapped(void **state)
{
	int fd = purge_open(), file, sock[2], status;
	struct bo bo, kept;
	void *more;
	pid_t pid;

	(void)state;
	rule("a mapping shows the pages of a BO as long as it was not purged");
	kept = full_bo(fd, 3, 70);
	bo = full_bo(fd, 8, 20);
	file = look_at(true);
	more = map_more(&bo, 5);
	check_full(more, 5, 20, "in a second mapping");
	dontneed(&bo);
	check_full(bo.cpu, 8, 20, "after DONTNEED");
	pid = fork_reader(bo.cpu, sock);
	unmapped_first(file);
	check_purged(file, "the BO");
	rule("a process that has mapped a BO gets SIGBUS once it is purged");
	for (unsigned int i = 0; i < 8; i++)
		check_true(!can_read(word(bo.cpu, i)), "SIGBUS", "a page of a BO that was purged");
	check_true(!can_read(word(more, 1)), "SIGBUS in every mapping",
		   "a page of a BO that was purged, in another mapping");
	if (write(sock[0], "", 1) != 1 || waitpid(pid, &status, 0) != pid)
		fail_msg("a child");
	check_true(WIFEXITED(status) && WEXITSTATUS(status) == 0, "SIGBUS in every process",
		   "a page of a BO that was purged, in a child");
	rule("a mapping shows the pages of a BO as long as it was not purged");
	check_full(kept.cpu, 3, 70, "of another BO");
	munmap(more, 5 * PAGE);
	close(sock[0]);
	close(file);
	guest_destroy(&bo);
	guest_destroy(&kept);
	close(fd);
	check_nothing_left();
}

/* ---- The kernel's part --------------------------------------------------------------- */

static int shrinkers(void)
{
	DIR *dir = opendir(SHRINKERS);
	int n = 0;

	while (dir && readdir(dir))
		n++;
	if (dir)
		closedir(dir);
	return n;
}

/* The device goes while a BO is not needed, and comes back. */
static void with_the_topic(void)
{
	int fd = purge_open(), there = shrinkers(), file;
	struct bo bo = unneeded_bo(fd, 6, &file);

	close(file);
	check_errno(device_unbind(), 0, "unbinding the device");
	rule("the shrinker is registered as long as the topic is present, and no longer");
	check_equal(shrinkers(), there - 1, "shrinkers in debugfs after the device has gone");
	shrink();
	munmap(bo.cpu, bo.size);
	close(fd);
	check_errno(device_bind(), 0, "binding the device");
	rule("the shrinker is registered as long as the topic is present, and no longer");
	check_equal(shrinkers(), there, "shrinkers in debugfs when the device is back");
	fd = purge_open();
	close(fd);
	check_nothing_left();
}

/* A kernel that has no memory for one more shrinker. */
static void not_registered(void)
{
	unsigned int hits;
	int err;

	check_errno(device_unbind(), 0, "unbinding the device");
	inject_within("agate_purge_topic_init");
	/* Linux 6.12 takes the memory in a call of its own. */
	inject_fail("register_shrinker", 1, ENOMEM);
	inject_fail_null("shrinker_alloc", 1);
	err = device_bind();
	hits = inject_hits("register_shrinker|shrinker_alloc");
	inject_clear();
	if (!err)
		check_errno(device_unbind(), 0, "unbinding the device");
	/* Those who come later shall find a device. */
	check_errno(device_bind(), 0, "binding the device");
	rule("the kernel can call the shrinker: it is registered");
	check_equal(hits, 1, "calls that make a shrinker in agate_purge_topic_init()");
	rule("agate_purge_topic_init() returns the error of agate_shrinker_register()");
	check_errno(err, ENOMEM, "binding the device, without memory to register a shrinker");
}

void test_system(void **state)
{
	int fd = purge_open(), file;
	struct bo bo = unneeded_bo(fd, 64, &file);

	(void)state;
	rule("the kernel can call the shrinker: it is registered");
	for (int i = 0; i < 100 && !is_purged(file); i++)
		shrink();
	check_purged(file, "a BO that is not needed, when the kernel has called its shrinkers");
	close(file);
	guest_destroy(&bo);
	close(fd);
	with_the_topic();
	not_registered();
}
