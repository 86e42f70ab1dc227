// SPDX-License-Identifier: MIT
/*
 * agate-info: shows the GPU, and which parts of its driver are present.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>
#include <xf86drm.h>

#include "agate.h"
#include "agate_regs.h"

static const struct {
	enum drm_agate_param param;
	const char *name;
} params[] = {
	{ DRM_AGATE_PARAM_GPU_ID, "gpu_id" },
	{ DRM_AGATE_PARAM_L2_FEATURES, "l2_features" },
	{ DRM_AGATE_PARAM_CORE_FEATURES, "core_features" },
	{ DRM_AGATE_PARAM_TILER_FEATURES, "tiler_features" },
	{ DRM_AGATE_PARAM_MEM_FEATURES, "mem_features" },
	{ DRM_AGATE_PARAM_MMU_FEATURES, "mmu_features" },
	{ DRM_AGATE_PARAM_THREAD_FEATURES, "thread_features" },
	{ DRM_AGATE_PARAM_MAX_THREADS, "max_threads" },
	{ DRM_AGATE_PARAM_THREAD_MAX_WORKGROUP_SZ, "thread_max_workgroup_size" },
	{ DRM_AGATE_PARAM_THREAD_MAX_BARRIER_SZ, "thread_max_barrier_size" },
	{ DRM_AGATE_PARAM_COHERENCY_FEATURES, "coherency_features" },
	{ DRM_AGATE_PARAM_SHADER_PRESENT, "shader_present" },
	{ DRM_AGATE_PARAM_TILER_PRESENT, "tiler_present" },
	{ DRM_AGATE_PARAM_L2_PRESENT, "l2_present" },
	{ DRM_AGATE_PARAM_AS_PRESENT, "as_present" },
	{ DRM_AGATE_PARAM_JS_PRESENT, "js_present" },
	{ DRM_AGATE_PARAM_VA_START, "va_start" },
	{ DRM_AGATE_PARAM_VA_END, "va_end" },
	{ DRM_AGATE_PARAM_FEATURES, "features" },
};

#define PARAM_COUNT	(sizeof(params) / sizeof(params[0]))

static const struct {
	uint64_t bit;
	const char *name;
} features[] = {
	{ AGATE_FEATURE_GEM, "gem" },
	{ AGATE_FEATURE_SHMEM, "shmem" },
	{ AGATE_FEATURE_MMAP, "mmap" },
	{ AGATE_FEATURE_PURGE, "purge" },
	{ AGATE_FEATURE_POWER, "power" },
	{ AGATE_FEATURE_DVFS, "dvfs" },
	{ AGATE_FEATURE_PGTABLE, "page-tables" },
	{ AGATE_FEATURE_MMU, "address-spaces" },
	{ AGATE_FEATURE_FAULT, "gpu-faults" },
	{ AGATE_FEATURE_SLOT, "job-slots" },
	{ AGATE_FEATURE_SUBMIT, "submit" },
	{ AGATE_FEATURE_RESET, "reset" },
	{ AGATE_FEATURE_PM, "runtime-pm" },
	{ AGATE_FEATURE_CMA, "contiguous" },
	{ AGATE_FEATURE_PRIME, "prime" },
	{ AGATE_FEATURE_COHERENCY, "coherency" },
	{ AGATE_FEATURE_CARD, "card" },
	{ AGATE_FEATURE_ENGINES, "mover" },
	{ AGATE_FEATURE_VM_BIND, "vm-bind" },
	{ AGATE_FEATURE_VM_TABLES, "vm-tables" },
};

#define FEATURE_COUNT	(sizeof(features) / sizeof(features[0]))

struct info {
	char driver[96];		/* name and version */
	char node[64];
	uint64_t param[PARAM_COUNT];	/* in the order of params[] */
	bool import, export;		/* of dma-bufs */
	bool has_area;			/* the kernel has memory for contiguous BOs */
	uint64_t area, area_free;	/* KiB of it */
};

static uint64_t info_param(const struct info *info, enum drm_agate_param param)
{
	size_t i;

	for (i = 0; i < PARAM_COUNT; i++) {
		if (params[i].param == param)
			return info->param[i];
	}
	return 0;
}

/* The kernel's area for contiguous memory, which all devices share. */
static void read_area(struct info *info)
{
	FILE *file = fopen("/proc/meminfo", "re");
	char line[128];
	bool total = false, left = false;

	while (file && fgets(line, sizeof(line), file)) {
		total |= sscanf(line, "CmaTotal: %" SCNu64, &info->area) == 1;
		left |= sscanf(line, "CmaFree: %" SCNu64, &info->area_free) == 1;
	}
	if (file)
		fclose(file);
	info->has_area = total && left;
}

/* The core answers for every driver with DRIVER_GEM; the driver's part may be missing. */
static void read_prime(int fd, struct info *info)
{
	bool present = info_param(info, DRM_AGATE_PARAM_FEATURES) & AGATE_FEATURE_PRIME;
	uint64_t value = 0;

	if (!present || drmGetCap(fd, DRM_CAP_PRIME, &value))
		value = 0;
	info->import = value & DRM_PRIME_CAP_IMPORT;
	info->export = value & DRM_PRIME_CAP_EXPORT;
}

static int info_read(struct agate_device *dev, struct info *info)
{
	drmVersionPtr version = drmGetVersion(agate_device_fd(dev));
	char link[32];
	ssize_t len;
	size_t i;

	if (!version) {
		int err = -errno;

		fprintf(stderr, "agate-info: the driver does not tell its version: %s\n",
			strerror(-err));
		return err;
	}
	snprintf(info->driver, sizeof(info->driver), "%s %d.%d.%d", version->name,
		 version->version_major, version->version_minor,
		 version->version_patchlevel);
	drmFreeVersion(version);
	/* Without /proc the name stays unknown, which does no harm. */
	snprintf(link, sizeof(link), "/proc/self/fd/%d", agate_device_fd(dev));
	len = readlink(link, info->node, sizeof(info->node) - 1);
	if (len < 0)
		len = snprintf(info->node, sizeof(info->node), "unknown");
	info->node[len] = '\0';
	for (i = 0; i < PARAM_COUNT; i++) {
		int err = agate_device_get_param(dev, params[i].param, &info->param[i]);

		if (err) {
			fprintf(stderr, "agate-info: parameter %s: %s\n", params[i].name,
				strerror(-err));
			return err;
		}
	}
	read_prime(agate_device_fd(dev), info);
	read_area(info);
	return 0;
}

static const char *family(uint32_t id)
{
	switch (id >> 16) {
	case AGATE_PRODUCT_MIDGARD:
		return "Agate, Midgard family";
	case AGATE_PRODUCT_BIFROST:
		return "Agate, Bifrost family";
	default:
		return "of another maker";
	}
}

static unsigned int count(const struct info *info, enum drm_agate_param param)
{
	return (unsigned int)__builtin_popcountll(info_param(info, param));
}

static void print_identity(const struct info *info)
{
	uint32_t id = (uint32_t)info_param(info, DRM_AGATE_PARAM_GPU_ID);
	uint32_t l2 = (uint32_t)info_param(info, DRM_AGATE_PARAM_L2_FEATURES);
	uint32_t mmu = (uint32_t)info_param(info, DRM_AGATE_PARAM_MMU_FEATURES);
	uint64_t start = info_param(info, DRM_AGATE_PARAM_VA_START);
	uint64_t end = info_param(info, DRM_AGATE_PARAM_VA_END);

	printf("GPU             %s\n", family(id));
	printf("  product       0x%04x r%up%u status %u\n", id >> 16, id >> 12 & 0xf,
	       id >> 4 & 0xff, id & 0xf);
	printf("  cores         %u shader, %u tiler, %u L2\n",
	       count(info, DRM_AGATE_PARAM_SHADER_PRESENT),
	       count(info, DRM_AGATE_PARAM_TILER_PRESENT),
	       count(info, DRM_AGATE_PARAM_L2_PRESENT));
	/* L2_FEATURES: 7:0 log2 of the line, 23:16 log2 of the size. */
	printf("  L2            %u KiB, lines of %u bytes\n",
	       (1u << (l2 >> 16 & 0x1f)) / 1024, 1u << (l2 & 0x1f));
	printf("  job slots     %u\n", count(info, DRM_AGATE_PARAM_JS_PRESENT));
	printf("  address spaces %u, %u bits virtual, %u bits physical\n",
	       count(info, DRM_AGATE_PARAM_AS_PRESENT), mmu & 0xff, mmu >> 8 & 0xff);
	printf("BO addresses    0x%" PRIx64 " .. 0x%" PRIx64 " (%" PRIu64 " MiB)\n",
	       start, end, (end - start) >> 20);
}

static void print_human(const struct info *info)
{
	uint64_t bits = info_param(info, DRM_AGATE_PARAM_FEATURES);
	size_t i;

	printf("Driver          %s on %s\n", info->driver, info->node);
	print_identity(info);
	printf("Driver parts   ");
	for (i = 0; i < FEATURE_COUNT; i++)
		printf(" %s%s", bits & features[i].bit ? "" : "no-", features[i].name);
	printf("\nShared BOs      import %s, export %s\n", info->import ? "yes" : "no",
	       info->export ? "yes" : "no");
	if (info->has_area)
		printf("Contiguous      area of %" PRIu64 " KiB, %" PRIu64 " KiB free\n", info->area,
		       info->area_free);
	else
		printf("Contiguous      the kernel has no area for it\n");
	printf("Parameters\n");
	for (i = 0; i < PARAM_COUNT; i++)
		printf("  %-26s 0x%016" PRIx64 "\n", params[i].name, info->param[i]);
}

/* JSON integers are signed 64-bit here; all registers and masks fit. */
static int print_json(const struct info *info)
{
	uint64_t bits = info_param(info, DRM_AGATE_PARAM_FEATURES);
	json_t *root = json_object();
	json_t *values = json_object();
	json_t *parts = json_object();
	json_t *prime = json_pack("{s:b, s:b}", "import", info->import, "export", info->export);
	int err = !root || !values || !parts;
	size_t i;

	for (i = 0; i < PARAM_COUNT; i++)
		err |= json_object_set_new(values, params[i].name,
					   json_integer((json_int_t)info->param[i]));
	for (i = 0; i < FEATURE_COUNT; i++)
		err |= json_object_set_new(parts, features[i].name,
					   json_boolean(bits & features[i].bit));
	err |= json_object_set_new(root, "driver", json_string(info->driver));
	err |= json_object_set_new(root, "node", json_string(info->node));
	err |= json_object_set_new(root, "features", parts);
	err |= json_object_set_new(root, "params", values);
	err |= json_object_set_new(root, "prime", prime);
	if (info->has_area)
		err |= json_object_set_new(root, "contiguous",
					   json_pack("{s:I, s:I}",
						     "total_kib", (json_int_t)info->area,
						     "free_kib", (json_int_t)info->area_free));
	if (!err)
		err = json_dumpf(root, stdout, JSON_INDENT(2) | JSON_PRESERVE_ORDER);
	json_decref(root);
	if (err) {
		fprintf(stderr, "agate-info: out of memory, or standard output is closed\n");
		return -ENOMEM;
	}
	putchar('\n');
	return 0;
}

static int print(const struct info *info, bool json)
{
	int err = 0;

	if (json)
		err = print_json(info);
	else
		print_human(info);
	/* stdio keeps the text, so only now a full disk is noticed. */
	if (!err && (fflush(stdout) || ferror(stdout))) {
		fprintf(stderr, "agate-info: cannot write to standard output\n");
		err = -EIO;
	}
	return err;
}

static int open_device(const char *path, struct agate_device **dev)
{
	int fd, err;

	if (!path)
		return agate_device_open(dev);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	err = agate_device_open_fd(fd, dev);
	if (err)
		close(fd);
	return err;
}

static void usage(FILE *out)
{
	fputs("usage: agate-info [--json] [--device PATH]\n"
	      "Shows the Agate GPU and its driver.\n"
	      "  --json         as JSON\n"
	      "  --device PATH  use this render node, not the first that fits\n", out);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "device", required_argument, NULL, 'd' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 }
	};
	struct agate_device *dev;
	struct info info = { 0 };
	const char *path = NULL;
	bool json = false;
	int c, err;

	while ((c = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		switch (c) {
		case 'j':
			json = true;
			break;
		case 'd':
			path = optarg;
			break;
		case 'h':
			usage(stdout);
			return 0;
		default:
			usage(stderr);
			return 2;
		}
	}
	if (optind != argc) {
		usage(stderr);
		return 2;
	}
	err = open_device(path, &dev);
	if (err) {
		fprintf(stderr, "agate-info: cannot open %s: %s\n",
			path ? path : "an agate render node in /dev/dri", strerror(-err));
		return 1;
	}
	err = info_read(dev, &info);
	if (!err)
		err = print(&info, json);
	agate_device_close(dev);
	return err ? 1 : 0;
}
