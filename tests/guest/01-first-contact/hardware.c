// SPDX-License-Identifier: MIT
/* The GPU without its driver; see hardware.h. */
#include "hardware.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agate_bar2.h"
#include "function.h"
#include "graded.h"
#include "topic.h"

/* A reset of the model completes within fewer accesses. */
#define RESET_LOOKS	200

#define BAR2_USED	(AGATE_BAR2_QUEUE + AGATE_BAR2_QUEUE_LEN * sizeof(struct agate_bar2_entry))

static volatile uint32_t *doorbells;		/* BAR0 */
static char *bar2;

static void *map_file(const char *path, size_t size)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	void *map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (map == MAP_FAILED)
		fail_msg("%s cannot be mapped: %s", path, strerror(errno));
	close(fd);
	return map;
}

/* BAR0 may begin in the middle of the page that holds it. */
static void *map_bar0(size_t size)
{
	unsigned long long start = 0;
	FILE *file = fopen(function_path("resource"), "re");

	if (file && fscanf(file, "%llx %*x %*x", &start) != 1)
		fail_msg("BAR0 has no address");
	if (file)
		fclose(file);
	return (char *)map_file(function_path("resource0"), size + start % PAGE) + start % PAGE;
}

static void map_bars(void)
{
	if (doorbells)
		return;
	/* The file in sysfs maps BAR2 in another way than the driver does. */
	inject_load();
	bar2 = map_file("/sys/kernel/debug/agate_bar2", BAR2_USED);
	doorbells = map_bar0(AGATE_IVSHMEM_DOORBELL + sizeof(uint32_t));
}

static struct agate_bar2_ctrl *control(void)
{
	return (void *)(bar2 + AGATE_BAR2_CTRL);
}

void hardware_kick(unsigned int vector)
{
	map_bars();
	doorbells[AGATE_IVSHMEM_DOORBELL / 4] =
		doorbells[AGATE_IVSHMEM_IVPOSITION / 4] << 16 | vector;
}

static void did_not_run(unsigned int vector)
{
	rule("a message of vector %u reaches its handler, by its name in /proc/interrupts: %s", vector,
	     vector_names[vector]);
	broken("it runs", "it did not run");
}

void check_message(unsigned int vector)
{
	unsigned long before = handler_of(vector_names[vector]).count;

	hardware_kick(vector);
	if (!handler_runs(vector_names[vector], before))
		did_not_run(vector);
}

/* A driver that knows of the loss stops all messages, so only the handler may find it. */
void check_last_message(unsigned int vector)
{
	unsigned long before = handler_of(vector_names[vector]).count;
	bool mastered = function_masters();

	function_unwatched();
	topic(TOPIC_LOSE, 0, 0);
	hardware_kick(vector);
	if (handler_runs(vector_names[vector], before))
		return;
	if (mastered && !function_masters())
		could_not_look("the driver knew that the GPU is gone before its message came");
	did_not_run(vector);
}

void hardware_open(void)
{
	int err = function_enable("1");

	if (err)
		fail_msg("the function cannot be enabled: %s", strerror(err));
	map_bars();
}

void hardware_close(void)
{
	function_enable("0");
}

static void append(uint32_t op, uint32_t reg, uint32_t value, uint32_t seq)
{
	const struct agate_bar2_header *header = (const void *)bar2;
	struct agate_bar2_entry *queue = (void *)(bar2 + AGATE_BAR2_QUEUE);
	uint32_t tail = control()->tail;

	queue[tail % AGATE_BAR2_QUEUE_LEN] = (struct agate_bar2_entry){ op, reg, value, seq };
	__atomic_store_n(&control()->tail, tail + 1, __ATOMIC_RELEASE);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (__atomic_load_n(&control()->asleep, __ATOMIC_RELAXED))
		doorbells[AGATE_IVSHMEM_DOORBELL / 4] = header->sim_peer << 16;
}

/* Each access is waited for, so there is always room. */
static void carried_out(void)
{
	for (unsigned int look = 0; look < PATIENCE_LOOKS; look++) {
		for (unsigned int i = 0; i < 1000; i++)
			if (__atomic_load_n(&control()->head, __ATOMIC_ACQUIRE) == control()->tail)
				return;
		patience_pause();
	}
	fail_msg("the GPU does not answer");
}

/* A driver that left has switched the power input off. */
static void power_input_on(void)
{
	append(AGATE_BAR2_WRITE, AGATE_POWER_IN, 1, 0);
	carried_out();
}

uint32_t hardware_read(uint32_t reg)
{
	power_input_on();
	append(AGATE_BAR2_READ, reg, 0, control()->reply_seq + 1);
	carried_out();
	return control()->reply_value;
}

void hardware_write(uint32_t reg, uint32_t value)
{
	power_input_on();
	append(AGATE_BAR2_WRITE, reg, value, 0);
	carried_out();
}

/* There may be none under way. */
static void await_reset(unsigned int looks)
{
	while (looks-- && !(hardware_read(GPU_INT_RAWSTAT) & GPU_IRQ_RESET_COMPLETED))
		;
}

void hardware_end_reset(void)
{
	hardware_open();
	/* A hard reset takes no command, not even that of another one. */
	await_reset(RESET_LOOKS);
	hardware_write(GPU_CMD, GPU_CMD_HARD_RESET);
	await_reset(PATIENCE_LOOKS);
	hardware_write(GPU_INT_CLEAR, UINT32_MAX);
	hardware_close();
}

void hardware_alive(bool alive)
{
	map_bars();
	__atomic_store_n(&control()->alive, alive, __ATOMIC_SEQ_CST);
	if (alive)
		hardware_end_reset();
}
