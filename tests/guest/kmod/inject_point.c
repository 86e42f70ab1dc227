// SPDX-License-Identifier: GPL-2.0-only
/*
 * The probes of agate_inject.ko: they choose the calls to hit, and carry out the
 * injection.
 *
 * The delays are busy: kprobes allow no sleep.  Gates sleep elsewhere (inject_gate.c).
 */
#include <linux/nmi.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/string.h>
#include <linux/timekeeping.h>

#include "inject.h"
#include "probes.h"

#ifndef CONFIG_X86_64
#error "Skipping a function needs to know the architecture's calls: x86-64 only."
#endif

static bool __kprobes is_ours(const struct point *p)
{
	struct task_struct *task;
	bool found = false;

	if (p->anybody)
		return true;
	if (!in_a_task())
		return false;
	rcu_read_lock();
	for (task = current; task && task->pid && !found; task = rcu_dereference(task->real_parent))
		found = task_tgid(task) == p->owner;
	rcu_read_unlock();
	return found;
}

/*
 * Replaces @from by @to in one slot; a function that calls itself has several.  Only
 * the task itself puts itself in and takes itself out.
 */
static bool __kprobes swap_inside(struct point *p, struct task_struct *from,
				  struct task_struct *to)
{
	unsigned int i;

	for (i = 0; i < TASKS_MAX; i++)
		if (READ_ONCE(p->inside[i]) == from && cmpxchg(&p->inside[i], from, to) == from)
			return true;
	return false;
}

/* The task that an interrupt interrupts does not make the interrupt's calls. */
static bool __kprobes is_within(const struct point *outer)
{
	unsigned int i;

	for (i = 0; i < TASKS_MAX && in_a_task(); i++)
		if (READ_ONCE(outer->inside[i]) == current)
			return true;
	return false;
}

/*
 * Counts the call; true when the injection has to hit it.  A task inside @within is
 * already one of ours.  Here only is_ours() takes a lock; a probe of the locking function
 * itself, which every interrupt calls, must not take one.
 */
static bool __kprobes strikes(struct point *p)
{
	unsigned int hit;

	if (p->within ? !is_within(p->within) : !is_ours(p))
		return false;
	hit = atomic_inc_return(&p->hits);
	return !p->nth || hit == p->nth;
}

/* By the clock: udelay() counts loops, and a busy host miscounted them at boot. */
static void __kprobes dawdle(unsigned int us)
{
	u64 end = ktime_get_mono_fast_ns() + (u64)us * NSEC_PER_USEC;

	while ((s64)(end - ktime_get_mono_fast_ns()) > 0) {
		cpu_relax();
		touch_nmi_watchdog();
	}
}

/*
 * One of the first sleeps with a limit: it is over at once.  Its caller may have said already
 * that it will not run.
 */
static bool __kprobes hurries(struct point *p, const struct pt_regs *regs)
{
	if ((long)regs->di == MAX_SCHEDULE_TIMEOUT || atomic_read(&p->hits) >= (int)p->number ||
	    !strikes(p))
		return false;
	__set_current_state(TASK_RUNNING);
	return true;
}

static int __kprobes on_entry(struct kprobe *kp, struct pt_regs *regs)
{
	struct point *p = container_of(kp, struct point, probe.kp);

	if (is_gate(p) && gate_passes(p))
		return 0;
	if (p->kind == HURRY ? !hurries(p, regs) : !strikes(p))
		return 0;
	if (is_gate(p))
		return gate_take(p, regs, in_a_task());
	if (p->kind == DELAY_ENTRY) {
		dawdle(p->number);
		return 0;
	}
	/* Return as if the function consisted only of a return: it has pushed nothing yet. */
	regs->ax = p->kind == FAIL ? -(long)p->number : 0;
	regs->ip = READ_ONCE_NOCHECK(*(unsigned long *)regs->sp);
	regs->sp += sizeof(unsigned long);
	return 1;
}

/* A post handler keeps the probe a trap: a jump in its place could not skip the function. */
static void __kprobes on_step(struct kprobe *kp, struct pt_regs *regs, unsigned long flags)
{
}

/*
 * A call that waits for its return has this for itself.  The number, because an interrupt may
 * make such a call, too, and a call may make another; and the point's life when it was entered,
 * because the point may serve another test by the time that it returns.
 */
struct life_of_call {
	unsigned int life;
	unsigned int number;
};

/* NULL while the point is being taken back. */
static struct point __kprobes *of_instance(struct kretprobe_instance *ri)
{
	struct kretprobe *rp = get_kretprobe(ri);

	return rp ? container_of(rp, struct point, probe) : NULL;
}

#ifdef CONFIG_FAULT_INJECTION
static bool __kprobes stop_counting(const struct point *p, struct life_of_call *call)
{
	if (!current->fail_nth || !is_ours(p) || !in_a_task())
		return false;
	call->number = current->fail_nth;
	current->fail_nth = 0;
	return true;
}

static void __kprobes go_on_counting(const struct life_of_call *call)
{
	current->fail_nth = call->number;
}
#else
static bool __kprobes stop_counting(const struct point *p, struct life_of_call *call)
{
	return false;
}

static void __kprobes go_on_counting(const struct life_of_call *call)
{
}
#endif

/* Not 0: do not probe this call's return. */
static int __kprobes on_call(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct life_of_call *call = (void *)ri->data;
	struct point *p = of_instance(ri);

	if (!p)
		return 1;
	call->life = p->life;
	if (p->kind == UNCOUNTED)
		return !stop_counting(p, call);
	if (!strikes(p))
		return 1;
	return p->kind == WITHIN && !swap_inside(p, NULL, current);
}

static int __kprobes on_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct life_of_call *call = (void *)ri->data;
	struct point *p = of_instance(ri);

	if (!p || call->life != p->life)
		return 0;
	switch (p->kind) {
	case WITHIN:
		swap_inside(p, current, NULL);
		break;
	case UNCOUNTED:
		go_on_counting(call);
		break;
	case FAIL_RETURN:
		regs->ax = -(long)p->number;
		break;
	default:
		dawdle(p->number);
	}
	return 0;
}

static bool wants_return(const struct point *p)
{
	return p->kind == DELAY_RETURN || p->kind == WITHIN || p->kind == UNCOUNTED ||
	       p->kind == FAIL_RETURN;
}

static int register_probe(struct point *p)
{
	int ret;

	memset(&p->probe, 0, sizeof(p->probe));
	p->probe.kp.symbol_name = p->symbol;
	if (wants_return(p)) {
		p->probe.entry_handler = on_call;
		p->probe.handler = on_return;
		p->probe.data_size = sizeof(struct life_of_call);
		ret = return_probe_arm(&p->probe);
	} else {
		p->probe.kp.pre_handler = on_entry;
		p->probe.kp.post_handler = on_step;
		ret = probe_arm(&p->probe.kp);
	}
	p->registered = !ret;
	return ret;
}

static int resume_probe(struct point *p)
{
	int ret = wants_return(p) ? return_probe_resume(&p->probe) :
		  probe_resume(&p->probe.kp);

	/* Its module may have gone, and nobody else has the function. */
	p->registered = p->probe.kp.addr;
	return ret;
}

int point_arm(struct point *p)
{
	int ret = p->registered ? resume_probe(p) : register_probe(p);

	p->armed = !ret;
	return ret;
}

void points_pause(struct point **points, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		struct point *p = points[i];

		if (!p->armed)
			continue;
		if (wants_return(p))
			return_probe_pause(&p->probe);
		else
			probe_pause(&p->probe.kp);
		p->armed = false;
	}
	if (count)
		synchronize_rcu();
}

bool point_suits(const struct point *p, const struct point *other)
{
	return wants_return(p) == wants_return(other) && !strcmp(p->symbol, other->symbol);
}

void point_renew(struct point *p, const struct point *other)
{
	p->kind = other->kind;
	p->nth = other->nth;
	p->number = other->number;
	memset(p->inside, 0, sizeof(p->inside));
	atomic_set(&p->hits, 0);
}

/* All at once: for each kind of probe the kernel then waits only once for running handlers. */
void points_disarm(struct point **points, unsigned int count)
{
	struct kretprobe *returns[POINTS_MAX];
	struct kprobe *entries[POINTS_MAX];
	unsigned int i, r = 0, e = 0;

	for (i = 0; i < count; i++) {
		struct point *p = points[i];

		if (!p->registered)
			continue;
		if (wants_return(p))
			returns[r++] = &p->probe;
		else
			entries[e++] = &p->probe.kp;
		p->armed = false;
		p->registered = false;
	}
	return_probes_disarm(returns, r);
	probes_disarm(entries, e);
}
