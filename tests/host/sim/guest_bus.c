// SPDX-License-Identifier: MIT
/*
 * The guest's end of the access queue; see guest_bus.h.
 */
#include "guest_bus.h"

#include <sys/mman.h>
#include <unistd.h>

#include "gpu_bench.h"

int guest_bus_create(uint8_t **bar2)
{
	int fd = memfd_create("bar2", MFD_CLOEXEC);
	struct agate_bar2_header *header;

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, BAR2_TEST_SIZE), 0);
	*bar2 = mmap(NULL, BAR2_TEST_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(*bar2, MAP_FAILED);
	header = guest_bus_header(*bar2);
	*header = (struct agate_bar2_header){
		.magic = AGATE_BAR2_MAGIC,
		.version = AGATE_BAR2_VERSION,
		.bar_size = BAR2_TEST_SIZE,
		.ctrl_offset = AGATE_BAR2_CTRL,
		.queue_offset = AGATE_BAR2_QUEUE,
		.queue_len = AGATE_BAR2_QUEUE_LEN,
		.gsm_offset = AGATE_BAR2_GSM,
		.gsm_size = AGATE_BAR2_GSM_SIZE,
		.vram_offset = AGATE_BAR2_VRAM,
		.vram_size = BAR2_TEST_SIZE - AGATE_BAR2_VRAM,
	};
	return fd;
}

struct agate_bar2_header *guest_bus_header(uint8_t *bar2)
{
	return (struct agate_bar2_header *)bar2;
}

struct agate_bar2_ctrl *guest_bus_ctrl(uint8_t *bar2)
{
	return (struct agate_bar2_ctrl *)(bar2 + AGATE_BAR2_CTRL);
}

void guest_bus_push(uint8_t *bar2, struct agate_bar2_entry entry)
{
	struct agate_bar2_ctrl *ctrl = guest_bus_ctrl(bar2);
	struct agate_bar2_entry *queue = (struct agate_bar2_entry *)(bar2 + AGATE_BAR2_QUEUE);
	uint32_t tail = ctrl->tail;

	queue[tail % AGATE_BAR2_QUEUE_LEN] = entry;
	__atomic_store_n(&ctrl->tail, tail + 1, __ATOMIC_RELEASE);
}
