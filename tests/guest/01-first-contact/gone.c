// SPDX-License-Identifier: MIT
/* The GPU's process dies while a job runs. */
#include <unistd.h>

#include "function.h"
#include "graded.h"
#include "hardware.h"
#include "tests.h"
#include "topic.h"
#include "work.h"

/* GET_PARAM looks at the GPU, and then has nothing to say. */
static int until_gone(int fd)
{
	uint64_t value;
	int err = 0;

	for (unsigned int look = 0; look < PATIENCE_LOOKS && !err; look++) {
		err = work_param(fd, DRM_AGATE_PARAM_GPU_ID, &value);
		if (!err)
			patience_pause();
	}
	return err;
}

/* The GPU goes between two reads: what STAT then reads as is no event. */
static void check_gone_at_stat(unsigned int vector, uint32_t stat)
{
	driver_take();
	topic(TOPIC_ENABLE, vector, TOPIC_EVENT);
	topic(TOPIC_LOSE_AT, 0, stat);
	rule("a GPU can go at the moment when the handler of %s reads STAT: agate_bus_lost() is asked "
	     "after the read", vector_names[vector]);
	check_message(vector);
	topic(TOPIC_SYNC, vector, 0);
	check_equal(topic_seen().serves, 0, "calls of serve()");
	topic_end();
	rule("a GPU that is gone: the driver lets go of the function all the same");
	check_errno(driver_unbind(), 0, "unbinding");
	hardware_alive(true);
}

/* A call that stops the vector has to wait for serve(), also of a GPU that is gone. */
static struct waiting *stop_gone(enum topic_op op, const char *call)
{
	struct waiting *waiting = topic_start(op, AGATE_VECTOR_GPU, 0);

	rule("%s waits until serve() has returned, also when the GPU is gone", call);
	if (topic_returned(waiting)) {
		topic(TOPIC_LET_GO, 0, 0);
		broken("it returns after serve()", "it returned while serve() was at work");
	}
	return waiting;
}

/* The GPU goes while serve() is at work: all ones afterwards are nothing to serve. */
static void check_gone_at_work(void)
{
	struct waiting *suspending, *disabling;

	driver_take();
	topic(TOPIC_ENABLE, AGATE_VECTOR_GPU, TOPIC_EVENT);
	rule("serve() is called when a bit that is open is set");
	topic(TOPIC_HOLD, 0, 0);
	check_errno(-topic(TOPIC_RAISE, 0, 0), 0, "a cache command, and its end");
	check_held();
	topic(TOPIC_LOSE, 0, 0);
	suspending = stop_gone(TOPIC_SUSPEND, "agate_irq_suspend()");
	disabling = stop_gone(TOPIC_DISABLE, "agate_irq_enable() without serve()");
	if (topic(TOPIC_LET_GO, 0, 0))
		could_not_look("serve() went on before the test had looked");
	topic_join(suspending);
	topic_join(disabling);
	rule("a GPU that goes while serve() is at work: the thread ends, and the driver lets go of "
	     "the function");
	check_errno(driver_unbind(), 0, "unbinding");
	topic_end();
	check_left_clean("unbound from a GPU that went while serve() was at work");
	hardware_alive(true);
}

/* On its way out the GPU kicks all vectors, and then reads as all ones. */
static void check_last_kick(void)
{
	topic(TOPIC_ENABLE, AGATE_VECTOR_GPU, TOPIC_EVENT);
	rule("a GPU that is gone reads as all ones: its handler does not take that for STAT");
	check_last_message(AGATE_VECTOR_GPU);
	topic(TOPIC_SYNC, AGATE_VECTOR_GPU, 0);
	check_equal(topic_seen().serves, 0, "calls of serve()");
	rule("a reset that finds the GPU gone: ENODEV");
	check_errno(-topic(TOPIC_RESET, 0, 0), ENODEV, "agate_gpu_soft_reset()");
	topic_end();
	rule("a GPU that is gone: the driver lets go of the function all the same");
	check_errno(driver_unbind(), 0, "unbinding");
	check_left_clean("unbound from a GPU that is gone");
	hardware_alive(true);
}

void test_gone(void **state)
{
	int fd;

	(void)state;
	driver_load();
	driver_take();
	check_last_kick();
	check_gone_at_stat(AGATE_VECTOR_GPU, GPU_INT_STAT);
	check_gone_at_stat(AGATE_VECTOR_MMU, MMU_INT_STAT);
	check_gone_at_work();
	driver_take();
	fd = guest_open();
	check_jobs(fd, 1, "before the GPU goes");
	work_endless(fd);
	see("ready-to-lose", 1);

	rule("a GPU that is gone: every call says ENODEV, and none hangs");
	check_errno(until_gone(fd), ENODEV, "GET_PARAM");
	close(fd);
	rule("a GPU that is gone: the driver lets go of the function all the same");
	check_errno(driver_unbind(), 0, "unbinding");
	check_left_clean("unbound from a GPU that is gone");
	rule("a GPU that is gone: a probe finds none, ENODEV");
	check_errno(driver_bind(), ENODEV, "the probe");
	check_left_clean("a probe that found no GPU");
}
