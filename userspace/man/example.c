// SPDX-License-Identifier: MIT
#include <agate.h>
#include <stdio.h>
#include <string.h>

static int write_by_gpu(struct agate_device *dev, struct agate_bo *bo)
{
	const struct agate_write_value_payload payload = {
		.address = agate_bo_address(bo) + 2048,
		.type = AGATE_WRITE_IMMEDIATE_64,
		.immediate = 7,
	};
	const struct agate_submit_bo used = { bo, AGATE_ACCESS_RW };
	struct agate_submit submit = { .bos = &used, .bo_count = 1 };
	struct agate_chain chain;
	int err;

	err = agate_chain_begin(&chain, bo, 0);
	if (!err)
		err = agate_chain_write_value(&chain, 0, &payload);
	submit.jc = agate_chain_address(&chain);
	if (!err)
		err = agate_submit(dev, &submit);
	return err ? err : agate_bo_wait(bo, INT64_MAX, true);
}

int main(void)
{
	struct agate_device *dev;
	struct agate_bo *bo;
	void *cpu;
	int err = agate_device_open(&dev);

	if (!err) {
		err = agate_bo_create(dev, 4096, 0, "example", &bo);
		if (!err) {
			err = agate_bo_mmap(bo, &cpu);
			if (!err)
				err = write_by_gpu(dev, bo);
			if (!err)
				printf("%d\n", ((int *)cpu)[2048 / sizeof(int)]);
			agate_bo_unreference(bo);
		}
		agate_device_close(dev);
	}
	if (err)
		fprintf(stderr, "example: %s\n", strerror(-err));
	return err ? 1 : 0;
}
