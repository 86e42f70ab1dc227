// SPDX-License-Identifier: MIT
/*
 * Seed, parameters, nonces (params.h).
 */
#include "params.h"

#include <errno.h>
#include <stdio.h>
#include <sys/random.h>

static bool random_bytes(void *data, size_t len)
{
	ssize_t n = getrandom(data, len, 0);

	if (n >= 0 && (size_t)n < len)
		errno = EIO;
	return n >= 0 && (size_t)n == len;
}

bool params_seed(uint64_t *seed)
{
	uint32_t n;

	if (!random_bytes(&n, sizeof(n)))
		return false;
	*seed = n % 1000000;
	return true;
}

bool params_nonce(char nonce[NONCE_DIGITS + 1])
{
	uint8_t bytes[NONCE_DIGITS / 2];
	size_t i;

	if (!random_bytes(bytes, sizeof(bytes)))
		return false;
	for (i = 0; i < sizeof(bytes); i++)
		snprintf(nonce + 2 * i, 3, "%02x", bytes[i]);
	return true;
}

/* FNV-1a, with the NUL, so that "a", "bc" is not "ab", "c". */
static uint64_t hash(uint64_t h, const char *text)
{
	do {
		h = (h ^ (unsigned char)*text) * 0x100000001b3u;
	} while (*text++);
	return h;
}

/* The finaliser of SplitMix64: every bit of the input reaches every bit. */
static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

int64_t params_draw(uint64_t seed, const char *lab, const char *test,
		    const struct lab_param *param)
{
	uint64_t span = (uint64_t)param->highest - (uint64_t)param->lowest;
	uint64_t x = hash(hash(hash(0xcbf29ce484222325u, lab), test), param->name);

	x = mix(x ^ mix(seed + 0x9e3779b97f4a7c15u));
	if (span != UINT64_MAX)
		x %= span + 1;
	return (int64_t)((uint64_t)param->lowest + x);
}
