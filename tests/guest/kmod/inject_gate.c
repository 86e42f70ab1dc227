// SPDX-License-Identifier: GPL-2.0-only
/*
 * Gates: a call waits at its function's entry, or before its caller goes on, until
 * the test lets it go.
 *
 * A probe's handler must not sleep.  So it sends the call to gated_call(), an ordinary
 * function that runs in place of the function with the same arguments: it sleeps and then
 * calls the function, or calls it and then sleeps.  That call hits the probe again, and
 * passes.  While a call is held its CPU is free, and all locks of the caller stay taken.
 *
 * A function can have a gate if its arguments and its result fit in registers: at most
 * six arguments, none of them a structure by value, and no result of 16 bytes.
 */
#include <linux/module.h>
#include <linux/sched.h>

#include "inject.h"

#define CALLS_MAX	16

enum step { REDIRECTED, WAITING, PASSING, INSIDE };

/*
 * A call that a gate has taken.  A slot belongs to @task, and only that task looks at
 * the rest of it: no lock is needed, and a probe's handler could not take one.
 */
static struct call {
	struct task_struct *task;	/* NULL: free */
	struct point *point;
	enum step step;
} calls[CALLS_MAX];

static struct call *__kprobes claim(void)
{
	unsigned int i;

	for (i = 0; i < CALLS_MAX; i++)
		if (!cmpxchg(&calls[i].task, NULL, current))
			return &calls[i];
	return NULL;
}

/* Finds this task's call at that step, and at the point @p if that is not NULL. */
static struct call *__kprobes find(enum step step, const struct point *p)
{
	unsigned int i;

	for (i = 0; i < CALLS_MAX; i++)
		if (READ_ONCE(calls[i].task) == current && calls[i].step == step &&
		    (!p || calls[i].point == p))
			return &calls[i];
	return NULL;
}

static bool __kprobes give_up(struct gate *gate, enum gate_state why)
{
	return atomic_cmpxchg(&gate->state, GATE_SHUT, why) == GATE_SHUT;
}

/* A gate that is open or has given up stays so: later calls do not wait there. */
static void wait_at(struct point *p)
{
	struct gate *gate = &p->gate;

	atomic_inc(&gate->held);
	/* Killable: a killed test ends at once, and the kernel does not call the task hung. */
	wait_event_killable_timeout(gate->queue, atomic_read(&gate->state) != GATE_SHUT,
				    msecs_to_jiffies(p->number));
	if (give_up(gate, GATE_GIVEN_UP))
		wake_up_all(&gate->queue);
	atomic_dec(&gate->held);
}

typedef unsigned long (*function_t)(unsigned long a, unsigned long b, unsigned long c,
				    unsigned long d, unsigned long e, unsigned long f);

/*
 * Runs in place of the function.  Only a probe's handler sends calls here; the return
 * address on the stack is still the caller's.
 */
static noinline unsigned long gated_call(unsigned long a, unsigned long b, unsigned long c,
					 unsigned long d, unsigned long e, unsigned long f)
{
	struct call *call = find(REDIRECTED, NULL);
	struct point *p = call->point;
	function_t function = (function_t)p->probe.kp.addr;
	unsigned long result;

	call->step = WAITING;
	if (p->kind == HOLD_ENTRY)
		wait_at(p);
	call->step = PASSING;
	result = function(a, b, c, d, e, f);
	/* Still PASSING if the probe was removed before the call could hit it again. */
	call->step = WAITING;
	if (p->kind == HOLD_RETURN)
		wait_at(p);
	call->point = NULL;
	/* Pairs with claim(): the slot's next owner sees our last writes. */
	smp_store_release(&call->task, NULL);
	point_put(p);
	module_put(THIS_MODULE);
	return result;
}

void gate_init(struct point *p)
{
	atomic_set(&p->gate.state, GATE_SHUT);
	atomic_set(&p->gate.held, 0);
	init_waitqueue_head(&p->gate.queue);
}

bool __kprobes gate_passes(struct point *p)
{
	struct call *call = find(PASSING, p);

	if (call)
		call->step = INSIDE;
	return call;
}

bool __kprobes gate_take(struct point *p, struct pt_regs *regs, bool in_a_task)
{
	const bool interruptible = regs->flags & X86_EFLAGS_IF;
	struct call *call = NULL;

	if (atomic_read(&p->gate.state) != GATE_SHUT)
		return false;
	if (in_a_task && interruptible)
		call = claim();
	if (!call) {
		give_up(&p->gate, in_a_task && !interruptible ? GATE_NO_SLEEP : GATE_GIVEN_UP);
		return false;
	}
	kref_get(&p->refs);
	__module_get(THIS_MODULE);
	call->point = p;
	call->step = REDIRECTED;
	regs->ip = (unsigned long)gated_call;
	return true;
}

int gate_let_go(struct point *p)
{
	bool held = atomic_read(&p->gate.held);
	int state = atomic_cmpxchg(&p->gate.state, GATE_SHUT, GATE_OPEN);

	wake_up_all(&p->gate.queue);
	if (state == GATE_GIVEN_UP || state == GATE_NO_SLEEP)
		return -ETIME;
	return held ? 0 : -EAGAIN;
}

const char *gate_text(const struct point *p)
{
	switch (atomic_read(&p->gate.state)) {
	case GATE_SHUT:
		return atomic_read(&p->gate.held) ? " held" : " shut";
	case GATE_OPEN:
		return " open";
	case GATE_NO_SLEEP:
		return " no-sleep";
	default:
		return " given-up";
	}
}
