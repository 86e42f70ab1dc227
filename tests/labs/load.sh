#!/bin/bash
# SPDX-License-Identifier: MIT
#
# load.sh: are verdicts the same on a busy machine?  `make test-load`.
#
# usage: [LAB="NN..."] tests/labs/load.sh [BUSY [MUTANTS [SEED [JOBS]]]]
#
# Grades solution, alternatives and starter of all labs, or of those in LAB, on both kernels, and
# MUTANTS of their mutants (20) up to the first test that fails, as SEED chooses them (1): first on
# the machine as it is, then with BUSY processes (30) that only compute, JOBS (3) at a time, which
# makes it busier still.  Names every test whose verdict differs then.  The last line is
# "N passed, N failed", one for each submission.
set -u
busy=${1:-30} mutants=${2:-20} seed=${3:-1} jobs=${4:-3}
. tests/keep.sh

work=$BUILD/tests/load
rm -rf "$work"
mkdir -p "$work"

# Whatever runs beside this shell ends with it.
stop()
{
	local running

	running=$(jobs -p)
	# shellcheck disable=SC2086 # a list of processes
	[ -z "$running" ] || kill $running 2>/dev/null
	wait
}
trap stop EXIT
trap 'exit 130' INT TERM HUP

labs()
{
	local lab
	[ -n "${LAB:-}" ] || { scripts/lab.sh --list; return; }
	for lab in $LAB; do
		scripts/lab.sh "$lab" || return
	done
}

# The submissions, one a line: NAME LAB FROM OPTION...
submissions()
{
	local folder lab
	for folder in $folders; do
		lab=${folder%%-*}
		mkdir -p "$work/$lab-starter"
		git archive HEAD "labs/$folder" | tar -x -C "$work/$lab-starter"
		echo "$lab-solution $lab solutions --debug"
		echo "$lab-starter $lab $work/$lab-starter/labs --debug"
		alternatives "$folder" "$lab"
	done
	for folder in $folders; do
		git ls-files "tests/mutants/${folder%%-*}/*.patch"
	done |
		awk -v seed="$seed" 'BEGIN { srand(seed) } { print rand(), $0 }' | sort -n |
		head -n "$mutants" | cut -d ' ' -f 2 | while read -r patch; do
			mutant "$patch"
		done
}

# FROM= wants folders named as labs are; an alternative's is named after itself.
alternatives()
{
	local name
	git ls-files "tests/alternatives/$1/*" | cut -d/ -f4 | sort -u | while read -r name; do
		mkdir -p "$work/$2-$name/tree"
		cp -r "tests/alternatives/$1/$name" "$work/$2-$name/tree/$1"
		echo "$2-$name $2 $work/$2-$name/tree --debug"
	done
}

# mutant PATCH: its line, and the folder that this names.
mutant()
{
	local name=${1##*/} lab=${1%/*} folder test debug=
	lab=${lab##*/} name=${name%.patch}
	test=${name%%--*}
	folder=$(scripts/lab.sh "$lab") && mkdir -p "$work/$lab-$name/solutions" &&
		cp -r "solutions/$folder" "$work/$lab-$name/solutions" &&
		patch -s -p1 -F0 --no-backup-if-mismatch -d "$work/$lab-$name" <"$1" >&2 || return
	"$BUILD/bin/agate-lab-info" "labs/$folder/lab.json" | grep -qx "debug-only $test" &&
		debug=--debug
	echo "$lab-$name $lab $work/$lab-$name/solutions --stop-on-fail $debug"
}

# grade NAME LAB FROM OPTION...: "TEST STATUS" for each test; what the grader says instead
# when it fails.
grade()
{
	local out=$work/$1/$2
	mkdir -p "$out"
	NO_COLOR=1 "$BUILD/bin/agate-grade" --lab "$3" --from "$4" --out "$out" --seed "$seed" \
		"${@:5}" >"$out.log" 2>&1 &
	# Waited for, or the shell would hear of a signal only when the grader has ended.
	if wait $!; then
		"$BUILD/tests/labs/verdict" --tests "$out/result.json"
	else
		echo "the grader failed: $(tail -n 1 "$out.log")"
	fi
}

# compare NAME SECONDS: the verdicts on a busy machine, which took that long, beside those
# on a quiet one.
compare()
{
	if cmp -s "$work/$1/quiet.tests" "$work/$1/busy.tests"; then
		printf '  %-8s %-44s %3d verdicts %5d s\n' OK "$1" \
			"$(wc -l <"$work/$1/quiet.tests")" "$2"
		: >"$work/$1/same"
		return
	fi
	printf '  %-8s %-44s %s\n' FAIL "$1" "see $work/$1/busy.log"
	diff "$work/$1/quiet.tests" "$work/$1/busy.tests" |
		sed -n 's/^< /           quiet: /p; s/^> /           busy:  /p'
}

# one NAME quiet|busy LAB FROM OPTION...: once the machine is busy, compare.  By itself, with the
# grader that it has started.
one()
(
	trap stop EXIT
	trap 'exit 130' INT TERM HUP
	begun=$SECONDS
	mkdir -p "$work/$1"
	grade "$@" >"$work/$1/$2.tests"
	if [ "$2" = busy ]; then
		compare "$1" $((SECONDS - begun)) >"$work/$1/said"
		cat "$work/$1/said"
	else
		printf '  %-8s %-44s %18d s\n' '' "$1" $((SECONDS - begun))
	fi
)

# all quiet|busy JOBS: grade all of them, JOBS at a time
all()
{
	local name options pid
	local -A running=()

	while read -r name options; do
		while [ ${#running[@]} -ge "$2" ]; do
			wait -n "${!running[@]}"
			for pid in "${!running[@]}"; do
				[ -e "/proc/$pid" ] || unset "running[$pid]"
			done
		done
		# shellcheck disable=SC2086 # a list of options
		one "$name" "$1" $options </dev/null &
		running[$!]=1
	done <"$work/list"
	wait "${!running[@]}"
}

folders=$(labs) || exit 1
submissions >"$work/list"
printf '  %-8s %s submissions, on this machine as it is\n' GRADE "$(wc -l <"$work/list")"
all quiet 1
printf '  %-8s the same with %s busy processes, %s at a time\n' GRADE "$busy" "$jobs"
setpriv --pdeathsig TERM tests/busy.sh "$busy" sleep infinity &
all busy "$jobs"
passed=$(find "$work" -mindepth 2 -maxdepth 2 -name same | wc -l)
failed=$(($(wc -l <"$work/list") - passed))
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
