#!/bin/bash
# SPDX-License-Identifier: MIT
#
# machine.sh: what befalls the machine is never the student's failure, as TAP.
#
# usage: tests/labs/machine.sh
#
# QEMU and the GPU's process are killed, or stand still, while the reference is graded:
# it has full marks all the same, and when a VM is lost again and again the grader says
# so and makes up no grade.  A run in which one of them stands still lasts until a limit passes, so
# it goes on beside the others.
# shellcheck disable=SC2034,SC2154,SC2317
set -u
lab=02-gem-object
. tests/tap.sh
. tests/labs/grade.sh

work=$(mktemp -d)
watcher=
trap '[ -z "$watcher" ] || kill "$watcher" 2>/dev/null; rm -rf "$work"' EXIT
stop()
{
	kill $(jobs -p) 2>/dev/null
	wait
	exit 1
}
trap stop INT TERM HUP

complain()
{
	echo "struck: $times of these processes"
	tail -n 12 "$dir/grade.log"
	grep -h '^===' "$dir/$lab/fast-tests.log"
}

# The processes called $1 that the grader into $dir started: nobody else's.
children()
{
	local parent
	parent=$(cat "$dir/pid")
	awk -v parent="$parent" -v name="($1)" '$2 == name && $4 == parent { print $1 }' \
		/proc/[0-9]*/stat 2>/dev/null
}

# Sends signal $2 to each process called $1, to $3 of them, each once a test has ended in its
# own guest, the first or the second: so it strikes in the middle.
strike()
{
	local guests=0 seen pid ending=
	# No strike goes unrecorded because the grader came to its end.
	trap 'ending=yes' TERM
	while [ -z "$ending" ] && [ "$guests" -lt "$3" ]; do
		sleep 0.01
		[ -s "$dir/pid" ] || continue
		seen=$(awk '/^=== guest /{guests++; n = 0; next} /^=== /{n++}
			END {print guests, (n > 0)}' "$dir/$lab/fast-tests.log" 2>/dev/null)
		[ "$seen" = "$((guests + 1)) 1" ] || continue
		pid=$(children "$1")
		[ -n "$pid" ] && ! grep -qx "$pid" "$dir/struck" && kill -s "$2" "$pid" || continue
		echo "$pid" >>"$dir/struck"
		guests=$((guests + 1))
	done
}

# grade_while NAME HOW_OFTEN SIGNAL PROCESS: the reference, meanwhile that.
grade_while()
{
	dir=$work/$1
	mkdir -p "$dir"
	: >"$dir/struck"
	strike "$4" "$3" "$2" &
	watcher=$!
	NO_COLOR=1 sh -c 'echo $$ >"$1/pid"; shift; exec "$@"' sh "$dir" \
		"$BUILD/bin/agate-grade" --lab "$lab" --from solutions --out "$dir" \
		>"$dir/grade.log" 2>&1 &
	wait $!
	status=$?
	kill "$watcher" 2>/dev/null
	wait "$watcher" 2>/dev/null
	watcher=
	times=$(wc -l <"$dir/struck")
}

# grade_beside NAME ...: the same, beside what follows; ended NAME waits for it.
grade_beside()
{
	(
		trap stop TERM
		grade_while "$@"
		echo "$status $times" >"$dir/ended"
	) &
	beside[$1]=$!
}

ended()
{
	dir=$work/$1
	status='' times=''
	wait "${beside[$1]}"
	read -r status times <"$dir/ended"
}

# Full marks, in spite of what was done so often.
full_marks()
{
	[ "$times" = "$1" ] && "$BUILD/tests/labs/verdict" "$dir/result.json" >"$dir/verdict" &&
		grep -qx "score $max of $max" "$dir/verdict" && grep -q '"complete": true' "$dir/result.json"
}

gives_up()
{
	[ "$times" = "$1" ] && grep -q '"complete": false' "$dir/result.json" &&
		grep -q "^agate-grade: .*not your code's fault: .*$2" "$dir/grade.log"
}

echo 1..6
dir=$work/quiet
grade "$dir" solutions || exit 1

declare -A beside=()
grade_beside qemu-stops 1 STOP qemu-system-x86
grade_beside gpu-stops 1 STOP agate-sim
grade_while qemu-killed 1 KILL qemu-system-x86
check "QEMU is killed once" 0 "$status" full_marks 1
grade_while qemu-killed-twice 2 KILL qemu-system-x86
check "QEMU is killed again and again" 1 "$status" gives_up 2 'lost twice: QEMU was ended by signal 9'
grade_while gpu-killed 1 KILL agate-sim
check "the GPU's process is killed once" 0 "$status" full_marks 1
[ "$(find "$dir/$lab" -name 'fast-gpu*.jsonl' | wc -l)" = 2 ]
result $? "each guest has a GPU log of its own"
ended qemu-stops
check "QEMU stands still" 0 "$status" full_marks 1
ended gpu-stops
check "the GPU's process stands still" 0 "$status" full_marks 1
