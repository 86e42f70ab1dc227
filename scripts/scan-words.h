/* SPDX-License-Identifier: MIT */
/*
 * Words that the text of a lab's file may not have, with the reason and an alternative.
 *
 * The checks of the object (symbols.awk) come after these and do not depend on them.
 * This list has what an object no longer shows, or shows too late: text that the
 * assembler gets unchanged, and words that would hide the student's code from KASAN,
 * lockdep and the probes of the tests.  Words in the kernel's own headers do not count.
 */
#ifndef AGATE_SCAN_WORDS_H
#define AGATE_SCAN_WORDS_H

struct word {
	const char *text;	/* a `*` matches any end */
	const char *why;
};

#define WHY_ASM \
	"is inline assembly, which no lab allows: the kernel's helpers have what a driver needs"
#define WHY_SECTION \
	"chooses a section, and a lab's code and data stay in the compiler's: leave it out"
#define WHY_SIGHT \
	"hides code from the kernel's checks, which no lab allows: leave it out"
#define WHY_BLIND \
	"changes the kernel's own checks, which no lab allows: leave it out"
#define WHY_PRAGMA \
	"gives the compiler orders of its own, which no lab allows: leave it out"
#define WHY_PROBE \
	"asks which files there are, which no lab allows: include what you need"

static const struct word words[] = {
	{ "asm", WHY_ASM },
	{ "__asm", WHY_ASM },
	{ "__asm__", WHY_ASM },
	{ "asm_*", WHY_ASM },
	{ "_ASM_*", WHY_ASM },
	{ "alternative*", WHY_ASM },
	{ "ALTERNATIVE*", WHY_ASM },
	{ "GEN_UNARY_RMWcc*", WHY_ASM },
	{ "GEN_BINARY_RMWcc*", WHY_ASM },
	{ "__section", WHY_SECTION },
	{ "__alias", WHY_SECTION },
	{ "DEFINE_PER_CPU*", WHY_SECTION },
	{ "DECLARE_PER_CPU*", WHY_SECTION },
	{ "__naked", WHY_ASM },
	{ "noinstr", WHY_SIGHT },
	{ "notrace", WHY_SIGHT },
	{ "__no_sanitize*", WHY_SIGHT },
	{ "__no_kasan*", WHY_SIGHT },
	{ "__no_kcsan", WHY_SIGHT },
	{ "__no_profile", WHY_SIGHT },
	{ "kasan_depth", WHY_BLIND },
	{ "debug_locks", WHY_BLIND },
	{ "debug_locks_silent", WHY_BLIND },
	{ "lockdep_off", WHY_BLIND },
	{ "lockdep_on", WHY_BLIND },
	{ "lockdep_recursion", WHY_BLIND },
	{ "lockdep_depth", WHY_BLIND },
	{ "lockdep_set_novalidate_class", WHY_BLIND },
	{ "__lockdep_no_validate__", WHY_BLIND },
	{ "_Pragma", WHY_PRAGMA },
	{ "__pragma", WHY_PRAGMA },
	{ "__has_include", WHY_PROBE },
	{ "__has_include_next", WHY_PROBE },
	{ "__has_embed", WHY_PROBE },
};

/*
 * The allowed names in __attribute__, with or without underscores.  It lists the allowed
 * ones and not the forbidden ones, because some take text that ends up in the assembler's
 * input.
 */
static const char *const attributes[] = {
	"aligned", "alloc_size", "always_inline", "assume_aligned", "cold", "const", "deprecated",
	"designated_init", "fallthrough", "flatten", "format", "format_arg", "gnu_inline", "hot",
	"malloc", "may_alias", "noclone", "noinline", "nonnull", "nonstring", "noreturn", "packed",
	"pure", "returns_nonnull", "sentinel", "transparent_union", "unused", "used",
	"warn_unused_result",
};

/* The allowed directives after #. */
static const char *const directives[] = {
	"include", "define", "undef", "if", "ifdef", "ifndef", "elif", "else", "endif", "error",
	"warning",
};

#endif /* AGATE_SCAN_WORDS_H */
