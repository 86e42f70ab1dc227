// SPDX-License-Identifier: MIT
/*
 * The module, and faults in the kernel, for graded tests; see graded.h.
 *
 * Injections belong to the open file of agate_inject.ko: they disappear with this
 * process, however it ends.
 */
#include "graded.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MODULE		"/run/agate/agate.ko"
#define INJECT_MODULE	"/run/agate/agate_inject.ko"
#define INJECT_FILE	"/sys/kernel/debug/agate_inject"
#define INJECT_TEXT	"/sys/module/agate_inject/parameters/kernel_text"
#define PCI_DEVICES	"/sys/bus/pci/devices"
#define PCI_DRIVER	"/sys/bus/pci/drivers/agate"
#define GPU_DEVICE	"0x1110"	/* ivshmem */
#define OTHER_PROCESSOR	"/sys/devices/system/cpu/cpu1/online"

static int inject_fd = -1;

static int load(const char *path, const char *args)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int err = 0;

	if (fd < 0)
		broken("the file of the module in the guest", "%s: %s", path, strerror(errno));
	if (syscall(SYS_finit_module, fd, args, 0))
		err = errno;
	close(fd);
	return err;
}

int module_load(const char *args)
{
	char all[256];

	snprintf(all, sizeof(all), "%s%s", args, strstr(args, "runtime_pm=") ? "" : " runtime_pm=0");
	return load(MODULE, all);
}

int module_unload(void)
{
	return syscall(SYS_delete_module, "agate", O_NONBLOCK) ? errno : 0;
}

/* The GPU's name on the PCI bus. */
static void find_gpu(char *name, size_t size)
{
	char path[300], text[16];
	struct dirent *de;
	FILE *file;
	DIR *dir;

	dir = opendir(PCI_DEVICES);
	name[0] = '\0';
	while (dir && !name[0] && (de = readdir(dir))) {
		snprintf(path, sizeof(path), PCI_DEVICES "/%s/device", de->d_name);
		file = fopen(path, "re");
		if (!file)
			continue;
		if (fgets(text, sizeof(text), file) && !strncmp(text, GPU_DEVICE, strlen(GPU_DEVICE)))
			snprintf(name, size, "%s", de->d_name);
		fclose(file);
	}
	if (dir)
		closedir(dir);
	if (!name[0])
		broken("a GPU on the PCI bus", "there is none");
}

int file_write(const char *path, const char *text)
{
	int fd, err = 0;

	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return errno;
	if (write(fd, text, strlen(text)) < 0)
		err = errno;
	close(fd);
	return err;
}

/* Writing there makes the PCI core call the driver, in this process. */
static int poke_driver(const char *file, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), PCI_DRIVER "/%s", file);
	return file_write(path, name);
}

int device_bind_one(const char *name)
{
	return poke_driver("bind", name);
}

int device_unbind_one(const char *name)
{
	return poke_driver("unbind", name);
}

int device_bind(void)
{
	char name[NAME_MAX + 1];

	find_gpu(name, sizeof(name));
	return device_bind_one(name);
}

int device_unbind(void)
{
	char name[NAME_MAX + 1];

	find_gpu(name, sizeof(name));
	return device_unbind_one(name);
}

/* If it has been started already, the kernel takes that for done. */
void both_processors(void)
{
	int err = file_write(OTHER_PROCESSOR, "1");

	if (err)
		fail_msg("%s: %s", OTHER_PROCESSOR, strerror(err));
}

void inject_load(void)
{
	int err;

	if (!access(INJECT_FILE, F_OK))
		return;
	err = load(INJECT_MODULE, "");
	if (err && err != EEXIST)
		broken("agate_inject.ko loads", "it does not: %s", strerror(err));
}

int inject_open(const char *path, int flags)
{
	inject_load();
	return open(path, flags | O_CLOEXEC);
}

static int open_inject(void)
{
	if (inject_fd >= 0)
		return inject_fd;
	inject_fd = inject_open(INJECT_FILE, O_RDWR);
	if (inject_fd < 0)
		broken(INJECT_FILE " opens", "it does not: %s", strerror(errno));
	return inject_fd;
}

static void command(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static void command(const char *fmt, ...)
{
	char text[200];
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (write(open_inject(), text, (size_t)len) != len)
		broken("the kernel takes this injection", "%s: %s", text, strerror(errno));
}

/* The first symbol of "a|b" into @one, and where the others begin; NULL behind the last. */
static const char *next_symbol(const char *symbols, char one[128])
{
	size_t len = strcspn(symbols, "|");

	if (!len)
		return NULL;
	snprintf(one, 128, "%.*s", (int)len, symbols);
	return symbols + len + (symbols[len] == '|');
}

/* An injection with a number, for each of the symbols. */
static void inject(const char *kind, const char *symbols, unsigned int nth, unsigned int number)
{
	char one[128];

	while ((symbols = next_symbol(symbols, one)))
		command("%s %s %u %u", kind, one, nth, number);
}

void inject_fail(const char *symbol, unsigned int nth, int err)
{
	inject("fail", symbol, nth, (unsigned int)err);
}

void inject_fail_return(const char *symbol, unsigned int nth, int err)
{
	inject("fail-return", symbol, nth, (unsigned int)err);
}

void inject_fail_null(const char *symbol, unsigned int nth)
{
	char one[128];

	while ((symbol = next_symbol(symbol, one)))
		command("fail-null %s %u", one, nth);
}

void inject_hurry(const char *symbol, unsigned int count)
{
	inject("hurry", symbol, 0, count);
}

void inject_delay_entry(const char *symbol, unsigned int nth, unsigned int us)
{
	inject("delay-entry", symbol, nth, us);
}

void inject_delay_return(const char *symbol, unsigned int nth, unsigned int us)
{
	inject("delay-return", symbol, nth, us);
}

/* A delay of 0, for every call. */
void inject_count(const char *symbol)
{
	inject_delay_entry(symbol, 0, 0);
}

void inject_anybody(bool anybody)
{
	command(anybody ? "anybody" : "own");
}

void inject_within(const char *symbol)
{
	command("within %s", symbol);
}

void inject_hold_entry(const char *symbol, unsigned int nth, unsigned int bound_ms)
{
	inject("hold-entry", symbol, nth, bound_ms);
}

void inject_hold_return(const char *symbol, unsigned int nth, unsigned int bound_ms)
{
	inject("hold-return", symbol, nth, bound_ms);
}

/*
 * The file has a line for each injection: the command, the symbol, the number of calls,
 * and the state of a gate.  False when there is none for the symbol.
 */
static bool read_injection(const char *symbol, unsigned int *hits, char state[16])
{
	char text[4096], key[128], kind[32], *rest;
	ssize_t n = pread(open_inject(), text, sizeof(text) - 1, 0);

	if (n < 0)
		broken(INJECT_FILE " can be read", "it cannot: %s", strerror(errno));
	text[n > 0 ? n : 0] = '\0';
	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		state[0] = '\0';
		if (sscanf(line, "%31s %127s %u %15s", kind, key, hits, state) >= 3 &&
		    !strcmp(key, symbol))
			return true;
	}
	return false;
}

unsigned int inject_hits(const char *symbol)
{
	unsigned int hits, sum = 0;
	char state[16], one[128];

	while ((symbol = next_symbol(symbol, one))) {
		if (!read_injection(one, &hits, state))
			broken("an injection for the symbol", "none was set for %s", one);
		sum += hits;
	}
	return sum;
}

/* The states of a gate; of several gates, the last state in this order counts. */
enum gates { GATES_SHUT, GATES_GIVEN_UP, GATES_NO_SLEEP, GATES_HELD };

static enum gates look_at_gates(const char *symbols)
{
	static const char *const states[] = {
		[GATES_GIVEN_UP] = "given-up", [GATES_NO_SLEEP] = "no-sleep", [GATES_HELD] = "held",
	};
	enum gates most = GATES_SHUT;
	unsigned int hits;
	char state[16], one[128];

	while ((symbols = next_symbol(symbols, one))) {
		if (!read_injection(one, &hits, state))
			broken("a gate for the symbol", "none was set for %s", one);
		for (enum gates i = GATES_HELD; i > most; i--)
			if (!strcmp(state, states[i]))
				most = i;
	}
	return most;
}

bool inject_await_held(const char *symbol, unsigned int timeout_ms)
{
	const struct timespec pause = { .tv_nsec = 500000 };
	int64_t end = guest_deadline(timeout_ms);
	enum gates gates;

	while ((gates = look_at_gates(symbol)) != GATES_HELD) {
		/* All gates are at calls that may sleep. */
		if (gates == GATES_NO_SLEEP) {
			rule("what may sleep is not called with interrupts off");
			broken("interrupts on", "interrupts off in a call of %s", symbol);
		}
		if (gates == GATES_GIVEN_UP || guest_deadline(0) >= end)
			return false;
		nanosleep(&pause, NULL);
	}
	return true;
}

bool inject_let_go(const char *symbol)
{
	char text[160], one[128];
	bool held = false;

	while ((symbol = next_symbol(symbol, one))) {
		int len = snprintf(text, sizeof(text), "let-go %s", one);

		if (write(open_inject(), text, (size_t)len) == len)
			held = true;
		else if (errno != ETIME && errno != EAGAIN)
			broken("a gate for the symbol", "%s: %s", text, strerror(errno));
	}
	return held;
}

void inject_clear(void)
{
	if (inject_fd >= 0)
		command("clear");
}

uint64_t inject_kernel_text(void)
{
	unsigned long long address = 0;
	FILE *file;

	open_inject();
	file = fopen(INJECT_TEXT, "re");
	if (!file)
		broken(INJECT_TEXT, "none");
	if (fscanf(file, "%llu", &address) != 1 || !address)
		broken("an address in " INJECT_TEXT, "none");
	fclose(file);
	return address;
}
