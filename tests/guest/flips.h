/* SPDX-License-Identifier: MIT */
/*
 * Clients that have the display show their BOs.
 *
 * For every frame that the display shows a test says which picture that is.  run.sh compares
 * the files that the simulator writes: those of one picture are the same, and no others are.
 */
#ifndef AGATE_TESTS_FLIPS_H
#define AGATE_TESTS_FLIPS_H

#include "guest.h"

#define MIB		(1ull << 20)
#define SYSTEM		(1u << DRM_AGATE_REGION_SYSTEM)
#define VRAM		(1u << DRM_AGATE_REGION_VRAM)

#define WIDTH		96u
#define HEIGHT		64u
#define STRIDE		(WIDTH * 4)
#define FRAME		(STRIDE * HEIGHT)
#define BLACK		0	/* the picture of memory that nobody has written */

/* One client: its jobs, and the picture that a job copies, are in BOs that never move. */
struct client {
	int fd;
	struct bo jobs;
	struct bo source;
};

struct client client_open(void);
/* Give up its BOs and its file; fails the test when something is left. */
void client_close(struct client *client);
/* Close the file of a device that has gone: then no handle can be closed. */
void client_abandon(struct client *client);

/* A BO with a placement: 0 or the errno. */
int try_placed(int fd, uint64_t size, uint32_t flags, uint32_t placement, struct bo *bo);
struct bo placed(int fd, uint64_t size, uint32_t flags, uint32_t placement);

/* FLIP's argument for a BO that begins with a frame. */
struct drm_agate_flip whole(const struct bo *bo, uint32_t flags);
/* 0 or the errno; the first one does not go on after a signal. */
int flip_once(int fd, struct drm_agate_flip arg);
int flip(int fd, struct drm_agate_flip arg);
int stop(int fd);
/* Say that the display has shown that picture; and have it shown. */
void shown(unsigned int picture);
void show(int fd, struct drm_agate_flip arg, unsigned int picture);
/* Wait until the display has shown one frame more, which is that picture. */
void shown_by_itself(long frames, unsigned int picture);

/* Each pixel has another colour, which no other picture has. */
void paint(void *at, uint32_t stride, uint32_t format, unsigned int picture);
/* The job that copies the client's source into a BO; and run it. */
struct agate_compute_payload copy_job(const struct client *client, const struct bo *to);
void draw(struct client *client, const struct bo *to, unsigned int picture);

#define LARGE		(40 * MIB)	/* of 64: VRAM has room for one */
/* Can another large BO get into VRAM?  It can if none has to stay there. */
bool has_room(int fd);

#endif /* AGATE_TESTS_FLIPS_H */
