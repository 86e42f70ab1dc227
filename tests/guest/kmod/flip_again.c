// SPDX-License-Identifier: GPL-2.0-only
/*
 * Shows once more what the display's registers name, without the driver: a number written to
 * /sys/kernel/debug/agate_flip_again is how often.
 */
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/fs.h>

#include "agate_device.h"
#include "watch.h"

#define MOST_LOOKS	10000

static struct dentry *again_file;

/* The driver's functions. */
static struct {
	u32 (*read)(struct agate_device *adev, u32 reg);
	void (*write)(struct agate_device *adev, u32 reg, u32 value);
} bus;

static int flip_again(struct agate_device *adev)
{
	unsigned int looks;
	u32 frames;

	bus.read = (void *)watch_symbol("gpu_read");
	bus.write = (void *)watch_symbol("gpu_write");
	if (!bus.read || !bus.write)
		return -ENXIO;
	frames = bus.read(adev, SCAN_FRAMES);
	bus.write(adev, SCAN_FLIP, 1);
	for (looks = 0; looks < MOST_LOOKS; looks++) {
		if (bus.read(adev, SCAN_FRAMES) != frames)
			return 0;
		usleep_range(100, 200);
	}
	return -EIO;
}

static ssize_t again_write(struct file *file, const char __user *text, size_t len, loff_t *pos)
{
	struct agate_device *adev = watch_device();
	unsigned int times;
	int ret;

	if (!adev)
		return -ENODEV;
	ret = kstrtouint_from_user(text, len, 0, &times);
	while (!ret && times--)
		ret = flip_again(adev);
	return ret ? ret : len;
}

static const struct file_operations again_fops = {
	.owner = THIS_MODULE,
	.write = again_write,
};

int flip_again_init(void)
{
	again_file = debugfs_create_file("agate_flip_again", 0200, NULL, NULL, &again_fops);
	return PTR_ERR_OR_ZERO(again_file);
}

void flip_again_exit(void)
{
	debugfs_remove(again_file);
}
