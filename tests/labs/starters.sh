#!/bin/sh
# SPDX-License-Identifier: MIT
#
# starters.sh: a lab's starter that is committed, and every step on the way, as TAP.
#
# usage: tests/labs/starters.sh NN [1|2]
#
# With 1 or 2 every other step is compiled for the fast kernel alone.
#
# Looks at what is committed, not at the files here: a student's edits are no
# failure.  Needs the reference parts of both flavours, and libagate's.
set -u
half=${2-}
. tests/tap.sh

lab=$(scripts/lab.sh "$1") || exit 1
# Compiled parts stay, and are used again where nothing has changed.
work=${BUILD:-build}/tests/starters/$lab
mkdir -p "$work"
rm -rf "${work:?}"/labs "$work"/solutions "$work"/[0-9]*
git archive HEAD "labs/$lab" "solutions/$lab" | tar -x -C "$work" || exit 1
export LABS="$work/labs"

complain()
{
	cat "$work/said"
}

info()
{
	"${BUILD:-build}/bin/agate-lab-info" "$LABS/$lab/lab.json" | sed -n "s/^$1 //p"
}

committed()
{
	for file in $(info files); do
		diff -u "$LABS/$lab/$file" "$work/0/$file" || return
	done
}

# The steps to come have a stub each, those that are solved have none.
stubs()
{
	for other in $(seq "$steps"); do
		if cat "$work/$1"/*.c | grep -q "STEP $other:"; then
			[ "$other" -gt "$1" ] || { echo "step $other is solved, but its stub is there"; return 1; }
		else
			[ "$other" -le "$1" ] || { echo "nothing says STEP $other:"; return 1; }
		fi
	done
}

# Put together in silence, with all symbol rules.
composed()
{
	out=$work/out-$1-$2
	if [ "$(info kind)" = library ]; then
		userspace/compose-lab.sh "$out" "$lab=$work/$2"
	else
		kernel/compose-lab.sh "$1" "$out" "$lab=$work/$2"
	fi
	status=$?
	cat "$out/compile.log" "$out/symbols.log"
	[ "$status" = 0 ] && [ ! -s "$out/compile.log" ]
}

flavours()
{
	if [ "$(info kind)" = library ]; then
		echo host
	elif [ -n "$half" ] && [ $((($1 + half) % 2)) = 0 ]; then
		echo fast
	else
		echo fast debug
	fi
}

steps=$(info steps)
for k in $(seq 0 "$steps"); do
	scripts/starter.sh "$lab" "$k" "$work/$k" "$work/solutions" >"$work/said" 2>&1 &&
		stubs "$k" >"$work/said" 2>&1
	result $? "$lab, step $k: made from the solution"
	for flavour in $(flavours "$k"); do
		composed "$flavour" "$k" >"$work/said" 2>&1
		result $? "$lab, step $k: compiles without a word, $flavour"
	done
done
[ "$steps" -gt 0 ] >"$work/said" 2>&1
result $? "$lab: there is something to do"
committed >"$work/said" 2>&1
result $? "$lab: the starter is the one that is committed"
echo "1..$number"
