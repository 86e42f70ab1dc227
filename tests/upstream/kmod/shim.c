// SPDX-License-Identifier: GPL-2.0-only
/*
 * A PCI driver that gives upstream's Panfrost the platform device it expects.
 *
 * For Agate's PCI function the shim attaches our bus, takes the MSI-X vectors, and makes a
 * platform device with them as its interrupts.  Panfrost's own platform driver then binds
 * to that device.  The driver gets another name, because the course kernel has the same
 * one built in.
 */
#include <linux/dma-mapping.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/platform_device.h>
#include <drm/gpu_scheduler.h>

#include "agate_device.h"
#include "shim.h"

#define NAME	"agate-panfrost"

static bool coherent;
module_param(coherent, bool, 0444);
MODULE_PARM_DESC(coherent, "The device tree says dma-coherent: BOs are mapped cached");

static unsigned int timeout_ms;
module_param(timeout_ms, uint, 0444);
MODULE_PARM_DESC(timeout_ms, "Milliseconds that a job may run; 0: upstream's own limit");

/* The one GPU that upstream_read() means. */
static struct agate_device *the_gpu;

/* ---- Registers ---------------------------------------------------------- */

/*
 * No mapping is at this address.  It is not 0, because upstream adds offsets to it and
 * takes the addresses of error codes for errors.
 */
#define REGISTERS	((void __iomem *)0x10000ul)

void __iomem *upstream_registers(struct platform_device *pdev)
{
	return REGISTERS;
}

u32 upstream_read(const void __iomem *addr)
{
	u32 value = gpu_read(the_gpu, addr - REGISTERS);

	return value == ~0u && agate_bus_lost(the_gpu) ? 0 : value;
}

void upstream_write(u32 value, void __iomem *addr)
{
	gpu_write(the_gpu, addr - REGISTERS, value);
}

/* The bus calls this.  Upstream has no notion of a GPU that disappears. */
void agate_device_lost(struct agate_device *adev)
{
	dev_err(&adev->pdev->dev, "the GPU is gone\n");
}

/* ---- What upstream asks the system -------------------------------------- */

enum dev_dma_attr upstream_dma_attr(void)
{
	return coherent ? DEV_DMA_COHERENT : DEV_DMA_NON_COHERENT;
}

int upstream_sched_init(struct drm_gpu_scheduler *sched, struct drm_sched_init_args *args)
{
	if (timeout_ms)
		args->timeout = msecs_to_jiffies(timeout_ms);
	return drm_sched_init(sched, args);
}

/* ---- The PCI function --------------------------------------------------- */

static int shim_add_platform_device(struct agate_device *adev)
{
	struct pci_dev *pdev = adev->pdev;
	const struct resource irqs[] = {
		DEFINE_RES_IRQ_NAMED(pci_irq_vector(pdev, AGATE_VECTOR_GPU), "gpu"),
		DEFINE_RES_IRQ_NAMED(pci_irq_vector(pdev, AGATE_VECTOR_JOB), "job"),
		DEFINE_RES_IRQ_NAMED(pci_irq_vector(pdev, AGATE_VECTOR_MMU), "mmu"),
	};
	const struct platform_device_info info = {
		.parent = &pdev->dev,
		.name = NAME,
		.id = PLATFORM_DEVID_NONE,
		.res = irqs,
		.num_res = ARRAY_SIZE(irqs),
		.dma_mask = DMA_BIT_MASK(AGATE_PHYS_BITS),
	};
	struct platform_device *platform = platform_device_register_full(&info);

	if (IS_ERR(platform))
		return PTR_ERR(platform);
	pci_set_drvdata(pdev, platform);
	return 0;
}

static int shim_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct agate_device *adev;
	int ret;

	if (the_gpu)
		return -EBUSY;
	adev = devm_kzalloc(&pdev->dev, sizeof(*adev), GFP_KERNEL);
	if (!adev)
		return -ENOMEM;
	adev->pdev = pdev;

	ret = pcim_enable_device(pdev);
	if (!ret)
		ret = pci_request_regions(pdev, NAME);
	if (ret)
		return ret;
	pci_set_master(pdev);
	ret = agate_bus_attach(adev);
	if (ret)
		return ret;
	ret = pci_alloc_irq_vectors(pdev, AGATE_NUM_VECTORS, AGATE_NUM_VECTORS, PCI_IRQ_MSIX);
	if (ret < 0)
		goto err_bus;
	the_gpu = adev;
	ret = shim_add_platform_device(adev);
	if (ret)
		goto err_vectors;
	return 0;

err_vectors:
	the_gpu = NULL;
	pci_free_irq_vectors(pdev);
err_bus:
	agate_bus_detach(adev);
	return ret;
}

static void shim_remove(struct pci_dev *pdev)
{
	struct agate_device *adev = the_gpu;

	platform_device_unregister(pci_get_drvdata(pdev));
	the_gpu = NULL;
	pci_free_irq_vectors(pdev);
	agate_bus_detach(adev);
}

static const struct pci_device_id shim_ids[] = {
	{ PCI_DEVICE(AGATE_PCI_VENDOR, AGATE_PCI_DEVICE) },
	{ }
};
MODULE_DEVICE_TABLE(pci, shim_ids);

static struct pci_driver shim_driver = {
	.name = NAME,
	.id_table = shim_ids,
	.probe = shim_probe,
	.remove = shim_remove,
};

static int __init shim_init(void)
{
	int ret;

	upstream_driver->driver.name = NAME;
	ret = platform_driver_register(upstream_driver);
	if (ret)
		return ret;
	ret = pci_register_driver(&shim_driver);
	if (ret)
		platform_driver_unregister(upstream_driver);
	return ret;
}
module_init(shim_init);

static void __exit shim_exit(void)
{
	pci_unregister_driver(&shim_driver);
	platform_driver_unregister(upstream_driver);
}
module_exit(shim_exit);
