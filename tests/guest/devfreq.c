// SPDX-License-Identifier: MIT
/*
 * devfreq's device in sysfs: devfreq.h.
 */
#include "devfreq.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "guest.h"

#define DEVFREQ		"/sys/class/devfreq"
#define PATIENCE_MS	20000

/* "DEVICE/FILE" below DEVFREQ; false while there is no device. */
static bool path_of(const char *file, char path[PATH_MAX])
{
	DIR *dir = opendir(DEVFREQ);
	struct dirent *de;
	bool found = false;

	while (dir && !found && (de = readdir(dir))) {
		found = de->d_name[0] != '.';
		if (found)
			snprintf(path, PATH_MAX, DEVFREQ "/%s/%s", de->d_name, file);
	}
	if (dir)
		closedir(dir);
	return found;
}

int devfreq_put(const char *file, const char *text)
{
	char path[PATH_MAX];
	int fd, err = 0;

	fd = path_of(file, path) ? open(path, O_WRONLY | O_CLOEXEC) : -1;
	if (fd < 0)
		return ENOENT;
	if (write(fd, text, strlen(text)) < 0)
		err = errno;
	close(fd);
	return err;
}

int devfreq_put_number(const char *file, unsigned long number)
{
	char text[32];

	snprintf(text, sizeof(text), "%lu", number);
	return devfreq_put(file, text);
}

void devfreq_get(const char *file, char *text, size_t size)
{
	char path[PATH_MAX];
	FILE *f;

	assert_true(path_of(file, path));
	f = fopen(path, "re");
	assert_non_null(f);
	assert_non_null(fgets(text, (int)size, f));
	fclose(f);
	text[strcspn(text, "\n")] = '\0';
}

unsigned long devfreq_number(const char *file)
{
	char text[64];

	devfreq_get(file, text, sizeof(text));
	return strtoul(text, NULL, 10);
}

void devfreq_choose(const char *governor)
{
	assert_int_equal(devfreq_put("governor", governor), 0);
}

void devfreq_set(unsigned long mhz)
{
	assert_int_equal(devfreq_put_number("userspace/set_freq", mhz * MHZ), 0);
}

void devfreq_wait(unsigned long mhz)
{
	for (int64_t end = guest_deadline(PATIENCE_MS);
	     devfreq_number("cur_freq") != mhz * MHZ && guest_deadline(0) < end;)
		usleep(1000);
	assert_int_equal(devfreq_number("cur_freq"), mhz * MHZ);
}
