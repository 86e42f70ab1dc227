/* SPDX-License-Identifier: MIT */
/* EXPECT: `__has_include` asks which files */
#if __has_include("/etc/passwd")
#error there
#endif
