#!/bin/sh
# SPDX-License-Identifier: MIT
#
# mutants.sh: is each bug of a part of the driver that is no lab yet seen by the guest tests?
# As TAP.
#
# usage: tests/guest/mutants.sh NN SHARD SHARDS, in the project's folder
#
# tests/mutants/NN/SUITE--WHAT.patch is a bug put into solutions/NN-topic.  The driver with it
# has to fail in that suite of run.sh, where the driver without it does not.  The patch may begin
# with a line "rule: ..." that says what the bug breaks, and one "test: ..." (a basic regular
# expression) that names the
# point that has to fail: not only another one, which the bug takes along.
set -u
lab=$1 shard=$2 shards=$3
. tests/tap.sh

BUILD=${BUILD:-build}
parts=$BUILD/parts/fast
kernel=$(readlink -f "$BUILD/guest/kernel-fast")
solution=$(echo solutions/"$lab"-*)
part=${solution#*/}
work=$BUILD/tests/guest-mutants/$lab/$shard
rm -rf "$work"
mkdir -p "$work"

# driver NAME PATCH: the fast kernel's driver with a part of its own, in $work/NAME
driver()
{
	mkdir -p "$work/$1/$solution"
	cp "$solution"/*.c "$work/$1/$solution/"
	if [ -n "$2" ] && ! patch -s -p1 -F0 -d "$work/$1" <"$2"; then
		echo "the patch does not apply"
		return 1
	fi
	for file in "$work/$1/$solution"/*.c; do
		"$parts/compile" "$file" "${file%.c}.o" || return
	done
	# The part that it replaces says for which kernel and headers both are.
	abi=$(nm "$parts/$part.o" | sed -n 's/.* A \(agate_abi_.*\)/\1/p')
	# shellcheck disable=SC2046 # a list of files
	ld -r -m elf_x86_64 -z noexecstack --no-warn-rwx-segments --build-id=sha1 \
		--defsym="$abi=0" -T "$kernel/scripts/module.lds" -o "$work/$1/agate.ko" "$parts/agate.mod.o" \
		"$parts/frame.o" $(ls "$parts"/[0-9]*.o | grep -v "/$part\.o$") \
		"$work/$1/$solution"/*.o
}

# suite NAME: the suite that the name begins with, on the driver in $work/NAME.  A bug may make
# it wait for ever.
suite()
{
	LIMIT=120 CONSOLE=$work/$1/console AGATE_KO=$work/$1/agate.ko \
		tests/guest/run.sh fast "${1%%--*}" >"$work/$1/run.log" 2>&1 </dev/null
}

# failed NAME POINT: has a point failed whose name begins with POINT?
failed()
{
	grep -q "^not ok [0-9]* - $2" "$work/$1/run.log"
}

# suite_until NAME POINT: the same as suite, ended as soon as that point has failed.
suite_until()
{
	: >"$work/$1/run.log"
	suite "$1" &
	while kill -0 $! 2>/dev/null; do
		if failed "$1" "$2"; then
			kill "$(cat "$work/$1/console.pid")" 2>/dev/null
			break
		fi
		sleep 0.2
	done
	wait $!
}

# Says what is wrong with a mutant; nothing when the suite saw it.
judge()
{
	name=$1
	driver "$name" "$2" || return
	point=$(sed -n 's/^test: //p' "$2")
	suite_until "$name" "$point"
	if ! failed "$name" ''; then
		echo "survived ${name%%--*}"
		tail -n 3 "$work/$name/run.log"
	elif ! failed "$name" "$point"; then
		echo "$point did not see it, but"
		grep '^not ok' "$work/$name/run.log"
	fi
}

# The mutant's name, and the rule that it breaks where the patch says that.
title()
{
	rule=$(sed -n 's/^rule: //p' "$2")
	echo "$1${rule:+: $rule}"
}

# Says what the driver without a bug does wrong.
sound()
{
	driver "$1" '' || return
	suite "$1"
	grep -q '^ok' "$work/$1/run.log" || echo "no test ran"
	grep '^not ok' "$work/$1/run.log"
}

patches=$(git ls-files "tests/mutants/$lab/*.patch" | awk -v s="$shard" -v n="$shards" 'NR % n == s % n')
suites=$(printf '%s\n' "$patches" | sed 's|.*/||; s|--.*||' | sort -u)
echo "1..$(printf '%s\n' "$suites" "$patches" | wc -l)"
for suite in $suites; do
	no_findings "$suite passes" "$(sound "$suite")"
done
for patch in $patches; do
	name=${patch##*/} name=${name%.patch}
	no_findings "$(title "$name" "$patch")" "$(judge "$name" "$patch")"
done
