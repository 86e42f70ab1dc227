/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A module that does one thing wrong on request, for the genuine console texts beside it:
 * see ../collect.sh.
 */
#ifndef AGATE_BROKEN_H
#define AGATE_BROKEN_H

#include <linux/pci.h>

struct broken {
	const char *name;
	void (*run)(void);
};

extern const struct broken broken_memory[];
extern const struct broken broken_locks[];
extern const struct broken broken_device[];

/* The GPU, when the module is bound to it. */
extern struct pci_dev *broken_pdev;

#endif /* AGATE_BROKEN_H */
