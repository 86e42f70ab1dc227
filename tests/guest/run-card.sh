# SPDX-License-Identifier: MIT
#
# run-card.sh: the suites that need a card.  run.sh sources it: it sets the steps of the guest, and
# how the simulator is started.

# The display writes its frames there.
with_frames()
{
	frames=$console.frames
	rm -rf "$frames"
	mkdir -p "$frames"
	sim_args="$sim_args --sim-arg --scanout-dir --sim-arg $frames"
}

# Most of them have just that.
case $suite in
binds | cards | chains | faults | gpu-off | half | halves | kmaps | limits) sim_args=$a_card ;;
esac
case $suite in
card | card-port)
	[ $suite = card ] || sim_args=$none
	sim_args="$sim_args $a_card"
	set -- "$(load $patient)" "$(test_step coherency)" "$(test_step compute)" \
		"$(test_step own-vram shared)" "$(test_step own-vram hidden)" "$(test_step own-vram beyond)" \
		'gpu:{"cmd": "power-cut"}' "$(test_step own-vram unpowered)" \
		'gpu:{"cmd": "power-back"}' "$(test_step own-vram lost)" ;;
flips | moves | moves-port)
	[ $suite != moves-port ] || { sim_args="$none --ggtt-64k --dma-bits 32"; gpus=2; }
	# Limits that only thousands of calls reach: a minute on the debug kernel.
	few= few_external=
	[ "$flavour" = fast ] || few=-too_many few_external=-many_external
	# Nobody waits for the end of a move when the device is gone, and its job keeps the module.
	unload="{ $unload || { sleep 1; $unload; }; }"
	# Commands that fail once: the driver has them tried again.
	sim_args="$sim_args $a_card --sim-arg --inject --sim-arg fail-mover:7,fail-mover:40"
	with_frames
	set -- "$(test_step flip)" "$(test_step flip-ends writer_waits)" \
		"$(test_step flip-ends waiter_pins_nothing)" \
		"$(test_step flip-ends move_ends_first)" \
		"$(inject fail-flip:2,fail-flip:4)" "$(test_step flip-ends fault)" \
		"$(inject drop-irq:1:card)" "$(test_step flip-ends lost_interrupt)" \
		"$(stick flip)" "$(test_step flip-ends stuck)" 'gpu:{"cmd": "restore"}' \
		"$(test_step flip-ends ends_late)"
	[ $suite = flips ] || set -- \
		"$(test_step placed "*s")" "$(test_step placed "*_half")" "$(test_step regions)" \
		"$(test_step residency)" \
		"$@" "$(test_step pool)" "$(test_step tt)" \
		"$(test_step vm-bind)" "$(test_step vm-shared)" \
		"$(test_step vm-strain $few_external)" \
		"$(test_step vm-tables in_vram)" "$(test_step vm-tables unwritten)" \
		"$(test_step vm-tables flushed_first)" "$(test_step vm-tables failed)" \
		"$(test_step vm-tables their_part)" \
		"$(test_step userptr $few)" "$(test_step pages-go)" "$(test_step vm-library)" \
		"$(inject fail-mover:3,fail-mover:4)" "$(test_step vm-bind behind_a_fence)" \
		"$(load "$patient page_limit=16")" "$(test_step limit)" "$(test_step residency swapped)" \
		"$(load "$part_mapped")" "$(test_step kmap)" "$(test_step debugged)" \
		"$(load "$uncombined")" "$(test_step kmap vram_kinds)" \
		"$(load $patient)" \
		"$(inject fail-mover:30,fail-mover:31)" "$(test_step placed bound_is_lost)" \
		"$(inject fail-mover:1,fail-mover:2)" "$(test_step placed contents_are_lost)"
	set -- "$firmware" "$(load $patient)" "$@"
	case $suite in
	flips) set -- "$@" "$(test_step flip-ends unbound)" ;;
	moves)
		# CPUs write to these chains while they run, and only a coherent GPU sees that.
		set -- "$@" "$(load $patient)" "$(test_step long-running)" "$(test_step fault-mode)" \
			"$(test_step fault-mode taken_meanwhile)" \
			"$(load "$patient yield_ms=1000")" "$(test_step stalled)"
		# It takes too long on the other kernel.
		[ "$flavour" = debug ] || set -- "$@" "$(test_step vm-random)"
		# These look at nothing in which the two suites differ.
		set -- "$@" "$(test_step flip-ends unbound)" \
			"$(test_step outlived)" \
			"$(inject fail-fw:1)" "$(test_step mover-ends firmware_refused)" \
			"$(test_step mover-ends stopped_first)" \
			"$(test_step mover-ends populate_meets_removal)" \
			"$(inject drop-irq:1:card)" "$(test_step mover-ends lost_interrupt)" \
			"$(inject fail-mover:1,fail-mover:2,fail-mover:3)" \
			"$(test_step mover-ends fails_for_ever)" \
			"$(test_step mover-ends stands_still)" \
			"$(inject fail-mover:1,fail-mover:2,fail-mover:3)" \
			"$(test_step mover-ends does_not_stop)" \
			"kill-sim-on:BUSY" "$(beside flip-ends gone "$(test_step placed gone)")" ;;
	moves-port)
		set -- "$@" 'gpu:{"cmd": "power-cut"}' "$(test_step flip-ends unpowered)" \
			'gpu:{"cmd": "power-back"}' "$(test_step flip-ends unpowered)" ;;
	esac ;;
binds)
	set -- "$firmware" "$(load $patient)"
	for p in ${AGATE_PROGRAMS:-vm-bind vm-shared vm-strain userptr pages-go}; do
		set -- "$@" "$(test_step "$p")"
	done ;;
chains)
	set -- "$firmware" "$(load $patient)" "$(test_step long-running)" ;;
swiotlb-card)
	sim_args=$a_card
	set -- "$firmware" "$(load $patient)" "$(test_step vm-shared out_of_reach)" ;;
tables)
	sim_args="$a_card --ggtt-64k"
	set -- "$firmware" "$(load $patient)" "$(test_step vm-tables in_vram)" \
		"$(test_step vm-tables unwritten)" "$(test_step vm-tables flushed_first)" \
		"$(test_step vm-tables failed)" "$(test_step vm-tables their_part)" \
		"$(test_step vm-tables beside_groups)" "$(test_step regions)" ;;
faults)
	set -- "$firmware" "$(load $patient)" "$(test_step fault-mode)" \
		"$(test_step fault-mode taken_meanwhile)" \
		"$(load "$patient yield_ms=1000")" "$(test_step stalled)" ;;
limits)
	gpus=2
	set -- "$firmware" "$(load "$patient page_limit=16")" "$(test_step limit)" ;;
kmaps)
	set -- "$firmware" "$(load "$part_mapped")" "$(test_step tt)" "$(test_step kmap)" \
		"$(test_step debugged)" \
		"$(load "$uncombined")" "$(test_step kmap)" "$(test_step debugged)" ;;
gpu-off)
	with_frames
	set -- "$firmware" "$(load "$patient autosuspend_ms=20")" "$(test_step gpu-off)" \
		"kill-sim-on:ASLEEP" "$(test_step gpu-off lost)" ;;
long)
	# No stop ends a chain, only a reset does; the card's own work goes on.
	sim_args="$a_card --sim-arg --stop-latency --sim-arg stuck"
	set -- "$firmware" "$(load $brisk)" "$(test_step long-ends "reset_*")" \
		"$(test_step fault-mode reset)" \
		"$(load $patient)" "$(test_step long-ends unbound)" \
		"$(test_step fault-mode unbound)" \
		"kill-sim-on:READY" "$(test_step long-ends gone)" ;;
suspend | suspend-port | suspend-mutants)
	[ $suite != suspend-port ] || sim_args="$none --ggtt-64k --dma-bits 32"
	sim_args="$sim_args $a_card"
	with_frames
	# Both ends of it are the firmware's.
	table='gpu:{"cmd": "crc", "ggtt": [2048, 62976]}'
	cut='gpu:{"cmd": "power-cut"}'
	back='gpu:{"cmd": "power-back"}'
	set -- "$firmware"
	if [ $suite = suspend-mutants ]; then
		# From the file that the caller wrote: one driver after the other, and what looks at it.
		# One that serves no interrupt has jobs that only its end ends.
		next="! test -d /sys/module/agate || { \
			for d in /sys/bus/pci/drivers/agate/0000:*; do echo \${d##*/} >\${d%/*}/unbind; done; \
			$unload || { sleep 1; $unload; }; }"
		while read -r name t; do
			set -- "$@" "put:$MUTANTS/$name/agate.ko:$GUEST/mutant.ko" \
				"exec:$next; echo '# mutant $name $t' && \
				insmod $GUEST/mutant.ko timeout_ms=$endless"
			case $t in
			table) set -- "$@" "$table" "$(test_step suspend nobody)" "$table" ;;
			supplies) set -- "$@" "$(mark "$name")" "$(test_step suspend nobody)" \
				"$(mark '')" ;;
			power_was_cut) set -- "$@" "$cut" "$back" "$(test_step suspend $t)" ;;
			asleep | written_last) set -- "$@" "$(test_step vm-tables $t)" ;;
			copy_fails) set -- "$@" "$(inject fail-mover:3,fail-mover:4)" \
				"$(test_step sleep-ends $t)" ;;
			kernel_memory_comes_back | end_is_found | unbound_before_the_end | left_before)
				set -- "$@" "$(test_step sleep-ends $t)" ;;
			*) set -- "$@" "$(test_step suspend $t)" ;;
			esac
		done <"$MUTANTS/list"
		guest "$@"
		exit
	fi
	set -- "$@" "$(load $endless)" "$table" "$(test_step suspend nobody)" "$table"
	set -- "$@" "$(test_step long-ends sleeps)" "$(test_step fault-mode sleeps)" \
		"$(test_step vm-tables asleep)" "$(test_step vm-tables written_last)"
	set -- "$@" "$(test_step sleep-ends kernel_memory_comes_back)" \
		"$(test_step sleep-ends end_is_found)" \
		"$(test_step sleep-ends unbound_before_the_end)" \
		"$(test_step sleep-ends left_before)" \
		"$(inject fail-mover:3,fail-mover:4)" "$(test_step sleep-ends copy_fails)"
	for t in contents machine "display*" jobs_go_on under_load refused one_is_lost stays_off; do
		set -- "$@" "$(test_step suspend "$t")"
	done
	set -- "$@" "$cut" "$back" "$(test_step suspend power_was_cut)" ;;
cards)
	gpus=2
	set -- "$firmware" "$(load $endless)" "kill-sim-on=1:BUSY" "$(test_step cards)" ;;
random)
	LIMIT=${LIMIT:-7000}
	# A million changes make a long log, and one that is cut short shows no broken rule.
	sim_args="$a_card --sim-arg --log-limit --sim-arg 4096"
	set -- "$firmware" "$(load $patient)" "$(test_step vm-random "1000 $(date +%s)")" ;;
half | halves)
	# A bug that stops both shows soon.
	how="0 60"
	[ $suite = half ] || how=60
	set -- "$firmware" "$(load $patient)" "$(test_step placed "'*_half' $how")" ;;
victims)
	sim_args="$a_card --sim-arg --log-level --sim-arg walks"
	# A GPU that sleeps has forgotten what these two want to see flushed.
	set -- "$firmware" "$(load "$patient runtime_pm=0")" "$(mark away)" \
		"$(test_step victims away)" "$(mark bound)" \
		"$(test_step vm-strain one_comes_back)" "$(load $patient)"
	for t in oldest_first locked_stays pinned_stays elsewhere_first in_the_window two_leave \
		second_wish behind_jobs behind_running next_while_slow parked_first \
		given_back_first; do
		set -- "$@" "$(mark $t)" "$(test_step victims $t)"
	done
	set -- "$@" "$(mark waits)" "$(test_step vm-bind behind_a_fence)"
	set -- "$@" "$(mark '')" "$(test_step victims off_the_lists_first)" \
		"$(test_step victims dying_first)" "$(test_step victims in_turn)" \
		"$(test_step outlived)" ;;
card-failnth)
	# Only the debug kernel makes allocations fail by number, and has lockdep.
	sim_args=$a_card
	set -- "$firmware" "$(load $patient)" "$(test_step failnth-card $failnth_turn)" \
		"$(test_step failnth-vm $failnth_turn)" "$(test_step lock-order)" ;;
tt-mutants)
	# $MUTANTS has drivers with bugs, and in its file plan who has to see each.
	sim_args="$a_card --dma-bits 32"
	set -- "$firmware"
	# The launcher takes no more steps than it has room for: a driver and its test are one.
	while read -r name program test params; do
		set -- "$@" "put:$MUTANTS/$name/agate.ko:$GUEST/mutant.ko" \
			"exec:insmod $GUEST/mutant.ko page_limit=16 vram_mapped=4 $params
			echo '# run $name $program $test${params:+ $params}'
			$(test_step "$program" "$test" | sed 's/^exec://'); echo '# ran'; rmmod agate"
	done <"$MUTANTS/plan"
	unload=true ;;
esac
