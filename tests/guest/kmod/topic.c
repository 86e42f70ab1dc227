// SPDX-License-Identifier: GPL-2.0-only
/*
 * A topic of the test's own (topic.h): it calls the functions that agate_pci.h offers to
 * topics, and checks the promises of agate_pci.h to serve().
 *
 * It looks up the driver's functions by name, so this module needs no symbol of agate.ko and
 * holds no reference to it.  A test uses it while the driver has the GPU.
 */
#include "topic.h"

#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/dma-mapping.h>
#include <linux/fs.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/uaccess.h>
#include <linux/wait.h>

#include "agate_device.h"
#include "watch.h"

#define INT_CLEAR	0x4
#define INT_STAT	0xc
#define SERVED_MS	2000
#define RAISE_READS	10000
#define FAULT_LOOKS	40000
#define FAULT_US	50
#define FAULT_AGAIN	64
/* Generous: only a test that has died never lets go. */
#define HOLD_MS		30000

static DECLARE_WAIT_QUEUE_HEAD(letting_go);
static bool hold, let_go, again;
static atomic_t calling = ATOMIC_INIT(0);
static struct dentry *topic_file;

/* The driver's functions that this file calls, found once for each test. */
static struct {
	void (*enable)(struct agate_device *adev, unsigned int vector, u32 mask,
		       void (*serve)(struct agate_device *adev));
	void (*suspend)(struct agate_device *adev, unsigned int vector);
	void (*resume)(struct agate_device *adev, unsigned int vector);
	void (*set_mask)(struct agate_device *adev, unsigned int vector, u32 mask);
	int (*reset)(struct agate_device *adev);
	void (*fini)(struct agate_device *adev);
	u32 (*read)(struct agate_device *adev, u32 reg);
	void (*write)(struct agate_device *adev, u32 reg, u32 value);
} driver;

static bool find_driver(void)
{
	driver.enable = (void *)watch_symbol("agate_irq_enable");
	driver.suspend = (void *)watch_symbol("agate_irq_suspend");
	driver.resume = (void *)watch_symbol("agate_irq_resume");
	driver.set_mask = (void *)watch_symbol("agate_irq_set_mask");
	driver.reset = (void *)watch_symbol("agate_gpu_soft_reset");
	driver.fini = (void *)watch_symbol("agate_pci_fini");
	driver.read = (void *)watch_symbol("gpu_read");
	driver.write = (void *)watch_symbol("gpu_write");
	return driver.enable && driver.suspend && driver.resume && driver.set_mask &&
	       driver.reset && driver.fini && driver.read && driver.write;
}

/* If the bit is unmasked, serve() may clear it before this code sees it. */
static int raise(struct agate_device *adev)
{
	u32 serves = READ_ONCE(topic_seen.serves);
	unsigned int reads;

	driver.write(adev, GPU_CMD, GPU_CMD_CLEAN_CACHES);
	for (reads = 0; reads < RAISE_READS; reads++)
		if ((driver.read(adev, GPU_INT_RAWSTAT) & TOPIC_EVENT) ||
		    READ_ONCE(topic_seen.serves) != serves)
			return 0;
	return -ETIMEDOUT;
}

static void wait_for_test(void)
{
	hold = false;
	WRITE_ONCE(topic_seen.held, 1);
	wait_event_timeout(letting_go, READ_ONCE(let_go), msecs_to_jiffies(HOLD_MS));
	WRITE_ONCE(topic_seen.held, 0);
}

/* The block that the test raises bits of: GPU_INT, unless TOPIC_RAISE_BITS says so. */
static u32 served_block = GPU_INT_RAWSTAT, served_bits = TOPIC_EVENT;

static void serve(struct agate_device *adev)
{
	topic_seen.open_in_serve |= driver.read(adev, served_block + INT_STAT);
	topic_seen.not_a_task += !in_task();
	topic_seen.irqs_off += in_task() && irqs_disabled();
	WRITE_ONCE(topic_seen.serves, topic_seen.serves + 1);
	WRITE_ONCE(topic_seen.at_work, topic_seen.at_work + 1);
	access_served(served_block);
	if (hold && in_task() && !irqs_disabled())
		wait_for_test();
	driver.write(adev, served_block + INT_CLEAR, served_bits);
	if (again)
		raise(adev);
	again = false;
	WRITE_ONCE(topic_seen.at_work, topic_seen.at_work - 1);
}

/* What serve() had done when a call that stops it returned. */
static void see_stopped(void)
{
	topic_seen.serves_then = READ_ONCE(topic_seen.serves);
	topic_seen.at_work_then = READ_ONCE(topic_seen.at_work);
}

/* TOPIC_ENABLE set the count to 0, and one event was raised since. */
static int await_served(struct agate_device *adev, unsigned int vector)
{
	unsigned int look;

	for (look = 0; look < SERVED_MS && !READ_ONCE(topic_seen.serves); look++)
		usleep_range(1000, 2000);
	if (look == SERVED_MS)
		return -ETIMEDOUT;
	synchronize_irq(pci_irq_vector(adev->pdev, vector));
	return 0;
}

/* 0, or -EINVAL when interrupts came on. */
static int set_mask_atomic(struct agate_device *adev, unsigned int vector, u32 mask)
{
	unsigned long flags;
	int ret;

	local_irq_save(flags);
	driver.set_mask(adev, vector, mask);
	ret = irqs_disabled() ? 0 : -EINVAL;
	local_irq_restore(flags);
	return ret;
}

static int raise_bits(struct topic_call *call)
{
	static const u32 blocks[] = { GPU_INT_RAWSTAT, JOB_INT_RAWSTAT, MMU_INT_RAWSTAT };

	if (call->vector >= ARRAY_SIZE(blocks))
		return -EINVAL;
	served_block = blocks[call->vector];
	served_bits = call->value;
	return access_raise(call->vector, call->value);
}

/* One fault: its message is sent as anything on the bus can, and serve_gpu() clears it. */
static int take_fault(struct agate_device *adev, u32 nth)
{
	void __iomem *regs = adev->bus.regs;
	unsigned int look;
	int ret = access_fault(nth);

	if (ret)
		return ret;
	for (look = 0; look < FAULT_LOOKS && access_raised(AGATE_VECTOR_GPU); look++) {
		/* Again and again: a read of STAT in another probe's handler is not faked. */
		if (look % FAULT_AGAIN == 0)
			writel(readl(regs + AGATE_IVSHMEM_IVPOSITION) << 16 | AGATE_VECTOR_GPU,
			       regs + AGATE_IVSHMEM_DOORBELL);
		usleep_range(FAULT_US, 2 * FAULT_US);
	}
	synchronize_irq(pci_irq_vector(adev->pdev, AGATE_VECTOR_GPU));
	return access_raised(AGATE_VECTOR_GPU) ? -ETIMEDOUT : 0;
}

/* False when serve() does not wait. */
static bool let_serve_go(void)
{
	bool waits = READ_ONCE(topic_seen.held);

	hold = false;
	WRITE_ONCE(let_go, true);
	wake_up(&letting_go);
	return waits;
}

static int carry_out(struct agate_device *adev, struct topic_call *call)
{
	const struct contend_ops ops = { .raise = raise, .write = driver.write };
	int ret;

	switch (call->op) {
	case TOPIC_ENABLE:
		topic_seen.serves = 0;
		topic_seen.open_in_serve = 0;
		topic_seen.not_a_task = 0;
		topic_seen.irqs_off = 0;
		driver.enable(adev, call->vector, call->value, serve);
		access_serves(call->vector);
		return 0;
	case TOPIC_ENABLE_AGAIN:
		driver.enable(adev, call->vector, call->value, serve);
		return 0;
	case TOPIC_DISABLE:
		driver.enable(adev, call->vector, 0, NULL);
		see_stopped();
		return 0;
	case TOPIC_SUSPEND:
		driver.suspend(adev, call->vector);
		see_stopped();
		return 0;
	case TOPIC_RESUME:
		driver.resume(adev, call->vector);
		return 0;
	case TOPIC_SET_MASK:
		driver.set_mask(adev, call->vector, call->value);
		return 0;
	case TOPIC_SET_MASK_ATOMIC:
		return set_mask_atomic(adev, call->vector, call->value);
	case TOPIC_RESET:
		access_resetting(true);
		ret = driver.reset(adev);
		access_resetting(false);
		return ret;
	case TOPIC_CONTEND:
		return contend_message(adev, call->vector, &call->value, &ops);
	case TOPIC_CONTEND_END:
		return contend_end(adev, call->vector, &call->value, let_serve_go);
	case TOPIC_READ:
		call->value = driver.read(adev, call->value);
		return 0;
	case TOPIC_RAISE:
		return raise(adev);
	case TOPIC_LOSE:
		WRITE_ONCE(adev->bus.ctrl->alive, 0);
		return access_gone();
	case TOPIC_SERVED:
		return await_served(adev, call->vector);
	case TOPIC_SYNC:
		synchronize_irq(pci_irq_vector(adev->pdev, call->vector));
		return 0;
	case TOPIC_SEGMENT:
		call->value = dma_get_max_seg_size(&adev->pdev->dev);
		return 0;
	case TOPIC_BOUNDARY:
		call->value = lower_32_bits(dma_get_seg_boundary(&adev->pdev->dev));
		return 0;
	case TOPIC_HANDLED:
		call->value = irqs_handled(pci_irq_vector(adev->pdev, call->vector));
		return 0;
	case TOPIC_FAULT:
		return take_fault(adev, call->value);
	case TOPIC_NUMBER:
		call->value = adev->irq[call->vector].irq;
		return (int)call->value == pci_irq_vector(adev->pdev, call->vector) ? 0 : -EINVAL;
	}
	return -EINVAL;
}

/* Commands that do not need a GPU with a driver. */
static bool prepare(struct topic_call *call)
{
	switch (call->op) {
	case TOPIC_HOLD:
		let_go = false;
		hold = true;
		return true;
	case TOPIC_LET_GO:
		call->result = let_serve_go() ? 0 : -ETIMEDOUT;
		return true;
	case TOPIC_AGAIN:
		again = true;
		return true;
	case TOPIC_WATCH:
		call->result = watch_steps(watch_device());
		return true;
	case TOPIC_FORGE:
		call->result = watch_forge(call->value);
		return true;
	case TOPIC_FORGE_ONE:
		access_forge_one(call->vector, call->value);
		return true;
	case TOPIC_LOSE_AT:
		call->result = access_lose_at(call->value);
		return true;
	case TOPIC_LOSE_NTH:
		call->result = access_lose_nth(call->value, 0);
		return true;
	case TOPIC_SLOW:
		call->result = access_slow(call->value);
		return true;
	case TOPIC_STICK:
		call->result = access_stick(call->value);
		return true;
	case TOPIC_CLAIM:
		call->result = watch_vectors(call->value);
		return true;
	case TOPIC_RAISE_BITS:
		call->result = raise_bits(call);
		return true;
	case TOPIC_ACCOUNT:
		call->result = account_open();
		return true;
	case TOPIC_KEPT:
		call->value = account_kept();
		return true;
	case TOPIC_PENDING:
		call->value = pending_left();
		return true;
	case TOPIC_AGE:
		call->result = limits_age(call->value);
		return true;
	case TOPIC_SCATTER:
		call->result = irqs_scatter();
		return true;
	case TOPIC_REHEARSE:
		call->result = rehearse_next(call->value, driver.fini);
		return true;
	case TOPIC_LEFT:
		call->value = watch_left();
		return true;
	}
	return false;
}

static long topic_ioctl(struct file *file, unsigned int request, unsigned long arg)
{
	void __user *user = (void __user *)arg;
	struct agate_device *adev;
	struct topic_call call;

	topic_seen.calling = atomic_read(&calling);
	if (request == TOPIC_SEEN)
		return copy_to_user(user, &topic_seen, sizeof(topic_seen)) ? -EFAULT : 0;
	if (request != TOPIC_CALL)
		return -ENOTTY;
	if (copy_from_user(&call, user, sizeof(call)))
		return -EFAULT;
	call.result = 0;
	if (!prepare(&call)) {
		adev = watch_device();
		if (!adev || call.vector >= TOPIC_VECTORS)
			return -ENODEV;
		atomic_inc(&calling);
		call.result = carry_out(adev, &call);
		atomic_dec(&calling);
	}
	return copy_to_user(user, &call, sizeof(call)) ? -EFAULT : 0;
}

static int topic_open(struct inode *inode, struct file *file)
{
	return find_driver() ? 0 : -ENXIO;
}

static int topic_release(struct inode *inode, struct file *file)
{
	hold = false;
	again = false;
	WRITE_ONCE(let_go, true);
	wake_up(&letting_go);
	served_block = GPU_INT_RAWSTAT;
	served_bits = TOPIC_EVENT;
	watch_end();
	account_close();
	return 0;
}

static const struct file_operations topic_fops = {
	.owner = THIS_MODULE,
	.open = topic_open,
	.release = topic_release,
	.unlocked_ioctl = topic_ioctl,
};

int topic_init(void)
{
	int ret = config_init();

	if (ret)
		return ret;
	topic_file = debugfs_create_file("agate_topic", 0600, NULL, NULL, &topic_fops);
	ret = PTR_ERR_OR_ZERO(topic_file);
	if (ret)
		config_exit();
	return ret;
}

void topic_exit(void)
{
	debugfs_remove(topic_file);
	account_exit();
	config_exit();
}
