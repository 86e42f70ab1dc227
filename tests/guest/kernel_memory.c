// SPDX-License-Identifier: MIT
/* The driver's own memory on the card; see kernel_memory.h. */
#include "kernel_memory.h"

#include "guest.h"

#define KMEM	"/sys/kernel/debug/agate_kmem"	/* "addr size crc", all hexadecimal */

void kernel_memory(uint64_t from, char text[KERNEL_MEMORY_SIZE])
{
	FILE *file = fopen(KMEM, "re");
	unsigned long long addr;
	size_t len = 0;
	char line[80];

	assert_non_null(file);
	while (fgets(line, sizeof(line), file)) {
		assert_int_equal(sscanf(line, "%llx", &addr), 1);
		if (addr < from)
			continue;
		assert_true(len + strlen(line) < KERNEL_MEMORY_SIZE);
		strcpy(text + len, line);
		len += strlen(line);
	}
	fclose(file);
	assert_true(len > 0);
}

void kernel_tables(char text[KERNEL_MEMORY_SIZE])
{
	kernel_memory(TABLES_START, text);
}

bool kernel_tables_stay(const char before[KERNEL_MEMORY_SIZE])
{
	static char now[KERNEL_MEMORY_SIZE], copy[KERNEL_MEMORY_SIZE];

	kernel_tables(now);
	strcpy(copy, before);
	for (char *line = strtok(copy, "\n"); line; line = strtok(NULL, "\n"))
		if (!strstr(now, line))
			return false;
	return true;
}
