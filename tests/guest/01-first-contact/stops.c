// SPDX-License-Identifier: MIT
/*
 * Those who stop a vector wait for its serve(), whatever happens meanwhile: the other half of
 * the test at-work.
 */
#include "function.h"
#include "graded.h"
#include "hardware.h"
#include "tests.h"
#include "topic.h"

#define GPU		AGATE_VECTOR_GPU
#define MMU		AGATE_VECTOR_MMU
/* Sleeps with a limit that are over at once; so many of a millisecond are longer than any. */
#define HURRIED_SLEEPS	4000

struct stop {
	enum topic_op op;
	const char *call;
};

static const struct stop suspend = { TOPIC_SUSPEND, "agate_irq_suspend()" };
static const struct stop disable = { TOPIC_DISABLE, "agate_irq_enable() without serve()" };

static void check_not_returned(bool returned)
{
	if (!returned)
		return;
	topic(TOPIC_LET_GO, 0, 0);
	broken("it returns after serve()", "it returned while serve() was at work");
}

/* Two tasks stop the vector, one after the other, and neither may go on too early. */
static struct waiting *stop_once_more(const struct stop *second)
{
	struct waiting *waiting = topic_start(second->op, GPU, 0);

	rule("%s waits until serve() has returned, also when the vector is suspended already",
	     second->call);
	check_not_returned(topic_returned(waiting));
	return waiting;
}

/* A serve() may suspend the vector of another block: nobody's wait may keep it from that. */
static void stop_another(void)
{
	struct waiting *other = topic_start(TOPIC_SUSPEND, MMU, 0);

	rule("agate_irq_suspend() waits for the thread of its own vector, and not for another task that "
	     "waits for another vector's");
	if (!topic_ends(other)) {
		topic(TOPIC_LET_GO, 0, 0);
		broken("agate_irq_suspend() of agate-mmu returns",
		       "it waits as long as another task waits for serve() of agate-gpu");
	}
	topic_join(other);
	topic(TOPIC_RESUME, MMU, 0);
}

/*
 * serve() is held in the middle while another thread makes a call that has to wait for
 * it, and then a third one.  Meanwhile the mask's bits are set anew, as a serve() does it
 * that changes what it listens to; and when serve() is let go it leaves another event behind.
 */
static void check_waits(const struct stop *first, const struct stop *then)
{
	struct waiting *waiting, *second;
	struct topic_seen seen;
	uint32_t opened, handled = topic_value(TOPIC_HANDLED, GPU, 0);

	rule("%s waits until serve() has returned", first->call);
	topic(TOPIC_HOLD, 0, 0);
	topic(TOPIC_AGAIN, 0, 0);
	raise_event();
	check_held();
	waiting = topic_start(first->op, GPU, 0);
	check_not_returned(topic_returned(waiting));
	second = stop_once_more(then);
	stop_another();
	opened = topic_seen().opened;
	topic(TOPIC_SET_MASK, GPU, TOPIC_EVENT);
	let_serve_go();
	topic_join(waiting);
	topic_join(second);
	seen = topic_seen();
	topic(TOPIC_SYNC, GPU, 0);

	rule("%s closes the mask first, and then waits: nothing opens it meanwhile, not even "
	     "agate_irq_set_mask()", first->call);
	check_equal(topic_seen().opened - opened, 0, "how often a mask was opened meanwhile");
	check_mask(GPU, 0);
	rule("when %s has returned, nothing of serve() runs, and nothing will", first->call);
	check_equal(seen.at_work_then, 0, "calls of serve() that had not returned");
	rule("a thread that has served says IRQ_HANDLED, also when %s came meanwhile", first->call);
	check_at_least(topic_value(TOPIC_HANDLED, GPU, 0) - handled, 1, "threads that said so");
	rule("when %s has returned, nothing of serve() runs, and nothing will", first->call);
	check_message(GPU);
	topic(TOPIC_SYNC, GPU, 0);
	check_equal(topic_seen().serves - seen.serves_then, 0, "calls of serve() after that");
}

/* A signal ends other waits: not even the end of the task that made the call ends this one. */
static void check_killed(const struct stop *stop)
{
	int child;

	rule("%s waits until serve() has returned, also when the task that called it is killed",
	     stop->call);
	topic(TOPIC_HOLD, 0, 0);
	raise_event();
	check_held();
	child = topic_fork(stop->op, GPU);
	check_not_returned(topic_kill(child));
	let_serve_go();
	topic_reap(child);
	topic(TOPIC_SYNC, GPU, 0);
	check_equal(topic_seen().at_work_then, 0, "calls of serve() that had not returned");
	topic(TOPIC_ENABLE, GPU, TOPIC_EVENT);
}

/*
 * A message comes just before a call that stops the vector takes irq->lock: what the call
 * looked at before that counts for nothing.  False when the call takes no such lock.
 */
static bool message_before_lock(const struct stop *stop, const char *within, const char *lock)
{
	struct waiting *waiting;
	bool held = false, at_work;

	topic(TOPIC_ENABLE, GPU, TOPIC_EVENT);
	topic(TOPIC_HOLD, 0, 0);
	inject_within(within);
	inject_hold_entry(lock, 1, INJECT_BOUND_MS);
	waiting = topic_start(stop->op, GPU, 0);
	for (unsigned int look = 0; look < PATIENCE_LOOKS && !held; look++) {
		held = inject_await_held(lock, 1);
		if (!held && topic_ended(waiting))
			break;
	}
	rule("an event comes just before %s takes irq->lock", stop->call);
	/* The call may have closed the mask already: then no serve() begins. */
	at_work = held && topic_read(GPU_INT_MASK);
	if (held)
		raise_event();
	rule("%s closes the mask first, and then waits: a message that came just before it took "
	     "irq->lock has called serve(), and it waits for that", stop->call);
	if (at_work)
		check_held();
	if (held && !inject_let_go(lock))
		could_not_look("%s went on before the test had looked", stop->call);
	if (at_work)
		check_not_returned(topic_returned(waiting));
	topic(TOPIC_LET_GO, 0, 0);
	topic_join(waiting);
	inject_clear();
	topic(TOPIC_SYNC, GPU, 0);
	check_mask(GPU, 0);
	return held;
}

static void check_message_before(const struct stop *stop, const char *within)
{
	static const char *const locks[] = { "_raw_spin_lock_irq", "_raw_spin_lock_irqsave" };

	for (unsigned int l = 0; l < 2; l++)
		if (message_before_lock(stop, within, locks[l]))
			break;
}

void check_stops(void)
{
	static const struct stop *const stops[] = { &suspend, &disable };
	unsigned int serves;

	inject_hurry("schedule_timeout", HURRIED_SLEEPS);
	inject_hurry("usleep_range_state", HURRIED_SLEEPS);
	check_waits(&suspend, &suspend);
	rule("agate_irq_resume() has messages that were lost meanwhile sent anew");
	raise_event();
	serves = topic_seen().serves;
	topic(TOPIC_RESUME, GPU, 0);
	check_serves(serves + 1);
	topic(TOPIC_SYNC, GPU, 0);

	for (unsigned int i = 1; i < 4; i++) {
		check_waits(stops[i >> 1], stops[i & 1]);
		topic(TOPIC_ENABLE, GPU, TOPIC_EVENT);
	}
	inject_clear();
	check_killed(&suspend);
	check_killed(&disable);
	check_message_before(&suspend, "agate_irq_suspend");
	check_message_before(&disable, "agate_irq_enable");
}
