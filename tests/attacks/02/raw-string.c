/* SPDX-License-Identifier: MIT */
/* EXPECT: a raw string is not C */
static const char *attack __maybe_unused = R"(
# 1 "x" 3
)";
