/* SPDX-License-Identifier: MIT */
#ifndef AGATE_TESTS_GRADED_MODULE_H
#define AGATE_TESTS_GRADED_MODULE_H

/* Loads the module in the file argv[0], with the parameters that follow; 0, or 1 with a message. */
int graded_insmod(char **argv);
/* Unloads the module; likewise. */
int graded_rmmod(const char *name);

#endif /* AGATE_TESTS_GRADED_MODULE_H */
