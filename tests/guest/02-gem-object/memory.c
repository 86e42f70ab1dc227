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

static void one_life(int fd)
{
	struct bo bo = make_bo(fd, PAGE, 0);

	check_errno(set_label(fd, bo.handle, "memory", 6), 0, "SET_LABEL");
	check_errno(guest_close_handle(fd, bo.handle), 0, "GEM_CLOSE");
}

/* The injection module counts the memory that the driver's own lines ask for, and its frees. */
void check_memory(void)
{
	const struct timespec pause = { .tv_nsec = 2000000 };
	int fd = gem_open(), topic;
	uint32_t kept;

	rule("CREATE_BO makes a BO and returns 0");
	one_life(fd);
	inject_load();
	topic = open(TOPIC_FILE, O_RDWR | O_CLOEXEC);
	if (topic < 0)
		fail_msg(TOPIC_FILE ": %s", strerror(errno));
	account(topic, TOPIC_ACCOUNT);
	for (unsigned int i = 0; i < BOS; i++)
		one_life(fd);
	close(fd);
	kept = account(topic, TOPIC_KEPT);
	for (int i = 0; i < ROUNDS && kept >= BOS; i++) {
		nanosleep(&pause, NULL);
		kept = account(topic, TOPIC_KEPT);
	}
	close(topic);
	rule("the memory that the driver allocates for a BO and its label is freed with the BO");
	if (kept >= BOS)
		broken("no memory that stays", "%u pieces are left of %u BOs with labels", kept, BOS);
}
