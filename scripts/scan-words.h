/* SPDX-License-Identifier: MIT */
/*
 * Words that the text of a lab's file may not have, with the reason and an alternative.
 *
 * The checks of the object (symbols.awk) come after these and do not depend on them.
 * This list has what an object no longer shows, or shows too late: text that the
 * assembler gets unchanged, and words that would hide the student's code from KASAN,
 * lockdep and the probes of the tests: among them the fields of task_struct that those
 * checks keep for themselves, and the fields next to them, from which a file could compute
 * their addresses.  It also has names on the way from a task to its program and its open files,
 * for those are the tests.  Words in the kernel's own headers do not count.
 */
#ifndef AGATE_SCAN_WORDS_H
#define AGATE_SCAN_WORDS_H

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))

struct word {
	const char *text;	/* a `*` matches any end */
	const char *why;
};

#define WHY_ASM \
	"is inline assembly, which no lab allows: the kernel's helpers have what a driver needs"
#define WHY_TEXT \
	"takes text for the assembler, which no lab allows: use the kernel's ordinary helpers"
#define WHY_SECTION \
	"chooses a section, and a lab's code and data stay in the compiler's: leave it out"
#define WHY_SIGHT \
	"hides code from the kernel's checks, which no lab allows: leave it out"
#define WHY_BLIND \
	"changes the kernel's own checks, which no lab allows: leave it out"
#define WHY_BESIDE \
	"is, or lies beside, what the kernel's own checks keep of a task: leave it out"
#define WHY_OUTSIDE \
	"leads out of the driver, to programs, their files and their registers, which no lab " \
	"allows: leave it out"
#define WHY_PRAGMA \
	"gives the compiler orders of its own, which no lab allows: leave it out"
#define WHY_UNSEEN \
	"reaches memory where the kernel's checks do not look, which no lab allows: use the " \
	"ordinary helper, such as readl(), atomic_read() or copy_from_user()"
#define WHY_KERNELS \
	"differs between the fast and the debug kernel, and a lab's file does the same on both: " \
	"leave it out"
#define WHY_HEADERS \
	"is for the kernel's own macros and inline functions: use the function that has need of it"
#define WHY_COMPUTED \
	"makes a header include a file of your choice, which no lab allows: leave it out"
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
	{ "__GEN_RMWcc", WHY_TEXT },
	{ "__raw_cmpxchg", WHY_TEXT },
	{ "__raw_try_cmpxchg", WHY_TEXT },
	{ "__cmpxchg_double", WHY_TEXT },
	{ "__xadd", WHY_TEXT },
	{ "__xchg_op", WHY_TEXT },
	{ "percpu_from_op", WHY_TEXT },
	{ "percpu_to_op", WHY_TEXT },
	{ "percpu_add_op", WHY_TEXT },
	{ "percpu_add_return_op", WHY_TEXT },
	{ "percpu_xchg_op", WHY_TEXT },
	{ "percpu_cmpxchg_op", WHY_TEXT },
	{ "percpu_cmpxchg8b_double", WHY_TEXT },
	{ "percpu_cmpxchg16b_double", WHY_TEXT },
	{ "percpu_stable_op", WHY_TEXT },
	{ "percpu_unary_op", WHY_TEXT },
	{ "percpu_binary_op", WHY_TEXT },
	{ "__percpu_arg", WHY_TEXT },
	{ "__force_percpu_arg", WHY_TEXT },
	{ "__percpu_prefix", WHY_TEXT },
	{ "__pcpu_*", WHY_TEXT },
	{ "__ASM_*", WHY_TEXT },
	{ "__get_user_asm*", WHY_TEXT },
	{ "__put_user_goto*", WHY_TEXT },
	{ "__try_cmpxchg_user_asm", WHY_TEXT },
	{ "__try_cmpxchg64_user_asm", WHY_TEXT },
	{ "do_get_user_call", WHY_TEXT },
	{ "do_put_user_call", WHY_TEXT },
	{ "unsafe_atomic_op1", WHY_TEXT },
	{ "unsafe_atomic_op2", WHY_TEXT },
	{ "savesegment", WHY_TEXT },
	{ "__loadsegment_simple", WHY_TEXT },
	{ "build_mmio_read", WHY_TEXT },
	{ "build_mmio_write", WHY_TEXT },
	{ "BUILDIO", WHY_TEXT },
	{ "call_on_stack", WHY_TEXT },
	{ "call_on_irqstack*", WHY_TEXT },
	{ "_BUG_FLAGS", WHY_TEXT },
	{ "__BUG_REL", WHY_TEXT },
	{ "ALTINSTR_ENTRY*", WHY_TEXT },
	{ "OLDINSTR*", WHY_TEXT },
	{ "UNWIND_HINT*", WHY_TEXT },
	{ "__ARCH_DEFINE_STATIC_CALL_TRAMP", WHY_TEXT },
	{ "ARCH_DEFINE_STATIC_CALL*", WHY_TEXT },
	{ "DEFINE_STATIC_CALL*", WHY_TEXT },
	{ "__PV_CALLEE_SAVE_REGS_THUNK", WHY_TEXT },
	{ "PV_CALLEE_SAVE_REGS_THUNK", WHY_TEXT },
	{ "__PVOP_*", WHY_TEXT },
	{ "____PVOP_*", WHY_TEXT },
	{ "__arm_smccc_1_1", WHY_TEXT },
	{ "__ADDRESSABLE_ASM*", WHY_TEXT },
	{ "SYSCALL_ALIAS", WHY_TEXT },
	{ "cond_syscall", WHY_TEXT },
	{ "SYMBOL_CRC", WHY_TEXT },
	{ "EXPORT_SYMBOL_NS*", WHY_TEXT },
	{ "__EXPORT_SYMBOL*", WHY_TEXT },
	{ "___EXPORT_SYMBOL*", WHY_TEXT },
	{ "__KSYMTAB_ENTRY*", WHY_TEXT },
	{ "__BTF_ID*", WHY_TEXT },
	{ "____BTF_ID*", WHY_TEXT },
	{ "BTF_ID*", WHY_TEXT },
	{ "BTF_SET*", WHY_TEXT },
	{ "__BTF_SET*", WHY_TEXT },
	{ "__instrumentation_*", WHY_TEXT },
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
	{ "READ_ONCE_NOCHECK", WHY_SIGHT },
	{ "READ_ONCE_TASK_STACK", WHY_SIGHT },
	{ "__read_once_word_nocheck", WHY_SIGHT },
	{ "read_word_at_a_time", WHY_SIGHT },
	{ "arch_atomic*", WHY_UNSEEN },
	{ "arch_xchg*", WHY_UNSEEN },
	{ "arch_cmpxchg*", WHY_UNSEEN },
	{ "arch_try_cmpxchg*", WHY_UNSEEN },
	{ "arch_sync_*", WHY_UNSEEN },
	{ "arch_test_*", WHY_UNSEEN },
	{ "arch_set_bit*", WHY_UNSEEN },
	{ "arch_clear_bit*", WHY_UNSEEN },
	{ "arch_change_bit*", WHY_UNSEEN },
	{ "arch___*", WHY_UNSEEN },
	{ "arch_local_*", WHY_UNSEEN },
	{ "arch_irq*", WHY_UNSEEN },
	{ "arch_spin_*", WHY_UNSEEN },
	{ "arch_read_*", WHY_UNSEEN },
	{ "arch_write_*", WHY_UNSEEN },
	{ "raw_atomic*", WHY_UNSEEN },
	{ "native_read_*", WHY_UNSEEN },
	{ "native_write_*", WHY_UNSEEN },
	{ "native_load_*", WHY_UNSEEN },
	{ "native_store_*", WHY_UNSEEN },
	{ "native_save_*", WHY_UNSEEN },
	{ "native_restore_*", WHY_UNSEEN },
	{ "native_irq_*", WHY_UNSEEN },
	{ "__raw_*", WHY_UNSEEN },
	{ "raw_copy_*", WHY_UNSEEN },
	{ "copy_user_generic*", WHY_UNSEEN },
	{ "copy_user_enhanced*", WHY_UNSEEN },
	{ "load_unaligned_zeropad", WHY_UNSEEN },
	{ "get_kernel_nofault", WHY_UNSEEN },
	{ "__get_kernel_nofault", WHY_UNSEEN },
	{ "__put_kernel_nofault", WHY_UNSEEN },
	{ "__get_user_size*", WHY_UNSEEN },
	{ "__put_user_size*", WHY_UNSEEN },
	{ "__memcpy*", WHY_UNSEEN },
	{ "__memmove", WHY_UNSEEN },
	{ "__memset*", WHY_UNSEEN },
	{ "__inline_mem*", WHY_UNSEEN },
	{ "__movs", WHY_UNSEEN },
	{ "rep_movs", WHY_UNSEEN },
	{ "insb", WHY_UNSEEN },
	{ "insw", WHY_UNSEEN },
	{ "insl", WHY_UNSEEN },
	{ "outsb", WHY_UNSEEN },
	{ "outsw", WHY_UNSEEN },
	{ "outsl", WHY_UNSEEN },
	{ "movdir64b*", WHY_UNSEEN },
	{ "enqcmds", WHY_UNSEEN },
	{ "iosubmit_cmds512", WHY_UNSEEN },
	{ "__builtin_ia32_*", WHY_UNSEEN },
	{ "kasan_*", WHY_BLIND },
	{ "__kasan_*", WHY_BLIND },
	{ "KASAN_*", WHY_BLIND },
	{ "__asan_*", WHY_BLIND },
	{ "__hwasan_*", WHY_BLIND },
	{ "__ubsan_*", WHY_BLIND },
	{ "__sanitizer_*", WHY_BLIND },
	{ "kmemleak_*", WHY_BLIND },
	{ "debug_locks*", WHY_BLIND },
	{ "debug_lockdep_*", WHY_BLIND },
	{ "lockdep_*", WHY_BLIND },
	{ "__lockdep_*", WHY_BLIND },
	{ "lock_acquire*", WHY_BLIND },
	{ "lock_release", WHY_BLIND },
	{ "lock_sync", WHY_BLIND },
	{ "lock_contended", WHY_BLIND },
	{ "lock_downgrade", WHY_BLIND },
	{ "lock_set_class", WHY_BLIND },
	{ "lock_set_subclass", WHY_BLIND },
	{ "lock_set_cmp_fn", WHY_BLIND },
	{ "lock_pin_lock", WHY_BLIND },
	{ "lock_repin_lock", WHY_BLIND },
	{ "lock_unpin_lock", WHY_BLIND },
	{ "lock_class_key", WHY_BLIND },
	{ "dep_map", WHY_BLIND },
	{ "__mutex_init", WHY_BLIND },
	{ "__init_rwsem", WHY_BLIND },
	{ "trace_hardirqs_*", WHY_BLIND },
	{ "rcu_bh_lock_map", WHY_BLIND },
	{ "rcu_callback_map", WHY_BLIND },
	{ "rcu_lock_map", WHY_BLIND },
	{ "rcu_sched_lock_map", WHY_BLIND },
	{ "rcu_read_lock_nesting", WHY_BLIND },
	{ "preempt_count_*", WHY_BLIND },
	{ "non_block_count", WHY_BLIND },
	{ "oops_in_progress", WHY_BLIND },
	{ "__preempt_count*", WHY_HEADERS },
	{ "__per_cpu_offset", WHY_HEADERS },
	{ "this_cpu_off", WHY_HEADERS },
	{ "kmalloc_caches", WHY_HEADERS },
	{ "__SANITIZE_*", WHY_KERNELS },
	{ "CONFIG_*", WHY_KERNELS },
	{ "held_locks", WHY_BESIDE },
	{ "curr_chain_key", WHY_BESIDE },
	{ "blocked_on", WHY_BESIDE },
	{ "irqtrace", WHY_BESIDE },
	{ "journal_info", WHY_BESIDE },
	{ "in_ubsan", WHY_BESIDE },
	{ "timer_slack_ns", WHY_BESIDE },
	{ "default_timer_slack_ns", WHY_BESIDE },
	{ "kunit_test", WHY_BESIDE },
	{ "curr_ret_stack", WHY_BESIDE },
	{ "curr_ret_depth", WHY_BESIDE },
	{ "real_parent", WHY_OUTSIDE },
	{ "exe_file", WHY_OUTSIDE },
	{ "i_pages", WHY_OUTSIDE },
	{ "task_pt_regs", WHY_OUTSIDE },
	{ "pt_regs", WHY_OUTSIDE },
	{ "fsbase", WHY_OUTSIDE },
	{ "gsbase", WHY_OUTSIDE },
	{ "fdt", WHY_OUTSIDE },
	{ "fdtable", WHY_OUTSIDE },
	{ "files_struct", WHY_OUTSIDE },
	{ "kiocb", WHY_OUTSIDE },
	{ "write_iter", WHY_OUTSIDE },
	{ "bug_table", WHY_BLIND },
	{ "num_bugs", WHY_BLIND },
	{ "bug_entry", WHY_BLIND },
	{ "BUGFLAG_*", WHY_BLIND },
	{ "__seg_fs", WHY_UNSEEN },
	{ "__seg_gs", WHY_UNSEEN },
	{ "_Pragma", WHY_PRAGMA },
	{ "__pragma", WHY_PRAGMA },
	{ "TRACE_INCLUDE*", WHY_COMPUTED },
	{ "CREATE_TRACE_POINTS", WHY_COMPUTED },
	{ "GENL_MAGIC_*", WHY_COMPUTED },
	{ "__has_include", WHY_PROBE },
	{ "__has_include_next", WHY_PROBE },
	{ "__has_embed", WHY_PROBE },
};

/* Exceptions to the patterns above; a `*` matches any end. */
static const char *const not_meant[] = {
	"lockdep_assert*", "lockdep_is_held*",
	"CONFIG_32BIT", "CONFIG_64BIT", "CONFIG_ACPI", "CONFIG_AGATE*", "CONFIG_ARM*",
	"CONFIG_COMPAT", "CONFIG_CPU_BIG_ENDIAN", "CONFIG_DEBUG_FS", "CONFIG_DMA_SHARED_BUFFER",
	"CONFIG_DRM", "CONFIG_DRM_AGATE*", "CONFIG_DRM_FBDEV*", "CONFIG_DRM_GEM*",
	"CONFIG_DRM_SCHED", "CONFIG_HAS_DMA", "CONFIG_HAS_IOMEM", "CONFIG_HIGHMEM",
	"CONFIG_HOTPLUG*", "CONFIG_HZ*", "CONFIG_IOMMU*", "CONFIG_MMU", "CONFIG_MODULES",
	"CONFIG_MODULE_UNLOAD", "CONFIG_NR_CPUS", "CONFIG_NUMA", "CONFIG_OF",
	"CONFIG_PAGE_SIZE*", "CONFIG_PCI", "CONFIG_PCI_MSI", "CONFIG_PHYS_ADDR_T_64BIT",
	"CONFIG_PM", "CONFIG_PM_SLEEP", "CONFIG_PROC_FS", "CONFIG_SHMEM", "CONFIG_SHRINKER*",
	"CONFIG_SMP", "CONFIG_SWAP", "CONFIG_SWIOTLB", "CONFIG_SYSFS",
	"CONFIG_TRANSPARENT_HUGEPAGE", "CONFIG_X86", "CONFIG_X86_64", "CONFIG_X86_PAT",
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

/* The macros with which a file may tell the headers behind it something. */
static const char *const told_to_headers[] = {
	"pr_fmt", "dev_fmt", "DEBUG", "VERBOSE_DEBUG", "NDEBUG", "KMSG_COMPONENT",
	"_GNU_SOURCE", "_POSIX_C_SOURCE", "_DEFAULT_SOURCE", "_XOPEN_SOURCE", "_FILE_OFFSET_BITS",
};

/* The names that no file may take for a macro: headers use them as C defines them. */
static const char *const language[] = {
	"auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else",
	"enum", "extern", "float", "for", "goto", "if", "inline", "int", "long", "register",
	"restrict", "return", "short", "signed", "sizeof", "static", "struct", "switch", "typedef",
	"union", "unsigned", "void", "volatile", "while", "_Alignas", "_Alignof", "_Atomic",
	"_Bool", "_Complex", "_Generic", "_Noreturn", "_Static_assert", "_Thread_local",
	"typeof", "__typeof", "__typeof__", "__auto_type", "__extension__", "__label__",
	"__alignof", "__alignof__", "__const", "__const__", "__inline", "__inline__",
	"__restrict", "__restrict__", "__signed", "__signed__", "__volatile", "__volatile__",
	"__FILE__", "__LINE__", "__COUNTER__", "__BASE_FILE__", "__INCLUDE_LEVEL__",
	"__DATE__", "__TIME__", "__TIMESTAMP__", "__func__", "__FUNCTION__",
};

static const char *const asm_names[] = { "asm", "__asm", "__asm__" };

/* The attributes that a file may have by way of a header's macro only. */
static const char *const header_attributes[] = {
	"address_space", "bitwise", "cleanup", "error", "externally_visible", "force",
	"mode", "no_instrument_function", "noderef", "nothrow", "patchable_function_entry", "safe",
	"section", "visibility", "warning", "weak",
};

/*
 * The directives, and the sections and labels that begin with a dot, of the assembly in the
 * kernel's macros; a `*` matches any end.
 */
static const char *const assembler[] = {
	".align", ".ascii", ".asciz", ".balign", ".byte", ".else", ".endif", ".fill", ".hword",
	".if", ".int", ".long", ".nops", ".octa", ".org", ".p2align", ".popsection", ".previous",
	".pushsection", ".quad", ".section", ".short", ".size", ".skip", ".string", ".type",
	".value", ".word", ".zero",
	".l*", ".text*", ".data*", ".bss*", ".rodata*", ".init.*", ".exit.*", ".discard*",
	".altinstr*", ".smp_locks", ".parainstructions", ".static_call*", ".retpoline_sites",
	".return_sites", ".call_sites", ".ibt_endbr_seal", ".printk_index", ".modinfo",
};

/* Bytes above 0x7f are letters of names in other alphabets. */
static inline bool is_name(int c)
{
	return isalnum(c) || c == '_' || c == '$' || c >= 0x80;
}

static inline bool matches(const char *pattern, const char *word)
{
	while (*pattern && *pattern == *word) {
		pattern++;
		word++;
	}
	return *pattern == '*' || *pattern == *word;
}

static inline bool matches_any(const char *const *patterns, size_t count, const char *word)
{
	while (count)
		if (matches(patterns[--count], word))
			return true;
	return false;
}

/* The headers' macros that put any two words together. */
static const char *const pasters[] = {
	"CONCAT__", "IPSET_CONCAT", "_ELFNOTE_PASTE", "_UVERBS_PASTE", "__CONCAT", "__PASTE",
	"__RMWcc_CONCAT", "___PASTE",
};

/* The entries of words[] that begin with one character, in their order; places count from 1. */
struct word_places {
	unsigned char first[256], next[COUNT(words)];
	bool known;
};

static inline void find_places(struct word_places *places)
{
	size_t i = COUNT(words);

	_Static_assert(COUNT(words) < 256, "a place is a byte");
	while (i--) {
		unsigned char *first = &places->first[(unsigned char)words[i].text[0]];

		places->next[i] = *first;
		*first = (unsigned char)(i + 1);
	}
	places->known = true;
}

/*
 * The entry of words[] that means this word, or NULL.  A kernel's headers have some hundred
 * thousand names, so a name is compared with few entries.
 */
static inline const struct word *word_refused(const char *word)
{
	static struct word_places places;
	size_t at;

	if (!places.known)
		find_places(&places);
	at = places.first[(unsigned char)word[0]];
	while (at && !matches(words[at - 1].text, word))
		at = places.next[at - 1];
	return at && !matches_any(not_meant, COUNT(not_meant), word) ? &words[at - 1] : NULL;
}

/* Could a word that begins like this be one that words[] means? */
static inline bool begins_refused(const char *piece)
{
	size_t i, n = strlen(piece);

	for (i = 0; i < COUNT(words); i++)
		if (strncmp(words[i].text, piece, n) == 0)
			return true;
	return word_refused(piece);
}

static inline bool listed(const char *const *list, size_t count, const char *word)
{
	while (count)
		if (strcmp(list[--count], word) == 0)
			return true;
	return false;
}

#endif /* AGATE_SCAN_WORDS_H */
