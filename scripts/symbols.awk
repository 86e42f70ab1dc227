# SPDX-License-Identifier: MIT
#
# symbols.awk: the rules for the symbols and sections of a lab's objects.
#
# usage: awk -v lab=NN-topic -v flavour=FLAVOUR -f symbols.awk INFO COMMON FACTS...
#
# INFO is agate-lab-info's output, COMMON a list of symbols that any file may use
# (words; # starts a comment), FACTS what compile-boxed.sh wrote down of each object:
# NAME.facts of NAME.c.  Prints a line for each rule that is broken.

function allow(name)
{
	if (sub(/\*$/, "", name))
		prefix[name]
	else
		allowed[name]
}

function is_allowed(name,    p)
{
	if (name in allowed)
		return 1
	for (p in prefix)
		if (index(name, p) == 1)
			return 1
	return 0
}

# KASAN tells the kernel of the file's variables from a constructor of its own, one call
# each way; a second one there is the file's.
function is_kasan(section)
{
	return flavour == "debug" && size[section] == 8 && name[section] ~ /^\.(init|fini)_array$/
}

# What the compiler and the kernel's headers make: code and data; tables of bugs, faulting
# instructions, patched instructions, parameters and messages; notes, symbols, debug information.
function is_section(section,    s)
{
	s = name[section]
	return s ~ /^\.rela[._]/ || is_kasan(section) ||
	s ~ /^\.(text|data|bss|rodata|comment|symtab|symtab_shndx|strtab|shstrtab|group)$/ ||
	s ~ /^\.text\.(unlikely|hot|startup|exit|asan)/ || s ~ /^\.rodata\.(str|cst)/ ||
	s ~ /^\.(init|exit)\.(text|data|rodata)$/ || s ~ /^\.data\.(once|rel|unlikely)/ ||
	s ~ /^\.data\.\.(once|unlikely|read_mostly|ro_after_init|cacheline_aligned)$/ ||
	s ~ /^\.(debug_|discard\.|note\.gnu\.|note\.GNU-stack$|orc_unwind|altinstr|eh_frame$)/ ||
	s ~ /^\.(smp_locks|static_call_sites|retpoline_sites|return_sites|call_sites)$/ ||
	s ~ /^\.(ibt_endbr_seal|printk_index|static_call\.text)$/ ||
	s ~ /^(\.modinfo|__(param|bug_table|ex_table|jump_table|mcount_loc|dyndbg))$/ ||
	s ~ /^__patchable_function_entries$/
}

# Of one object, when all of its lines were read.
function judge_sections(    i, into)
{
	for (i = 1; i <= sections; i++)
		if (!is_section(i)) {
			into = i in holds ? "puts " holds[i] " into" : "has"
			print file ": " into " section " name[i] \
				", which is none that a lab's file may have"
		}
	sections = 0
	delete name
	delete size
	delete holds
}

function symbol(type, bind, where, what)
{
	if (type == "IFUNC" || where == "COM" || (where == "ABS" && type != "FILE")) {
		print file ": defines " what " as " (where == "COM" ? "common" : tolower(type)) \
			(where == "ABS" ? ", at a fixed address" : "") \
			", which is no ordinary function or variable"
	} else if (bind == "LOCAL") {
		if ((type == "FUNC" || type == "OBJECT") && !(where in holds))
			holds[where] = what
	} else if (where == "UND") {
		if (what != "") {
			used[++uses] = what
			user[uses] = file
		}
	} else if (!(what in wanted)) {
		print file ": defines " what ", which is not what lab " number " exports: make it static"
	} else if (what in defined) {
		print file ": defines " what ", and so does " defined[what]
	} else {
		defined[what] = file
	}
}

BEGIN { number = lab; sub(/-.*/, "", number) }

FNR == 1 {
	if (++input > 3)
		judge_sections()
	if (input > 2) {
		file = FILENAME
		sub(/.*\//, "", file)
		sub(/\.facts$/, ".c", file)
	}
}

input == 1 && $1 == "exports" { wanted[$2]; order[++exports] = $2 }
input == 1 && $1 == "allow" { allow($2) }

input == 2 { sub(/#.*/, ""); for (i = 1; i <= NF; i++) allow($i) }

# "  [ 1] .text  PROGBITS  ADDRESS OFFSET SIZE ...", but the first has no name.
input > 2 && /^  \[ *[1-9][0-9]*\] / {
	sub(/^  \[ */, "")
	sub(/\]/, "")
	sections = $1
	name[sections] = $2
	size[sections] = $6 ~ /^0*8$/ ? 8 : 0
	if ($2 ~ /^\.rela[._]/ ? $3 != "RELA" : $3 !~ /^(PROGBITS|NOBITS|NOTE|SYMTAB|SYMTAB_SHNDX|STRTAB|GROUP|INIT_ARRAY|FINI_ARRAY|X86_64_UNWIND)$/)
		name[sections] = $2 " of type " $3
}

# "    34: VALUE SIZE FUNC GLOBAL DEFAULT 1 NAME"
input > 2 && $1 ~ /^[0-9]+:$/ && NF >= 7 { symbol($4, $5, $7, $8) }

END {
	judge_sections()
	for (i = 1; i <= exports; i++)
		if (!(order[i] in defined))
			print lab ": does not define " order[i] ", which other files of the driver need"
	for (i = 1; i <= uses; i++)
		if (!(used[i] in defined) && !is_allowed(used[i]))
			print user[i] ": uses " used[i] ", which lab " number " does not allow"
}
