#!/bin/bash
# SPDX-License-Identifier: MIT
#
# suite.sh: run one test program, judge its TAP, write down the score.
#
# usage: tests/suite.sh NAME SECONDS INPUTS COMMAND...
#
# A test passed only if the program said so, said how many tests there would
# be, said a line for each of them, and then ended well.  Silence, a missing or
# wrong plan and a bad exit are failures of the suite, counted as one more
# failed test.  Appends "NAME passed failed" to build/tests/score and leaves
# all output in build/logs/NAME.log.  Exits 0 whatever the score.
#
# SECONDS is how long the program may say nothing.  Then it hangs, and is ended: on a busy
# machine it takes longer as a whole, but it still gets from one test to the next.  A second counts
# less where more threads want to run than tests/queue.sh alone would start.
#
# INPUTS are all that the verdict depends on, as keep.sh wants them: when they are what
# they were in a run without a failure, the log of that run is judged in place of a new
# one.  "-" is an input that is never the same.  FRESH=1 runs the suite anyway.
# Appends "NAME SECONDS CPU-SECONDS" to build/tests/times when all of the suite ran.
set -u
. tests/keep.sh

name=$1 limit=$2
read -ra inputs <<<"$3"
shift 3
KEEP_WORLD=${KEEP_WORLD:-$(keep_world_key)}
file=${name//\//-}
log=$BUILD/logs/$file.log
mkdir -p "$BUILD/logs" "$BUILD/tests"

suite_key()
{
	[ "${inputs[*]}" != - ] && keep_key "$name" "$@" -- tests/suite.sh "${inputs[@]}"
}

# The CPU time of all children of this shell so far, in seconds.
computed()
{
	times >"$BUILD/tests/$file.cpu"
	cpu=$(awk -F '[ms ]+' 'NR == 2 { print $1 * 60 + $2 + $3 * 60 + $4 }' "$BUILD/tests/$file.cpu")
	rm "$BUILD/tests/$file.cpu"
}

# Ends process $1 once the log has not grown for so long.
end_silence()
{
	local size last=-1 silent=0 since=$SECONDS before=$SECONDS usual threads
	usual=$((3 * $(nproc)))
	while sleep 1 && kill -0 $$; do
		size=$(stat -c %s "$log")
		read -r _ _ _ threads _ </proc/loadavg
		threads=${threads%/*}
		# In thousandths of a second.
		silent=$((silent + 1000 * (SECONDS - before) * usual / (threads > usual ? threads : usual)))
		[ "$size" = "$last" ] || silent=0 since=$SECONDS
		last=$size before=$SECONDS
		if [ "$silent" -ge $((1000 * limit)) ]; then
			echo $((SECONDS - since)) >"$log.silent"
			kill "$1"
			return
		fi
	done
}

# timeout(1) gives the suite a process group of its own, so that its end takes
# everything along; a Ctrl-C reaches only this shell, which passes it on.
run()
{
	local environment=() variable begun=$EPOCHREALTIME before watcher
	rm -f "$log.silent"
	for variable in "${KEEP_ENVIRONMENT[@]}"; do
		[ -z "${!variable+set}" ] || environment+=("$variable=${!variable}")
	done
	computed
	before=$cpu
	# A script that keeps single verdicts needs the last two as well.
	env -i "${environment[@]}" CMOCKA_MESSAGE_OUTPUT=TAP KEEP_WORLD="$KEEP_WORLD" \
		FRESH="${FRESH-}" timeout -k 10 5h "$@" </dev/null >"$log" 2>&1 &
	pid=$!
	end_silence "$pid" </dev/null >/dev/null 2>&1 &
	watcher=$!
	trap 'kill "$watcher" "$pid"; wait "$pid"; exit 130' INT TERM HUP
	wait "$pid"
	status=$?
	trap - INT TERM HUP
	kill "$watcher" 2>/dev/null
	computed
	took=$(awk -v begun="$begun" -v ended="$EPOCHREALTIME" -v before="$before" -v cpu="$cpu" \
		'BEGIN { printf "%.1f %.1f\n", ended - begun, cpu - before }')
}

judge()
{
	local last

	passed=$(grep -c '^ok [0-9]' "$log")
	failed=$(grep -c '^not ok [0-9]' "$log")
	planned=$(sed -n 's/^1\.\.\([0-9][0-9]*\)$/\1/p' "$log" | awk '{ n += $1 } END { print n + 0 }')
	why=
	if [ -f "$log.silent" ]; then
		why="nothing was said for $(cat "$log.silent") s"
		# A program's tests run in the order of its table.
		last=$(grep -E '^(not )?ok [0-9]+' "$log" | tail -n 1)
		[ -z "$last" ] || why+=": the test that hangs is the one after \"$last\""
	elif [ "$planned" = 0 ]; then
		why="no plan (exit status $status)"
	elif [ "$planned" != $((passed + failed)) ]; then
		why="$planned tests planned, $((passed + failed)) seen (exit status $status)"
	elif [ "$failed" = 0 ] && [ "$status" != 0 ]; then
		why="exit status $status"
	fi
	[ -z "$why" ] || failed=$((failed + 1))
}

# The failed tests in the log, with what is said of each in comments directly before or after.
failures()
{
	awk '!/^(not ok [0-9]|#)/ { if (failed) printf "%s", block; block = ""; failed = 0; next }
	     /^not ok/ { failed = 1 }
	     { block = block $0 "\n" }
	     END { if (failed) printf "%s", block }' "$log"
}

tell()
{
	if [ "$failed" = 0 ]; then
		printf '  %-8s %-36s %4d tests %s\n' OK "$name" "$passed" "$1"
		return
	fi
	printf '  %-8s %-36s %4d of %d failed, see %s\n' FAIL "$name" "$failed" \
		$((passed + failed)) "$log"
	[ -z "$why" ] || printf '           %s\n' "$why"
	failures | head -n 30 | cut -c -160 | sed 's/^/           /'
	[ -z "$why" ] || tail -n 8 "$log" | sed 's/^/           | /'
}

judged()
{
	judge
	[ "$failed" = 0 ]
}

begun=$SECONDS
if key=$(suite_key "$@") && kept=$(keep_get "$file" "$key") && cp "$kept" "$log" &&
	status=0 && rm -f "$log.silent" && judged; then
	tell "(kept)"
else
	run "$@"
	judge
	single=$(grep -c '^ok [0-9].* # kept$' "$log") kept=
	if [ "$single" = 0 ]; then
		echo "$name $took" >>"$BUILD/tests/times"
	else
		kept=", $single kept"
	fi
	tell "$(printf '%5d s%s' $((SECONDS - begun)) "$kept")"
	# If an input changed meanwhile, nobody knows which version was used.
	[ "$failed" != 0 ] || [ -z "$key" ] || [ "$key" != "$(suite_key "$@")" ] ||
		keep_put "$file" "$key" "$log"
fi
echo "$name $passed $failed" >>"$BUILD/tests/score"
