/* SPDX-License-Identifier: MIT */
/*
 * dma-bufs: made from BOs and into BOs, passed to other processes, and those of drivers that
 * nobody here wrote, whose modules a suite delivers beside the programs.
 */
#ifndef AGATE_TESTS_DMABUF_H
#define AGATE_TESTS_DMABUF_H

#include "guest.h"

/* A BO's dma-buf; 0 or the errno.  @flags: DRM_RDWR; it is always close-on-exec. */
int dmabuf_try_export(int fd, uint32_t handle, uint32_t flags, int *dmabuf);
/* The same; fails the test when that does not work.  DRM_RDWR. */
int dmabuf_export(const struct bo *bo);

/* The handle of a dma-buf in a file, of whatever driver; 0 or the errno. */
int dmabuf_try_import(int fd, int dmabuf, uint32_t *handle);
/* The same, for a file of this driver: the BO, not mapped; fails the test. */
struct bo dmabuf_import(int fd, int dmabuf);

/* Bytes. */
uint64_t dmabuf_size(int dmabuf);
/* Are these two the same dma-buf? */
bool dmabuf_same(int one, int other);
/* Map all of it, read-write; fails the test. */
void *dmabuf_map(int dmabuf);
/* Begin or end an access of the CPU: DMA_BUF_SYNC_*. */
void dmabuf_sync(int dmabuf, uint64_t flags);

/* Send a file descriptor through a Unix socket, and receive it. */
void dmabuf_send(int sock, int fd);
int dmabuf_receive(int sock);

/*
 * Load "vgem" or "vkms" if it is not there, and open its device; and unload it, which
 * works only when nobody uses it.
 */
int stranger_open(const char *driver);
void stranger_unload(const char *driver);

/* A dumb BO of such a driver: mapped, its size is a multiple of the page size. */
struct bo stranger_bo(int fd, uint32_t width, uint32_t height);

/* A fence of vgem's on one of its BOs, and its end: 0 or the errno.  It ends by itself after 10 s. */
uint32_t stranger_attach_fence(int vgem, uint32_t handle, uint32_t flags);
int stranger_signal_fence(int vgem, uint32_t fence);

/* Does this guest bounce all DMA?  Then DMA addresses say nothing about where memory is. */
bool dma_is_bounced(void);

/* Memory of this process as a dma-buf: @cpu is the same memory, with @size bytes. */
int dmabuf_of_memory(size_t size, void **cpu);

#endif /* AGATE_TESTS_DMABUF_H */
