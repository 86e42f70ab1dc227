// SPDX-License-Identifier: MIT
/*
 * The mean of the passes, and the PNG file read back by libpng.
 */
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <png.h>

#include "gem_image.h"
#include "gem_math.h"

#define SIZE	64

static uint8_t pass[SIZE * SIZE * 4];

static void fill(uint8_t r, uint8_t g, uint8_t b)
{
	size_t i;

	for (i = 0; i < SIZE * SIZE; i++) {
		pass[4 * i] = r;
		pass[4 * i + 1] = g;
		pass[4 * i + 2] = b;
		pass[4 * i + 3] = 0x77;
	}
}

/* Passes that agree come out unchanged, every value of every channel. */
static void test_equal_passes(void **state)
{
	struct gem_image image;
	unsigned int v;
	size_t i;

	(void)state;
	assert_int_equal(gem_image_create(&image, SIZE), 0);
	for (v = 0; v < 256; v++) {
		gem_image_clear(&image);
		fill((uint8_t)v, (uint8_t)(255 - v), (uint8_t)(v ^ 0x55));
		for (i = 0; i < 7; i++)
			gem_image_add(&image, pass);
		gem_image_finish(&image);
		for (i = 0; i < SIZE * SIZE; i++) {
			assert_int_equal(image.rgb[3 * i], v);
			assert_int_equal(image.rgb[3 * i + 1], 255 - v);
			assert_int_equal(image.rgb[3 * i + 2], v ^ 0x55);
		}
	}
	gem_image_destroy(&image);
}

/* Black and white in equal parts are half the light: 187.5 encoded, not 127. */
static void test_mean_is_of_light(void **state)
{
	struct gem_image image;
	unsigned long sum = 0;
	size_t i;

	(void)state;
	assert_int_equal(gem_image_create(&image, SIZE), 0);
	fill(0, 0, 255);
	gem_image_add(&image, pass);
	fill(255, 0, 255);
	gem_image_add(&image, pass);
	gem_image_finish(&image);
	for (i = 0; i < SIZE * SIZE; i++) {
		assert_in_range(image.rgb[3 * i], 187, 188);
		assert_int_equal(image.rgb[3 * i + 1], 0);
		assert_int_equal(image.rgb[3 * i + 2], 255);
		sum += image.rgb[3 * i];
	}
	/* The dither keeps the mean: 0.735357 * 255 = 187.516. */
	assert_in_range(sum, (unsigned long)(187.45 * SIZE * SIZE),
			(unsigned long)(187.58 * SIZE * SIZE));
	gem_image_destroy(&image);
}

static void test_file(void **state)
{
	char path[] = "/tmp/gem-test-XXXXXX";
	char part[sizeof(path) + 5];
	png_image png = { .version = PNG_IMAGE_VERSION };
	static uint8_t read_back[SIZE * SIZE * 3];
	struct gem_image image;
	size_t i;

	(void)state;
	close(mkstemp(path));
	assert_int_equal(gem_image_create(&image, SIZE), 0);
	for (i = 0; i < sizeof(pass); i++)
		pass[i] = (uint8_t)(i * 31 + i / 256);
	gem_image_add(&image, pass);
	gem_image_finish(&image);
	assert_int_equal(gem_image_write(&image, path), 0);

	assert_true(png_image_begin_read_from_file(&png, path));
	assert_int_equal(png.width, SIZE);
	assert_int_equal(png.height, SIZE);
	png.format = PNG_FORMAT_RGB;
	assert_true(png_image_finish_read(&png, NULL, read_back, 0, NULL));
	for (i = 0; i < SIZE * SIZE; i++)
		assert_memory_equal(read_back + 3 * i, pass + 4 * i, 3);
	snprintf(part, sizeof(part), "%s.part", path);
	assert_int_equal(access(part, F_OK), -1);
	unlink(path);
	gem_image_destroy(&image);
}

static void test_unwritable_files(void **state)
{
	static char long_path[8192];
	struct gem_image image;

	(void)state;
	assert_int_equal(gem_image_create(&image, SIZE), 0);
	fill(1, 2, 3);
	gem_image_add(&image, pass);
	gem_image_finish(&image);
	assert_int_equal(gem_image_write(&image, "/nonexistent/gem.png"), -ENOENT);
	memset(long_path, 'x', sizeof(long_path) - 1);
	assert_int_equal(gem_image_write(&image, long_path), -ENAMETOOLONG);
	gem_image_destroy(&image);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_equal_passes),
		cmocka_unit_test(test_mean_is_of_light),
		cmocka_unit_test(test_file),
		cmocka_unit_test(test_unwritable_files),
	};

	return cmocka_run_group_tests_name("gem-image", tests, NULL, NULL);
}
