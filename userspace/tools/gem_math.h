/* SPDX-License-Identifier: MIT */
/*
 * The little mathematics of agate-gem.
 *
 * The picture has to be the same to the byte on every machine.  libm's sine and
 * power differ in the last bit from one processor to the next, so this file builds
 * both from additions, multiplications, divisions and square roots, which IEEE 754
 * defines exactly (the compiler must not contract them).
 */
#ifndef GEM_MATH_H
#define GEM_MATH_H

#include <math.h>

struct vec3 {
	double x, y, z;
};

/* Sine and cosine of an angle counted in turns: 0.25 is a right angle. */
void gem_sin_cos(double turns, double *sine, double *cosine);

double gem_exp(double x);

/* x to the power of y, for x >= 0. */
double gem_pow(double x, double y);

/* Linear light, clamped to 0..1, to the sRGB transfer curve and back. */
double gem_srgb_encode(double linear);
double gem_srgb_decode(double encoded);

/*
 * Bend dir, of length 1, where it meets a surface with a normal against it; eta
 * is the ratio of the refractive indices, before to behind.  Returns 0 and leaves
 * out alone when everything is reflected.
 */
int gem_refract(struct vec3 dir, struct vec3 normal, double eta, struct vec3 *out);

static inline struct vec3 vec3(double x, double y, double z)
{
	return (struct vec3) { x, y, z };
}

static inline struct vec3 vec3_add(struct vec3 a, struct vec3 b)
{
	return vec3(a.x + b.x, a.y + b.y, a.z + b.z);
}

static inline struct vec3 vec3_sub(struct vec3 a, struct vec3 b)
{
	return vec3(a.x - b.x, a.y - b.y, a.z - b.z);
}

static inline struct vec3 vec3_scale(struct vec3 a, double s)
{
	return vec3(a.x * s, a.y * s, a.z * s);
}

static inline struct vec3 vec3_mul(struct vec3 a, struct vec3 b)
{
	return vec3(a.x * b.x, a.y * b.y, a.z * b.z);
}

static inline struct vec3 vec3_mix(struct vec3 a, struct vec3 b, double t)
{
	return vec3_add(vec3_scale(a, 1.0 - t), vec3_scale(b, t));
}

static inline double vec3_dot(struct vec3 a, struct vec3 b)
{
	return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline struct vec3 vec3_cross(struct vec3 a, struct vec3 b)
{
	return vec3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

static inline double vec3_length(struct vec3 a)
{
	return sqrt(vec3_dot(a, a));
}

static inline struct vec3 vec3_normalize(struct vec3 a)
{
	return vec3_scale(a, 1.0 / vec3_length(a));
}

static inline struct vec3 vec3_reflect(struct vec3 dir, struct vec3 normal)
{
	return vec3_sub(dir, vec3_scale(normal, 2.0 * vec3_dot(dir, normal)));
}

static inline double gem_clamp(double x, double low, double high)
{
	return x < low ? low : x > high ? high : x;
}

/* 0 below low, 1 above high, smooth in between. */
static inline double gem_smoothstep(double low, double high, double x)
{
	const double t = gem_clamp((x - low) / (high - low), 0.0, 1.0);

	return t * t * (3.0 - 2.0 * t);
}

#endif /* GEM_MATH_H */
