// SPDX-License-Identifier: MIT
/* Lab 02, step 4: what the driver allocates for a BO and its label goes with the BO. */
#include "gem.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "../kmod/topic.h"

#define TOPIC_FILE	"/sys/kernel/debug/agate_topic"
#define BOS		24u	/* more than what a driver keeps for later */
#define ROUNDS		500

static uint32_t account(int topic, enum topic_op op)
{
	struct topic_call call = { .op = op };

	if (ioctl(topic, TOPIC_CALL, &call) || call.result)
		fail_msg(TOPIC_FILE ": %s", strerror(call.result ? -call.result : errno));
	return call.value;
}

int memory_watch(void)
{
	int topic;

	topic = inject_open(TOPIC_FILE, O_RDWR);
	if (topic < 0)
		fail_msg(TOPIC_FILE ": %s", strerror(errno));
	account(topic, TOPIC_ACCOUNT);
	return topic;
}

uint32_t memory_kept(int topic, uint32_t limit)
{
	const struct timespec pause = { .tv_nsec = 2000000 };
	uint32_t kept = account(topic, TOPIC_KEPT);

	for (int i = 0; i < ROUNDS && kept > limit; i++) {
		nanosleep(&pause, NULL);
		kept = account(topic, TOPIC_KEPT);
	}
	return kept;
}

static void one_life(int fd)
{
	struct bo bo = make_bo(fd, PAGE, 0);

	check_errno(set_label(fd, bo.handle, "memory", 6), 0, "SET_LABEL");
	check_errno(guest_close_handle(fd, bo.handle), 0, "GEM_CLOSE");
}

/* A driver may keep memory for later: one_life() has made it ask for that, so it does not count. */
static void interrupted_life(int topic, int fd)
{
	struct bo bo;
	uint32_t kept;

	account(topic, TOPIC_ACCOUNT);
	bo = make_bo(fd, PAGE, 0);
	interrupt_label(&bo);
	check_errno(guest_close_handle(fd, bo.handle), 0, "GEM_CLOSE");
	kept = memory_kept(topic, 0);
	rule("a SET_LABEL that a signal ends frees what it had allocated");
	if (kept)
		broken("no memory that stays", "%u pieces are left", kept);
}

void check_memory(void)
{
	int fd = gem_open(), topic;
	uint32_t kept;

	rule("CREATE_BO makes a BO and returns 0");
	one_life(fd);
	topic = memory_watch();
	for (unsigned int i = 0; i < BOS; i++)
		one_life(fd);
	kept = memory_kept(topic, BOS - 1);
	rule("the memory that the driver allocates for a BO and its label is freed with the BO");
	if (kept >= BOS)
		broken("no memory that stays", "%u pieces are left of %u BOs with labels", kept, BOS);
	interrupted_life(topic, fd);
	close(topic);
	close(fd);
}
