// SPDX-License-Identifier: GPL-2.0-only
/*
 * Flips: see agate_scan.h.
 */
#include <drm/drm_drv.h>

#include "agate_card.h"
#include "agate_device.h"
#include "agate_frame.h"
#include "agate_lock_order.h"
#include "agate_scan.h"

/* A flip takes microseconds; nobody waits much longer for a card that does not answer. */
#define FLIP_TIMEOUT	msecs_to_jiffies(2000)

/* ---- Flips ------------------------------------------------------------- */

static void leave(struct agate_scan *scan, struct agate_frame *frame)
{
	if (frame)
		list_add_tail(&frame->link, &scan->left);
}

static void free_left(struct work_struct *work)
{
	struct agate_scan *scan = container_of(work, struct agate_scan, work);
	struct agate_frame *frame, *next;
	LIST_HEAD(left);

	spin_lock(&scan->lock);
	list_splice_init(&scan->left, &left);
	spin_unlock(&scan->lock);
	list_for_each_entry_safe(frame, next, &left, link)
		agate_frame_put(frame);
}

/* The flip that is under way has ended. */
static void flip_end(struct agate_scan *scan, int result)
{
	struct agate_frame *frame = scan->pending;

	lockdep_assert_held(&scan->lock);

	if (!frame)
		return;
	scan->pending = NULL;
	frame->result = result;
	if (result || !frame->file) {
		leave(scan, frame);
	} else {
		leave(scan, scan->shown);
		scan->shown = frame;
	}
	schedule_work(&scan->work);
	wake_up_all(&scan->wait);
}

/* Under the lock the event is that of the pending flip: the next one begins after it is cleared. */
void agate_scan_serve(struct agate_device *adev)
{
	struct agate_scan *scan = &adev->scan;
	u32 seen;

	spin_lock(&scan->lock);
	seen = gpu_read(adev, CARD_INT_RAWSTAT) & AGATE_SCAN_INTS;
	if (seen && !agate_bus_lost(adev)) {
		gpu_write(adev, CARD_INT_CLEAR, seen);
		flip_end(scan, seen & CARD_INT_SCAN_FAULT ? -EIO : 0);
	}
	spin_unlock(&scan->lock);
}

static void flip_begin(struct agate_frame *frame)
{
	struct agate_device *adev = frame->adev;

	gpu_write(adev, SCAN_BASE_LO, lower_32_bits(frame->base));
	gpu_write(adev, SCAN_BASE_HI, upper_32_bits(frame->base));
	gpu_write(adev, SCAN_SIZE, frame->size);
	gpu_write(adev, SCAN_STRIDE, frame->stride);
	gpu_write(adev, SCAN_FORMAT, frame->format);
	gpu_write(adev, SCAN_FLIP, 1);
}

/* It is the frame's turn, and its flip has begun; or there are no turns any more. */
static bool try_begin(struct agate_scan *scan, struct agate_frame *frame)
{
	bool turn;

	spin_lock(&scan->lock);
	turn = scan->dead || (!scan->pending && !scan->asleep);
	if (scan->dead) {
		frame->result = -ENODEV;
	} else if (turn) {
		agate_frame_get(frame);
		scan->pending = frame;
		flip_begin(frame);
	}
	spin_unlock(&scan->lock);
	return turn;
}

static bool has_ended(struct agate_scan *scan, const struct agate_frame *frame)
{
	bool ended;

	spin_lock(&scan->lock);
	ended = frame->result != -EINPROGRESS;
	spin_unlock(&scan->lock);
	return ended;
}

/* A wait has ended with @left: the time was up, a signal came, or what it waited for. */
static int waited(struct agate_device *adev, long left)
{
	int status;

	if (left)
		return min(left, 0L);
	status = agate_card_status(adev);
	if (!status) {
		/* Its interrupt may be lost. */
		agate_scan_serve(adev);
		return -ETIMEDOUT;
	}
	spin_lock(&adev->scan.lock);
	flip_end(&adev->scan, status);
	spin_unlock(&adev->scan.lock);
	return status;
}

static int frame_show(struct agate_frame *frame)
{
	struct agate_device *adev = frame->adev;
	struct agate_scan *scan = &adev->scan;
	int ret = agate_card_status(adev);

	if (ret)
		return ret;
	/* What the CPUs wrote leaves their write buffers. */
	wmb();
	ret = waited(adev, wait_event_interruptible_timeout(scan->wait, try_begin(scan, frame),
							    FLIP_TIMEOUT));
	if (!ret)
		ret = waited(adev, wait_event_interruptible_timeout(scan->wait,
								    has_ended(scan, frame),
								    FLIP_TIMEOUT));
	if (ret && !has_ended(scan, frame))
		return ret;
	/* The frame before has left its memory when FLIP returns. */
	flush_work(&scan->work);
	return frame->result;
}

/*
 * Takes over the reference: removal waits for this, and expects that nobody has addresses in
 * the global table then.
 */
static int map_and_show(struct agate_frame *frame)
{
	struct agate_device *adev = frame->adev;
	int idx, ret;

	if (!drm_dev_enter(&adev->drm, &idx)) {
		agate_frame_put(frame);
		return -ENODEV;
	}
	ret = agate_frame_map(frame);
	if (!ret)
		ret = frame_show(frame);
	agate_frame_put(frame);
	drm_dev_exit(idx);
	return ret;
}

static int flip(struct agate_device *adev, struct drm_file *file,
		const struct drm_agate_flip *args)
{
	struct agate_frame *frame = agate_frame_create(adev, file, args);
	int ret;

	if (IS_ERR(frame))
		return PTR_ERR(frame);
	/* It may wait for long, and others may need the memory until then. */
	ret = agate_frame_wait(frame);
	if (!ret)
		ret = agate_frame_pin(frame);
	if (!ret)
		return map_and_show(frame);
	agate_frame_put(frame);
	return ret;
}

static bool stops(const struct drm_agate_flip *args)
{
	return !(args->flags | args->offset | args->width | args->height | args->stride |
		 args->format);
}

int agate_flip_ioctl(struct drm_device *dev, void *data, struct drm_file *file)
{
	struct agate_device *adev = to_agate_device(dev);
	const struct drm_agate_flip *args = data;
	int ret;

	if (!args->handle) {
		if (!stops(args))
			return -EINVAL;
		agate_scan_close(adev, to_agate_file(file));
		return 0;
	}
	ret = flip(adev, file, args);
	/* A wait for a reservation ends with that one. */
	return ret == -EINTR ? -ERESTARTSYS : ret;
}

/* ---- The end ----------------------------------------------------------- */

void agate_scan_close(struct agate_device *adev, struct agate_file *afile)
{
	struct agate_scan *scan = &adev->scan;

	spin_lock(&scan->lock);
	if (scan->pending && scan->pending->file == afile)
		scan->pending->file = NULL;
	if (scan->shown && scan->shown->file == afile) {
		leave(scan, scan->shown);
		scan->shown = NULL;
		schedule_work(&scan->work);
	}
	spin_unlock(&scan->lock);
	flush_work(&scan->work);
}

void agate_scan_shutdown(struct agate_device *adev)
{
	struct agate_scan *scan = &adev->scan;

	spin_lock(&scan->lock);
	scan->dead = true;
	flip_end(scan, -ENODEV);
	leave(scan, scan->shown);
	scan->shown = NULL;
	schedule_work(&scan->work);
	wake_up_all(&scan->wait);
	spin_unlock(&scan->lock);
}

static bool is_idle(struct agate_scan *scan)
{
	bool idle;

	spin_lock(&scan->lock);
	idle = !scan->pending;
	spin_unlock(&scan->lock);
	return idle;
}

/* Its interrupt may be lost, and nobody may wait for it: so look. */
static bool flip_ends(struct agate_device *adev)
{
	struct agate_scan *scan = &adev->scan;

	if (wait_event_timeout(scan->wait, is_idle(scan), FLIP_TIMEOUT))
		return true;
	agate_scan_serve(adev);
	return is_idle(scan);
}

/* ---- Sleep ------------------------------------------------------------- */

static void set_asleep(struct agate_scan *scan, bool asleep)
{
	spin_lock(&scan->lock);
	scan->asleep = asleep;
	spin_unlock(&scan->lock);
	wake_up_all(&scan->wait);
}

int agate_scan_suspend(struct agate_device *adev)
{
	struct agate_scan *scan = &adev->scan;

	set_asleep(scan, true);
	if (flip_ends(adev)) {
		flush_work(&scan->work);
		return 0;
	}
	set_asleep(scan, false);
	return -EBUSY;
}

static struct agate_frame *get_shown(struct agate_scan *scan)
{
	struct agate_frame *frame;

	spin_lock(&scan->lock);
	frame = scan->shown;
	if (frame)
		agate_frame_get(frame);
	spin_unlock(&scan->lock);
	return frame;
}

/* Takes over the reference.  The frame is that of a flip, as before its first one. */
static void show_again(struct agate_scan *scan, struct agate_frame *frame)
{
	spin_lock(&scan->lock);
	if (scan->shown == frame && !scan->dead) {
		scan->shown = NULL;
		scan->pending = frame;
		flip_begin(frame);
	}
	spin_unlock(&scan->lock);
	agate_frame_put(frame);
}

void agate_scan_resume(struct agate_device *adev, bool again)
{
	struct agate_scan *scan = &adev->scan;
	struct agate_frame *frame = again ? get_shown(scan) : NULL;

	if (frame && agate_frame_map_again(frame)) {
		dev_err(&adev->pdev->dev, "the display cannot show its frame again\n");
		agate_frame_put(frame);
	} else if (frame) {
		show_again(scan, frame);
	}
	set_asleep(scan, false);
}

/* ---- The last one ------------------------------------------------------ */

/* The display reads the frame until the flip ends. */
void agate_scan_fini(struct agate_device *adev)
{
	struct agate_scan *scan = &adev->scan;

	if (!agate_card_status(adev) && !flip_ends(adev))
		dev_err(&adev->pdev->dev, "a flip does not end\n");
	agate_scan_shutdown(adev);
	flush_work(&scan->work);
}

void agate_scan_init(struct agate_device *adev)
{
	struct agate_scan *scan = &adev->scan;

	spin_lock_init(&scan->lock);
	agate_lock_class(&scan->lock, AGATE_LOCK_SCAN);
	INIT_LIST_HEAD(&scan->left);
	INIT_WORK(&scan->work, free_left);
	init_waitqueue_head(&scan->wait);
}
