// SPDX-License-Identifier: MIT
/*
 * The logs of an earlier run (run_logs.h).
 */
#include "run_logs.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "run.h"

/* The logs of all guests after the first. */
static void remove_gpu_logs(const char *folder)
{
	struct dirent *entry;
	DIR *dir = opendir(folder);
	char prefix[32];
	int f;

	while (dir && (entry = readdir(dir)))
		for (f = 0; f < FLAVOURS; f++) {
			snprintf(prefix, sizeof(prefix), "%s-gpu-", flavour_names[f]);
			if (!strncmp(entry->d_name, prefix, strlen(prefix)))
				unlinkat(dirfd(dir), entry->d_name, 0);
		}
	if (dir)
		closedir(dir);
}

/* Logs of an earlier run must not look like this run's: this run may lack one kernel. */
void run_logs_remove(const char *folder)
{
	static const char *const names[] = {
		"console.log", "tests.log", "gpu.jsonl",
		/* In the folder of the composed module. */
		"/compose.log", "/compile.log", "/symbols.log", "/debug-info/compose.log",
		"-lib/compose.log", "-lib/compile.log", "-lib/symbols.log",
	};
	char path[RUN_PATH];
	size_t i;
	int f;

	for (f = 0; f < FLAVOURS; f++)
		for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
			if (run_path(path, "%s/%s%s%s", folder, flavour_names[f],
				     strchr("/-", names[i][0]) ? "" : "-", names[i]))
				unlink(path);
	remove_gpu_logs(folder);
}
