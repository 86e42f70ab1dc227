// SPDX-License-Identifier: MIT
/*
 * Sine, power and the sRGB curve, from IEEE 754's exact operations alone.
 */
#include "gem_math.h"

#define PI	3.14159265358979323846
#define LN2	0.69314718055994530942
#define SQRT2	1.41421356237309504880

void gem_sin_cos(double turns, double *sine, double *cosine)
{
	const double wrapped = turns - floor(turns);
	const int quadrant = (int)(wrapped * 4.0 + 0.5);
	/* -pi/4 .. pi/4, where a short Taylor series is exact enough. */
	const double x = (wrapped - quadrant * 0.25) * 2.0 * PI;
	const double x2 = x * x;
	double s = 1.0, c = 1.0;
	int i;

	for (i = 8; i >= 1; i--) {
		s = 1.0 - s * x2 / ((2.0 * i) * (2.0 * i + 1.0));
		c = 1.0 - c * x2 / ((2.0 * i - 1.0) * (2.0 * i));
	}
	s *= x;
	switch (quadrant & 3) {
	case 0:
		*sine = s;
		*cosine = c;
		break;
	case 1:
		*sine = c;
		*cosine = -s;
		break;
	case 2:
		*sine = -s;
		*cosine = -c;
		break;
	default:
		*sine = -c;
		*cosine = s;
		break;
	}
}

/* Natural logarithm of x > 0: exponent apart, a series in (m - 1) / (m + 1). */
static double log_of(double x)
{
	int exponent;
	double m = frexp(x, &exponent) * SQRT2;	/* 0.7 .. 1.4 */
	double t, t2, sum = 0.0;
	int i;

	t = (m - 1.0) / (m + 1.0);
	t2 = t * t;
	for (i = 9; i >= 0; i--)
		sum = sum * t2 + 1.0 / (2.0 * i + 1.0);
	return 2.0 * t * sum + (exponent - 0.5) * LN2;
}

double gem_exp(double x)
{
	const double n = floor(x / LN2 + 0.5);
	const double f = x - n * LN2;
	double sum = 1.0;
	int i;

	for (i = 12; i >= 1; i--)
		sum = 1.0 + sum * f / i;
	return ldexp(sum, (int)gem_clamp(n, -1000.0, 1000.0));
}

double gem_pow(double x, double y)
{
	return x > 0.0 ? gem_exp(y * log_of(x)) : 0.0;
}

double gem_srgb_encode(double linear)
{
	const double x = gem_clamp(linear, 0.0, 1.0);

	return x <= 0.0031308 ? 12.92 * x : 1.055 * gem_pow(x, 1.0 / 2.4) - 0.055;
}

double gem_srgb_decode(double encoded)
{
	const double x = gem_clamp(encoded, 0.0, 1.0);

	return x <= 0.04045 ? x / 12.92 : gem_pow((x + 0.055) / 1.055, 2.4);
}

int gem_refract(struct vec3 dir, struct vec3 normal, double eta, struct vec3 *out)
{
	const double cosine = -vec3_dot(dir, normal);
	const double k = 1.0 - eta * eta * (1.0 - cosine * cosine);

	if (k <= 0.0)
		return 0;
	*out = vec3_normalize(vec3_add(vec3_scale(dir, eta),
				       vec3_scale(normal, eta * cosine - sqrt(k))));
	return 1;
}
