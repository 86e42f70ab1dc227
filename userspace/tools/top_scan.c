// SPDX-License-Identifier: MIT
/*
 * Reads every process' descriptors, and what debugfs and sysfs add: top_scan.h.
 *
 * Processes come and go meanwhile, and one user may not read the files of another: a client
 * that cannot be read is left out.
 */
#include "top_scan.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#define DRM_MAJOR_NUMBER	226

/* The whole file as text, or NULL.  No file here has a zero byte. */
static char *read_file(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
	char *text = NULL;
	size_t size = 0;

	if (!file) {
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	if (getdelim(&text, &size, '\0', file) < 0) {
		free(text);
		text = NULL;
	}
	fclose(file);
	return text;
}

static int number_of(const char *name)
{
	char *end;
	long number = strtol(name, &end, 10);

	return end == name || *end || number < 0 || number > 0x7fffffff ? -1 : (int)number;
}

/* Only DRM's devices: the fdinfo of a file can be slow to make. */
static bool is_drm(int process, const char *fd)
{
	struct stat st;
	char path[300];

	snprintf(path, sizeof(path), "fd/%s", fd);
	return !fstatat(process, path, &st, 0) && S_ISCHR(st.st_mode) &&
	       major(st.st_rdev) == DRM_MAJOR_NUMBER;
}

static void read_command(int process, struct top_client *client)
{
	char *text = read_file(process, "comm");

	top_copy(client->command, text ? text : "?", text ? strcspn(text, "\n") : 1);
	free(text);
}

static int scan_process(int process, int pid, struct top_sample *sample)
{
	int fds = openat(process, "fdinfo", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fds < 0 ? NULL : fdopendir(fds);
	struct top_client client = { .pid = pid };
	struct dirent *entry;
	bool ok = true;

	if (!dir) {
		if (fds >= 0)
			close(fds);
		return 0;
	}
	while (ok && (entry = readdir(dir))) {
		char *text;

		client.fd = number_of(entry->d_name);
		if (client.fd < 0 || !is_drm(process, entry->d_name))
			continue;
		text = read_file(fds, entry->d_name);
		if (text && top_parse_fdinfo(text, &client)) {
			read_command(process, &client);
			ok = top_sample_add(sample, &client);
		}
		free(text);
	}
	closedir(dir);
	return ok ? 0 : -ENOMEM;
}

static int scan_processes(const char *proc, struct top_sample *sample)
{
	DIR *dir = opendir(proc);
	struct dirent *entry;
	int err = 0;

	while (dir && !err && (entry = readdir(dir))) {
		int pid = number_of(entry->d_name);
		int process;

		if (pid < 0)
			continue;
		process = openat(dirfd(dir), entry->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (process < 0)
			continue;
		err = scan_process(process, pid, sample);
		close(process);
	}
	if (dir)
		closedir(dir);
	return err;
}

/* The file "name" begins with the driver's name and has "dev=" and the device's name. */
static bool read_device(int minor, struct top_device *device)
{
	char *text = read_file(minor, "name");
	bool ok = text && sscanf(text, "%63s dev=%63s", device->driver, device->device) == 2;

	free(text);
	return ok;
}

/* A file that is agate's: another driver may have one of this name, too. */
static char *read_agates(int minor, const struct top_device *device, const char *name)
{
	return strcmp(device->driver, "agate") ? NULL : read_file(minor, name);
}

static void add_debugfs(int minor, struct top_sample *sample)
{
	struct top_device device = { .has_busy = false };
	char *busy, *bos, *power, *regions, *ggtt;
	size_t i;

	if (sample->device_count == TOP_DEVICES || !read_device(minor, &device) ||
	    top_find_device(sample, &device))
		return;
	busy = read_file(minor, "busy");
	device.has_busy = busy && top_parse_busy(busy, &device.busy_ns, &device.idle_ns);
	free(busy);
	power = read_agates(minor, &device, "power");
	if (power)
		top_parse_power(power, &device.power);
	free(power);
	regions = read_agates(minor, &device, "regions");
	if (regions)
		top_parse_regions(regions, &device.regions);
	free(regions);
	ggtt = read_agates(minor, &device, "ggtt");
	if (ggtt)
		top_parse_ggtt(ggtt, &device.ggtt);
	free(ggtt);
	sample->device[sample->device_count++] = device;

	bos = read_agates(minor, &device, "bos");
	for (i = 0; bos && i < sample->count; i++) {
		struct top_client *client = &sample->clients[i];

		if (strcmp(client->device, device.device) || !client->has_id)
			continue;
		client->bos = top_parse_bos(bos, client->id);
		client->has_bos = true;
	}
	free(bos);
}

/* qsort() order: by name, because a folder's order may change. */
static int compare_devices(const void *a, const void *b)
{
	const struct top_device *one = a, *other = b;

	return strcmp(one->device, other->device);
}

static void scan_debugfs(const char *debugfs, struct top_sample *sample)
{
	DIR *dir = opendir(debugfs);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		int minor;

		if (number_of(entry->d_name) < 0)
			continue;
		minor = openat(dirfd(dir), entry->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (minor < 0)
			continue;
		add_debugfs(minor, sample);
		close(minor);
	}
	if (dir)
		closedir(dir);
	qsort(sample->device, sample->device_count, sizeof(sample->device[0]), compare_devices);
}

/* A file with one number. */
static bool find_number(int dir, const char *name, int64_t *number)
{
	char *text = read_file(dir, name), *end = text;
	bool found;

	if (text)
		*number = strtoll(text, &end, 10);
	found = end != text;
	free(text);
	return found;
}

/* 0 if there is none. */
static uint64_t read_number(int dir, const char *name)
{
	int64_t number;

	return find_number(dir, name, &number) && number > 0 ? (uint64_t)number : 0;
}

/* A device of devfreq has the name of the device whose frequency it sets. */
static void scan_devfreq(const char *devfreq, struct top_sample *sample)
{
	int class = open(devfreq, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	size_t i;

	for (i = 0; class >= 0 && i < sample->device_count; i++) {
		struct top_device *device = &sample->device[i];
		int dir = -1;

		if (device->device[0] && device->device[0] != '.' && !strchr(device->device, '/'))
			dir = openat(class, device->device, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (dir < 0)
			continue;
		device->now_hz = read_number(dir, "cur_freq");
		device->max_hz = read_number(dir, "max_freq");
		close(dir);
	}
	if (class >= 0)
		close(class);
}

/* What runtime PM says of a device; a device without autosuspend refuses to tell the delay. */
static void read_power(int dir, struct top_power *power)
{
	char *status = read_file(dir, "runtime_status");
	int64_t active, suspended;

	if (status)
		top_word(power->status, status);
	free(status);
	power->has_times = find_number(dir, "runtime_active_time", &active) &&
			   find_number(dir, "runtime_suspended_time", &suspended);
	if (power->has_times) {
		power->active_ms = (uint64_t)active;
		power->suspended_ms = (uint64_t)suspended;
	}
	power->has_autosuspend = find_number(dir, "autosuspend_delay_ms", &power->autosuspend_ms);
}

/* The last part of the path to which a link points. */
static bool read_link(int dir, const char *name, char to[TOP_NAME])
{
	char path[512];
	ssize_t len = readlinkat(dir, name, path, sizeof(path) - 1);
	const char *last;

	if (len < 0)
		return false;
	path[len] = '\0';
	last = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	top_copy(to, last, strlen(last));
	return true;
}

/* A client's driver may not say which of its devices it means: then it has this one. */
static struct top_device *device_named(struct top_sample *sample, const char *driver,
				       const char *name)
{
	size_t i;

	for (i = 0; i < sample->device_count; i++) {
		struct top_device *device = &sample->device[i];

		if (!strcmp(device->driver, driver) &&
		    (!device->device[0] || !strcmp(device->device, name)))
			return device;
	}
	return NULL;
}

static void add_power(int class, const char *node, struct top_sample *sample)
{
	char path[300], driver[TOP_NAME], name[TOP_NAME];
	struct top_device *device;
	int dir;

	snprintf(path, sizeof(path), "%s/device/driver", node);
	if (!read_link(class, path, driver))
		return;
	snprintf(path, sizeof(path), "%s/device", node);
	if (!read_link(class, path, name))
		return;
	device = device_named(sample, driver, name);
	if (!device || device->power.status[0])
		return;
	snprintf(path, sizeof(path), "%s/device/power", node);
	dir = openat(class, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return;
	read_power(dir, &device->power);
	close(dir);
}

/* The nodes of a device, card0 and renderD128 for instance, have a link to it; connectors do not. */
static void scan_drm(const char *drm, struct top_sample *sample)
{
	DIR *dir = opendir(drm);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] != '.')
			add_power(dirfd(dir), entry->d_name, sample);
	}
	if (dir)
		closedir(dir);
}

int top_scan(const struct top_folders *folders, struct top_sample *sample)
{
	struct timespec now;
	int err;

	top_sample_clear(sample);
	clock_gettime(CLOCK_MONOTONIC, &now);
	sample->time_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	err = scan_processes(folders->proc, sample);
	if (err)
		return err;
	scan_debugfs(folders->debugfs, sample);
	top_sample_add_devices(sample);
	scan_devfreq(folders->devfreq, sample);
	scan_drm(folders->drm, sample);
	return 0;
}
