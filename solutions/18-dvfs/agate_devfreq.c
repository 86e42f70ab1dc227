// SPDX-License-Identifier: GPL-2.0-only
/*
 * Frequency and voltage by load, with the kernel's devfreq and its governors.
 *
 * The load is that of a window of the GPU's own time, which goes on by the work that is
 * done; see agate_busy.h.  slots.lock protects the operating point as well: the change of
 * a point is a few accesses, and each cycle has to count at the right frequency.
 */
#include <linux/devfreq.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/pm_opp.h>

#include "agate_busy.h"
#include "agate_device.h"
#include "agate_devfreq.h"
#include "agate_regs.h"

#define HZ_PER_POINT_MHZ	1000000ul
#define UV_PER_MV		1000ul

/* About three frames. */
#define POLLING_MS		50
/* Of the GPU's time: 1 ms.  What passes in less says nothing about a load. */
#define WINDOW_CYCLES		(1000u * AGATE_BUS_MHZ)

static char *governor = DEVFREQ_GOV_SIMPLE_ONDEMAND;
module_param(governor, charp, 0444);
MODULE_PARM_DESC(governor, "The devfreq governor of a new device (default simple_ondemand)");

/* ---- Operating points --------------------------------------------------- */

/* Post a setting, and see if the GPU has taken it. */
static bool soc_set(struct agate_device *adev, u32 reg, u32 value)
{
	gpu_write(adev, reg, value);
	return gpu_read(adev, reg) == value;
}

/* The GPU knows best what it has, whatever this driver has asked for. */
static void point_read(struct agate_device *adev)
{
	struct agate_devfreq *df = &adev->devfreq;

	WRITE_ONCE(df->point, min(gpu_read(adev, AGATE_CLK_SELECT), df->count - 1));
	df->mv = gpu_read(adev, AGATE_VOLT_SELECT);
}

/* Voltage before frequency on the way up, and behind it on the way down. */
static bool point_write(struct agate_device *adev, unsigned int n)
{
	struct agate_devfreq *df = &adev->devfreq;
	u32 mv = df->table[n].mv;

	if (mv > df->mv && !soc_set(adev, AGATE_VOLT_SELECT, mv))
		return false;
	if (!soc_set(adev, AGATE_CLK_SELECT, n))
		goto restore_voltage;
	if (mv < df->mv && !soc_set(adev, AGATE_VOLT_SELECT, mv))
		goto restore_clock;
	df->mv = mv;
	return true;

restore_clock:
	soc_set(adev, AGATE_CLK_SELECT, df->point);
restore_voltage:
	if (mv > df->mv)
		soc_set(adev, AGATE_VOLT_SELECT, df->mv);
	return false;
}

/* A window has one frequency: the load at another one would be another. */
static void window_begin(struct agate_device *adev)
{
	adev->devfreq.busy = adev->busy.busy_cycles;
	adev->devfreq.idle = adev->busy.idle_cycles;
}

static int point_select(struct agate_device *adev, unsigned int n)
{
	struct agate_devfreq *df = &adev->devfreq;
	const unsigned int before = df->point;
	int ret = 0;

	lockdep_assert_held(&adev->slots.lock);

	if (n == before)
		return 0;
	if (!point_write(adev, n)) {
		df->failed++;
		/* It may have refused the undo, too. */
		point_read(adev);
		ret = agate_bus_lost(adev) ? -ENODEV : -EIO;
	} else {
		df->point = n;
	}
	if (df->point != before) {
		agate_busy_clock(adev, df->table[df->point].mhz);
		window_begin(adev);
	}
	return ret;
}

static int point_want(struct agate_device *adev, unsigned int n)
{
	struct agate_devfreq *df = &adev->devfreq;
	int ret = 0;

	lockdep_assert_held(&adev->slots.lock);

	df->wanted = n;
	if (!df->off)
		ret = point_select(adev, n);
	if (ret)
		df->wanted = df->point;
	return ret;
}

static int points_read(struct agate_device *adev)
{
	struct agate_devfreq *df = &adev->devfreq;
	unsigned int n;

	df->count = gpu_read(adev, AGATE_CLK_POINTS);
	df->point = gpu_read(adev, AGATE_CLK_SELECT);
	df->mv = gpu_read(adev, AGATE_VOLT_SELECT);
	df->wanted = df->point;
	for (n = 0; n < min_t(unsigned int, df->count, AGATE_CLK_MAX_POINTS); n++) {
		df->table[n].mhz = gpu_read(adev, AGATE_CLK_TABLE_FREQ(n));
		df->table[n].mv = gpu_read(adev, AGATE_CLK_TABLE_VOLT(n));
		df->freq[n] = df->table[n].mhz * HZ_PER_POINT_MHZ;
	}
	if (agate_bus_lost(adev))
		return -ENODEV;
	if (df->count > AGATE_CLK_MAX_POINTS || df->point >= df->count) {
		dev_err(&adev->pdev->dev, "operating point %u of %u\n", df->point, df->count);
		return -EOPNOTSUPP;
	}
	return 0;
}

/*
 * A kernel without CONFIG_OF says at the first point "Error finding interconnect paths: -95",
 * whatever the device and its driver: only a device tree names such paths, and a stub answers
 * instead.  The table is complete all the same.
 */
static int points_add(struct agate_device *adev)
{
	struct agate_devfreq *df = &adev->devfreq;
	unsigned int n;
	int ret = 0;

	for (n = 0; !ret && n < df->count; n++)
		ret = dev_pm_opp_add(&adev->pdev->dev, df->freq[n], df->table[n].mv * UV_PER_MV);
	return ret;
}

/* ---- What devfreq asks for ---------------------------------------------- */

static struct agate_device *adev_of(struct device *dev)
{
	return pci_get_drvdata(to_pci_dev(dev));
}

static int devfreq_target(struct device *dev, unsigned long *freq, u32 flags)
{
	struct agate_device *adev = adev_of(dev);
	struct dev_pm_opp *opp = devfreq_recommended_opp(dev, freq, flags);
	unsigned int n = 0;
	int ret;

	if (IS_ERR(opp))
		return PTR_ERR(opp);
	dev_pm_opp_put(opp);
	while (n < adev->devfreq.count - 1 && adev->devfreq.freq[n] < *freq)
		n++;

	spin_lock(&adev->slots.lock);
	ret = point_want(adev, n);
	spin_unlock(&adev->slots.lock);
	return ret;
}

static int devfreq_get_cur_freq(struct device *dev, unsigned long *freq)
{
	*freq = agate_devfreq_now_hz(adev_of(dev));
	return 0;
}

/* The window that has just become long enough, if it has. */
static void window_end(struct agate_device *adev)
{
	struct agate_devfreq *df = &adev->devfreq;
	u64 busy, total;

	agate_busy_look(adev);
	busy = adev->busy.busy_cycles - df->busy;
	total = busy + adev->busy.idle_cycles - df->idle;
	if (total < WINDOW_CYCLES)
		return;
	df->window = (struct devfreq_dev_status){
		.busy_time = busy,
		.total_time = total,
		.current_frequency = df->freq[df->point],
	};
	window_begin(adev);
}

/*
 * Until a window is whole, the governor sees the one before, with the frequency of that
 * time: so it comes to the same decision again, and not, from the same load at another
 * frequency, to another one.
 */
static int devfreq_get_dev_status(struct device *dev, struct devfreq_dev_status *status)
{
	struct agate_device *adev = adev_of(dev);

	spin_lock(&adev->slots.lock);
	window_end(adev);
	*status = adev->devfreq.window;
	spin_unlock(&adev->slots.lock);
	return 0;
}

/* ---- Power --------------------------------------------------------------- */

/* devfreq takes locks under which it allocates, so it cannot be called while power changes. */
static void poll_work(struct work_struct *work)
{
	struct agate_devfreq *df = container_of(work, struct agate_devfreq, poll);
	struct devfreq *devfreq = READ_ONCE(df->devfreq);
	bool off = READ_ONCE(df->off);

	if (!devfreq || off == df->paused)
		return;
	if (off)
		devfreq_suspend_device(devfreq);
	else
		devfreq_resume_device(devfreq);
	df->paused = off;
}

void agate_devfreq_suspend(struct agate_device *adev)
{
	struct agate_devfreq *df = &adev->devfreq;

	spin_lock(&adev->slots.lock);
	if (df->devfreq && !df->off) {
		agate_busy_clock(adev, 0);
		WRITE_ONCE(df->off, true);
		schedule_work(&df->poll);
	}
	spin_unlock(&adev->slots.lock);
}

void agate_devfreq_resume(struct agate_device *adev)
{
	struct agate_devfreq *df = &adev->devfreq;

	spin_lock(&adev->slots.lock);
	if (df->devfreq && df->off) {
		agate_busy_clock(adev, df->table[df->point].mhz);
		WRITE_ONCE(df->off, false);
		if (point_want(adev, df->wanted))
			dev_err_ratelimited(&adev->pdev->dev, "the clock stays at %u MHz\n",
					    df->table[df->point].mhz);
		schedule_work(&df->poll);
	}
	spin_unlock(&adev->slots.lock);
}

/* ---- For others ----------------------------------------------------------- */

unsigned long agate_devfreq_max_hz(const struct agate_device *adev)
{
	return adev->devfreq.freq[adev->devfreq.count - 1];
}

unsigned long agate_devfreq_now_hz(const struct agate_device *adev)
{
	return adev->devfreq.freq[READ_ONCE(adev->devfreq.point)];
}

/* ---- Topic ---------------------------------------------------------------- */

static void counting(struct agate_device *adev, bool on)
{
	const struct agate_devfreq *df = &adev->devfreq;

	spin_lock(&adev->slots.lock);
	agate_busy_clock(adev, on ? df->table[df->point].mhz : 0);
	if (on)
		window_begin(adev);
	spin_unlock(&adev->slots.lock);
}

/*
 * Not devm_devfreq_add_device(): the governor must be gone before the GPU loses its power,
 * and devres ends only after removal.
 */
static int governor_start(struct agate_device *adev)
{
	struct agate_devfreq *df = &adev->devfreq;
	struct devfreq *devfreq;

	df->profile = (struct devfreq_dev_profile){
		.initial_freq = df->freq[df->point],
		.polling_ms = POLLING_MS,
		.timer = DEVFREQ_TIMER_DELAYED,
		.target = devfreq_target,
		.get_dev_status = devfreq_get_dev_status,
		.get_cur_freq = devfreq_get_cur_freq,
		.freq_table = df->freq,
		.max_state = df->count,
	};
	/* A GPU that is nearly always busy is late already, so speed up before that. */
	df->ondemand = (struct devfreq_simple_ondemand_data){
		.upthreshold = 45,
		.downdifferential = 5,
	};
	devfreq = devfreq_add_device(&adev->pdev->dev, &df->profile, governor, &df->ondemand);
	if (IS_ERR(devfreq))
		return PTR_ERR(devfreq);
	WRITE_ONCE(df->devfreq, devfreq);
	return 0;
}

/*
 * devfreq_remove_device() stops the governor first, and takes the files away afterwards
 * through which a user starts it again, or another one.  So the file "governor" goes first of
 * all.  The governor's own files go while it stands still; a last write to "timer" may have
 * queued the work that polls, in memory that devfreq is going to free.
 */
static void governor_end(struct devfreq *devfreq)
{
	get_device(&devfreq->dev);
	device_remove_groups(&devfreq->dev, devfreq->dev.class->dev_groups);
	devfreq_remove_device(devfreq);
	/* Only a governor that polls has initialised it. */
	if (devfreq->work.work.func)
		cancel_delayed_work_sync(&devfreq->work);
	put_device(&devfreq->dev);
}

int agate_devfreq_topic_init(struct agate_device *adev)
{
	struct agate_devfreq *df = &adev->devfreq;
	int ret;

	*df = (struct agate_devfreq){ };
	INIT_WORK(&df->poll, poll_work);
	ret = points_read(adev);
	if (!ret)
		ret = points_add(adev);
	if (!ret) {
		counting(adev, true);
		ret = governor_start(adev);
	}
	if (!ret)
		return 0;
	counting(adev, false);
	dev_pm_opp_remove_all_dynamic(&adev->pdev->dev);
	return ret;
}

void agate_devfreq_topic_fini(struct agate_device *adev)
{
	struct agate_devfreq *df = &adev->devfreq;
	struct devfreq *devfreq = df->devfreq;

	/* From here on nobody queues the work again. */
	spin_lock(&adev->slots.lock);
	WRITE_ONCE(df->devfreq, NULL);
	spin_unlock(&adev->slots.lock);
	cancel_work_sync(&df->poll);
	governor_end(devfreq);
	dev_pm_opp_remove_all_dynamic(&adev->pdev->dev);
	counting(adev, false);
}

int agate_devfreq_topic_suspend(struct agate_device *adev)
{
	agate_devfreq_suspend(adev);
	return 0;
}

/* Another kernel, such as the one that loads an image, may have changed both meanwhile. */
int agate_devfreq_topic_resume(struct agate_device *adev)
{
	spin_lock(&adev->slots.lock);
	point_read(adev);
	spin_unlock(&adev->slots.lock);
	agate_devfreq_resume(adev);
	return 0;
}
