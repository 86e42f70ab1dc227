/* SPDX-License-Identifier: MIT */
/*
 * What depends on the guest's processor.
 */
#ifndef AGATE_VM_ARCH_H
#define AGATE_VM_ARCH_H

#include <stdint.h>

/**
 * struct vm_arch - a kind of guest, in QEMU's and Linux's terms
 * @qemu:	QEMU's program
 * @machine:	for -M; its memory is the backend "ram", and its root bus is PCI
 * @global:	for -global, a property of a device that the machine has
 * @cpu:	for -cpu; a fixed model, so that a snapshot means the same everywhere
 * @serial:	for -device, the bus of the channel to PID 1
 * @gpu:	for -device, the shared memory, doorbell and vectors that are a GPU
 * @kernel:	the kernel's file, in vm_config.kernel_dir
 * @cmdline:	the first part of the kernel's command line; its console is QEMU's first
 *		serial line
 * @cpuinfo:	begins the line of /proc/cpuinfo that names the host's processor
 * @ram_base:	the address where RAM begins; VM_RAM_MAX_MIB follow in one piece
 */
struct vm_arch {
	const char *qemu;
	const char *machine;
	const char *global;
	const char *cpu;
	const char *serial;
	const char *gpu;
	const char *kernel;
	const char *cmdline;
	const char *cpuinfo;
	uint64_t ram_base;
};

/* The processor of guests is that of the host: QEMU gives a guest the host's memory order. */
extern const struct vm_arch vm_arch;

#endif /* AGATE_VM_ARCH_H */
