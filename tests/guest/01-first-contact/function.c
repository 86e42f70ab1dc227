// SPDX-License-Identifier: MIT
/* The PCI function in sysfs and procfs; see function.h. */
#include "function.h"

#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "agate_bar2.h"
#include "graded.h"
#include "log.h"
#include "topic.h"

#define DEVICES		"/sys/bus/pci/devices/"
#define DRIVER		"/sys/bus/pci/drivers/agate/"

#define MOST_ENABLES		16

#define PCI_COMMAND		0x04
#define PCI_COMMAND_MEMORY	0x02
#define PCI_COMMAND_MASTER	0x04
#define PCI_CAPABILITIES	0x34
#define PCI_CAP_MSIX		0x11
#define PCI_MSIX_ENABLE		0x8000

void patience_pause(void)
{
	const struct timespec pause = { .tv_nsec = 1000000 };

	nanosleep(&pause, NULL);
}

/* ---- Files ---------------------------------------------------------------- */

static long read_number(const char *path)
{
	FILE *file = fopen(path, "re");
	char text[32] = "";
	bool read = file && fgets(text, sizeof(text), file);

	if (file)
		fclose(file);
	if (!read)
		fail_msg("%s cannot be read", path);
	return strtol(text, NULL, 0);
}

/* The function's name on the bus, like 0000:00:05.0. */
static const char *function_name(void)
{
	static char name[16];
	glob_t found;

	if (name[0])
		return name;
	if (glob(DEVICES "*", 0, NULL, &found))
		fail_msg("no PCI device at all");
	for (size_t i = 0; i < found.gl_pathc; i++) {
		const char *last = strrchr(found.gl_pathv[i], '/') + 1;
		char path[64];

		snprintf(path, sizeof(path), DEVICES "%.15s/vendor", last);
		if (read_number(path) != AGATE_PCI_VENDOR)
			continue;
		snprintf(path, sizeof(path), DEVICES "%.15s/device", last);
		if (read_number(path) == AGATE_PCI_DEVICE)
			snprintf(name, sizeof(name), "%.15s", last);
	}
	globfree(&found);
	if (!name[0])
		fail_msg("there is no GPU on the bus");
	return name;
}

const char *function_path(const char *file)
{
	static char path[128];

	snprintf(path, sizeof(path), DEVICES "%s/%s", function_name(), file);
	return path;
}

long function_number(const char *file)
{
	return read_number(function_path(file));
}

int function_enable(const char *text)
{
	return file_write(function_path("enable"), text);
}

void function_unwatched(void)
{
	char file[64];

	snprintf(file, sizeof(file), "devfreq/%s/polling_interval", function_name());
	/* The driver may have no such device. */
	file_write(function_path(file), "0");
}

/* ---- The driver ------------------------------------------------------------ */

void bus_autoprobe(bool on)
{
	int err = file_write("/sys/bus/pci/drivers_autoprobe", on ? "1" : "0");

	if (err)
		fail_msg("drivers_autoprobe: %s", strerror(err));
}

void driver_load(void)
{
	int err;

	/* It remembers what it finds of the function, so it comes before the driver. */
	inject_load();
	bus_autoprobe(false);
	err = module_load("timeout_ms=600000");
	rule("the module loads");
	/* The test before this one may have left it, loaded in the same way. */
	check_errno(err == EEXIST ? 0 : err, 0, "insmod agate.ko");
}

int driver_bind(void)
{
	return file_write(DRIVER "bind", function_name());
}

void driver_take(void)
{
	char line[LOG_LINE];
	int log = log_open(), err;

	err = driver_bind();
	rule("the driver takes the GPU: without that there is nothing else to look at");
	while (!err && log_line(log, line))
		if (strstr(line, "Driver probe function unexpectedly returned"))
			broken("a probe returns 0 or a negative errno", "the log: %s", line);
	if (err)
		broken("the probe: success", "the probe: %s; the log: %s",
		       strerrorname_np(err), log_last(log, line));
	close(log);
}

int driver_unbind(void)
{
	return file_write(DRIVER "unbind", function_name());
}

bool driver_bound(void)
{
	char path[64];

	snprintf(path, sizeof(path), DRIVER "%s", function_name());
	return !access(path, F_OK);
}

int driver_leave(void **state)
{
	(void)state;
	inject_clear();
	topic_end();
	if (driver_bound())
		driver_unbind();
	/* Another test must not fail because this one, or its driver, left the function enabled. */
	for (unsigned int i = 0; i < MOST_ENABLES && function_number("enable"); i++)
		function_enable("0");
	return 0;
}

/* ---- Configuration space and regions ---------------------------------------- */

static uint16_t config16(const uint8_t *config, unsigned int offset)
{
	return (uint16_t)(config[offset] | config[offset + 1] << 8);
}

static void read_config(uint8_t config[256])
{
	int fd = open(function_path("config"), O_RDONLY | O_CLOEXEC);

	if (fd < 0 || read(fd, config, 256) != 256)
		fail_msg("%s: %s", function_path("config"), strerror(errno));
	close(fd);
}

static bool command_has(uint16_t bit)
{
	uint8_t config[256];

	read_config(config);
	return config16(config, PCI_COMMAND) & bit;
}

bool function_masters(void)
{
	return command_has(PCI_COMMAND_MASTER);
}

bool function_decodes(void)
{
	return command_has(PCI_COMMAND_MEMORY);
}

bool function_msix(void)
{
	uint8_t config[256];
	unsigned int at, hops = 0;

	read_config(config);
	for (at = config[PCI_CAPABILITIES]; at && at < 252 && hops < 48; at = config[at + 1], hops++)
		if (config[at] == PCI_CAP_MSIX)
			return config16(config, at + 2) & PCI_MSIX_ENABLE;
	fail_msg("the function has no MSI-X capability");
	return false;
}

/*
 * As it was before any driver had the function: an earlier test of this run may have left
 * something, too.  Decoding stays on when a function is disabled: the kernel leaves that
 * bit alone.
 */
static void check_config_restored(void)
{
	uint8_t found[256], config[256];
	int fd;

	fd = inject_open("/sys/kernel/debug/agate_config", O_RDONLY);
	if (fd < 0 || read(fd, found, sizeof(found)) != sizeof(found))
		fail_msg("agate_config: %s", strerror(errno));
	close(fd);
	read_config(config);
	config[PCI_COMMAND] = (config[PCI_COMMAND] & ~PCI_COMMAND_MEMORY) |
			      (found[PCI_COMMAND] & PCI_COMMAND_MEMORY);
	for (unsigned int i = 0; i < sizeof(config); i++) {
		char expected[96];

		snprintf(expected, sizeof(expected),
			 "byte %#x of its configuration space: %#x, as the driver found it", i, found[i]);
		if (config[i] != found[i])
			broken(expected, "%#x", config[i]);
	}
}

static unsigned long long bar_start(unsigned int bar)
{
	FILE *file = fopen(function_path("resource"), "re");
	unsigned long long start = 0;

	for (unsigned int i = 0; file && i <= bar; i++)
		if (fscanf(file, "%llx %*x %*x", &start) != 1)
			start = 0;
	if (file)
		fclose(file);
	return start;
}

/* "  fe000000-fe000fff : agate" */
static const char *name_in(const char *line)
{
	const char *colon = strstr(line, " : ");

	return colon ? colon + 3 : "";
}

/* /proc/iomem has a line for a BAR, and below it, further in, one for its driver's request. */
bool function_owner(unsigned int bar, char owner[OWNER_LEN])
{
	unsigned long long start = bar_start(bar), first, last;
	FILE *file = fopen("/proc/iomem", "re");
	bool found = false, claimed = false;
	char line[160];
	int depth = 0;

	while (file && start && !claimed && fgets(line, sizeof(line), file)) {
		int in = (int)strspn(line, " ");

		if (sscanf(line, " %llx-%llx", &first, &last) != 2)
			continue;
		if (found && in <= depth)
			break;
		claimed = found;
		snprintf(owner, OWNER_LEN, "%.*s", (int)strcspn(name_in(line), "\n"), name_in(line));
		if (first == start && strstr(line, function_name())) {
			found = true;
			depth = in;
		}
	}
	if (file)
		fclose(file);
	if (!found)
		fail_msg("BAR%u is not in /proc/iomem", bar);
	return claimed;
}

bool function_claimed(unsigned int bar)
{
	char owner[OWNER_LEN];

	return function_owner(bar, owner);
}

/* ---- What a driver leaves --------------------------------------------------- */

/* To try all the names that a node may have takes longer than to look for one. */
static bool node_left(void)
{
	glob_t found;
	int fd = -1;

	if (!glob("/dev/dri/renderD*", 0, NULL, &found)) {
		globfree(&found);
		fd = guest_try_open();
	}
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

void check_as_found(const char *after, long enabled)
{
	char released[32];

	rule("%s: nothing of the driver is left", after);
	check_true(!node_left(), "no render node of the driver", "one that can be opened");
	check_equal(handlers_left(), 0, "handlers of agate in /proc/interrupts");
	check_equal(function_vectors(NULL, 0), 0, "interrupt vectors of the function");
	check_true(!function_msix(), "MSI-X is disabled", "it is enabled");
	for (unsigned int bar = 0; bar < BARS; bar++) {
		snprintf(released, sizeof(released), "BAR%u is released", bar);
		check_true(!function_claimed(bar), released, "its region is still requested");
	}
	check_true(!function_masters(), "the function does not master the bus", "it does");
	check_equal(function_number("enable"), enabled, "how often the function is enabled");
	check_config_restored();
}

void check_left_clean(const char *after)
{
	check_as_found(after, 0);
}
