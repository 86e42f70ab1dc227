// SPDX-License-Identifier: MIT
/*
 * The device goes, and with it memory that waits for a fence which nobody signals: clients may put
 * any fence into a BO's reservation.
 */
#include "graded.h"

#include <linux/dma-buf.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "dmabuf.h"
#include "placed_client.h"

#define SIZE		(2 * MIB)

/* The fence of a timeline becomes one of the BO's; the dma-buf is closed again. */
static void put_fence(const struct bo *bo, int timeline)
{
	uint32_t sync = guest_timeline_syncobj(bo->fd, timeline);
	struct dma_buf_import_sync_file arg = {
		.flags = DMA_BUF_SYNC_WRITE, .fd = guest_sync_file(bo->fd, sync),
	};
	int dmabuf = dmabuf_export(bo);

	assert_int_equal(ioctl(dmabuf, DMA_BUF_IOCTL_IMPORT_SYNC_FILE, &arg), 0);
	close(arg.fd);
	close(dmabuf);
}

/* BOs in VRAM and in system memory are closed, then the file, then the driver leaves the device. */
static void fence_of_others(void **state)
{
	static const uint32_t places[] = { VRAM, SYSTEM };
	struct placed_client client = placed_open(PAGE);
	int timeline = guest_timeline();

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		struct bo bo = placed_bo(&client, SIZE, AGATE_BO_POPULATE, places[i]);

		assert_int_equal(guest_wait(bo.fd, bo.handle, FOREVER), 0);
		put_fence(&bo, timeline);
		guest_destroy(&bo);
	}
	placed_abandon(&client);
	assert_int_equal(device_unbind(), 0);
	assert_int_equal(device_bind(), 0);
	/* Nobody listens any more. */
	guest_timeline_advance(timeline);
	close(timeline);
	client = placed_open(PAGE);
	placed_close(&client);
	guest_assert_nothing_left();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(fence_of_others, guest_teardown),
	};

	return cmocka_run_group_tests_name("outlived", tests, NULL, NULL);
}
