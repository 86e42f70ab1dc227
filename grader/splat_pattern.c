// SPDX-License-Identifier: MIT
/*
 * The first lines of Linux's reports, and what each means for the author of a driver.
 * The first pattern that matches counts.
 */
#include <string.h>

#include "splat_priv.h"

#define RULE_NULL \
	"a NULL pointer was followed: what it comes from can fail, or was never set; or an error " \
	"was followed, and IS_ERR() tells it from a pointer"
#define RULE_USER \
	"an address of user space was followed directly, or a pointer that was never set: " \
	"copy_from_user() and copy_to_user() are the way to the one, and the other is memory " \
	"that nobody initialised"
#define RULE_NEAR_TOP \
	"an error was followed as if it were a pointer, and IS_ERR() tests for that; or a NULL " \
	"pointer was, from which container_of() or a list's loop had subtracted an offset"
#define RULE_FREED_POINTER \
	"a pointer was read from memory that had been freed, and followed"
#define RULE_LIST_POISON \
	"a list entry was followed after it had been removed from its list"
#define RULE_LIST_DAMAGED \
	"a list is damaged: an entry's memory was freed while it was in the list, two threads " \
	"changed the list without a lock, or its head was initialised again"
#define RULE_IRQ_LOCK \
	"a lock that an interrupt handler takes was taken elsewhere with interrupts on: the " \
	"interrupt then waits forever for the code that it interrupted"
#define RULE_SLEEP \
	"a function that may sleep was called with a spinlock held or in an interrupt handler"
#define RULE_LOCK_LEFT \
	"a lock was still held when the call was over: some way out does not unlock what is locked " \
	"at the line"
#define RULE_LOOP \
	"a CPU does not come back: a loop without end, or a spinlock that nobody unlocks"
#define RULE_WAIT	"a thread waits for something that never comes"
#define RULE_NOWHERE \
	"every wait ends: here neither a CPU nor a blocked thread is in the driver, which may have " \
	"forgotten to send an event, or done harm to memory or devices that the guest needs; a " \
	"library may wait for its own lock, or run in a loop"
#define RULE_NOTHING_THERE "memory was touched at an address where there is none"

static const struct splat_pattern patterns[] = {
	/* Not reports, though they look like it. */
	{ .prefix = "BUG: MAX_" },

	/* KASAN */
	{ "BUG: KASAN: ", "use-after-free", SPLAT_KASAN, .rule =
	  "memory was used after it was freed: somebody still had a pointer when the last "
	  "reference went", .elsewhere =
	  "memory was used after it was freed, by code outside the driver: the line is where the "
	  "driver freed it, too early" },
	{ "BUG: KASAN: ", "double-free", SPLAT_KASAN, .rule =
	  "memory was freed twice" },
	{ "BUG: KASAN: ", "invalid-free", SPLAT_KASAN, .rule =
	  "the freed pointer is not the one that was allocated: free what the allocation gave" },
	{ "BUG: KASAN: ", "slab-out-of-bounds", SPLAT_KASAN, .rule =
	  "memory was touched beyond the end, or before the start, of an allocation" },
	{ "BUG: KASAN: ", "vmalloc-out-of-bounds", SPLAT_KASAN, .rule =
	  "memory was touched beyond the end of a mapping, or after the mapping was gone" },
	{ "BUG: KASAN: ", "global-out-of-bounds", SPLAT_KASAN, .rule =
	  "memory was touched beyond the end of a static variable" },
	{ "BUG: KASAN: ", "stack-out-of-bounds", SPLAT_KASAN, .rule =
	  "memory was touched beyond the end of a local variable" },
	{ "BUG: KASAN: ", "use-after-scope", SPLAT_KASAN, .rule =
	  "a local variable was used after its block had ended" },
	{ "BUG: KASAN: ", "null-ptr-deref", SPLAT_KASAN, .rule = RULE_NULL },
	{ "BUG: KASAN: ", "user-memory-access", SPLAT_KASAN, .rule = RULE_USER },
	{ "BUG: KASAN: ", NULL, SPLAT_KASAN, .rule =
	  "memory was touched that is not the driver's to touch" },

	/* Oopses */
	{ "BUG: kernel NULL pointer dereference", NULL, SPLAT_OOPS, .rule = RULE_NULL },
	{ "BUG: unable to handle page fault for address: fffffffffffff", NULL, SPLAT_OOPS, .rule =
	  RULE_NEAR_TOP },
	{ "BUG: unable to handle page fault for address: 0000", NULL, SPLAT_OOPS,
	  .rule = RULE_USER },
	{ "BUG: unable to handle page fault", NULL, SPLAT_OOPS, .maybe_freed = true,
	  .rule = RULE_NOTHING_THERE },
	{ "general protection fault", "0xdead0000000001", SPLAT_OOPS, .rule = RULE_LIST_POISON },
	{ "general protection fault", "0xaaaaaaaaaaaa", SPLAT_OOPS, .maybe_freed = true,
	  .rule = RULE_FREED_POINTER },
	{ "general protection fault", "0x6b6b6b6b6b6b", SPLAT_OOPS, .maybe_freed = true,
	  .rule = RULE_FREED_POINTER },
	{ "general protection fault", NULL, SPLAT_OOPS, .maybe_freed = true, .rule =
	  "an invalid pointer was followed: it was never set, or its memory was freed and used "
	  "for something else" },
	{ "kernel BUG at mm/slub.c", NULL, SPLAT_OOPS, .maybe_freed = true, .rule =
	  "the allocator's own data is damaged: something was freed twice, or written to after "
	  "it was freed" },
	{ "kernel BUG at ", NULL, SPLAT_OOPS, .rule =
	  "something was so wrong that the kernel stopped itself, with BUG()" },
	{ "usercopy: Kernel memory ", NULL, SPLAT_OOPS, .rule =
	  "more was copied from or to user space than the object in the kernel has room for" },
	{ "detected buffer overflow in ", NULL, SPLAT_OOPS, .rule =
	  "more was copied than the destination has room for" },
	{ "BUG: ", "stack guard page was hit", SPLAT_OOPS, .rule =
	  "the kernel's stack is full: a function calls itself without end, or has huge local "
	  "variables" },
	{ "traps: PANIC: double fault", NULL, SPLAT_OOPS, .rule =
	  "the kernel's stack is full: a function calls itself without end, or has huge local "
	  "variables" },
	{ "divide error: ", NULL, SPLAT_OOPS, .rule = "a number was divided by zero" },
	{ "invalid opcode: ", NULL, SPLAT_OOPS, .maybe_freed = true, .rule =
	  "the CPU jumped to something that is not code" },
	{ "Oops: ", NULL, SPLAT_OOPS, .maybe_freed = true, .rule =
	  "the code touched memory that does not exist or may not be touched" },
	{ "stack segment: ", NULL, SPLAT_OOPS, .rule = "the kernel's stack pointer is wrong" },

	/* Undefined behaviour */
	{ "UBSAN: array-index-out-of-bounds", NULL, SPLAT_UBSAN, .rule =
	  "an array was indexed beyond its end" },
	{ "UBSAN: shift-out-of-bounds", NULL, SPLAT_UBSAN, .rule =
	  "a value was shifted by more bits than it has, or by a negative count" },
	{ "UBSAN: invalid-load", NULL, SPLAT_UBSAN, .rule =
	  "a bool or an enum held a value that its type does not have: it was never set, or it "
	  "was overwritten" },
	{ "UBSAN: ", NULL, SPLAT_UBSAN, .rule = "the C language does not define what was done" },

	/* Reference counts and lists */
	{ "refcount_t: underflow", NULL, SPLAT_REFCOUNT, .rule =
	  "a reference was put more often than it was taken: one put too many, or one get "
	  "forgotten" },
	{ "refcount_t: addition on 0", NULL, SPLAT_REFCOUNT, .rule =
	  "a reference was taken on an object that had none left: it is being freed, and the "
	  "pointer to it should be gone already" },
	{ "refcount_t: decrement hit 0", NULL, SPLAT_REFCOUNT, .rule =
	  "the last reference was dropped by a call that does not free: use the put function" },
	{ "refcount_t: saturated", NULL, SPLAT_REFCOUNT, .rule =
	  "a reference count ran over: it was never initialised, or references are taken and "
	  "never put" },
	{ "refcount_t: ", NULL, SPLAT_REFCOUNT, .rule = "a reference count is wrong" },
	{ "list_add double add", NULL, SPLAT_LIST, .rule =
	  "an entry was added to a list that it is in already" },
	{ "list_del corruption", "is LIST_POISON", SPLAT_LIST, .rule =
	  "an entry was removed from a list twice" },
	{ "list_add corruption", "is NULL", SPLAT_LIST, .rule =
	  "a list was used that was never initialised: INIT_LIST_HEAD() does that" },
	{ "list_del corruption", "is NULL", SPLAT_LIST, .rule =
	  "an entry was removed from a list that it was never in" },
	{ "list_add corruption", NULL, SPLAT_LIST, .maybe_freed = true,
	  .rule = RULE_LIST_DAMAGED },
	{ "list_del corruption", NULL, SPLAT_LIST, .maybe_freed = true,
	  .rule = RULE_LIST_DAMAGED },

	/* lockdep */
	{ "WARNING: possible recursive locking detected", NULL, SPLAT_LOCKDEP, .rule =
	  "the same lock was taken twice by one thread, which waits for itself; or two locks, which "
	  "lockdep takes for one because one line of code has initialised both" },
	{ "WARNING: possible circular locking dependency detected", NULL, SPLAT_LOCKDEP, .rule =
	  "two locks were taken in both orders: two threads that do so at the same time wait for "
	  "each other forever" },
	{ "WARNING: inconsistent lock state", NULL, SPLAT_LOCKDEP, .rule = RULE_IRQ_LOCK },
	{ "WARNING: possible irq lock inversion", NULL, SPLAT_LOCKDEP, .rule = RULE_IRQ_LOCK },
	{ "WARNING: ", "-unsafe lock order detected", SPLAT_LOCKDEP, .rule =
	  "inside a lock that an interrupt handler takes, another one was taken that is elsewhere "
	  "held with interrupts on: the two can wait for each other forever" },
	{ "WARNING: bad unlock balance detected", NULL, SPLAT_LOCKDEP, .rule =
	  "a lock was unlocked that was not held" },
	{ "WARNING: held lock freed", NULL, SPLAT_LOCKDEP, .rule =
	  "memory was freed with a lock in it that was held" },
	{ "WARNING: lock held when returning to user space", NULL, SPLAT_LOCKDEP,
	  .no_trace = true, .rule = RULE_LOCK_LEFT },
	{ "WARNING: ", " still has locks held!", SPLAT_LOCKDEP, .rule = RULE_LOCK_LEFT },
	{ "WARNING: suspicious RCU usage", NULL, SPLAT_LOCKDEP, .rule =
	  "data that RCU protects was read outside rcu_read_lock() and without the lock that guards "
	  "it" },
	{ "WARNING: Nested lock was not taken", NULL, SPLAT_LOCKDEP, .rule =
	  "the lock that has to be held around this one was not held" },
	{ "WARNING: bad contention detected", NULL, SPLAT_LOCKDEP, .rule =
	  "a lock was waited for that nobody has initialised or taken" },
	{ "[ BUG: Invalid wait context ]", NULL, SPLAT_SLEEP, .rule = RULE_SLEEP },
	{ "INFO: trying to register non-static key", NULL, SPLAT_LOCKDEP, .rule =
	  "a lock was taken that was never initialised: spin_lock_init() and mutex_init() do that" },
	{ "BUG: key ", "has not been registered", SPLAT_LOCKDEP, .rule =
	  "a lock was taken that was never initialised" },
	{ "BUG: spinlock ", NULL, SPLAT_LOCKDEP, .rule = "a spinlock was used wrongly" },
	{ "DEBUG_LOCKS_WARN_ON(", "count()", SPLAT_LOCKDEP, .rule =
	  "a lock was unlocked more often than it was locked" },
	{ "DEBUG_LOCKS_WARN_ON(", NULL, SPLAT_LOCKDEP, .rule =
	  "a lock was used that is not initialised, already destroyed, or not held" },

	/* The wrong context */
	{ "BUG: sleeping function called from invalid context", NULL, SPLAT_SLEEP,
	  .rule = RULE_SLEEP },
	{ "BUG: scheduling while atomic", NULL, SPLAT_SLEEP, .rule =
	  "the thread slept with a spinlock held or in an interrupt handler" },
	{ "BUG: using ", "in preemptible", SPLAT_SLEEP, .rule =
	  "a CPU's own data was used where the thread can be moved to another CPU" },
	{ "BUG: workqueue leaked ", NULL, SPLAT_LOCKDEP, .rule =
	  "a work function returned with a lock held" },
	{ "initcall ", " returned with", SPLAT_LOCKDEP, .no_trace = true, .rule =
	  "the module's init function returned with a spinlock held or interrupts off" },
	{ "do not call blocking ops when !TASK_RUNNING", NULL, SPLAT_SLEEP, .rule =
	  "a function that may sleep was called by a thread that had already set itself to sleep" },

	/* DMA */
	{ "DMA-API: ", "device driver frees DMA memory with different", SPLAT_DMA_API, .rule =
	  "DMA memory was unmapped differently from how it was mapped: device, size, direction "
	  "and kind have to be the same" },
	{ "DMA-API: ", "device driver frees DMA sg list", SPLAT_DMA_API, .rule =
	  "a scatter list was unmapped with another number of entries: it is the one given to "
	  "dma_map_sg(), not the one it returned" },
	{ "DMA-API: ", "tries to free DMA memory it has not allocated", SPLAT_DMA_API, .rule =
	  "DMA memory was unmapped that is not mapped: twice, or never mapped" },
	{ "DMA-API: ", "failed to check map error", SPLAT_DMA_API, .rule =
	  "the result of a DMA mapping was not tested: dma_mapping_error() tells if it failed" },
	{ "DMA-API: ", "pending DMA allocations", SPLAT_DMA_API, .origin = true, .rule =
	  "DMA mappings were left behind when the device was released", .elsewhere =
	  "DMA mappings were left behind when the device was released: the line is where one was "
	  "made" },
	{ "DMA-API: ", "maps memory from ", SPLAT_DMA_API, .rule =
	  "memory was mapped for DMA that a device cannot reach that way: on the stack, from "
	  "vmalloc(), or the kernel's own" },
	{ "DMA-API: ", "sync", SPLAT_DMA_API, .rule =
	  "DMA memory was synced that is not mapped, or differently from how it was mapped" },
	{ "DMA-API: exceeded ", "overlapping mappings", SPLAT_DMA_API, .rule =
	  "the same memory was mapped for DMA many times and not unmapped" },
	{ "DMA-API: ", "tracking EEXIST", SPLAT_DMA_API, .rule =
	  "memory was mapped for DMA that is mapped already" },
	{ "DMA-API: ", "device driver", SPLAT_DMA_API, .rule = "the DMA API was used wrongly" },
	{ "DMA-API: ", "mapping sg segment", SPLAT_DMA_API, .rule =
	  "a piece of a scatter list is larger than the device can take, or crosses a boundary "
	  "that it must not cross" },

	/* Lifetimes that the kernel follows */
	{ "ODEBUG: free active", NULL, SPLAT_OBJECTS, .rule =
	  "memory was freed with a timer or work in it that was still queued: cancel it first, "
	  "and wait for it" },
	{ "ODEBUG: init active", NULL, SPLAT_OBJECTS, .rule =
	  "a timer or work was initialised again while it was queued" },
	{ "ODEBUG: activate ", NULL, SPLAT_OBJECTS, .rule =
	  "a timer, work or RCU callback was queued that was never initialised or is queued "
	  "already" },
	{ "ODEBUG: ", "not available", SPLAT_OBJECTS, .rule =
	  "a timer or work was cancelled that was never initialised" },
	{ .prefix = "ODEBUG: Out of memory" },
	{ "ODEBUG: ", "object", SPLAT_OBJECTS, .rule =
	  "a timer, work or RCU callback was used outside its life" },

	/* Left behind */
	{ "BUG ", ": Objects remaining ", SPLAT_LEAK, .rule =
	  "a slab cache was destroyed with objects in it: some were never freed" },
	{ "kmem_cache_destroy ", "still has objects", SPLAT_LEAK, .rule =
	  "a slab cache was destroyed with objects in it: some were never freed" },
	{ "Memory manager not clean during takedown", NULL, SPLAT_LEAK, .origin = true, .rule =
	  "a range manager was torn down with ranges in it: some were never removed", .elsewhere =
	  "a range manager was torn down with ranges in it: the line is where one was inserted that "
	  "was never removed" },
	{ "unreferenced object 0x", NULL, SPLAT_LEAK, .weak = true, .origin = true, .rule =
	  "memory was allocated, at the line, that nothing points to any more: it was never freed" },
	{ "kmemleak: ", "new suspected memory leaks", SPLAT_LEAK, .weak = true, .no_trace = true,
	  .rule = "memory was allocated that nothing points to any more: it was never freed" },
	{ "remove_proc_entry: removing non-empty directory 'irq/", NULL, SPLAT_WARNING, .rule =
	  "an interrupt vector was given back while its handler was still requested: free_irq() "
	  "comes first" },
	{ "", ": rejecting DMA map of vmalloc memory", SPLAT_DMA_API, .rule =
	  "memory from vmalloc() or on the stack was mapped for DMA: it has no one place in "
	  "physical memory" },
	{ "Trying to free already-free IRQ", NULL, SPLAT_WARNING, .rule =
	  "an interrupt was freed that is not requested: twice, or never requested" },
	{ "BUG ", "(Tainted", SPLAT_OTHER, .rule =
	  "memory of the allocator is damaged: something was written beyond an object, or after "
	  "it was freed" },

	/* Warnings that match nothing above. */
	{ "WARNING: CPU: ", NULL, SPLAT_WARNING, .rule =
	  "the kernel noticed something that must not be, with WARN()" },

	/* Nobody comes back */
	{ "INFO: task ", " blocked for more than ", SPLAT_HUNG_TASK, .weak = true, .timed = true,
	  .rule = RULE_WAIT },
	{ "watchdog: BUG: soft lockup", NULL, SPLAT_LOCKUP, .weak = true, .timed = true,
	  .rule = RULE_LOOP },
	{ "watchdog: Watchdog detected hard LOCKUP", NULL, SPLAT_LOCKUP, .weak = true, .timed = true,
	  .rule = RULE_LOOP },
	{ "rcu: INFO: ", " stall", SPLAT_LOCKUP, .weak = true, .timed = true, .rule = RULE_LOOP },
	{ "BUG: workqueue lockup", NULL, SPLAT_LOCKUP, .weak = true, .timed = true,
	  .no_trace = true, .rule = "a work function does not come to an end" },
	/* Dumps on request: they say something only by the places that they show. */
	{ "sysrq: Show Blocked State", NULL, SPLAT_HUNG_TASK, .weak = true, .timed = true,
	  .rule = RULE_WAIT, .nowhere = RULE_NOWHERE },
	{ "sysrq: Show backtrace of all active CPUs", NULL, SPLAT_LOCKUP, .weak = true, .timed = true,
	  .rule = RULE_LOOP, .nowhere = RULE_NOWHERE },
	{ "NMI backtrace for cpu ", NULL, SPLAT_LOCKUP, .weak = true, .timed = true, .rule = RULE_LOOP,
	  .nowhere = RULE_NOWHERE },
	{ "Kernel panic - not syncing: NMI: ", NULL, SPLAT_LOCKUP, .weak = true, .timed = true,
	  .rule = RULE_LOOP, .nowhere = RULE_NOWHERE },
	/* The launcher's own lines, see vm_where_hung(). */
	{ "where: the kernel does not answer", NULL, SPLAT_LOCKUP, .weak = true, .timed = true,
	  .no_trace = true, .rule = "no CPU answers any more: each is in a loop without end, or waits "
	  "for a spinlock that nobody unlocks, with interrupts off" },
	{ "irq ", ": nobody cared", SPLAT_OTHER, .rule =
	  "an interrupt came again and again, and no handler said that it was its own" },

	/* The rest */
	{ "kmemleak: ", "unknown object", SPLAT_OTHER, .weak = true, .rule =
	  "the freed pointer is not the one that was allocated: free what the allocation gave" },
	{ "kmemleak: Found object by alias", NULL, SPLAT_OTHER, .weak = true, .rule =
	  "the freed pointer is not the one that was allocated: free what the allocation gave" },
	{ "", ": Corrupted page table at address", SPLAT_OTHER, .no_trace = true, .rule =
	  "an entry of a process's page table leads to no memory: a page was inserted that does not "
	  "exist, for example one behind the end of what is mapped" },
	{ "BUG: Bad page ", NULL, SPLAT_OTHER, .rule =
	  "a page was freed while it was still in use, or mapped after it was freed" },
	{ "BUG: ", NULL, SPLAT_OTHER, .rule = "the kernel found that something is wrong" },
	{ "Kernel panic - not syncing: ", NULL, SPLAT_PANIC, .weak = true, .rule =
	  "the kernel gave up, with panic()" },
};

const struct splat_pattern *splat_pattern_of(const struct splat_line *line)
{
	const struct splat_pattern *pattern;
	size_t i;

	for (i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
		pattern = &patterns[i];
		/* Nearly all lines of a log match no pattern: reject them by their first letter. */
		if (pattern->prefix[0] && (!line->len || line->text[0] != pattern->prefix[0]))
			continue;
		if (!splat_line_starts(line, pattern->prefix))
			continue;
		if (!pattern->part || splat_line_has(line, pattern->part))
			return pattern->rule ? pattern : NULL;
	}
	return NULL;
}

const char *splat_body_rule(const struct splat *splat, const struct splat_line *line)
{
	if (splat->kind != SPLAT_OOPS)
		return NULL;
	if (splat_line_starts(line, "#PF: supervisor instruction fetch"))
		return "a function pointer was called that points to no code: it was never set, or "
		       "its memory was freed";
	/* With KASAN a bad pointer faults in KASAN's shadow; this line has it back. */
	if (splat_line_starts(line, "KASAN: null-ptr-deref in range"))
		return RULE_NULL;
	if (splat_line_starts(line, "KASAN: probably user-memory-access in range"))
		return RULE_USER;
	/*
	 * The address may be the sum of two registers: then only the lines of the
	 * registers have it.
	 */
	if (strstr(splat->headline, "general protection fault, maybe") &&
	    (splat_line_has(line, ": dead000000000100") ||
	     splat_line_has(line, ": dead000000000122")))
		return RULE_LIST_POISON;
	return NULL;
}

const char *splat_wait_rule(const struct splat *splat)
{
	static const struct {
		const char *part;
		const char *rule;
	} waits[] = {
		{ "spin_lock", "the code waits for a spinlock that is never unlocked: this thread "
		  "holds it itself, or the holder never comes back; is there a return that leaves "
		  "it taken?" },
		{ "mutex_lock", "the code waits for a mutex that is never unlocked: this thread holds "
		  "it itself, some way out does not unlock it, or its holder waits for a lock that "
		  "this thread has; is there a return that leaves it taken?" },
		{ "rwsem_down", "the code waits for a lock that is never unlocked" },
		{ "dma_fence", "the code waits for a fence that is never signalled" },
		{ "dma_resv", "the code waits for a fence that is never signalled" },
		{ "flush_work", "the code waits for a work function that never ends" },
		{ "cancel_work", "the code waits for a work function that never ends" },
		{ "synchronize_irq", "the code waits for an interrupt handler that never ends" },
		{ "free_irq", "the code waits for an interrupt handler that never ends" },
		{ "wait_for_", "the code waits for a completion that nobody signals" },
	};
	size_t i, j;

	for (i = 0; i < splat->frame_count && !splat->frames[i].module; i++) {
		for (j = 0; j < sizeof(waits) / sizeof(waits[0]); j++) {
			if (strstr(splat->frames[i].symbol, waits[j].part))
				return waits[j].rule;
		}
	}
	return splat->kind == SPLAT_LOCKUP ? "a loop does not come to an end" : splat->rule;
}
