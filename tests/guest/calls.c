// SPDX-License-Identifier: MIT
/* The calls that libagate makes; see calls.h. */
#include "calls.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define REQUESTS_MAX	32
#define MAPS_MAX	4096
#define BLOCKS_MAX	4096

struct request {
	unsigned long request;
	unsigned int made, refused;
	unsigned int fail_in;		/* calls until one fails; 0: none will */
	int err;
};

/* A lock of its own kind, because pthread_mutex_lock() is among the calls. */
static int busy;
static int watched = -1;
static struct request requests[REQUESTS_MAX];
static void *maps[MAPS_MAX];
static void *blocks[BLOCKS_MAX];
static unsigned int block_count;
static void (*hook)(unsigned long request, enum call_when when, void *arg);

static _Thread_local bool memory, locks, ignored;

typedef int mutex_call(pthread_mutex_t *mutex);

static mutex_call *real_lock, *real_unlock;

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t align, size_t size);
void __libc_free(void *old);

static void take(void)
{
	while (__atomic_exchange_n(&busy, 1, __ATOMIC_ACQUIRE))
		syscall(SYS_sched_yield);
}

static void give(void)
{
	__atomic_store_n(&busy, 0, __ATOMIC_RELEASE);
}

/* With the lock. */
static struct request *request_of(unsigned long request)
{
	struct request *r = requests;

	while (r->request && r->request != request) {
		if (++r == requests + REQUESTS_MAX)
			abort();
	}
	r->request = request;
	return r;
}

static void call_hook(unsigned long request, enum call_when when, void *arg)
{
	void (*now)(unsigned long request, enum call_when when, void *arg);

	take();
	now = hook;
	give();
	if (!now)
		return;
	ignored = true;
	now(request, when, arg);
	ignored = false;
}

/* Returns the errno with which the call has to fail, or 0. */
static int enter(unsigned long request, void *arg)
{
	struct request *r;
	int err = 0;

	call_hook(request, CALL_BEFORE, arg);
	take();
	r = request_of(request);
	r->made++;
	if (r->fail_in && !--r->fail_in)
		err = r->err;
	give();
	return err;
}

static void leave(unsigned long request, void *arg, bool refused)
{
	const int err = errno;

	take();
	request_of(request)->refused += refused;
	give();
	call_hook(request, CALL_AFTER, arg);
	errno = err;
}

int ioctl(int fd, unsigned long request, ...)
{
	va_list ap;
	void *arg;
	int ret;

	va_start(ap, request);
	arg = va_arg(ap, void *);
	va_end(ap);
	if (fd != watched || ignored)
		return (int)syscall(SYS_ioctl, fd, request, arg);
	errno = enter(request, arg);
	if (errno)
		return -1;
	ret = (int)syscall(SYS_ioctl, fd, request, arg);
	leave(request, arg, ret < 0);
	return ret;
}

/* Replace one pointer of a table by another one; false when it is not there. */
static bool replace(void **table, size_t size, void *old, void *new)
{
	size_t i;

	take();
	for (i = 0; i < size && table[i] != old; i++)
		;
	if (i < size)
		table[i] = new;
	give();
	return i < size;
}

void *mmap(void *addr, size_t length, int prot, int flags, int fd, off_t offset)
{
	int words[2] = { prot, flags };
	void *map;

	if (fd < 0 || fd != watched || ignored)
		return (void *)syscall(SYS_mmap, addr, length, prot, flags, fd, offset);
	errno = enter(CALL_MMAP, words);
	if (errno)
		return MAP_FAILED;
	map = (void *)syscall(SYS_mmap, addr, length, prot, flags, fd, offset);
	if (map != MAP_FAILED && !replace(maps, MAPS_MAX, NULL, map))
		abort();
	leave(CALL_MMAP, words, map == MAP_FAILED);
	return map;
}

void *mmap64(void *addr, size_t length, int prot, int flags, int fd, off_t offset)
{
	return mmap(addr, length, prot, flags, fd, offset);
}

int munmap(void *addr, size_t length)
{
	int ret;

	if (!addr || ignored || !replace(maps, MAPS_MAX, addr, NULL))
		return (int)syscall(SYS_munmap, addr, length);
	enter(CALL_MUNMAP, &length);
	ret = (int)syscall(SYS_munmap, addr, length);
	leave(CALL_MUNMAP, &length, ret < 0);
	return ret;
}

/* May memory be given?  Sets errno when not. */
static bool memory_there(void)
{
	int err;

	if (!memory || ignored)
		return true;
	err = enter(CALL_ALLOC, NULL);
	if (err)
		errno = err;
	return !err;
}

/* A block that a thread asked for while somebody looked at it. */
static void *remember(void *new)
{
	if (new && memory && !ignored) {
		if (!replace(blocks, BLOCKS_MAX, NULL, new))
			abort();
		__atomic_fetch_add(&block_count, 1, __ATOMIC_RELAXED);
	}
	return new;
}

static void forget(void *old)
{
	if (old && __atomic_load_n(&block_count, __ATOMIC_RELAXED) &&
	    replace(blocks, BLOCKS_MAX, old, NULL))
		__atomic_fetch_sub(&block_count, 1, __ATOMIC_RELAXED);
}

void *malloc(size_t size)
{
	return memory_there() ? remember(__libc_malloc(size)) : NULL;
}

void *calloc(size_t count, size_t size)
{
	return memory_there() ? remember(__libc_calloc(count, size)) : NULL;
}

void *realloc(void *old, size_t size)
{
	if (!memory_there())
		return NULL;
	forget(old);
	return remember(__libc_realloc(old, size));
}

void *aligned_alloc(size_t align, size_t size)
{
	return memory_there() ? remember(__libc_memalign(align, size)) : NULL;
}

int posix_memalign(void **out, size_t align, size_t size)
{
	void *new = memory_there() ? remember(__libc_memalign(align, size)) : NULL;

	if (new)
		*out = new;
	return new ? 0 : ENOMEM;
}

void free(void *old)
{
	forget(old);
	__libc_free(old);
}

unsigned int calls_blocks(void)
{
	return __atomic_load_n(&block_count, __ATOMIC_RELAXED);
}

size_t calls_bytes(void)
{
	size_t bytes = 0;

	take();
	for (size_t i = 0; i < BLOCKS_MAX; i++)
		bytes += blocks[i] ? malloc_usable_size(blocks[i]) : 0;
	give();
	return bytes;
}

static int call_mutex(mutex_call **real, const char *name, unsigned long request,
		      pthread_mutex_t *mutex)
{
	mutex_call *call = __atomic_load_n(real, __ATOMIC_RELAXED);
	int ret;

	if (!call) {
		call = (mutex_call *)(uintptr_t)dlsym(RTLD_NEXT, name);
		__atomic_store_n(real, call, __ATOMIC_RELAXED);
	}
	if (!locks || ignored)
		return call(mutex);
	enter(request, mutex);
	ret = call(mutex);
	leave(request, mutex, ret != 0);
	return ret;
}

int pthread_mutex_lock(pthread_mutex_t *mutex)
{
	return call_mutex(&real_lock, "pthread_mutex_lock", CALL_LOCK, mutex);
}

int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	return call_mutex(&real_unlock, "pthread_mutex_unlock", CALL_UNLOCK, mutex);
}

void calls_begin(int fd)
{
	take();
	watched = fd;
	hook = NULL;
	for (size_t i = 0; i < REQUESTS_MAX; i++)
		requests[i] = (struct request){ 0 };
	give();
}

unsigned int calls_made(unsigned long request)
{
	unsigned int made;

	take();
	made = request_of(request)->made;
	give();
	return made;
}

unsigned int calls_refused(unsigned long request)
{
	unsigned int refused;

	take();
	refused = request_of(request)->refused;
	give();
	return refused;
}

unsigned int calls_all(void)
{
	unsigned int made = 0;

	take();
	for (size_t i = 0; i < REQUESTS_MAX; i++)
		made += requests[i].made;
	give();
	return made;
}

unsigned int calls_maps(void)
{
	unsigned int there = 0;

	take();
	for (size_t i = 0; i < MAPS_MAX; i++)
		there += maps[i] != NULL;
	give();
	return there;
}

void calls_fail(unsigned long request, unsigned int nth, int err)
{
	take();
	request_of(request)->fail_in = nth;
	request_of(request)->err = err;
	give();
}

void calls_hook(void (*new)(unsigned long request, enum call_when when, void *arg))
{
	take();
	hook = new;
	give();
}

void calls_watch_memory(bool watch)
{
	memory = watch;
}

void calls_watch_locks(bool watch)
{
	locks = watch;
}

void calls_ignore(bool ignore)
{
	ignored = ignore;
}
