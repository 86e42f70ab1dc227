/* SPDX-License-Identifier: MIT */
/*
 * The PCI function under test, as sysfs, procfs and its own BARs show it.
 *
 * Nothing here asks the driver: what it says about itself is what is judged.
 */
#ifndef AGATE_TESTS_FUNCTION_H
#define AGATE_TESTS_FUNCTION_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Patience is a number of looks and not a time: on a busy host each look takes
 * longer, too.  Without one, looking for something that never comes takes 2 seconds.
 */
#define PATIENCE_LOOKS	2000
/* Between two looks: a millisecond. */
void patience_pause(void);

#define OWNER_LEN	64
/* BARs of the function: registers, MSI-X table, memory. */
#define BARS		3

/* Names of the four vectors, by number. */
extern const char *const vector_names[4];

/*
 * Load the module without giving it the GPU: each probe is then a call of its
 * own, with an errno of its own.  Jobs get a time to run in that none exceeds,
 * and the module stays for the test after this one.
 */
void driver_load(void);
/* Have the driver probe the GPU: 0 or the errno of its probe. */
int driver_bind(void);
int driver_unbind(void);
/* ... and that has to succeed, or the rule is broken by what the log said last. */
void driver_take(void);
bool driver_bound(void);
/* Disable (0) or enable (1) the function while no driver has it: 0 or the errno. */
int function_enable(const char *text);
/* Until the next driver_take(), devfreq does not look at the GPU. */
void function_unwatched(void);
/* Whether a module that is loaded from now on gets the GPU at once. */
void bus_autoprobe(bool on);
/* cmocka teardown: the GPU has no driver and is not enabled, whatever the test left. */
int driver_leave(void **state);

/* A file of the function's folder in sysfs, in a buffer of its own; and its number. */
const char *function_path(const char *file);
long function_number(const char *file);
bool function_masters(void);		/* command register, bus master */
bool function_decodes(void);		/* ... memory space */
bool function_msix(void);		/* MSI-X enable */
/* Somebody has requested the region of that BAR; and under which name, in @owner. */
bool function_claimed(unsigned int bar);
bool function_owner(unsigned int bar, char owner[OWNER_LEN]);

/* Linux interrupts that the function has; how many, the first max of them. */
unsigned int function_vectors(unsigned int *irq, unsigned int max);

struct handler {
	unsigned int irq;
	unsigned int lines;		/* of /proc/interrupts with this name */
	unsigned long count;
};

/* What /proc/interrupts says of a name; all of it 0 when it is not there. */
struct handler handler_of(const char *name);
/* Lines of /proc/interrupts that name anything of agate. */
unsigned int handlers_left(void);
/*
 * Messages of an interrupt that no handler took for its own: /proc/irq/N/spurious.  The
 * kernel begins to count anew when the last one was long ago.
 */
struct unhandled {
	unsigned long count;
	unsigned long last_ms;
};

struct unhandled handler_unhandled(unsigned int irq);
/* Run on the CPU that takes the interrupts of a handler: not every one can be moved. */
void stay_on_cpu_of(const char *name);
/* Wait until a handler has run more than so often; false when it never does. */
bool handler_runs(const char *name, unsigned long more_than);

/*
 * Nothing of the driver is left on the function: regions, vectors, handlers,
 * bus mastering, MSI-X, device node; and its configuration space is as it was before any
 * driver had it.  The rule names what came before.
 */
void check_left_clean(const char *after);
/* ... by a driver that found the function enabled so often. */
void check_as_found(const char *after, long enabled);

#endif /* AGATE_TESTS_FUNCTION_H */
