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
