/* SPDX-License-Identifier: MIT */
/*
 * The parts of PID 1: the port (framing), the files (PUT and GET), the children
 * (EXEC), the program that it keeps, the lines that it makes the kernel print (MARK,
 * WHERE), and the kernel's state (HEALTH). init.c has the loop and calls the rest.
 */
#ifndef AGATE_INIT_H
#define AGATE_INIT_H

#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "ctl_proto.h"

#define CHILDREN_MAX	16
#define POLLED_MAX	(3 * CHILDREN_MAX + 1)

/* port.c: the control port; one frame at a time, whole or not at all. */
int port_open(void);
int port_fd(void);
/* True while the launcher holds the other end open. */
int port_connected(void);
/* From now on every frame carries this nonce. */
void port_set_nonce(uint64_t nonce);
/* Blocks until the frame is written; the launcher always reads. */
void port_send(uint32_t type, uint32_t id, const void *data, size_t len);
void port_ack(uint32_t id, int error);
/* Reads all available bytes and calls @frame for every complete frame. */
void port_receive(void (*frame)(const struct ctl_header *hdr, const uint8_t *data));

/* kernel_print.c */
void where_mark(const struct ctl_header *hdr, const uint8_t *data);
void where_hung(const struct ctl_header *hdr, const uint8_t *data);

/* kernel_health.c */
void health(const struct ctl_header *hdr, const uint8_t *data);

/* files.c */
void files_put(const struct ctl_header *hdr, const uint8_t *data);
void files_put_data(const struct ctl_header *hdr, const uint8_t *data);
void files_put_end(const struct ctl_header *hdr);
void files_get(const struct ctl_header *hdr, const uint8_t *data);
/* Writes a short string to a file that exists; 0 or an errno. */
int files_poke(const char *path, const char *text);

/* kept.c */
/*
 * Has the program that is kept, which it starts if need be, fork a process for @argv with
 * @fds, ended by -1, as its descriptors from 0 on; 0, or an errno: nothing runs.
 */
int kept_start(char **argv, const int *fds, pid_t *pid);
/* What to poll while such a process runs, or -1. */
int kept_fd(void);
/* The process that has ended, and its status; 0 when it has not. */
pid_t kept_ended(int *status);
/*
 * To be asked about each process that PID 1 reaps: is it one whose keeper died first?  Such a
 * run is lost, however it ended.
 */
int kept_lost(pid_t pid);

/* children.c */
void children_exec(const struct ctl_header *hdr, const uint8_t *data);
void children_input(const struct ctl_header *hdr, const uint8_t *data);
void children_resize(const struct ctl_header *hdr, const uint8_t *data);
void children_kill(const struct ctl_header *hdr, const uint8_t *data);
/* Reaps every process that has ended, our child or an orphan. */
void children_reap(void);
/* Calls @each with the process group of every child. */
void children_each(void (*each)(pid_t group));
/* Adds what to read from to @fds, at most POLLED_MAX; returns their number. */
size_t children_poll(struct pollfd *fds);
/* Reads from what children_poll() added: forwards output, or learns of an end. */
void children_output(const struct pollfd *fds, size_t n);

#endif /* AGATE_INIT_H */
