// SPDX-License-Identifier: GPL-2.0-only
/*
 * Timers and work that the driver starts, and that may still run when the driver has
 * gone (watch.h): those in the module's own variables.  Of others this file does not know
 * how long their memory lives.
 *
 * A probe of each function that starts one remembers where it is.  x86-64 only.
 */
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/timer.h>
#include <linux/workqueue.h>

#include "probes.h"
#include "watch.h"

#define MOST_STARTED	16

enum what { NOTHING, WORK, DELAYED_WORK, TIMER };

static struct started {
	unsigned long address;
	enum what what;
} started[MOST_STARTED];
static struct module *driver;

static void __kprobes remember(unsigned long address, enum what what)
{
	unsigned int i;

	if (!within_module_core(address, driver))
		return;
	for (i = 0; i < MOST_STARTED; i++) {
		unsigned long known = READ_ONCE(started[i].address);

		if (!known)
			known = cmpxchg(&started[i].address, 0, address) ?: address;
		if (known != address)
			continue;
		WRITE_ONCE(started[i].what, what);
		return;
	}
}

static int __kprobes on_work(struct kprobe *kp, struct pt_regs *regs)
{
	remember(regs->dx, WORK);
	return 0;
}

static int __kprobes on_delayed_work(struct kprobe *kp, struct pt_regs *regs)
{
	remember(regs->dx, DELAYED_WORK);
	return 0;
}

static int __kprobes on_timer(struct kprobe *kp, struct pt_regs *regs)
{
	remember(regs->di, TIMER);
	return 0;
}

static const struct {
	const char *symbol;
	kprobe_pre_handler_t handler;
} starters[] = {
	{ "queue_work_on", on_work },
	{ "queue_delayed_work_on", on_delayed_work },
	{ "mod_delayed_work_on", on_delayed_work },
	{ "add_timer", on_timer },
	{ "mod_timer", on_timer },
};

static struct kprobe starting[ARRAY_SIZE(starters)];

void pending_close(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(starters); i++)
		probe_pause(&starting[i]);
	synchronize_rcu();
}

static int arm(unsigned int i, int (*arm_probe)(struct kprobe *probe))
{
	starting[i].symbol_name = starters[i].symbol;
	starting[i].pre_handler = starters[i].handler;
	return arm_probe(&starting[i]);
}

int pending_open(struct module *of)
{
	unsigned int i;
	int ret = 0;

	driver = of;
	memset(started, 0, sizeof(started));
	for (i = 0; i < ARRAY_SIZE(starters) && !ret; i++)
		ret = arm(i, probe_resume);
	if (ret)
		pending_close();
	return ret;
}

void pending_get_ready(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(starters); i++)
		arm(i, probe_ready);
}

u32 pending_left(void)
{
	unsigned int i, left = 0;

	for (i = 0; i < MOST_STARTED; i++) {
		void *address = (void *)started[i].address;

		switch (started[i].what) {
		case NOTHING:
			break;
		case WORK:
			left += work_pending((struct work_struct *)address);
			break;
		case DELAYED_WORK:
			left += delayed_work_pending((struct delayed_work *)address);
			break;
		case TIMER:
			left += timer_pending((struct timer_list *)address);
			break;
		}
	}
	return left;
}

void pending_exit(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(starters); i++)
		probe_forget(&starting[i]);
}
