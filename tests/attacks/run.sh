#!/bin/sh
# SPDX-License-Identifier: MIT
#
# run.sh: what a file that is handed in tries, and what comes of it, as TAP.
#
# usage: tests/attacks/run.sh [SHARD SHARDS]
#
# With SHARD only each SHARDS-th of those that are tried in a second way, from that one on.
#
# NN/NAME.inc is put behind lab NN's solution.  The message to the student has to match the
# regular expression after EXPECT and name a line of the file; no module comes of it, and
# all ends within a minute on a machine that has nothing else to do.  Then the box itself, and
# the rules for objects that no text leads to.  No guest starts; for the grader see grader.sh.
set -u
. tests/tap.sh

build=$(realpath "${BUILD:-build}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM HUP
lab=02-gem-object
student=$work/from/$lab
out=$work/out
mkdir -p "$student"
BUILD=${BUILD:-build}
LIMIT_S=300
# Fifteen times what the solution needs.
export BOX_CPU_S=5

complain()
{
	tail -n 15 "$work/said" "$out/compile.log" "$out/symbols.log" 2>/dev/null
}

# attack FILE: the solution with FILE behind it
attack()
{
	cat solutions/$lab/agate_gem.c "$1" >"$student/agate_gem.c"
	timeout $LIMIT_S kernel/compose-lab.sh fast "$out" "$lab=$student" >"$work/said" 2>&1
}

# told REGEX: in the file's logs, of one of its lines unless a limit was met
told()
{
	cat "$out/compile.log" "$out/symbols.log" 2>/dev/null >"$work/told"
	grep "$1" "$work/told" | grep -q \
		"agate_gem\.c:[0-9]\|within the limits\|section"
}

refused()
{
	expect=$(sed -n 's|^/\* EXPECT: \(.*\) \*/$|\1|p' "$1")
	[ -n "$expect" ] && told "$expect" && [ ! -e "$out/agate.stripped.ko" ]
}

try()
{
	rm -rf "$out"
	attack "$1"
	case $? in
	10 | 11) refused "$1" ;;
	*) false ;;
	esac
	result $? "$(basename "$1" .inc)$2"
}

attacks=$(ls tests/attacks/02/*.inc)
pasting=$(grep -lE '##|%:%:|__PASTE' $attacks |
	awk -v s="${1:-1}" -v n="${2:-1}" 'NR % n == s % n')
echo "1..$(($(echo "$attacks" "$pasting" | wc -w) + 27))"

for file in $attacks; do
	try "$file" ''
done
# The search for words that macros put together is another one without precompiled headers.
export COMPOSE_PCH=
for file in $pasting; do
	try "$file" ", without a precompiled header"
done
unset COMPOSE_PCH

# What a folder holds besides the lab's files: links that lead out of it, and names of which
# a file gives very many.
ln -s / "$student/l"
for there in etc/passwd tmp none; do
	printf '#if 0\n#include "l/%s"\n#endif\n' $there >"$work/link.c"
	rm -rf "$out"
	attack "$work/link.c"
	check "nobody is told whether /$there exists" 0 $? [ ! -s "$out/compile.log" ]
done
rm "$student/l"
touch "$student/beside"
{
	echo '#if 0'
	seq 5000 | sed 's/.*/#include "beside"/'
	seq 3500 | sed 's/.*/#include ".\/beside"\n#include "n&"/'
	echo '#endif'
} >"$work/many.c"
rm -rf "$out"
begun=$(date +%s)
attack "$work/many.c"
check "what is not handed in is named once" 10 $? \
	[ "$(grep -c 'includes .*/beside, which' "$out/compile.log")" = 2 ]
[ $(($(date +%s) - begun)) -lt 60 ]
result $? "and thousands of such names take no minute"
rm "$student/beside"

# A mark of the byte order is only one at a file's beginning.
printf '\357\273\277# 1 "x" 3\n' >"$work/mark.c"
"$build/bin/agate-scan-source" "$work/mark.c" >"$work/said" 2>&1
check "line-marker-behind-a-mark-of-the-byte-order" 10 $? grep -q '#1 renames' "$work/said"

# Macros may do all of this: files of the kernel do it.
cat >"$work/macros.c" <<'END'
#undef pr_fmt
#define pr_fmt(format) "attack: " format
#define DEBUG
#define attack_reg(name) attack_##name
#define ATTACK_LIMIT 1
#include <linux/io-64-nonatomic-lo-hi.h>
#undef ATTACK_LIMIT
#define ATTACK_LIMIT 2
static int __init __maybe_unused attack_reg(first)(u32 __user *user, int *word, u32 __iomem *io)
{
	static DEFINE_MUTEX(lock);
	u32 value;

	lockdep_assert_held(&lock);
	BUILD_BUG_ON(sizeof(value) != 4);
	WARN_ON_ONCE(cmpxchg(word, 0, ATTACK_LIMIT));
	wmb();
	pr_debug("%d\n", xchg(word, 3));
	if (IS_ENABLED(CONFIG_X86) && get_user(value, user))
		return raw_smp_processor_id();
	lo_hi_writeq(value, io);
	return put_user(readl(io), user);
}
END
rm -rf "$out"
attack "$work/macros.c"
[ -s "$out/02-gem-object/agate_gem.o" ] && [ ! -s "$out/compile.log" ]
result $? "macros as the kernel's own files use them compile"

# A file that can tell the kernels apart could behave on the debug kernel only.
options()
{
	sed -n 's/^#define \(CONFIG_[A-Za-z0-9_]*\) .*/&/p' \
		"$build/guest/kernel-$1/include/generated/autoconf.h" | sort
}
options fast >"$work/fast"
options debug >"$work/debug"
diff "$work/fast" "$work/debug" | sed -n 's/^[<>] #define \([^ ]*\) .*/\1/p' | sort -u >"$work/differ"
sed 's/.*/#ifdef &\n#endif/' "$work/differ" >"$work/options.c"
"$build/bin/agate-scan-source" "$work/options.c" >"$work/said" 2>&1
check "the options in which the two kernels differ are refused" 10 $? \
	[ "$(grep -c 'differs between' "$work/said")" = "$(wc -l <"$work/differ")" ]
[ "$(wc -l <"$work/differ")" -gt 20 ]
result $? "and they do differ"

# A long list of messages is cut, and the verdict stays.
i=0
while [ $i -lt 4000 ]; do
	i=$((i + 1))
	echo "static int unused_$i;"
done >"$work/warnings.c"
rm -rf "$out"
attack "$work/warnings.c"
check "thousands of warnings are still only warnings" 0 $? \
	[ "$(wc -c <"$out/compile.log")" -le 300000 ]

# More messages than a file may hold: a file that includes itself has each of these warnings
# 2^9 times.
{
	head -c 3500 /dev/zero | tr '\0' x >"$work/long"
	for i in $(seq 60); do
		echo "#warning $(cat "$work/long")"
	done
	echo '#if __INCLUDE_LEVEL__ < 9'
	echo '#include "agate_gem.c"'
	echo '#include "agate_gem.c"'
	echo '#endif'
	echo '#if __INCLUDE_LEVEL__ == 0'
	cat solutions/$lab/agate_gem.c
	echo '#endif'
} >"$student/agate_gem.c"
# Which of those that write them meets the limit first is chance.
for again in 1 2 3; do
	rm -rf "$out"
	BOX_CPU_S=60 timeout $LIMIT_S kernel/compose-lab.sh fast "$out" "$lab=$student" >"$work/said" 2>&1
	check "more messages than a file may hold do not compile, $again of 3" 10 $? \
		told 'does not compile within the limits'
done

# The compiler takes @FILE for a file with options: here one that runs a program.
(
	mkdir "$work/at" && cd "$work/at" || exit
	mkdir -p "@d/$lab" "d/$lab" -- "-x/$lab"
	echo "-wrapper touch,$work/ran" >"d/$lab/agate_gem.c"
)
for odd in @d -x; do
	rm -rf "$out"
	cp solutions/$lab/agate_gem.c "$work/at/$odd/$lab"
	for item in kernel include scripts solutions labs userspace; do
		ln -sfn "$PWD/$item" "$work/at/$item"
	done
	(cd "$work/at" && BUILD=$build kernel/compose-lab.sh fast "$out" \
		"$lab=$odd/$lab" >"$work/said" 2>&1)
	status=$?
	[ $status = 0 ] && [ -s "$out/agate.stripped.ko" ] && [ ! -e "$work/ran" ]
	result $? "a folder called $odd is a folder, and no option"
done

# The box: what the attacks above would find in it.
. scripts/box-lib.sh
export BUILD
echo secret >"$work/secret"
cat >"$work/look.sh" <<'END'
echo begun >&5
for path; do
	! cat "$path" >/dev/null 2>&1 || echo "read $path"
	! ls "$path" >/dev/null 2>&1 || echo "saw $path"
done
# All of /tmp is for the work in the box, and so are the folders above a project in /tmp.
case $PWD in /tmp/*) here=/ ;; *) here=$PWD ;; esac
for dir in / /usr "$here" "$PWD/kernel" /look; do
	! : 2>/dev/null >"$dir/attack" || echo "wrote $dir"
done
head -c 400000000 /dev/zero >/tmp/full 2>/dev/null && echo "filled the disk"
ls /proc/1 >/dev/null 2>&1 && echo "saw processes"
[ "$(id -u)" = 0 ] && chown 1 /tmp 2>/dev/null && echo "is root"
(exec 6<>/dev/tcp/192.0.2.1/1) 2>&1 | grep -q unreachable || echo "has a network"
echo end
END
chmod +x "$work/look.sh"
mkdir "$work/folder"
box_options kernel include "$work/look.sh" >"$work/box"
box_run "$work/box" "$work/facts" "$work/folder" /look /bin/bash "$work/look.sh" \
	"$PWD/solutions" "$PWD/labs" "$PWD/tests" "$PWD/.git" "$PWD/Makefile" "$build/parts" \
	"$build/driver" "$work/secret" /etc/passwd /etc/shadow "${HOME:-/root}/.bashrc" /proc /sys \
	/dev/sda /dev/tty /dev/kmsg >"$work/said" 2>&1
[ ! -e "$work/box.none" ]
result $? "bubblewrap makes a box here"
[ "$(cat "$work/said")" = end ]
result $? "nothing in the box but what it was given, and nothing to write to"

# A student's folder may have the name of a file that the compiler's script makes.
box_run "$work/box" "$work/facts" "$work/folder" /tmp/expanded /bin/sh -c \
	'echo begun >&5; mkfifo "$WORK/expanded"' >"$work/said" 2>&1
result $? "the files for the work in the box are apart from the student's"

[ "$(printf 'a\330\234b\342\200\256c\357\277\271d\363\240\201\201e\303\244' | printable)" = 'a?b?c?d?eä' ]
result $? "what is shown has no invisible characters, and none that turn text around"

# The box goes with who asked for it, and a program that does not end, with its time.
(
	BOX_CPU_S=1
	box_run "$work/box" "$work/facts" "$work/folder" /look /bin/sh -c \
		'echo begun >&5; while :; do :; done' >"$work/said" 2>&1
)
[ $? -gt 128 ]
result $? "a limit of processor time holds"

# An object that says more than its text, if a text could lead to it.
rules()
{
	gcc -c -x assembler -o "$work/rule.o" - && readelf -W -S -s "$work/rule.o" >"$work/rule.facts"
	echo "exports wanted" >"$work/info"
	echo "# nothing" >"$work/common"
	awk -v lab=02-x -v flavour=fast -f scripts/symbols.awk "$work/info" "$work/common" \
		"$work/rule.facts" >"$work/said" 2>&1
}
broken() { grep -q "$1" "$work/said"; }
printf '.section .gnu.lto_x\n.byte 1\n' | rules
result $? "objects of the assembler are judged"
broken 'has section .gnu.lto_x'
result $? "a section of link-time optimisation"
printf '.section .init_array\n.quad 1\n' | rules
broken 'section .init_array'
result $? "a constructor"
printf '.section .foo, "ax"\n.type f, @function\nf: ret\n.size f, 1\n' | rules
broken 'puts f into section .foo'
result $? "code in a section of its own, by its name"
printf '.comm wanted, 8\n' | rules
broken 'defines wanted as common'
result $? "a common symbol"
printf '.globl wanted\nwanted = 0x1000\n' | rules
broken 'defines wanted .*at a fixed address'
result $? "a symbol at a fixed address"
printf '.globl wanted\n.type wanted, @gnu_indirect_function\nwanted: ret\n' | rules
broken 'defines wanted as ifunc'
result $? "a function that chooses itself"
