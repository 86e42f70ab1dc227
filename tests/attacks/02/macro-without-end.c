/* SPDX-License-Identifier: MIT */
/* EXPECT: does not compile within the limits */
#define A1(x) x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x
#define A2(x) A1(x), A1(x), A1(x), A1(x), A1(x), A1(x), A1(x), A1(x)
#define A3(x) A2(x), A2(x), A2(x), A2(x), A2(x), A2(x), A2(x), A2(x)
#define A4(x) A3(x), A3(x), A3(x), A3(x), A3(x), A3(x), A3(x), A3(x)
#define A5(x) A4(x), A4(x), A4(x), A4(x), A4(x), A4(x), A4(x), A4(x)
#define A6(x) A5(x), A5(x), A5(x), A5(x), A5(x), A5(x), A5(x), A5(x)
#define A7(x) A6(x), A6(x), A6(x), A6(x), A6(x), A6(x), A6(x), A6(x)
static int attack[] __maybe_unused = { A7(1), A7(2), A7(3), A7(4) };
