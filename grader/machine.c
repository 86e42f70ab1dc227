// SPDX-License-Identifier: MIT
/*
 * This machine and this build (machine.h).
 */
#include "machine.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_LEN	1024
#define SCALE_MAX	50.0

/* A processor counts as free after FREE_MS without work, of which a look every LOOK_MS tells. */
#define FREE_MS		10
#define LOOK_MS		5

double machine_scale(void)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	char path[PATH_LEN];
	double scale;
	json_t *json;
	int n = sizeof(path);

	/* The base directory specification says to ignore a path that is not absolute. */
	if (cache && cache[0] == '/')
		n = snprintf(path, sizeof(path), "%s/agate/doctor.json", cache);
	else if (home && *home)
		n = snprintf(path, sizeof(path), "%s/.cache/agate/doctor.json", home);
	if (n >= (int)sizeof(path))
		return 1;
	json = json_load_file(path, 0, NULL);
	scale = json_number_value(json_object_get(json, "scale"));
	json_decref(json);
	return scale > 1 ? (scale < SCALE_MAX ? scale : SCALE_MAX) : 1;
}

bool machine_kernel(const char *build, bool debug, char *name, size_t size, char *error,
		    size_t error_size)
{
	char path[PATH_LEN], release[64] = "";
	FILE *file;

	snprintf(path, sizeof(path), "%s/guest/kernel-fast/include/config/kernel.release", build);
	file = fopen(path, "re");
	if (!file || !fgets(release, sizeof(release), file)) {
		snprintf(error, error_size, "%.300s: %s", path,
			 file ? "is empty" : strerror(errno));
		if (file)
			fclose(file);
		return false;
	}
	fclose(file);
	/* "6.1.192-agate" is version and name. */
	release[strcspn(release, "-\n")] = '\0';
	snprintf(name, size, "%s fast%s", release, debug ? "+debug" : "");
	return true;
}

/* Is there a processor for which the whole machine has nothing to do at this moment? */
static bool has_free(void)
{
	FILE *file = fopen("/proc/loadavg", "re");
	long running;
	bool told;

	if (!file)
		return false;
	told = fscanf(file, "%*s %*s %*s %ld/", &running) == 1;
	fclose(file);
	/* The caller is one of those that run. */
	return told && running - 1 < sysconf(_SC_NPROCESSORS_ONLN);
}

bool machine_await_free(bool (*wanted)(void *arg), void *arg, int interrupt_fd)
{
	struct pollfd interrupt = { .fd = interrupt_fd, .events = POLLIN };
	unsigned int looks = 0;

	while (wanted(arg)) {
		looks = has_free() ? looks + 1 : 0;
		if (looks == FREE_MS / LOOK_MS)
			return true;
		if (poll(&interrupt, 1, LOOK_MS) > 0)
			break;
	}
	return false;
}

int machine_interrupts(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	signal(SIGPIPE, SIG_IGN);
	/* A file that must not grow is an error of a write, with a message. */
	signal(SIGXFSZ, SIG_IGN);
	if (sigprocmask(SIG_BLOCK, &set, NULL))
		return -1;
	return signalfd(-1, &set, SFD_CLOEXEC);
}

bool machine_make_dirs(const char *dir)
{
	char path[PATH_LEN];
	char *p;

	if (snprintf(path, sizeof(path), "%s", dir) >= (int)sizeof(path)) {
		errno = ENAMETOOLONG;
		return false;
	}
	for (p = strchr(path + 1, '/'); p; p = strchr(p + 1, '/')) {
		*p = '\0';
		if (mkdir(path, 0777) && errno != EEXIST)
			return false;
		*p = '/';
	}
	return !mkdir(path, 0777) || errno == EEXIST;
}

bool machine_claim(const char *dir, char *error, size_t error_size)
{
	char path[PATH_LEN];
	int fd = -1;

	if (machine_make_dirs(dir)) {
		snprintf(path, sizeof(path), "%.1000s/.lock", dir);
		fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
	}
	if (fd < 0) {
		snprintf(error, error_size, "%.400s: %s", dir, strerror(errno));
		return false;
	}
	/* Left open: the kernel drops the lock when the process ends. */
	if (flock(fd, LOCK_EX | LOCK_NB)) {
		snprintf(error, error_size,
			 "%.300s: another run writes there; wait for it, or use OUT=DIR", dir);
		close(fd);
		return false;
	}
	return true;
}

/* For nftw(), which stops at the first value that is not 0. */
static int unlink_foreign(const char *path, const struct stat *sb, int type, struct FTW *ftw)
{
	(void)type;
	(void)ftw;
	if (S_ISDIR(sb->st_mode) || (S_ISREG(sb->st_mode) && sb->st_nlink == 1))
		return 0;
	return unlink(path) && errno != ENOENT;
}

bool machine_unlink(const char *dir, const char *name, char *error, size_t error_size)
{
	char path[PATH_LEN];

	errno = ENAMETOOLONG;
	if (snprintf(path, sizeof(path), "%s/%s", dir, name) < (int)sizeof(path) &&
	    (!nftw(path, unlink_foreign, 16, FTW_PHYS) || errno == ENOENT))
		return true;
	snprintf(error, error_size, "%.200s/%.100s: %s", dir, name, strerror(errno));
	return false;
}
