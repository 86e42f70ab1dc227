// SPDX-License-Identifier: MIT
/*
 * The project's own functions against libm's, and the sRGB curve against values
 * from its definition.
 */
#include "harness.h"

#include "gem_math.h"

static void test_sine_and_cosine(void **state)
{
	int i;

	(void)state;
	for (i = -4000; i <= 4000; i++) {
		const double turns = i / 997.0;
		double s, c;

		gem_sin_cos(turns, &s, &c);
		assert_true(fabs(s - sin(turns * 2.0 * M_PI)) < 2e-14);
		assert_true(fabs(c - cos(turns * 2.0 * M_PI)) < 2e-14);
	}
}

static void test_power(void **state)
{
	int i, k;

	(void)state;
	for (i = 1; i < 400; i++) {
		for (k = -30; k <= 30; k++) {
			const double x = i * i / 1000.0, y = k / 7.0;
			const double want = pow(x, y);

			assert_true(fabs(gem_pow(x, y) - want) <= 1e-12 * want);
		}
	}
	assert_true(gem_pow(0.0, 2.4) == 0.0);
	assert_true(gem_pow(1e-300, 2.0) < 1e-300);
}

static void test_srgb(void **state)
{
	int i;

	(void)state;
	assert_true(gem_srgb_encode(-1.0) == 0.0);
	assert_true(fabs(gem_srgb_encode(2.0) - 1.0) < 1e-12);
	assert_true(fabs(gem_srgb_encode(0.002) - 0.02584) < 1e-12);
	assert_true(fabs(gem_srgb_encode(0.5) - 0.7353569830524495) < 1e-9);
	assert_true(fabs(gem_srgb_decode(0.5) - 0.21404114048223255) < 1e-9);
	for (i = 0; i <= 255; i++)
		assert_true(fabs(gem_srgb_encode(gem_srgb_decode(i / 255.0)) - i / 255.0) < 1e-6);
}

static void test_refraction(void **state)
{
	const struct vec3 up = { 0.0, 0.0, 1.0 };
	struct vec3 out = { 9.0, 9.0, 9.0 };

	(void)state;
	/* Snell: sin 60 = sqrt(3) sin 30, from air into an index of sqrt(3). */
	assert_true(gem_refract(vec3(sqrt(0.75), 0.0, -0.5), up, 1.0 / sqrt(3.0), &out));
	assert_true(fabs(out.x - 0.5) < 1e-12 && fabs(out.z + sqrt(0.75)) < 1e-12);
	/* And back out again, up to the angle of total reflection. */
	assert_true(gem_refract(vec3(0.5, 0.0, -sqrt(0.75)), up, sqrt(3.0), &out));
	assert_true(fabs(out.x - sqrt(0.75)) < 1e-12);
	out = up;
	assert_false(gem_refract(vec3(sqrt(0.75), 0.0, -0.5), up, sqrt(3.0), &out));
	assert_true(out.z == 1.0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sine_and_cosine),
		cmocka_unit_test(test_power),
		cmocka_unit_test(test_srgb),
		cmocka_unit_test(test_refraction),
	};

	return cmocka_run_group_tests_name("gem-math", tests, NULL, NULL);
}
