// SPDX-License-Identifier: MIT
/*
 * Lamps, Fresnel's equations, colour by absorption, and the conversion for the
 * screen.
 *
 * A stone looks alive when small bright lamps stand in front of a dark room: the
 * rays of neighbouring patches leave in quite different directions, so the patches
 * then differ in brightness.  Hence a few broad lamps and a ring of small ones.
 */
#include "gem_light.h"

struct lamp {
	struct vec3 dir;		/* towards the lamp, of length 1 */
	double inner, outer;		/* cosines: full inside, nothing outside */
	struct vec3 light;
};

static const struct lamp lamps[] = {
	/* Key: a large warm window, upper left, on the viewer's side. */
	{ { -0.7029, -0.4134, 0.5788 }, 0.985, 0.880, { 5.6, 4.6, 3.4 } },
	/* Fill: wide, cool and weak, from the right. */
	{ { 0.8575, -0.4062, 0.3159 }, 0.93, 0.60, { 0.35, 0.62, 0.80 } },
	/* Rims: behind the stone, on both sides. */
	{ { -0.6905, 0.6905, 0.2158 }, 0.985, 0.90, { 1.0, 2.6, 3.6 } },
	{ { 0.7071, 0.6239, 0.3328 }, 0.985, 0.91, { 4.4, 2.2, 0.8 } },
	/* Overhead ring: what makes facets flash. */
	{ { 0.0994, 0.0497, 0.9938 }, 0.992, 0.975, { 6.5, 6.2, 5.8 } },
	{ { 0.5873, -0.2842, 0.7578 }, 0.994, 0.980, { 7.0, 5.6, 3.6 } },
	{ { 0.2398, 0.5947, 0.7674 }, 0.994, 0.978, { 3.0, 5.5, 6.0 } },
	{ { -0.4402, 0.4402, 0.7826 }, 0.994, 0.978, { 6.5, 4.2, 2.0 } },
	{ { -0.1388, -0.6016, 0.7867 }, 0.994, 0.982, { 5.5, 5.6, 5.8 } },
	/* Low lamps, for the pavilion. */
	{ { 0.9825, 0.1551, -0.1034 }, 0.985, 0.950, { 3.6, 2.0, 0.8 } },
	{ { -0.9825, -0.1034, -0.1551 }, 0.985, 0.950, { 0.7, 2.2, 2.8 } },
	/* The table's glow from below. */
	{ { 0.0000, -0.1961, -0.9806 }, 0.90, 0.55, { 0.75, 0.42, 0.16 } },
};

#define LAMPS	(sizeof(lamps) / sizeof(lamps[0]))

/* The part of the glare that the camera's filter lets through; more would hide the inside. */
#define POLARISER	0.17

/* Absorption per radius of path, below and above: deep teal under honey. */
static const struct vec3 absorb_low = { 1.90, 0.50, 0.34 };
static const struct vec3 absorb_high = { 0.22, 0.58, 1.10 };

struct vec3 gem_pose_direction(const struct gem_pose *pose, struct vec3 dir)
{
	return vec3_add(vec3_scale(pose->axis[0], dir.x),
			vec3_add(vec3_scale(pose->axis[1], dir.y),
				 vec3_scale(pose->axis[2], dir.z)));
}

struct vec3 gem_pose_point(const struct gem_pose *pose, struct vec3 p)
{
	return vec3_add(pose->center, gem_pose_direction(pose, p));
}

struct vec3 gem_pose_inverse(const struct gem_pose *pose, struct vec3 p)
{
	const struct vec3 d = vec3_sub(p, pose->center);

	return vec3(vec3_dot(d, pose->axis[0]), vec3_dot(d, pose->axis[1]),
		    vec3_dot(d, pose->axis[2]));
}

struct vec3 gem_light_arriving(struct vec3 dir)
{
	/* The room: dim, a little brighter and bluer towards the ceiling. */
	struct vec3 sum = vec3_mix(vec3(0.020, 0.024, 0.030), vec3(0.10, 0.17, 0.21),
				   gem_smoothstep(-0.6, 1.0, dir.z));
	unsigned int i;

	for (i = 0; i < LAMPS; i++) {
		const double cosine = vec3_dot(dir, lamps[i].dir);

		if (cosine > lamps[i].outer)
			sum = vec3_add(sum, vec3_scale(lamps[i].light,
						       gem_smoothstep(lamps[i].outer,
								      lamps[i].inner, cosine)));
	}
	return sum;
}

/* The part of the light that is reflected; 1 for total reflection. */
static double fresnel(double cosine, double eta)
{
	const double k = 1.0 - eta * eta * (1.0 - cosine * cosine);
	double t, rs, rp;

	if (k <= 0.0)
		return 1.0;
	t = sqrt(k);
	rs = (eta * cosine - t) / (eta * cosine + t);
	rp = (cosine - eta * t) / (cosine + eta * t);
	return 0.5 * (rs * rs + rp * rp);
}

/* The rest of white light after it has gone from a to b. */
static struct vec3 transmitted(struct vec3 a, struct vec3 b)
{
	const double length = vec3_length(vec3_sub(b, a));
	const double height = 0.5 * (a.z + b.z);
	const struct vec3 k = vec3_mix(absorb_low, absorb_high,
				       gem_smoothstep(-0.45, 0.20, height));

	return vec3(gem_exp(-k.x * length), gem_exp(-k.y * length), gem_exp(-k.z * length));
}

void gem_light_tint(const struct gem_patch *patch, struct gem_tint *tint)
{
	struct vec3 left = vec3(1.0, 1.0, 1.0), from = patch->middle;
	unsigned int i;

	for (i = 0; i < GEM_BOUNCES; i++) {
		left = vec3_mul(left, transmitted(from, patch->at[i]));
		tint->left[i] = left;
		from = patch->at[i];
	}
}

/* A smaller part of a ray's power makes no visible difference. */
#define FAINT	0.002

/* Red, green or blue. */
static double channel_of(struct vec3 light, unsigned int channel)
{
	return channel == 0 ? light.x : channel == 1 ? light.y : light.z;
}

/* Follow one colour's ray through the facets that the patch's middle ray meets. */
static double inside(const struct gem_mesh *mesh, const struct gem_pose *pose,
		     const struct gem_patch *patch, struct vec3 dir, double index,
		     unsigned int channel, const struct gem_tint *tint)
{
	double power = 1.0, sum = 0.0;
	unsigned int i;

	for (i = 0; i < GEM_BOUNCES && power > FAINT; i++) {
		const struct vec3 n = mesh->facet[patch->hit[i]].normal;
		const double mirrored = fresnel(fabs(vec3_dot(dir, n)), index);
		struct vec3 out;

		if (mirrored < 1.0 && gem_refract(dir, vec3_scale(n, -1.0), index, &out)) {
			const struct vec3 l = gem_light_arriving(gem_pose_direction(pose, out));

			sum += power * (1.0 - mirrored) * channel_of(tint->left[i], channel) *
			       channel_of(l, channel);
		}
		power *= mirrored;
		dir = vec3_reflect(dir, n);
	}
	return sum;
}

struct vec3 gem_light_patch(const struct gem_mesh *mesh, const struct gem_pose *pose,
			    const struct gem_patch *patch, const struct gem_tint *tint,
			    struct vec3 p, struct vec3 eye)
{
	const struct vec3 dir = vec3_normalize(vec3_sub(p, eye));
	const struct vec3 n = mesh->facet[patch->facet].normal;
	const double mirrored = fresnel(-vec3_dot(dir, n), 1.0 / GEM_INDEX);
	double channel[3];
	struct vec3 sum, glare;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		const double index = GEM_INDEX + ((int)i - 1) * GEM_DISPERSION;
		struct vec3 entered = dir;

		gem_refract(dir, n, 1.0 / index, &entered);
		channel[i] = inside(mesh, pose, patch, entered, index, i, tint);
	}
	sum = vec3_scale(vec3(channel[0], channel[1], channel[2]), 1.0 - mirrored);
	glare = gem_light_arriving(gem_pose_direction(pose, vec3_reflect(dir, n)));
	return vec3_add(sum, vec3_scale(glare, POLARISER * mirrored));
}

#define EXPOSURE	1.25

/* A filmic curve: keeps darks dark and lets bright light run into white. */
static double film(double x)
{
	return x * (2.51 * x + 0.03) / (x * (2.43 * x + 0.59) + 0.14);
}

struct vec3 gem_light_display(struct vec3 light)
{
	light = vec3_scale(light, EXPOSURE);
	return vec3(gem_srgb_encode(film(light.x)), gem_srgb_encode(film(light.y)),
		    gem_srgb_encode(film(light.z)));
}
