/* SPDX-License-Identifier: MIT */
/*
 * The fake's address spaces: what VM_CREATE, VM_DESTROY and VM_BIND do.  Changes take effect at
 * once.  fake_kernel.c calls these with its lock held, after it has looked at BOs.
 */
#ifndef FAKE_VM_H
#define FAKE_VM_H

#include "fake_kernel.h"

/* Each returns an errno or 0. */
int fake_vm_create(struct drm_agate_vm_create *args);
int fake_vm_destroy(const struct drm_agate_vm_destroy *args);
/* The BO's memory is that of a memfd; -1: there is none.  A binding keeps that memory. */
int fake_vm_bind(const struct drm_agate_vm_bind *args, int memfd);

bool fake_vm_exists(uint32_t id);
void fake_vms_reset(void);

#endif /* FAKE_VM_H */
