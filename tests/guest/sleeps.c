// SPDX-License-Identifier: MIT
/* Threads that sleep, as the kernel reports them (sleeps.h). */
#include "sleeps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

long sleeps_of(int tid)
{
	char path[64], line[128], state = 'R';
	long sleeps = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		if (!strncmp(line, "State:", 6))
			sscanf(line + 6, " %c", &state);
		else if (!strncmp(line, "voluntary_ctxt_switches:", 24))
			sleeps = strtol(line + 24, NULL, 10);
	}
	if (f)
		fclose(f);
	return state == 'D' || state == 'S' ? sleeps : -1;
}

bool sleep_rests(int tid, unsigned int looks, struct sleep_rest *rest)
{
	long sleeps = sleeps_of(tid);

	rest->looks = sleeps >= 0 && sleeps == rest->sleeps ? rest->looks + 1 : 0;
	rest->sleeps = sleeps;
	return rest->looks >= looks;
}
