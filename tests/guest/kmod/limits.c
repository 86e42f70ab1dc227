// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel's rate limits, when the driver uses them (watch.h): nobody has to wait for
 * the seconds after which a limit lets a line through again.  A limit of the driver's own
 * is not seen here.  x86-64 only, because the caller is read from the stack.
 */
#include <linux/jiffies.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/ratelimit_types.h>

#include "probes.h"
#include "watch.h"

static struct module *driver;
static u32 older;		/* milliseconds */

static int __kprobes on_limit(struct kprobe *kp, struct pt_regs *regs)
{
	struct ratelimit_state *limit = (void *)regs->di;

	if (!within_module(READ_ONCE_NOCHECK(*(unsigned long *)regs->sp), driver))
		return 0;
	topic_seen.limits++;
	/* 0 means that the limit was never used. */
	if (older && limit->begin)
		limit->begin = (limit->begin - msecs_to_jiffies(older)) ?: 1;
	return 0;
}

static struct kprobe limiting;
static bool armed;

int limits_age(u32 ms)
{
	int ret;

	older = ms;
	topic_seen.limits = 0;
	if (armed)
		return 0;
	driver = watch_driver();
	if (!driver)
		return -ENOENT;
	limiting = (struct kprobe){ .symbol_name = "___ratelimit", .pre_handler = on_limit };
	ret = probe_arm(&limiting);
	armed = !ret;
	return ret;
}

void limits_end(void)
{
	if (armed)
		probe_disarm(&limiting);
	armed = false;
}
