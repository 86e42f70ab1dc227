// SPDX-License-Identifier: MIT
/*
 * Guests that are prepared before they start (struct vm_prepare): once, and then from the
 * snapshot of that, as long as nothing has changed.
 *
 * Needs the fast kernel and the initramfs; no GPU.  Has a cache of its own, and breaks it.
 */
#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "vm.h"

#define KEEPER		"/tmp/keeper"
#define WORD		"/tmp/word"

static char kernel[4096], initramfs[4096], keeper[4096], word[80], cache[64];
static char output_text[4096], progress_text[4096];
static const char *change_word;	/* to this, when the guest is about to be prepared */
static struct vm *vm;

/* The preparation: two files, a program that leaves its mark, and one that is kept. */
static struct vm_file files[] = { { keeper, KEEPER, 0755 }, { word, WORD, 0644 } };
static const char *const mark[] = { "/bin/sh", "-c", "echo again >>/tmp/marks", NULL };
static const char *const who[] = { KEEPER, "who", NULL };
static const struct vm_program programs[] = { { mark, false }, { who, true } };
static const struct vm_prepare prepare = { files, 2, programs, 2 };

static void take(void *arg, enum vm_stream stream, const char *data, size_t len)
{
	size_t at = strlen(output_text);

	(void)arg;
	(void)stream;
	assert_true(at + len < sizeof(output_text));
	memcpy(output_text + at, data, len);
	output_text[at + len] = '\0';
}

static void write_word(const char *text)
{
	FILE *f = fopen(word, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void progress(void *arg, const char *what)
{
	(void)arg;
	assert_true(strlen(progress_text) + strlen(what) + 2 < sizeof(progress_text));
	strcat(strcat(progress_text, what), "\n");
	if (change_word && strstr(what, "preparing")) {
		write_word(change_word);
		change_word = NULL;
	}
}

static enum vm_status start(const struct vm_prepare *how, bool cold)
{
	struct vm_config cfg = {
		.kernel_dir = kernel, .initramfs = initramfs, .timeout_ms = 120000,
		.interrupt_fd = -1, .accel = VM_ACCEL_TCG, .prepare = how, .cold = cold,
		.progress = progress,
	};

	vm_stop(vm);
	progress_text[0] = '\0';
	return vm_start(&cfg, &vm);
}

static void must_start(const struct vm_prepare *how, bool cold)
{
	if (start(how, cold) != VM_OK)
		fail_msg("%s%s", progress_text, vm ? vm_error(vm) : "out of memory");
}

static const char *run(const char *const *argv, bool kept)
{
	struct vm_exec exec = { .argv = argv, .report = true, .kept = kept, .output = take };

	output_text[0] = '\0';
	assert_int_equal(vm_exec(vm, &exec), VM_OK);
	assert_int_equal(exec.value, 0);
	return output_text;
}

/* The guest is as it was prepared, and nothing was done twice. */
static void check_prepared(const char *text)
{
	static const char *const read_all[] = { "/bin/cat", "/tmp/marks", WORD, NULL };
	char expected[100];

	snprintf(expected, sizeof(expected), "again\n%s", text);
	assert_string_equal(run(read_all, false), expected);
}

static int keeper_of_next_run(void)
{
	int pid, parent;

	assert_int_equal(sscanf(run(who, true), "%d %d", &pid, &parent), 2);
	assert_int_not_equal(parent, 1);
	return parent;
}

/* Calls @each for the snapshots, with their size; how many there are. */
static int snapshots(void (*each)(const char *path, off_t size))
{
	char path[400];
	struct dirent *de;
	struct stat sb;
	int count = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/agate/vm", cache);
	dir = opendir(path);
	while (dir && (de = readdir(dir))) {
		if (strncmp(de->d_name, "snapshot-", 9))
			continue;
		snprintf(path, sizeof(path), "%s/agate/vm/%s", cache, de->d_name);
		assert_int_equal(stat(path, &sb), 0);
		if (each)
			each(path, sb.st_size);
		count++;
	}
	if (dir)
		closedir(dir);
	return count;
}

/* A boot's snapshot has all of the kernel in it, a prepared one what has changed. */
static bool is_of_boot(off_t size)
{
	return size > 16 << 20;
}

static void damage(const char *path, const void *bytes, size_t len, off_t at)
{
	int fd = open(path, O_WRONLY);

	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, bytes, len, at), len);
	close(fd);
}

static void damage_prepared(const char *path, off_t size)
{
	if (!is_of_boot(size))
		damage(path, "damage", 6, size / 2);
}

/* The number of the last page comes last. */
static void damage_numbers(const char *path, off_t size)
{
	damage(path, "\377\377\377\377", 4, size - 4);
}

static void remove_boot(const char *path, off_t size)
{
	if (is_of_boot(size))
		assert_int_equal(unlink(path), 0);
}

static void test_once(void **state)
{
	int first;

	(void)state;
	write_word("one\n");
	must_start(&prepare, false);
	assert_non_null(strstr(progress_text, "booting the kernel once"));
	assert_non_null(strstr(progress_text, "preparing a guest once"));
	check_prepared("one\n");
	first = keeper_of_next_run();
	assert_int_equal(snapshots(NULL), 2);

	must_start(&prepare, false);
	assert_string_equal(progress_text, "");
	check_prepared("one\n");
	assert_int_equal(keeper_of_next_run(), first);
}

static void test_changed_file(void **state)
{
	(void)state;
	write_word("two\n");
	must_start(&prepare, false);
	assert_null(strstr(progress_text, "booting"));
	assert_non_null(strstr(progress_text, "preparing a guest once"));
	check_prepared("two\n");
	assert_int_equal(snapshots(NULL), 3);
	write_word("one\n");
	must_start(&prepare, false);
	assert_string_equal(progress_text, "");
	check_prepared("one\n");
}

static void test_other_guests_have_nothing(void **state)
{
	static const char *const look[] = { "/bin/sh", "-c", "ls /tmp", NULL };

	(void)state;
	must_start(NULL, false);
	assert_string_equal(progress_text, "");
	assert_string_equal(run(look, false), "");
}

static void test_damaged(void **state)
{
	(void)state;
	snapshots(damage_prepared);
	must_start(&prepare, false);
	assert_non_null(strstr(progress_text, "damaged: removing the snapshot"));
	assert_null(strstr(progress_text, "booting"));
	assert_non_null(strstr(progress_text, "preparing a guest once"));
	check_prepared("one\n");
	/* The boot's is damaged as well, and is made anew. */
	snapshots(damage_numbers);
	must_start(&prepare, false);
	assert_non_null(strstr(progress_text, "damaged: removing the snapshot"));
	assert_non_null(strstr(progress_text, "booting"));
	check_prepared("one\n");
}

/* A file changes when the snapshot has its name, and the guest has not got the file. */
static void test_changes_meanwhile(void **state)
{
	const int before = snapshots(NULL);

	(void)state;
	write_word("three\n");
	change_word = "four\n";
	assert_int_equal(start(&prepare, false), VM_HOST);
	assert_non_null(strstr(vm_error(vm), "the files have changed meanwhile"));
	assert_null(change_word);
	assert_int_equal(snapshots(NULL), before);
	write_word("one\n");
}

/* What changed since one boot says nothing about another one. */
static void test_other_boot(void **state)
{
	(void)state;
	snapshots(remove_boot);
	must_start(&prepare, false);
	assert_non_null(strstr(progress_text, "preparing a guest once"));
	check_prepared("one\n");
}

static void test_cold(void **state)
{
	(void)state;
	must_start(&prepare, true);
	check_prepared("one\n");
}

static void test_failures(void **state)
{
	static const char *const fails[] = { "/bin/sh", "-c", "echo why >&2; exit 3", NULL };
	static const char *const missing[] = { "/bin/nothing", NULL };
	static const struct vm_program bad[] = { { fails, false }, { missing, false } };
	static const struct vm_file nowhere = { "/nonexistent/file", WORD, 0644 };
	const int before = snapshots(NULL);

	(void)state;
	assert_int_equal(start(&(struct vm_prepare){ .programs = bad, .program_count = 1 }, false),
			 VM_HOST);
	assert_non_null(strstr(vm_error(vm), "/bin/sh: exit status 3: why"));
	assert_int_not_equal(start(&(struct vm_prepare){ .programs = bad + 1, .program_count = 1 },
				   false), VM_OK);
	assert_non_null(strstr(vm_error(vm), "/bin/nothing"));
	assert_int_equal(start(&(struct vm_prepare){ .files = &nowhere, .file_count = 1 }, false),
			 VM_HOST);
	assert_non_null(strstr(vm_error(vm), "/nonexistent/file"));
	assert_int_equal(snapshots(NULL), before);
}

static int set_up(void **state)
{
	const char *build = getenv("BUILD") ? getenv("BUILD") : "build";

	(void)state;
	snprintf(cache, sizeof(cache), "/tmp/agate-prepared-XXXXXX");
	if (!mkdtemp(cache) || setenv("XDG_CACHE_HOME", cache, 1))
		return -1;
	snprintf(word, sizeof(word), "%s/word", cache);
	snprintf(kernel, sizeof(kernel), "%s/guest/kernel-fast", build);
	snprintf(initramfs, sizeof(initramfs), "%s/guest/initramfs.cpio.gz", build);
	snprintf(keeper, sizeof(keeper), "%s/tests/vm/keeper", build);
	return 0;
}

static void remove_file(const char *path, off_t size)
{
	(void)size;
	unlink(path);
}

static int tear_down(void **state)
{
	char path[100];

	(void)state;
	vm_stop(vm);
	snapshots(remove_file);
	unlink(word);
	snprintf(path, sizeof(path), "%s/agate/vm", cache);
	rmdir(path);
	snprintf(path, sizeof(path), "%s/agate", cache);
	rmdir(path);
	return rmdir(cache);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_once),
		cmocka_unit_test(test_changed_file),
		cmocka_unit_test(test_other_guests_have_nothing),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_changes_meanwhile),
		cmocka_unit_test(test_other_boot),
		cmocka_unit_test(test_cold),
		cmocka_unit_test(test_failures),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
