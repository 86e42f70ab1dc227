// SPDX-License-Identifier: MIT
/* The command register of the GPU's configuration space; see bus_master.h. */
#include "bus_master.h"

#include "guest.h"

#include <fcntl.h>
#include <glob.h>
#include <unistd.h>

#define PCI_COMMAND		4
#define PCI_COMMAND_MASTER	0x4

int bus_master_open(void)
{
	glob_t found;
	int fd;

	assert_int_equal(glob("/sys/bus/pci/drivers/agate/*:*/config", 0, NULL, &found), 0);
	fd = open(found.gl_pathv[0], O_RDONLY | O_CLOEXEC);
	globfree(&found);
	assert_true(fd >= 0);
	return fd;
}

bool bus_master_is_on(int config)
{
	uint16_t command;

	assert_int_equal(pread(config, &command, sizeof(command), PCI_COMMAND), sizeof(command));
	return command & PCI_COMMAND_MASTER;
}
