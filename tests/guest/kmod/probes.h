/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Arms and disarms all probes of agate_inject.ko: every CPU meets a probe that is armed, and no
 * CPU meets one that is gone (probes.c).
 */
#ifndef AGATE_TESTS_PROBES_H
#define AGATE_TESTS_PROBES_H

#include <linux/kprobes.h>

/*
 * As the kernel's functions register_...() and unregister_...() of these types.  A probe has a
 * symbol, and also finds the function that this kernel, or its compiler, has renamed.
 */
int probe_arm(struct kprobe *probe);
int probes_arm(struct kprobe **probes, unsigned int count);
int return_probe_arm(struct kretprobe *probe);
int return_probes_arm(struct kretprobe **probes, unsigned int count);
void probe_disarm(struct kprobe *probe);
void probes_disarm(struct kprobe **probes, unsigned int count);
void return_probe_disarm(struct kretprobe *probe);
void return_probes_disarm(struct kretprobe **probes, unsigned int count);

/*
 * For a probe that is armed and disarmed often.  To register one takes long, so it stays
 * registered while it is paused; probe_forget() ends that.  Its address is NULL before the first
 * time.  probe_ready() registers a probe that is paused from the beginning.  A probe of a module
 * that has gone meanwhile is registered anew.  A handler may still run after probe_pause():
 * synchronize_rcu() waits for it.  A probe without an address is not paused.
 */
int probe_ready(struct kprobe *probe);
int return_probe_ready(struct kretprobe *probe);
int probe_resume(struct kprobe *probe);
int return_probe_resume(struct kretprobe *probe);
void probe_pause(struct kprobe *probe);
void return_probe_pause(struct kretprobe *probe);
void probe_forget(struct kprobe *probe);
void return_probe_forget(struct kretprobe *probe);

#endif /* AGATE_TESTS_PROBES_H */
