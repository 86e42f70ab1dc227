// SPDX-License-Identifier: MIT
/* The kernel's log; see log.h. */
#include "log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "graded.h"

int log_open(void)
{
	int log = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (log < 0 || lseek(log, 0, SEEK_END) < 0)
		fail_msg("/dev/kmsg: %s", strerror(errno));
	return log;
}

#define KERN_WARNING	4

/* The next line's text, and its level; false when there is none. */
static bool read_record(int log, char line[LOG_LINE], unsigned int *level)
{
	char record[8192];
	const char *text;
	ssize_t n;

	do
		n = read(log, record, sizeof(record) - 1);
	while (n < 0 && errno == EPIPE);	/* older lines were overwritten */
	if (n <= 0)
		return false;
	record[n] = '\0';
	*level = (unsigned int)strtoul(record, NULL, 10) % 8;
	text = strchr(record, ';');
	text = text ? text + 1 : record;
	snprintf(line, LOG_LINE, "%.*s", (int)strcspn(text, "\n"), text);
	return true;
}

bool log_line(int log, char line[LOG_LINE])
{
	unsigned int level;

	return read_record(log, line, &level);
}

/* Those that keep the accounts of what drivers take; others complain of a slow machine. */
static bool about_resources(const char *line)
{
	static const char *const words[] = {
		"Trying to free", "nobody cared", "Disabling IRQ", "genirq", "resource: ", "sysfs: ",
		"kobject", "proc_dir_entry", "remove_proc", "debugfs: ", "devres", "pci 0000:", "MSI",
	};

	for (unsigned int i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strstr(line, words[i]))
			return true;
	return false;
}

void check_log(int log)
{
	char line[LOG_LINE];
	unsigned int level;

	rule("the kernel does not complain of what the driver takes and gives back");
	while (read_record(log, line, &level))
		if (level <= KERN_WARNING && !strstr(line, "agate 0000:") && about_resources(line))
			broken("no warning of the kernel in the log", "%s", line);
	close(log);
}

const char *log_last(int log, char line[LOG_LINE])
{
	char next[LOG_LINE];

	snprintf(line, LOG_LINE, "nothing");
	while (log_line(log, next))
		if (strstr(next, "agate") && !strstr(next, "probe of"))
			strcpy(line, next);
	return line;
}
