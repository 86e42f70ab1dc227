// SPDX-License-Identifier: MIT
/*
 * agate-gem: draws a turning cut stone with the Agate GPU, and writes it as PNG.
 *
 * The same options give the same bytes: the program uses no clock, no random
 * numbers, and only arithmetic that gives the same result on every machine.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gem_ballast.h"
#include "gem_display.h"
#include "gem_gpu.h"
#include "gem_image.h"

#define MIN_SIZE	64
#define MAX_SIZE	2048
#define MAX_FRAMES	9999

/* The first frame's angle: a good side of the stone. */
#define FIRST_TURN	0.02

/*
 * Positions of a frame's passes within a pixel, in sixteenths.  No two are in one
 * row or column, so edges of every slope get as many steps as there are passes.
 */
static const int8_t pass_offset[][2] = {
	{ 1, -3 }, { -1, 3 }, { 5, 1 }, { -3, -5 },
	{ -5, 5 }, { -7, -1 }, { 3, 7 }, { 7, -7 },
};

#define PASSES	(sizeof(pass_offset) / sizeof(pass_offset[0]))

struct options {
	const char *output;
	unsigned int frames, size, overcommit, vms;
	bool cache, flip, stats;
	enum gem_bos bos;
};

/* Nanoseconds that this program took for its own part of all frames. */
struct own_time {
	uint64_t scene, mean, file;
};

/* Add the time since *since to *sum, and start again. */
static void lap(uint64_t *since, uint64_t *sum)
{
	struct timespec ts;
	uint64_t now;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	now = (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
	if (sum)
		*sum += now - *since;
	*since = now;
}

/* "gem.png" becomes "gem-0007.png" when there are several frames. */
static int frame_path(const struct options *options, unsigned int frame, char *path, size_t size)
{
	const char *dot = strrchr(options->output, '.');
	const char *slash = strrchr(options->output, '/');
	int stem = (int)strlen(options->output);
	int len;

	if (options->frames == 1) {
		len = snprintf(path, size, "%s", options->output);
	} else {
		if (dot && (!slash || dot > slash))
			stem = (int)(dot - options->output);
		len = snprintf(path, size, "%.*s-%04u%s", stem, options->output, frame,
			       options->output + stem);
	}
	return len < (int)size ? 0 : -ENAMETOOLONG;
}

static int use_ballast(void *ballast)
{
	int err = gem_ballast_use(ballast);

	if (err == -EBADMSG)
		fprintf(stderr, "agate-gem: another BO in VRAM has lost what the GPU wrote\n");
	else if (err)
		fprintf(stderr, "agate-gem: cannot use other BOs in VRAM: %s\n", strerror(-err));
	return err;
}

static int draw_frame(struct gem_gpu *gpu, struct gem_scene *scene, struct gem_image *image,
		      double turns, struct own_time *own)
{
	uint64_t since;
	unsigned int i;

	lap(&since, NULL);
	if (gem_scene_build(scene, turns)) {
		fprintf(stderr, "agate-gem: the scene has too many triangles\n");
		return -E2BIG;
	}
	lap(&since, &own->scene);
	gem_image_clear(image);
	for (i = 0; i < PASSES; i++) {
		/*
		 * Each pass rounds differently, so the mean has more than 8 bits
		 * for each colour.
		 */
		const struct gem_pass pass = {
			.dx = pass_offset[i][0] / 16.0f,
			.dy = pass_offset[i][1] / 16.0f,
			.brighter = ((i + 0.5f) / PASSES - 0.5f) / 255.0f,
		};
		const uint8_t *pixels;
		int err = gem_gpu_draw(gpu, scene, &pass, &pixels);

		if (err)
			return err;
		lap(&since, NULL);
		gem_image_add(image, pixels);
		lap(&since, &own->mean);
	}
	gem_image_finish(image);
	lap(&since, &own->mean);
	return 0;
}

static int write_frame(const struct options *options, const struct gem_image *image,
		       unsigned int frame, struct own_time *own)
{
	char path[PATH_MAX] = "";
	uint64_t since;
	int err;

	lap(&since, NULL);
	err = frame_path(options, frame, path, sizeof(path));
	if (!err)
		err = gem_image_write(image, path);
	lap(&since, &own->file);
	if (err)
		fprintf(stderr, "agate-gem: cannot write %s: %s\n", path, strerror(-err));
	return err;
}

static void print_cache(struct gem_gpu *gpu)
{
	struct agate_bo_cache_stats stats;

	if (gem_gpu_cache_stats(gpu, &stats))
		return;
	printf("BO cache: %" PRIu64 " BOs recycled, %" PRIu64 " new, %" PRIu64 " waited for; "
	       "freed: %" PRIu64 " purged, %" PRIu64 " stale, %" PRIu64 " evicted; unused: %" PRIu64
	       " of %.1f MiB\n", stats.hits, stats.misses, stats.waits, stats.purged,
	       stats.stale, stats.evicted, stats.cached, (double)stats.cached_bytes / (1 << 20));
}

static void print_stats(const struct options *options, struct gem_gpu *gpu,
			const struct own_time *own)
{
	const struct gem_gpu_stats *stats = gem_gpu_stats(gpu);
	const double passes = (double)stats->passes;
	const double frame_ms = options->frames * 1e6;

	printf("%u frame%s of %u x %u pixels, %zu passes each\n", options->frames,
	       options->frames == 1 ? "" : "s", options->size, options->size, PASSES);
	printf("pass: %.0f triangles, %.1f MiB of tiler heap, TILER %.1f ms, FRAGMENT %.1f ms\n",
	       (double)stats->triangles / passes, (double)stats->heap_bytes / (1 << 20),
	       (double)stats->tiler_ns / passes / 1e6, (double)stats->fragment_ns / passes / 1e6);
	printf("frame, on the CPU: scene %.1f ms, mean of the passes %.1f ms, PNG %.1f ms\n",
	       (double)own->scene / frame_ms, (double)own->mean / frame_ms,
	       (double)own->file / frame_ms);
	printf("BOs: %s\n", gem_bos_names[options->bos]);
	if (options->vms)
		printf("address spaces of its own: %u\n", options->vms);
	if (options->cache)
		print_cache(gpu);
	else
		puts("BO cache: off");
}

static int show_frame(struct gem_gpu *gpu, const struct gem_image *image)
{
	int err = gem_display_show(gem_gpu_memory(gpu), image);

	if (err)
		fprintf(stderr, "agate-gem: cannot show the picture: %s\n", strerror(-err));
	return err;
}

static int draw_all(const struct options *options, struct gem_gpu *gpu,
		    const struct gem_ballast *ballast, struct gem_scene *scene, struct gem_image *image)
{
	struct own_time own = { 0 };
	unsigned int frame;

	for (frame = 0; frame < options->frames; frame++) {
		const double turns = FIRST_TURN + (double)frame / options->frames;
		int err;

		gem_gpu_next_frame(gpu);
		err = draw_frame(gpu, scene, image, turns, &own);
		if (!err && options->flip)
			err = show_frame(gpu, image);
		if (!err)
			err = write_frame(options, image, frame, &own);
		if (err)
			return err;
	}
	if (options->stats)
		print_stats(options, gpu, &own);
	if (options->stats && options->overcommit)
		printf("other BOs in VRAM: %u, used %" PRIu64 " times\n", ballast->count,
		       ballast->uses);
	return 0;
}

static void usage(FILE *out)
{
	fprintf(out, "usage: agate-gem [-o FILE] [--frames N] [--size N] [--cache on|off]\n"
		"                 [--bos KIND | --vram] [--vm[=N]] [--overcommit N] [--flip] [--stats]\n"
		"Draws a turning gemstone with the Agate GPU and writes PNG.\n"
		"  -o FILE      the picture (gem.png); with several frames, FILE's name gets\n"
		"               the frame's number: gem-0000.png ...\n"
		"  --frames N   a full turn in N frames, 1 .. %d (1)\n"
		"  --size N     width and height in pixels, %d .. %d (768)\n"
		"  --cache on   recycle the BOs of one pass in the next, or make new ones (on)\n"
		"  --bos KIND   the memory of the BOs: single pages, one piece, BOs of a second GPU,\n"
		"               the card's memory, or the card's as far as it has room: paged,\n"
		"               contiguous, imported, vram or spilled (paged)\n"
		"  --vram       the same as --bos vram\n"
		"  --vm[=N]     draw in N address spaces of the program's own, 1 .. %u (1), in turn;\n"
		"               the memory is paged, vram or spilled\n"
		"  --overcommit N  let other BOs want N times the card's memory, 1 .. %u, so that\n"
		"               they and those of each pass evict each other\n"
		"  --flip       show each picture on the card's display, for which the memory is\n"
		"               contiguous, vram or spilled\n"
		"  --stats      say what was drawn and how long the GPU took\n",
		MAX_FRAMES, MIN_SIZE, MAX_SIZE, GEM_SPACES_MAX, GEM_BALLAST_TIMES);
}

static bool parse_number(const char *text, unsigned int min, unsigned int max,
			 unsigned int *number)
{
	char *end;
	unsigned long value;

	errno = 0;
	value = strtoul(text, &end, 10);
	if (errno || end == text || *end || *text == '-' || value < min || value > max)
		return false;
	*number = (unsigned int)value;
	return true;
}

static bool parse_switch(const char *text, bool *value)
{
	*value = !strcmp(text, "on");
	return *value || !strcmp(text, "off");
}

static bool parse_bos(const char *text, enum gem_bos *bos)
{
	for (*bos = 0; *bos < GEM_BOS_KINDS; ++*bos) {
		if (!strcmp(text, gem_bos_names[*bos]))
			return true;
	}
	return false;
}

/* Returns the exit status, or -1 to go on. */
static int parse_options(int argc, char **argv, struct options *options)
{
	static const struct option known[] = {
		{ "output", required_argument, NULL, 'o' },
		{ "frames", required_argument, NULL, 'f' },
		{ "size", required_argument, NULL, 's' },
		{ "bos", required_argument, NULL, 'b' },
		{ "vram", no_argument, NULL, 'v' },
		{ "vm", optional_argument, NULL, 'V' },
		{ "overcommit", required_argument, NULL, 'O' },
		{ "cache", required_argument, NULL, 'c' },
		{ "flip", no_argument, NULL, 'F' },
		{ "stats", no_argument, NULL, 'S' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 }
	};
	bool ok = true;
	int c;

	while ((c = getopt_long(argc, argv, "o:h", known, NULL)) != -1) {
		switch (c) {
		case 'o':
			options->output = optarg;
			break;
		case 'f':
			ok &= parse_number(optarg, 1, MAX_FRAMES, &options->frames);
			break;
		case 's':
			ok &= parse_number(optarg, MIN_SIZE, MAX_SIZE, &options->size);
			break;
		case 'b':
			ok &= parse_bos(optarg, &options->bos);
			break;
		case 'v':
			options->bos = GEM_BOS_VRAM;
			break;
		case 'V':
			options->vms = 1;
			ok &= !optarg || parse_number(optarg, 1, GEM_SPACES_MAX, &options->vms);
			break;
		case 'O':
			ok &= parse_number(optarg, 1, GEM_BALLAST_TIMES, &options->overcommit);
			break;
		case 'c':
			ok &= parse_switch(optarg, &options->cache);
			break;
		case 'F':
			options->flip = true;
			break;
		case 'S':
			options->stats = true;
			break;
		case 'h':
			usage(stdout);
			return 0;
		default:
			ok = false;
			break;
		}
	}
	if (ok && optind == argc)
		return -1;
	usage(stderr);
	return 2;
}

static int make_ballast(const struct options *options, struct gem_gpu *gpu,
			struct gem_ballast *ballast)
{
	int err = gem_ballast_create(ballast, gem_gpu_memory(gpu)->dev, options->overcommit);

	if (err)
		fprintf(stderr, "agate-gem: cannot make other BOs in VRAM: %s\n", strerror(-err));
	else if (ballast->count)
		gem_gpu_set_between(gpu, use_ballast, ballast);
	return err;
}

int main(int argc, char **argv)
{
	struct options options = { .output = "gem.png", .frames = 1, .size = 768, .cache = true };
	struct gem_ballast ballast = { 0 };
	struct gem_image image = { 0 };
	struct gem_scene *scene;
	struct gem_gpu *gpu;
	int status = parse_options(argc, argv, &options);

	if (status >= 0)
		return status;
	if (gem_gpu_create(options.size, options.cache, options.bos, options.vms, &gpu))
		return 1;
	scene = malloc(sizeof(*scene));
	status = 1;
	if (!scene || gem_image_create(&image, options.size))
		fprintf(stderr, "agate-gem: out of memory\n");
	else if (!make_ballast(&options, gpu, &ballast) &&
		 !draw_all(&options, gpu, &ballast, scene, &image))
		status = 0;
	gem_ballast_destroy(&ballast);
	gem_image_destroy(&image);
	free(scene);
	gem_gpu_destroy(gpu);
	return status;
}
