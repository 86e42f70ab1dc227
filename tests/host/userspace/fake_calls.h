/* SPDX-License-Identifier: MIT */
/*
 * The interface between the fake's two halves: the wrapped calls (fake_calls.c) and
 * their work (fake_kernel.c).
 */
#ifndef FAKE_CALLS_H
#define FAKE_CALLS_H

#include <stddef.h>
#include <sys/types.h>

/* Returns an errno or 0. */
int fake_ioctl(unsigned long request, void *arg);
void *fake_map(size_t length, int prot, int flags, off_t offset);
void fake_state_reset(void);
int fake_minor(void);

/* The functions behind the wraps, named by the linker. */
void *__real_mmap(void *addr, size_t length, int prot, int flags, int fd, off_t offset);
int __real_munmap(void *addr, size_t length);

#endif /* FAKE_CALLS_H */
