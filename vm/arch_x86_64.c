// SPDX-License-Identifier: MIT
/*
 * Guests with x86-64 processors.
 *
 * Two things of ACPI are left out, because interpreting them takes long: interrupt routing,
 * as nothing here has a wired interrupt, and slots for hot-plug, as the GPU is found by a
 * rescan of the bus.  An NMI, which only the launcher sends, makes the kernel panic.
 * Programs are always mapped at the same addresses: QEMU translates code for the address at
 * which it runs, so it translates each program only once.  Unloading a module waits for RCU,
 * whose grace periods need not be lazy.  A probe stays one byte, and the kernel does not make
 * a jump of it later: QEMU's processors would keep old bytes of that
 * (tests/guest/kmod/probes.c).
 *
 * The kernel does not test its timer's interrupt, as it does not on KVM.  The test wants five
 * ticks within some 60 ms, in which a busy host may give QEMU no processor at all: then the
 * kernel sets up the timer in other ways, and panics when it takes the last one for broken too.
 */
#include "arch.h"

#ifndef __x86_64__
#error "The guest is x86-64, and QEMU gives it the host's memory order: build on x86-64."
#endif

const struct vm_arch vm_arch = {
	.qemu = "qemu-system-x86_64",
	.machine = "pc,memory-backend=ram,usb=off,vmport=off",
	.global = "PIIX4_PM.acpi-root-pci-hotplug=off",
	.cpu = "qemu64,+smep,+smap,+rdrand",
	.serial = "virtio-serial-pci,id=serial,max_ports=4",
	.gpu = "ivshmem-doorbell",
	.kernel = "bzImage",
	.cmdline = "console=ttyS0 loglevel=7 tsc=reliable acpi=noirq unknown_nmi_panic "
		   "norandmaps no_timer_check rcupdate.rcu_expedited=1 "
		   "sysctl.debug.kprobes-optimization=0",
	.cpuinfo = "model name",
	.ram_base = 0,
};
