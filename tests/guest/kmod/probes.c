// SPDX-License-Identifier: GPL-2.0-only
/*
 * Arming and disarming probes on the processors of QEMU without KVM (probes.h).
 *
 * A probe is one byte of a function, and QEMU translates functions.  While one CPU writes
 * the byte, another may translate the function.  QEMU 7.2 may then keep a translation of the
 * old byte.  A CPU that runs it misses a new probe, or meets a probe that is gone: then the
 * kernel finds no breakpoint at that address and returns to it, and the CPU meets it again,
 * for ever.
 *
 * So the byte is written twice.  After the first write the kernel interrupts all CPUs.  A CPU
 * takes an interrupt only between two translations, so every translation that began before
 * the write is complete by then.  The second write changes nothing, but it makes QEMU drop all
 * translations of the byte.  A CPU may be about to run one of these, so the kernel interrupts
 * all CPUs once more.  Until then the probe stays registered, and the kernel knows what to do at
 * a breakpoint that a CPU still meets.  Linux 6.12 crashes at a breakpoint that it does not know.
 *
 * The kernel may also turn a probe into a jump after a while, and writes the bytes of that by
 * itself: the guest's command line forbids it (vm/arch_x86_64.c).
 */
#include "probes.h"

#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/mm.h>
#include <linux/smp.h>
#include <linux/vmalloc.h>

static struct page *page_of(const void *address)
{
	unsigned long at = (unsigned long)address;

	if (at >= MODULES_VADDR && at < MODULES_END)
		return vmalloc_to_page(address);
	return virt_to_page(address);
}

/*
 * Writes the byte that is there.  The kernel's text is read-only, so the write needs a mapping
 * of its own.  It is atomic, because another probe may change the byte now.
 */
static void write_again(void *address)
{
	struct page *page = page_of(address);
	u8 *mapped = vmap(&page, 1, VM_MAP, PAGE_KERNEL);

	if (WARN_ON_ONCE(!mapped))
		return;
	asm volatile("lock orb $0, %0" : "+m" (mapped[offset_in_page(address)]));
	vunmap(mapped);
	kick_all_cpus_sync();
}

/* A CPU that is alone translates nothing while it writes; the lock keeps others from starting. */
static void tell_all_cpus(void *address)
{
	cpus_read_lock();
	if (num_online_cpus() > 1)
		write_again(address);
	cpus_read_unlock();
}

/*
 * Since Linux 6.10 the functions that allocate have this behind their names, and some have
 * underscores before them as well.  And the compiler may put the beginning of a function into its
 * callers, and the rest into a function of that name.
 */
static const char * const forms[] = { "%s", "%s_noprof", "__%s_noprof", "%s.part.0" };

static int arm(struct kprobe *probe, int (*register_probe)(struct kprobe *probe))
{
	const char *symbol = probe->symbol_name;
	int ret = -ENOENT;
	char name[144];
	unsigned int i;

	probe->symbol_name = name;
	for (i = 0; i < ARRAY_SIZE(forms) && ret == -ENOENT; i++) {
		snprintf(name, sizeof(name), forms[i], symbol);
		ret = register_probe(probe);
	}
	probe->symbol_name = symbol;
	if (!ret && !kprobe_disabled(probe))
		tell_all_cpus(probe->addr);
	return ret;
}

int probe_arm(struct kprobe *probe)
{
	return arm(probe, register_kprobe);
}

static int register_return(struct kprobe *probe)
{
	return register_kretprobe(container_of(probe, struct kretprobe, kp));
}

int return_probe_arm(struct kretprobe *probe)
{
	return arm(&probe->kp, register_return);
}

int probes_arm(struct kprobe **probes, unsigned int count)
{
	unsigned int i;
	int ret;

	for (i = 0; i < count; i++) {
		ret = probe_arm(probes[i]);
		if (ret) {
			probes_disarm(probes, i);
			return ret;
		}
	}
	return 0;
}

int return_probes_arm(struct kretprobe **probes, unsigned int count)
{
	unsigned int i;
	int ret;

	for (i = 0; i < count; i++) {
		ret = return_probe_arm(probes[i]);
		if (ret) {
			return_probes_disarm(probes, i);
			return ret;
		}
	}
	return 0;
}

/* The probe of a module that is gone counts as disabled: its byte is gone, too. */
static void take_out(struct kprobe *probe)
{
	if (!kprobe_disabled(probe) && !disable_kprobe(probe))
		tell_all_cpus(probe->addr);
}

void probes_disarm(struct kprobe **probes, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		take_out(probes[i]);
	unregister_kprobes(probes, count);
}

void return_probes_disarm(struct kretprobe **probes, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		take_out(&probes[i]->kp);
	unregister_kretprobes(probes, count);
}

static int get_ready(struct kprobe *probe, int (*register_probe)(struct kprobe *probe))
{
	int ret;

	probe->flags = KPROBE_FLAG_DISABLED;
	ret = arm(probe, register_probe);
	if (ret) {
		probe->addr = NULL;
		probe->flags = 0;
	}
	return ret;
}

int probe_ready(struct kprobe *probe)
{
	return get_ready(probe, register_kprobe);
}

int return_probe_ready(struct kretprobe *probe)
{
	return get_ready(&probe->kp, register_return);
}

static int resume(struct kprobe *probe, int (*arm_probe)(struct kprobe *probe),
		  void (*disarm_probe)(struct kprobe *probe))
{
	int ret;

	if (probe->addr && !kprobe_gone(probe)) {
		ret = enable_kprobe(probe);
		if (!ret)
			tell_all_cpus(probe->addr);
		/* Its module may go meanwhile. */
		if (!kprobe_gone(probe))
			return ret;
	}
	if (probe->addr)
		disarm_probe(probe);
	probe->addr = NULL;
	probe->flags = 0;
	ret = arm_probe(probe);
	if (ret)
		probe->addr = NULL;
	return ret;
}

int probe_resume(struct kprobe *probe)
{
	return resume(probe, probe_arm, probe_disarm);
}

static int arm_return(struct kprobe *probe)
{
	return return_probe_arm(container_of(probe, struct kretprobe, kp));
}

static void disarm_return(struct kprobe *probe)
{
	return_probe_disarm(container_of(probe, struct kretprobe, kp));
}

int return_probe_resume(struct kretprobe *probe)
{
	return resume(&probe->kp, arm_return, disarm_return);
}

void probe_pause(struct kprobe *probe)
{
	if (probe->addr)
		take_out(probe);
}

void return_probe_pause(struct kretprobe *probe)
{
	probe_pause(&probe->kp);
}

void probe_forget(struct kprobe *probe)
{
	if (probe->addr)
		probe_disarm(probe);
	probe->addr = NULL;
}

void return_probe_forget(struct kretprobe *probe)
{
	if (probe->kp.addr)
		return_probe_disarm(probe);
	probe->kp.addr = NULL;
}

void probe_disarm(struct kprobe *probe)
{
	probes_disarm(&probe, 1);
}

void return_probe_disarm(struct kretprobe *probe)
{
	return_probes_disarm(&probe, 1);
}
