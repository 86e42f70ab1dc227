/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Declarations that the files of agate_inject.ko share: inject_file.c takes commands and
 * keeps the points, inject_point.c puts probes into functions, inject_gate.c holds calls.
 */
#ifndef AGATE_TESTS_INJECT_H
#define AGATE_TESTS_INJECT_H

#include <linux/kprobes.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/preempt.h>
#include <linux/wait.h>

#define SYMBOL_LEN	128
#define TASKS_MAX	16
#define POINTS_MAX	32	/* of one open file */

enum kind {
	FAIL, FAIL_NULL, FAIL_RETURN, DELAY_ENTRY, DELAY_RETURN, HOLD_ENTRY, HOLD_RETURN, WITHIN,
	HURRY, UNCOUNTED, KINDS
};

/*
 * A gate is shut until the test opens it, or until a call has waited there for too long, or until
 * a task with interrupts off comes: that must not sleep.
 */
enum gate_state { GATE_SHUT, GATE_OPEN, GATE_GIVEN_UP, GATE_NO_SLEEP };

/* Where calls wait; see inject_gate.c. */
struct gate {
	atomic_t state;			/* enum gate_state */
	atomic_t held;			/* calls that wait */
	wait_queue_head_t queue;
};

/*
 * One injection; its kretprobe's kprobe is the only probe, unless it needs the return as
 * well.  @within, of kind WITHIN, is removed with it.
 */
struct point {
	struct kref refs;		/* the session's, and one of each call in a gate */
	struct list_head link;		/* session.points */
	struct list_head all;		/* all_points, or resting */
	struct pid *owner;		/* valid as long as the point is in a session */
	bool anybody;
	bool armed;
	bool registered;		/* armed, or its probe is paused */
	unsigned int life;		/* see struct life_of_call */
	enum kind kind;
	unsigned int nth;
	unsigned int number;		/* errno, microseconds, milliseconds, or calls */
	struct point *within;
	struct task_struct *inside[TASKS_MAX];	/* WITHIN: the tasks that run a call, or NULL */
	atomic_t hits;
	char symbol[SYMBOL_LEN];
	struct kretprobe probe;
	struct gate gate;
};

/*
 * A probe's handler runs like an NMI, on top of the interrupted code: current means
 * something only if that code runs in a task.
 */
static __always_inline bool in_a_task(void)
{
	unsigned int count = preempt_count();

	if (count & NMI_MASK)
		count -= NMI_OFFSET + HARDIRQ_OFFSET;
	return !(count & (NMI_MASK | HARDIRQ_MASK | SOFTIRQ_OFFSET));
}

/* inject_point.c.  Arming sleeps; -ENOENT means that the symbol does not exist yet. */
int point_arm(struct point *p);
/* No handler of theirs runs any more, and their probes can be armed again soon. */
void points_pause(struct point **points, unsigned int count);
/* The same, and their probes are gone; at most POINTS_MAX at once. */
void points_disarm(struct point **points, unsigned int count);
/* May a point for @other use the probe of @p? */
bool point_suits(const struct point *p, const struct point *other);
/* Makes of a point that rests what @other wants. */
void point_renew(struct point *p, const struct point *other);

/* inject_gate.c */
static inline bool is_gate(const struct point *p)
{
	return p->kind == HOLD_ENTRY || p->kind == HOLD_RETURN;
}

void gate_init(struct point *p);
/* A call hit the gate's probe.  True when it goes on in gated_call(), where it can sleep. */
bool gate_take(struct point *p, struct pt_regs *regs, bool in_a_task);
/* True when gated_call() made this call: it has been counted, and must not wait again. */
bool gate_passes(struct point *p);
/* 0; -ETIME when the gate had given up before, -EAGAIN when no call had come. */
int gate_let_go(struct point *p);
const char *gate_text(const struct point *p);

/* inject_file.c: drops a reference. */
void point_put(struct point *p);

#endif /* AGATE_TESTS_INJECT_H */
