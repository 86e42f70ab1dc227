// SPDX-License-Identifier: MIT
/*
 * The driver's statistics: debugfs and fdinfo.
 *
 * The tests check only what users rely on: names, units, and that the numbers
 * follow the objects they count.  The driver may add anything.
 */
#include "guest.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define DATA	2048u		/* where jobs of a one-page BO write */
#define TEXT	65536u		/* more than any of these files holds here */

static char text[TEXT];

static void read_file(const char *path)
{
	FILE *file = fopen(path, "re");

	text[0] = '\0';
	if (file) {
		text[fread(text, 1, TEXT - 1, file)] = '\0';
		fclose(file);
	} else {
		fail_msg("%s: %s", path, strerror(errno));
	}
}

static void read_debugfs(const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/kernel/debug/dri/%d/%s", guest_minor(), name);
	read_file(path);
}

static void read_fdinfo(int fd)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	read_file(path);
}

/* The text after "key:" or "key " at the start of a line, or NULL. */
static const char *value_of(const char *key)
{
	size_t length = strlen(key);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, key, length) && strchr(": ", line[length]))
			return line + length + 1 + strspn(line + length + 1, " \t");
	}
	return NULL;
}

/* The value of a key, which this unit must follow. */
static unsigned long long number_of(const char *key, const char *unit)
{
	const char *value = value_of(key);
	char *end;
	unsigned long long number;

	if (!value)
		fail_msg("no key %s", key);
	number = strtoull(value, &end, 10);
	if (end == value || strncmp(end, unit, strlen(unit)) || end[strlen(unit)] != '\n')
		fail_msg("%s is not a number of \"%s\"", key, unit);
	return number;
}

static unsigned long long gpu_counter(const char *name)
{
	read_debugfs("gpu_counters");
	return number_of(name, "");
}

static void set_label(const struct bo *bo, const char *label)
{
	struct drm_agate_set_label arg = {
		.handle = bo->handle, .label = (uintptr_t)label, .len = (uint32_t)strlen(label),
	};

	assert_int_equal(guest_ioctl(bo->fd, DRM_IOCTL_AGATE_SET_LABEL, &arg), 0);
}

static void run_chain(const struct bo *bo, uint32_t requirements)
{
	assert_int_equal(guest_submit(bo->fd, bo->va, requirements, &bo->handle, 1, 0), 0);
	assert_int_equal(guest_wait(bo->fd, bo->handle, FOREVER), 0);
}

/* ---- debugfs ---------------------------------------------------------- */

/* The terminated line in "bos" about the BO with this label, or NULL. */
static char *bo_line(const char *label)
{
	char *found, *start;

	read_debugfs("bos");
	found = strstr(text, label);
	if (!found)
		return NULL;
	found[strcspn(found, "\n")] = '\0';
	start = memrchr(text, '\n', (size_t)(found - text));
	return start ? start + 1 : text;
}

static void bos(void **state)
{
	int fd = guest_open();
	struct bo bo, other = guest_bo(fd, PAGE, 0);
	const char *line;

	(void)state;
	assert_int_equal(guest_create(fd, 3 * PAGE, AGATE_BO_NOEXEC, &bo), 0);
	assert_null(bo_line("\"vertices\""));
	set_label(&bo, "vertices");
	line = bo_line("\"vertices\"");
	assert_non_null(line);
	assert_non_null(strstr(line, "size=12288 "));
	assert_non_null(strstr(line, "resident=0 "));
	assert_non_null(strstr(line, "handles=1 "));
	assert_non_null(strstr(line, "noexec"));

	guest_map(&bo);
	memset(bo.cpu, 0, bo.size);
	line = bo_line("\"vertices\"");
	assert_non_null(line);
	assert_non_null(strstr(line, "resident=12288 "));

	set_label(&bo, "");
	assert_null(bo_line("\"vertices\""));
	set_label(&bo, "indices");
	assert_non_null(bo_line("\"indices\""));
	guest_destroy(&bo);
	assert_null(bo_line("\"indices\""));
	guest_destroy(&other);
	close(fd);
}

/* How many lines of text begin with a prefix? */
static unsigned int lines_with(const char *prefix)
{
	unsigned int count = 0;

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		count += !strncmp(line, prefix, strlen(prefix));
	}
	return count;
}

static void vms(void **state)
{
	int fd = guest_open(), other = guest_open();
	struct bo bo = guest_bo(fd, 2 * PAGE, 0);
	char range[64];

	(void)state;
	read_debugfs("vms");
	assert_int_equal(lines_with("client="), 2);
	snprintf(range, sizeof(range), "  %#llx-%#llx\n", (unsigned long long)bo.va,
		 (unsigned long long)(bo.va + bo.size));
	assert_non_null(strstr(text, range));
	guest_destroy(&bo);
	read_debugfs("vms");
	assert_null(strstr(text, range));
	close(other);
	read_debugfs("vms");
	assert_int_equal(lines_with("client="), 1);
	close(fd);
}

static void counter_names(void **state)
{
	static const char * const names[] = {
		"bos", "handles", "cpu_maps", "kmaps", "pages", "sg_tables", "vms", "va_nodes",
		"pt_pages", "as_refs", "jobs", "fences", "slot_busy", "files",
	};

	(void)state;
	close(guest_open());
	read_debugfs("counters");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		number_of(names[i], "");
}

static void counters_of_memory(void **state)
{
	int fd = guest_open();
	struct bo bo;

	(void)state;
	assert_int_equal(guest_counter("files"), 1);
	assert_int_equal(guest_counter("vms"), 1);
	assert_int_equal(guest_counter("bos"), 0);

	assert_int_equal(guest_create(fd, 5 * PAGE, 0, &bo), 0);
	assert_int_equal(guest_counter("bos"), 1);
	assert_int_equal(guest_counter("handles"), 1);
	assert_int_equal(guest_counter("va_nodes"), 1);
	assert_int_equal(guest_counter("pages"), 0);

	guest_map(&bo);
	assert_int_equal(guest_counter("cpu_maps"), 1);
	memset(bo.cpu, 0, bo.size);
	assert_int_equal(guest_counter("pages"), 5);
	guest_destroy(&bo);
	assert_int_equal(guest_counter("pages"), 0);
	close(fd);
}

/* While a chain runs, the counters include everything that it needs. */
static void counters_of_jobs(void **state)
{
	static const char * const in_use[] = {
		"jobs", "fences", "slot_busy", "as_refs", "sg_tables",
	};
	int fd = guest_open();
	struct bo bo = guest_bo(fd, PAGE, 0);

	(void)state;
	/* A job whose next is itself runs until it is stopped. */
	guest_job_write64(&bo, 0, bo.va, bo.va + DATA, 1);
	assert_int_equal(guest_submit(fd, bo.va, 0, &bo.handle, 1, 0), 0);
	while (*(volatile uint64_t *)((char *)bo.cpu + DATA) != 1)
		usleep(100);
	for (size_t i = 0; i < sizeof(in_use) / sizeof(in_use[0]); i++)
		guest_wait_counter(in_use[i], 1);
	assert_true(guest_counter("pt_pages") >= 1);
	guest_destroy(&bo);
	close(fd);
}

static void gpu_counters(void **state)
{
	enum { CHAIN = 3 };
	int fd = guest_open();
	struct bo bo = guest_bo(fd, PAGE, 0);
	unsigned long long jobs = gpu_counter("jobs"), failed = gpu_counter("jobs_failed");

	(void)state;
	assert_int_equal(gpu_counter("stale_used"), 0);
	/* Each line has a name, also those of a GPU that is no card. */
	assert_null(strstr(text, "null"));
	assert_int_equal(gpu_counter("mover_commands"), 0);
	guest_job_write64(&bo, 0, 0, bo.va + DATA, 1);
	run_chain(&bo, 0);
	assert_int_equal(gpu_counter("jobs"), jobs + 1);
	/* The counter counts jobs, not chains. */
	for (uint32_t i = 0; i < CHAIN; i++)
		guest_job_write64(&bo, i * 128, i + 1 < CHAIN ? bo.va + (i + 1) * 128 : 0,
				  bo.va + DATA, 1);
	run_chain(&bo, 0);
	assert_int_equal(gpu_counter("jobs"), jobs + 1 + CHAIN);
	assert_int_equal(gpu_counter("jobs_failed"), failed);
	guest_destroy(&bo);
	close(fd);
}

/*
 * If the driver serves a fault without clearing its bit, the line stays up, and the
 * GPU sends its message again at each unmasking, for ever.
 */
static void few_interrupts_a_fault(void **state)
{
	int fd = guest_open();
	struct bo bo = guest_bo(fd, PAGE, 0), heap;
	unsigned long long irqs, faults;
	uint32_t both[2] = { bo.handle };

	(void)state;
	assert_int_equal(guest_create(fd, 8u << 20, AGATE_BO_HEAP | AGATE_BO_NOEXEC, &heap), 0);
	both[1] = heap.handle;
	for (uint32_t i = 0; i < 4; i++)
		guest_job_write64(&bo, i * 128, i < 3 ? bo.va + (i + 1) * 128 : 0,
				  heap.va + (uint64_t)i * (2u << 20), 1);
	irqs = gpu_counter("irqs");
	faults = gpu_counter("faults");
	assert_int_equal(guest_submit(fd, bo.va, 0, both, 2, 0), 0);
	assert_int_equal(guest_wait(fd, bo.handle, FOREVER), 0);
	assert_int_equal(gpu_counter("faults"), faults + 4);
	irqs = gpu_counter("irqs") - irqs;
	assert_in_range(irqs, 2, 40);
	/* And then no more interrupts come. */
	irqs = gpu_counter("irqs");
	for (int i = 0; i < 200; i++)
		assert_in_range(gpu_counter("irqs") - irqs, 0, 2);
	guest_destroy(&bo);
	guest_destroy(&heap);
	close(fd);
}

/* ---- Busy and idle ---------------------------------------------------- */

/* The times of the device, and when they were read, in nanoseconds. */
struct times {
	int64_t before, after;
	unsigned long long busy, idle;
};

static struct times read_times(void)
{
	struct times now = { .before = guest_deadline(0) };

	read_debugfs("busy");
	now.after = guest_deadline(0);
	now.busy = number_of("busy", " ns");
	now.idle = number_of("idle", " ns");
	return now;
}

/* The GPU works, or waits, from one look to the next; the two times add up to what passed. */
static void assert_time_passes(bool busy)
{
	struct times first = read_times(), last;
	unsigned long long passed;

	usleep(20000);
	last = read_times();
	passed = last.busy - first.busy + last.idle - first.idle;
	assert_in_range(passed, last.before - first.after, last.after - first.before);
	assert_int_equal(busy ? last.idle - first.idle : last.busy - first.busy, 0);
}

static void busy_and_idle(void **state)
{
	int fd = guest_open();
	struct bo bo = guest_bo(fd, PAGE, 0);

	(void)state;
	assert_time_passes(false);
	/* The time counts while the chain runs, not when it ends. */
	guest_job_write64(&bo, 0, bo.va, bo.va + DATA, 1);
	assert_int_equal(guest_submit(fd, bo.va, 0, &bo.handle, 1, 0), 0);
	while (*(volatile uint64_t *)((char *)bo.cpu + DATA) != 1)
		usleep(100);
	assert_time_passes(true);
	guest_destroy(&bo);
	close(fd);
	guest_assert_nothing_left();
	assert_time_passes(false);
}

/* ---- fdinfo ----------------------------------------------------------- */

static void client(void **state)
{
	int fd = guest_open(), other = guest_open();
	unsigned int domain, bus, device, function;
	unsigned long long id;

	(void)state;
	read_fdinfo(fd);
	assert_non_null(value_of("drm-driver"));
	assert_int_equal(strncmp(value_of("drm-driver"), "agate\n", 6), 0);
	assert_non_null(value_of("drm-pdev"));
	assert_int_equal(sscanf(value_of("drm-pdev"), "%x:%x:%x.%x", &domain, &bus, &device,
				&function), 4);
	id = number_of("drm-client-id", "");
	read_fdinfo(other);
	assert_true(number_of("drm-client-id", "") != id);
	close(fd);
	close(other);
}

/* A job's time counts for its file, and for the slot that ran it. */
static void engines(void **state)
{
	int fd = guest_open(), other = guest_open();
	struct bo bo = guest_bo(fd, PAGE, 0);
	unsigned long long tiler, fragment;

	(void)state;
	guest_job_write64(&bo, 0, 0, bo.va + DATA, 1);
	read_fdinfo(fd);
	assert_int_equal(number_of("drm-engine-vertex-tiler", " ns"), 0);
	assert_int_equal(number_of("drm-engine-fragment", " ns"), 0);
	assert_int_equal(number_of("drm-engine-compute", " ns"), 0);

	run_chain(&bo, 0);
	read_fdinfo(fd);
	tiler = number_of("drm-engine-vertex-tiler", " ns");
	assert_true(tiler > 0);
	assert_int_equal(number_of("drm-engine-fragment", " ns"), 0);

	run_chain(&bo, AGATE_JD_REQ_FS);
	read_fdinfo(fd);
	fragment = number_of("drm-engine-fragment", " ns");
	assert_true(fragment > 0);
	assert_int_equal(number_of("drm-engine-vertex-tiler", " ns"), tiler);

	run_chain(&bo, 0);
	read_fdinfo(fd);
	assert_true(number_of("drm-engine-vertex-tiler", " ns") > tiler);
	assert_int_equal(number_of("drm-engine-fragment", " ns"), fragment);
	read_fdinfo(other);
	assert_int_equal(number_of("drm-engine-vertex-tiler", " ns"), 0);
	guest_destroy(&bo);
	close(fd);
	close(other);
}

static void memory(void **state)
{
	int fd = guest_open();
	struct drm_agate_madvise madvise;
	struct bo bo;

	(void)state;
	assert_int_equal(guest_create(fd, 16 * PAGE, 0, &bo), 0);
	read_fdinfo(fd);
	assert_int_equal(number_of("drm-total-memory", " KiB"), 64);
	assert_int_equal(number_of("drm-resident-memory", " KiB"), 0);
	guest_map(&bo);
	memset(bo.cpu, 0, bo.size);
	read_fdinfo(fd);
	assert_int_equal(number_of("drm-memory-memory", " KiB"), 64);
	assert_int_equal(number_of("drm-resident-memory", " KiB"), 64);
	assert_int_equal(number_of("drm-shared-memory", " KiB"), 0);
	assert_int_equal(number_of("drm-purgeable-memory", " KiB"), 0);
	assert_int_equal(number_of("drm-active-memory", " KiB"), 0);

	madvise = (struct drm_agate_madvise){ .handle = bo.handle, .madv = AGATE_MADV_DONTNEED };
	assert_int_equal(guest_ioctl(fd, DRM_IOCTL_AGATE_MADVISE, &madvise), 0);
	read_fdinfo(fd);
	assert_int_equal(number_of("drm-purgeable-memory", " KiB"), 64);
	guest_destroy(&bo);
	read_fdinfo(fd);
	assert_int_equal(number_of("drm-total-memory", " KiB"), 0);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(bos, guest_teardown),
		cmocka_unit_test_teardown(vms, guest_teardown),
		cmocka_unit_test_teardown(counter_names, guest_teardown),
		cmocka_unit_test_teardown(counters_of_memory, guest_teardown),
		cmocka_unit_test_teardown(counters_of_jobs, guest_teardown),
		cmocka_unit_test_teardown(gpu_counters, guest_teardown),
		cmocka_unit_test_teardown(few_interrupts_a_fault, guest_teardown),
		cmocka_unit_test_teardown(busy_and_idle, guest_teardown),
		cmocka_unit_test_teardown(client, guest_teardown),
		cmocka_unit_test_teardown(engines, guest_teardown),
		cmocka_unit_test_teardown(memory, guest_teardown),
	};

	return cmocka_run_group_tests_name("stats", tests, NULL, NULL);
}
