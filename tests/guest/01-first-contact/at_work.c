// SPDX-License-Identifier: MIT
/* While serve() is at work: what it may rely on, and what else changes MASK meanwhile. */
#include "function.h"
#include "graded.h"
#include "hardware.h"
#include "tests.h"
#include "topic.h"

#define GPU	AGATE_VECTOR_GPU
#define EVENTS	8
#define OTHER_BITS	(TOPIC_EVENT | GPU_IRQ_MULTIPLE_FAULT)

static void check_served_again(void)
{
	rule("an event that comes while serve() is at work is served when it is done");
	topic(TOPIC_AGAIN, 0, 0);
	raise_event();
	check_serves(2);
	topic(TOPIC_SYNC, GPU, 0);
	check_serve_context("agate-gpu");
	rule("when serve() is done the mask is opened again");
	check_mask(GPU, TOPIC_EVENT);
}

/*
 * The kernel counts a thread's return value at the next message, so each event waits for
 * the end of the one before it.  A driver may get a message more than there are events.
 */
static void check_handled(void)
{
	unsigned int irq = handler_of("agate-gpu").irq, none = 0;

	for (unsigned int i = 0; i < EVENTS; i++) {
		struct unhandled before = handler_unhandled(irq), after;
		unsigned int serves = topic_seen().serves;

		rule("each event that is open in the mask is served");
		raise_event();
		check_serves(serves + 1);
		topic(TOPIC_SYNC, GPU, 0);
		after = handler_unhandled(irq);
		none += after.count != before.count || after.last_ms != before.last_ms;
	}
	rule("a thread that has served says IRQ_HANDLED: the kernel switches off an interrupt "
	     "that nobody handles");
	if (none > EVENTS / 2)
		broken("/proc/irq/N/spurious counts the messages of served events as handled",
		       "%u events, %u of them counted as unhandled", EVENTS, none);
}

/* Others may make these calls while serve() is at work; none of them may open the mask. */
static void check_stays_closed(void)
{
	static const struct {
		enum topic_op op;
		uint32_t value;
		const char *call;
	} calls[] = {
		{ TOPIC_SET_MASK, OTHER_BITS, "agate_irq_set_mask()" },
		{ TOPIC_RESUME, 0, "agate_irq_resume()" },
		{ TOPIC_ENABLE_AGAIN, TOPIC_EVENT, "agate_irq_enable() with a serve()" },
		{ TOPIC_RESET, 0, "agate_gpu_soft_reset()" },
	};
	uint32_t bits = TOPIC_EVENT;

	for (unsigned int i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		struct waiting *waiting;
		uint32_t opened;

		rule("serve() is called when a bit that is open is set");
		topic(TOPIC_HOLD, 0, 0);
		raise_event();
		check_held();
		opened = topic_seen().opened_gpu;
		waiting = topic_start(calls[i].op, GPU, calls[i].value);
		/* It may wait for serve(), as those must that stop the vector. */
		topic_returned(waiting);
		opened = topic_seen().opened_gpu - opened;
		let_serve_go();
		topic_join(waiting);
		topic(TOPIC_SYNC, GPU, 0);
		rule("while serve() is at work its mask stays closed, also when another task calls %s",
		     calls[i].call);
		/* A handler may have closed it again at once. */
		check_equal(opened, 0, "writes that opened GPU_INT_MASK");
		rule("when serve() is done the mask is opened again, with the bits that were set last, "
		     "also after %s", calls[i].call);
		if (calls[i].value)
			bits = calls[i].value;
		check_mask(GPU, bits);
	}
}

/* A suspend that came and went while serve() was at work has left nothing. */
static void check_brief_suspend(void)
{
	struct waiting *waiting;
	uint32_t opened;

	rule("serve() is called when a bit that is open is set");
	topic(TOPIC_ENABLE, GPU, TOPIC_EVENT);
	topic(TOPIC_HOLD, 0, 0);
	raise_event();
	check_held();
	opened = topic_seen().opened_gpu;
	waiting = topic_start(TOPIC_SUSPEND, GPU, 0);
	topic_returned(waiting);
	topic(TOPIC_RESUME, GPU, 0);
	opened = topic_seen().opened_gpu - opened;
	let_serve_go();
	topic_join(waiting);
	topic(TOPIC_SYNC, GPU, 0);
	rule("while serve() is at work its mask stays closed, also after a suspend and a resume");
	check_equal(opened, 0, "writes that opened GPU_INT_MASK");
	rule("when serve() is done the mask is opened again, also after a suspend and a resume");
	check_mask(GPU, TOPIC_EVENT);
}

/*
 * Messages for nothing, while serve() is at work: the bit that it serves is still set in
 * RAWSTAT, and closed.  The registers of the block are the test's.
 */
static void check_messages(unsigned int vector)
{
	unsigned int irq = handler_of(vector_names[vector]).irq;
	struct unhandled before, after;

	topic(TOPIC_RAISE_BITS, vector, 0);
	topic(TOPIC_ENABLE, vector, UINT32_MAX);
	rule("serve() is called when a bit that is open is set");
	topic(TOPIC_HOLD, 0, 0);
	topic(TOPIC_RAISE_BITS, vector, 1);
	check_message(vector);
	check_held();
	before = handler_unhandled(irq);
	for (unsigned int i = 0; i < 3; i++)
		check_message(vector);
	after = handler_unhandled(irq);
	let_serve_go();
	topic(TOPIC_SYNC, vector, 0);
	rule("%s: a message that comes while serve() is at work finds a STAT of 0, and its handler says "
	     "IRQ_NONE", vector_names[vector]);
	check_true(after.count != before.count || after.last_ms != before.last_ms,
		   "/proc/irq/N/spurious counts one of three messages, or all, as unhandled",
		   "it counts none");
	rule("%s: a message that comes while serve() is at work, and for nothing, does not have it "
	     "called again", vector_names[vector]);
	check_equal(topic_seen().serves, 1, "calls of serve()");
}

/*
 * A suspend comes just before a function takes irq->lock: what the function looked at
 * before that counts for nothing, because its lock orders the two.  @within makes the
 * calls of @lock; false when it does not make so many.
 */
static bool suspend_before_lock(struct waiting *(*begin)(void), const char *within,
				const char *lock, unsigned int nth, const char *what)
{
	struct waiting *running, *suspending;
	bool held = false;
	uint32_t opened;

	inject_anybody(true);
	inject_within(within);
	inject_hold_entry(lock, nth, INJECT_BOUND_MS);
	inject_anybody(false);
	running = begin();
	for (unsigned int look = 0; look < PATIENCE_LOOKS && !held; look++) {
		held = inject_await_held(lock, 1);
		if (!held && topic_ended(running))
			break;
	}
	if (!held) {
		inject_clear();
		topic_join(running);
		return false;
	}
	suspending = topic_start(TOPIC_SUSPEND, GPU, 0);
	topic_returned(suspending);
	opened = topic_seen().opened_gpu;
	if (!inject_let_go(lock))
		could_not_look("%s went on before the test had looked", what);
	topic_join(running);
	topic_join(suspending);
	inject_clear();
	topic(TOPIC_SYNC, GPU, 0);
	rule("a suspend that comes just before %s takes irq->lock keeps the mask closed: what was "
	     "looked at without the lock counts for nothing", what);
	check_equal(topic_seen().opened_gpu - opened, 0, "writes that opened GPU_INT_MASK");
	check_mask(GPU, 0);
	return true;
}

static struct waiting *begin_event(void)
{
	raise_event();
	return topic_start(TOPIC_SERVED, GPU, 0);
}

static struct waiting *begin_set_mask(void)
{
	return topic_start(TOPIC_SET_MASK, GPU, OTHER_BITS);
}

static struct waiting *begin_reset(void)
{
	return topic_start(TOPIC_RESET, GPU, 0);
}

static void check_locks(void)
{
	static const struct {
		struct waiting *(*begin)(void);
		const char *within, *what;
		unsigned int most;
	} users[] = {
		/* A thread may take the lock before serve(), too. */
		{ begin_event, "irq_thread_fn", "the end of the thread", 2 },
		{ begin_set_mask, "agate_irq_set_mask", "agate_irq_set_mask()", 1 },
		{ begin_reset, "agate_gpu_soft_reset", "agate_gpu_soft_reset()", 1 },
	};
	static const char *const locks[] = { "_raw_spin_lock_irq", "_raw_spin_lock_irqsave" };

	for (unsigned int i = 0; i < sizeof(users) / sizeof(users[0]); i++) {
		unsigned int nth = 0;

		/* Each probe of a lock costs a moment, so only one kind, and of resets one call. */
		for (unsigned int l = 0; l < 2 && !nth; l++)
			do
				topic(TOPIC_ENABLE, GPU, TOPIC_EVENT);
			while (suspend_before_lock(users[i].begin, users[i].within, locks[l], nth + 1,
						   users[i].what) && ++nth < users[i].most);
	}
}

/*
 * A task is about to write MASK, and a message comes on another CPU: the hard handler waits
 * for irq->lock.  So the write undoes nothing that the handler did, and no event gets lost.
 */
static void check_contention(void)
{
	static const char waits[] = "a message comes while another task holds irq->lock: the hard "
		"handler waits for the lock, and the event is served";
	uint32_t meddled;

	rule("%s", waits);
	topic(TOPIC_CONTEND, GPU, 0);
	check_serves(1);
	topic(TOPIC_SYNC, GPU, 0);
	check_serve_context("agate-gpu");

	topic(TOPIC_HOLD, 0, 0);
	meddled = topic_value(TOPIC_CONTEND, GPU, TOPIC_EVENT);
	check_held();
	rule("the hard handler takes irq->lock: what it does to MASK and irq->serving comes before or "
	     "after what another task does with the lock held, and not in the middle");
	check_true(!meddled, "a handler that waits while another task holds the lock",
		   "one that closed the mask, or set irq->serving, and returned");
	rule("a message comes while another task holds irq->lock, and that task then opens MASK: the "
	     "hard handler waits for the lock before it closes the mask, so it is closed in serve()");
	check_mask(GPU, 0);
	let_serve_go();
	topic(TOPIC_SYNC, GPU, 0);
	topic(TOPIC_ENABLE, GPU, TOPIC_EVENT);
}

/* What the thread changes after serve() it changes with irq->lock held. */
static void check_contended_end(void)
{
	bool waits;

	topic(TOPIC_HOLD, 0, 0);
	raise_event();
	check_held();
	waits = topic_end_waits(GPU);
	topic(TOPIC_SYNC, GPU, 0);
	rule("the thread takes irq->lock before it changes irq->serving: others look at that with the "
	     "lock held, and write MASK by it");
	check_true(waits, "irq->serving stays as it is while another task holds the lock",
		   "it was cleared meanwhile");
}

void test_at_work(void **state)
{
	(void)state;
	both_processors();
	driver_load();
	driver_take();
	topic(TOPIC_WATCH, 0, 0);
	rule("a topic's serve() takes the place of the one before it");
	topic(TOPIC_ENABLE, GPU, TOPIC_EVENT);
	check_contention();
	check_served_again();
	check_handled();
	check_contended_end();
	check_stays_closed();

	check_stops();
	check_brief_suspend();
	check_locks();
	rule("irq->lock orders changes of MASK: whoever opens one holds it");
	check_equal(topic_seen().opened_unlocked, 0, "masks that were opened without the lock");
	for (unsigned int v = 0; v < 3; v++)
		check_messages(v);
}
