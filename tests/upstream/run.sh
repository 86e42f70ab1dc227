#!/bin/sh
# SPDX-License-Identifier: MIT
#
# run.sh: upstream's Panfrost on this GPU, in a fresh guest, as TAP.
#
# usage: tests/upstream/run.sh fast|debug midgard|bifrost|stuck
#
# Panfrost knows real GPUs only by their number: midgard presents itself as a T860, bifrost
# as a G72.  `stuck` is a midgard that does not stop a chain, so that the driver has to reset
# it.  After the tests the kernel's log and the simulator's must be silent, except for
# upstream's own bugs that bugs.txt lists; a line names each bug that showed.
set -u
. tests/guest/run-lib.sh

flavour=$1 suite=$2
BUILD=${BUILD:-build}
GUEST=/run/agate
bugs=tests/upstream/bugs.txt
console=$BUILD/logs/console-upstream-$flavour-$suite.log

# Jobs that touch what is not mapped are the programs' own fault, and their purpose.
expected='a job touched an address that nobody mapped'
case $suite in
midgard) sim_args="--gpu midgard --gpu-id 08602000" ;;
bifrost) sim_args="--gpu bifrost --gpu-id 60010000" ;;
stuck)
	sim_args="--gpu midgard --gpu-id 08602000 --stop-latency stuck"
	expected="$expected|a reset killed a chain" ;;
*)
	echo "run.sh: no suite $suite" >&2
	exit 2 ;;
esac

# How long a job may run: on a busy host the GPU's process may wait for a processor longer
# than the half second that upstream gives a job.  Where the tests wait for hangs the limit
# is a compromise.
patient=10000
brisk=1500

# load ARGUMENT...: the step that loads the driver, anew when it is there.
load()
{
	echo "exec:! test -d /sys/module/agate_panfrost || rmmod agate_panfrost && \
		insmod $GUEST/agate_panfrost.ko $*"
}

# guest STEP...: a guest with the module and all programs delivered.
guest()
{
	mkdir -p "$BUILD/logs"
	programs=$(programs_of "$@")
	for p in $programs; do
		set -- "put:$BUILD/tests/upstream/$p:$GUEST/$p:0755" "$@"
	done
	{ "$BUILD/bin/agate-vm" run --kernel "$BUILD/guest/kernel-$flavour" \
		--initramfs "$BUILD/guest/initramfs.cpio.gz" --sim "$BUILD/bin/agate-sim" \
		$(printf -- '--sim-arg %s ' $sim_args) \
		--sim-log "$console.events" --timeout "${LIMIT:-600}" --console "$console" \
		"put:$BUILD/upstream/$flavour/agate_panfrost.ko:$GUEST/agate_panfrost.ko" \
		"put:$BUILD/driver/$flavour/agate.ko:$GUEST/agate.ko" "$@" \
		"exec:rmmod agate_panfrost && echo '# module unloaded'" \
		"exec:echo '# guest alive'" poweroff
	echo "# launcher ended $?"; } 2>&1 | tee "$console.out"
}

# The log without what bugs.txt knows, and without the first lines of its traces.
unexpected()
{
	awk -F '|' '
		FILENAME == ARGV[1] {
			if ($1 == "warning")
				known[$3] = 1
			else if ($1 == "text")
				line[$3] = 1
			next
		}
		{
			for (text in line)
				if (index($0, text))
					next
		}
		/ WARNING: / {
			for (f in known)
				if (index($0, " " f "+")) {
					traces++
					next
				}
		}
		/ Call Trace:/ && traces { traces--; next }
		{ print }' "$bugs" "$console"
}

# Tell which of the listed bugs showed.
named()
{
	grep -v '^#' "$bugs" | while IFS='|' read -r kind where pattern what; do
		case $kind in
		warning) seen=$(grep -c " WARNING: .* $pattern+" "$console") ;;
		text) seen=$(grep -c "$pattern" "$console") ;;
		hint | reset) seen=$(grep -c "\"event\": \"hint\".*$pattern" "$console.events") ;;
		esac
		[ "$seen" = 0 ] || echo "# upstream bug, $where: $what (seen $seen times)"
	done
}

# Hints that neither the tests nor bugs.txt expect.  Those of kind "reset" are expected only
# while Panfrost resets the GPU: its polls for power may take tens of thousands of bus cycles.
rules_broken()
{
	awk -F '|' -v expected="$expected" '
		FILENAME == ARGV[1] { if ($1 == "hint" || $1 == "reset") known[$3] = $1; next }
		{ time = $0; gsub(/^[^0-9]*|,.*/, "", time) }
		/"event": "reset"/ { reset = time }
		!/"event": "(hint|truncated)"/ || $0 ~ expected { next }
		{
			for (text in known)
				if (index($0, text) &&
				    (known[text] == "hint" || time - reset < 100000))
					next
			print
		}' "$bugs" "$console.events"
}

verdict()
{
	echo "1..3"
	ended_well
	named
	if [ ! -s "$console" ]; then
		echo "not ok 2 - kernel log silent # no log at all"
	elif unexpected | grep -Eq "$SPLAT"; then
		unexpected | grep -Em 20 -A 12 "$SPLAT" | sed 's/^/# /'
		echo "not ok 2 - kernel log silent"
	else
		echo "ok 2 - kernel log silent, except for upstream's bugs"
	fi
	if [ ! -s "$console.events" ]; then
		echo "not ok 3 - no rule of the hardware broken # no event log"
	elif [ -n "$(rules_broken)" ]; then
		rules_broken | head -n 5 | sed 's/^/# /'
		echo "not ok 3 - no rule of the hardware broken"
	else
		echo "ok 3 - no rule of the hardware broken, except by upstream's bugs"
	fi
}

set -- "$(load timeout_ms=$brisk)" "$(test_step panfrost-trouble)"
# Our driver leaves the GPU without power: upstream's has to cope with that.
[ "$suite" = stuck ] || set -- "exec:insmod $GUEST/agate.ko && rmmod agate" \
	"$(load timeout_ms=$patient unstable_ioctls=1)" \
	"$(test_step panfrost-bo)" "$(test_step panfrost-jobs)" "$(test_step panfrost-frame)" \
	"$(test_step panfrost-power)" "$(test_step panfrost-reload $GUEST/agate_panfrost.ko 5)" \
	"$(load timeout_ms=$patient coherent=1)" "$(test_step panfrost-frame)" "$@"
guest "$@"
verdict
