#!/bin/bash
# SPDX-License-Identifier: MIT
#
# load.sh: are verdicts the same on a busy machine?  `make test-load`.
#
# usage: [LAB="NN..."] tests/labs/load.sh [BUSY [MUTANTS [SEED]]]
#
# Grades solution, alternatives and starter of all labs, or of those in LAB, on both kernels, and
# MUTANTS of their mutants (20) up to the first test that fails, as SEED chooses them (1): first on
# the machine as it is, then with BUSY processes (30) that only compute.  Names every test whose
# verdict differs then.  The last line is "N passed, N failed", one for each submission.
set -u
busy=${1:-30} mutants=${2:-20} seed=${3:-1}
. tests/keep.sh

work=$BUILD/tests/load
passed=0 failed=0
rm -rf "$work"
mkdir -p "$work"
grader='' beside=
stop()
{
	[ -z "$grader" ] || kill "$grader" 2>/dev/null
	[ -z "$beside" ] || kill "$beside" 2>/dev/null
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
		patch -s -p1 -F0 -d "$work/$lab-$name" <"$1" >&2 || return
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
	grader=$!
	if wait "$grader"; then
		"$BUILD/tests/labs/verdict" --tests "$out/result.json"
	else
		echo "the grader failed: $(tail -n 1 "$out.log")"
	fi
	grader=
}

# compare NAME SECONDS: the verdicts on a busy machine, which took that long, beside those
# on a quiet one.
compare()
{
	if cmp -s "$work/$1/quiet.tests" "$work/$1/busy.tests"; then
		printf '  %-8s %-44s %3d verdicts %5d s\n' OK "$1" \
			"$(wc -l <"$work/$1/quiet.tests")" "$2"
		passed=$((passed + 1))
		return
	fi
	printf '  %-8s %-44s %s\n' FAIL "$1" "see $work/$1/busy.log"
	diff "$work/$1/quiet.tests" "$work/$1/busy.tests" |
		sed -n 's/^< /           quiet: /p; s/^> /           busy:  /p'
	failed=$((failed + 1))
}

# all quiet|busy: grade all of them; once the machine is busy, compare.
all()
{
	local name options begun
	while read -r name options; do
		mkdir -p "$work/$name"
		begun=$SECONDS
		# shellcheck disable=SC2086 # a list of options
		grade "$name" "$1" $options >"$work/$name/$1.tests"
		if [ "$1" = busy ]; then
			compare "$name" $((SECONDS - begun))
		else
			printf '  %-8s %-44s %18d s\n' '' "$name" $((SECONDS - begun))
		fi
	done <"$work/list"
}

folders=$(labs) || exit 1
submissions >"$work/list"
printf '  %-8s %s submissions, on this machine as it is\n' GRADE "$(wc -l <"$work/list")"
all quiet
printf '  %-8s the same with %s busy processes\n' GRADE "$busy"
setpriv --pdeathsig TERM tests/busy.sh "$busy" sleep infinity &
beside=$!
all busy
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
