#!/bin/bash
# SPDX-License-Identifier: MIT
#
# queue.sh: run suites, as many at a time as this machine can bear.
#
# usage: tests/queue.sh TABLE [SUITE...]
#
# TABLE has a line for each suite, NAME|CPUS|SECONDS|INPUTS|COMMAND: see tests/suites.mk.
# Without names all suites run.  The one that took longest last time (build/tests/times)
# goes first, so that no long one is left for the end; those that never ran go before all
# others, in the order of the table.  The first that does not fit beside what runs waits for its
# place: others may start before it as long as they end, going by their last times, before it could.
# So a suite with large guests does not wait for all the small ones, unless they never ran.
#
# CPUS is how many processors a suite keeps busy (tests/suites.mk).  "2d" says
# that one of them has the debug kernel, which holds locks long: while one runs, all that
# runs has at most twice as many CPUs as this machine, and one more for a suite without a guest,
# else three times as many.  A virtual CPU that waits for a processor keeps the others waiting for
# its locks; but two guests that wait for their clocks leave a third of this machine idle.
#
# While suites run, a line says how many are done, which run and for how long: on a terminal
# every two seconds, in place, elsewhere every thirty.  Exits 0 whatever the scores.
set -u
. tests/keep.sh

table=$1
shift
cores=$(nproc)
most=${SUITE_JOBS:-$((cores + 2))}
work=$BUILD/tests/queue
rm -rf "$work"
mkdir -p "$work"
if [ -t 1 ]; then terminal=1 every=2; else terminal='' every=${QUEUE_EVERY:-30}; fi
KEEP_WORLD=$(keep_world_key)
export KEEP_WORLD
find "$BUILD/tests/kept/derived" -type f -mtime +14 -delete 2>/dev/null

# The suites, in the order in which they are to run; by name: what the table says, and how many
# seconds it took last time, if it ever ran.
declare -A cpus=() seconds=() inputs=() command=() last=()
order=()

read_table()
{
	local name c s i run at=0
	declare -A wanted=()
	for name; do
		wanted[$name]=1
	done
	while read -r name s _; do
		last[$name]=$s
	done < <(cat "$BUILD/tests/times" 2>/dev/null)
	while IFS='|' read -r name c s i run; do
		at=$((at + 1))
		[ $# = 0 ] || [ -n "${wanted[$name]-}" ] || continue
		unset "wanted[$name]"
		cpus[$name]=$c seconds[$name]=$s inputs[$name]=$i command[$name]=$run
		echo "${last[$name]-$((1000000 - at))} $name" >>"$work/order"
	done <"$table"
	for name in "${!wanted[@]}"; do
		echo "queue.sh: there is no suite $name; MUTANTS=all has those, too, that have no turn" >&2
	done
	[ ${#wanted[@]} = 0 ] && [ -e "$work/order" ] || exit 2
	mapfile -t order < <(sort -rn "$work/order" | cut -d ' ' -f 2)
}

# What runs: by process its suite, and since when.
declare -A running=() since=()
used=0 debug=0

# fits SUITE BESIDE: may it run beside so many, which use $used and have $debug debug guests?
# Alone it may, however large it is.
fits()
{
	local c=${cpus[$1]} limit=$((3 * cores))
	[ "$2" != 0 ] || return 0
	[ "$2" -lt "$most" ] || return 1
	[[ $c != *d && $debug = 0 ]] || limit=$((2 * cores + 1))
	[ $((used + ${c%d})) -le "$limit" ]
}

# When SUITE will fit, if each that runs ends as it did last time.
fits_at()
{
	local used=$used debug=$debug beside=${#running[@]} at pid c took end late
	while read -r at pid; do
		c=${cpus[${running[$pid]}]}
		used=$((used - ${c%d})) beside=$((beside - 1))
		[[ $c != *d ]] || debug=$((debug - 1))
		! fits "$1" "$beside" || break
	done < <(for pid in "${!running[@]}"; do
		took=${last[${running[$pid]}]-1000000000}
		end=$((since[$pid] + ${took%.*}))
		# One that takes longer than last time takes somewhat longer still.
		late=$((SECONDS + (SECONDS - since[$pid]) / 4 + 1))
		echo "$((end > late ? end : late)) $pid"
	done | sort -n)
	echo "$at"
}

start()
{
	local name=$1 argv
	read -ra argv <<<"${command[$name]}"
	tests/suite.sh "$name" "${seconds[$name]}" "${inputs[$name]}" "${argv[@]}" \
		>"$work/${name//\//-}" 2>&1 </dev/null &
	running[$!]=$name
	since[$!]=$SECONDS
	used=$((used + ${cpus[$name]%d}))
	[[ ${cpus[$name]} != *d ]] || debug=$((debug + 1))
}

# Starts what may run now.
fill()
{
	local at name took until=
	for at in "${!order[@]}"; do
		[ ${#running[@]} -lt "$most" ] || break
		name=${order[at]} took=${last[${order[at]}]-0}
		if ! fits "$name" ${#running[@]}; then
			: "${until:=$(fits_at "$name")}"
		elif [ -z "$until" ] || [ $((SECONDS + ${took%.*})) -lt "$until" ]; then
			start "$name"
			unset "order[at]"
		fi
	done
}

ended()
{
	local name=${running[$1]}
	unset "running[$1]" "since[$1]"
	used=$((used - ${cpus[$name]%d}))
	[[ ${cpus[$name]} != *d ]] || debug=$((debug - 1))
	finished=$((finished + 1))
	[ -z "$terminal" ] || printf '\r\033[K'
	cat "$work/${name//\//-}"
}

# The shell forgets a process that ended while it did something else.
missed()
{
	local pid
	for pid in "${!running[@]}"; do
		[ -e "/proc/$pid" ] || ended "$pid"
	done
	[ -e "/proc/$clock" ] || clock=
}

# On a terminal as much as fits one line, or the line could not be taken back.
status()
{
	local pid line width
	line="$finished of $all suites done; running:"
	for pid in "${!running[@]}"; do
		line+=" ${running[$pid]} $((SECONDS - since[$pid])) s,"
	done
	line=$(printf '  %-8s %s' "$SECONDS s" "${line%,}")
	if [ -n "$terminal" ]; then
		width=$(tput cols 2>/dev/null)
		printf '\r\033[K%s' "${line:0:$((${width:-80} - 1))}"
	else
		echo "$line"
	fi
}

# A suite passes the signal on, and ends when what it runs has ended.
stop()
{
	# A second signal, as one ^C can bring, must not leave suites behind.
	trap '' INT TERM HUP
	[ -z "$clock" ] || kill "$clock" 2>/dev/null
	[ ${#running[@]} = 0 ] || kill "${!running[@]}" 2>/dev/null
	wait
	[ -z "$terminal" ] || echo
	exit 130
}

clock=
trap stop INT TERM HUP
read_table "$@"
all=${#order[@]} finished=0 told=0
while [ "$finished" -lt "$all" ]; do
	fill
	if [ -z "$clock" ]; then
		sleep 2 &
		clock=$!
	fi
	wait -n -p pid "${!running[@]}" "$clock"
	if [ "${pid-}" = "$clock" ]; then
		clock=
		[ $((SECONDS - told)) -lt "$every" ] || { status; told=$SECONDS; }
	elif [ -n "${pid-}" ]; then
		ended "$pid"
	else
		missed
	fi
done
[ -z "$clock" ] || kill "$clock" 2>/dev/null
[ -z "$terminal" ] || printf '\r\033[K'
exit 0
