#!/bin/sh
# SPDX-License-Identifier: MIT
#
# run.sh: run one suite of guest tests in a fresh guest, as TAP.
#
# usage: tests/guest/run.sh fast|debug calls|jobs|bifrost|lite|swiotlb|reset|reload|
#                           power|card|card-port|card-failnth|moves|moves-port|suspend|suspend-port|shared|two|two-none|swiotlb-two|dvfs|
#                           binds|chains|tables|faults|flips|half|kmaps|limits|gpu-off|long|wired|edges|edges-lite|fuzz|fuzz-card|storm|storm-two|
#                           swiotlb-card|swiotlb-storm|swiotlb-storm-two
#
#   calls    what single calls promise, threads in each other's way, and libagate's cache; on the
#            debug kernel every allocation of every call fails once as well
#   jobs     jobs that run, fault, hang, and whose owner is killed; at last the
#            GPU's process is killed while one runs
#   bifrost  as jobs, with AArch64 page tables and no coherency
#   lite     as jobs, on a GPU that snoops the CPUs and is not snooped; before that each
#            protocol that the driver may be told, and protected mode
#   swiotlb  calls and jobs in a guest that bounces all DMA: the GPU and the CPUs never
#            see the same memory, and what one side wrote reaches the other only if the
#            driver syncs it
#   power    a GPU that loses its power whenever it is idle, and does not always get it back,
#            or sticks on the way; at last the GPU's process is killed while the GPU is off.
#            power-long also has reset_without_commands, whose window is not always hit
#   card     a card, whose VRAM jobs and CPUs use, until its supply goes and comes
#   card-port  the same on the GPU of bifrost, whose table is not in BAR2
#   card-failnth  every allocation of each call that a card has fails once, on the debug kernel
#   moves    a card with firmware: BOs with a placement, which move, and with a limit of system
#            memory, which are swapped; its display shows them
#   moves-port  the same on the GPU of bifrost, which translates VRAM by 64 KiB and reaches no more
#            than 4 GiB, beside a second one; at last the card's supply goes
#   binds    the part of moves that is about address spaces whose owner chooses the ranges; mutants.sh
#            runs it, and AGATE_PROGRAMS are those of it that it needs
#   chains   the part of moves that is about jobs that may run for ever; mutants.sh runs it
#   faults   address spaces in fault mode, and memory that does not come, as suite moves has them
#   tables   the part of moves that is about page tables in VRAM, which the card translates by
#            64 KiB; mutants.sh runs it
#   flips    the part of moves that is about the card's display; mutants.sh runs it
#   half     the same for two clients of which each wants more than half of VRAM
#   kmaps    BOs with a placement as the kernel sees them: for other drivers, for debuggers, and their pages
#   limits   the part of moves that is about less system memory than BOs need; mutants.sh runs it
#   random   a thousand random changes of each of a thousand address spaces, as many of them at a
#            time as the guest has memory for
#   gpu-off  a card whose GPU has no power most of the time; at last the GPU's process is killed
#            then
#   long     jobs that may run for ever, on a card that stops no chain, only to be reset; at last
#            the GPU's process is killed while they run
#   suspend  a card that loses its power while the system sleeps, while jobs run and BOs move;
#            each step of that fails once.  suspend-port is the same on the GPU of moves-port;
#            mutants.sh runs suspend-mutants, where MUTANTS is a folder with drivers
#   shared   BOs that other processes and drivers use, and BOs of other drivers
#   two      two GPUs that use each other's BOs; at last the second one's process is killed
#            while the first one uses its memory
#   two-none two GPUs of the other kind, without any coherency
#   swiotlb-two  two GPUs in a guest that bounces all DMA
#   swiotlb-card  a card in such a guest, whose GPU reaches no memory where it lies
#   dvfs     frequency and voltage, which follow a load that the launcher makes
#   wired    what goes wrong when the CPUs, the GPU and its L2 do not see the same bytes, with
#            each protocol, in a guest that bounces all DMA, on a GPU that does not stop a chain;
#            and protected mode
#   edges    the part of swiotlb that is about what one side wrote and the other sees; edges-lite is
#            the same on the GPU of lite.  mutants.sh runs them: AGATE_KO is the driver
#            in the place of the flavour's
#   reset    as jobs, on a GPU that does not stop a chain, only to be reset, also when the
#            system goes to sleep; at last the
#            GPU's process is killed while a reset is pending
#   fuzz     a 32-bit program, and then any calls with any arguments, by two processes at once, for
#            ten seconds; on a card it is fuzz-card.  run.sh debug fuzz SECONDS SEED: for
#            longer, and with another seed
#   storm    for a minute, clients that do everything at once and are killed, while the
#            GPU, which does not stop a chain, is unbound and bound again
#   swiotlb-storm  the same in a guest that bounces all DMA
#   storm-two, swiotlb-storm-two  the same with two GPUs
#   reload   the module is loaded and unloaded fifty times (debug kernel: ten), then without
#            each of its topics; at last what a test can only see by reaching into it: BOs
#            whose memory is of another kind, the locks of an address space, heaps that grow
#            while memory is short, what the system's sleep leaves of jobs and memory, and the
#            probes of the tests themselves
#
# Where every allocation fails once (calls and two on the debug kernel, card-failnth) a third argument
# has only every sixth one fail, from that number (1 .. 6) on.
#
# AGATE_KO is another driver, and AGATE_APPEND more for the kernel's command line.
#
# Afterwards the module must unload, the guest be alive, and the kernel's log be
# silent.  On the debug kernel that includes kmemleak, where it sees what no other
# suite shows it: it leaves alone what is younger than five seconds, and its two
# looks take twenty, which is why programs share a guest.  In card, dvfs, gpu-off, long, power and
# shared it looks if there is a third argument, leaks.
set -u
. tests/guest/run-lib.sh

flavour=$1 suite=$2
fuzz_seconds=${3:-10} fuzz_seed=${4:-1}
failnth_turn=${3:-}
# By the guest's clock.  A suite that hangs is ended for its silence (tests/suite.sh); this is for one
# that goes on for ever.
limit=600
[ "$flavour" = fast ] || limit=2400
BUILD=${BUILD:-build}
GUEST=/run/agate
# A caller that runs suites of its own beside those of others has a place for them.  It may end
# the launcher, $console.pid.
console=${CONSOLE:-$BUILD/logs/console-$flavour-$suite.log}
KMEMLEAK=/sys/kernel/debug/kmemleak

sim_args=
gpus=1
card=
append=
checkers=
unload="rmmod agate"
if [ "$flavour" = debug ]; then
	case $suite in
	reset | reload | swiotlb* | wired | edges*) leaks= ;;
	card | dvfs | gpu-off | long | power | shared) leaks=${3-} ;;
	*) leaks=leaks ;;
	esac
	checkers="${leaks:+kmemleak }lockdep dma-api"
	[ -n "$leaks" ] || append=kmemleak=off
fi

case $suite in
swiotlb* | wired | edges*) append="$append swiotlb=force" ;;
esac
append="$append${AGATE_APPEND:+ $AGATE_APPEND}"

# guest STEP...: a guest with the driver and all programs delivered.
guest()
{
	mkdir -p "$BUILD/logs"
	set -- "$@" "exec:$unload && echo '# module unloaded'"
	# Each checker switches itself off when it is in trouble: ask them.
	for c in $checkers; do
		case $c in
		kmemleak) look="sleep 6 && echo scan >$KMEMLEAK && sleep 1 && echo scan >$KMEMLEAK && \
			cat $KMEMLEAK" ;;
		lockdep) look="grep -q 'debug_locks: *1' /proc/lockdep_stats" ;;
		dma-api) look="grep -q N /sys/kernel/debug/dma-api/disabled" ;;
		esac
		set -- "$@" "exec:$look && echo '# $c looked'"
	done
	for p in bo-cache vm-library uapi-bo uapi-submit mmap races jobs gone reload failnth failnth-two stale fences closed stats \
		compute listed many absent coherency queued runtime-pm storm caught \
		reservations readers lock-order parked probed backing spaces heaps asleep \
		contiguous prime strangers scanout two-gpus one-goes top dvfs \
		power-sticks restart trips own-vram limit placed pool tt mover-ends victims cards failnth-card failnth-vm \
		vm-bind vm-shared vm-random vm-strain vm-tables userptr pages-go long-running long-ends fault-mode stalled wired regions residency kmap debugged flip flip-ends suspend fuzz compat gpu-off sleep-ends outlived; do
		set -- "put:$BUILD/tests/guest/$p:$GUEST/$p:0755" "$@"
	done
	for p in agate-info agate-map agate-top; do
		set -- "put:$BUILD/bin/$p:$GUEST/$p:0755" "$@"
	done
	set -- "put:$BUILD/lib/libagate.so:/lib/libagate.so.0" "$@"
	modules="vgem vkms"
	case $suite in
	binds | moves*) modules="$modules zsmalloc zram" ;;
	esac
	for m in $modules; do
		set -- "put:$BUILD/guest/kernel-$flavour/modules/$m.ko:$GUEST/$m.ko" "$@"
	done
	case $suite in
	binds | calls | card* | chains | dvfs | edges-lite | faults | flips | gpu-off | jobs | kmaps | limits | lite | moves* | \
	power* | reset | reload | shared | suspend* | swiotlb | tables | tt-mutants | two | victims | wired)
		set -- "put:$BUILD/tests/kmod/$flavour/agate_inject.ko:$GUEST/agate_inject.ko" "$@" ;;
	esac
	programs=$(programs_of "$@")
	{ sh -c 'echo $$ >"$0.pid" && exec "$@"' "$console" \
		"$BUILD/bin/agate-vm" run --kernel "$BUILD/guest/kernel-$flavour" \
		--initramfs "$BUILD/guest/initramfs.cpio.gz" --sim "$BUILD/bin/agate-sim" \
		--gpus $gpus $sim_args ${append:+--append "$append"} --sim-log "$console.events" \
		--timeout "${LIMIT:-$limit}" --console "$console" \
		"put:${AGATE_KO:-$BUILD/driver/$flavour/agate.ko}:$GUEST/agate.ko" "$@" \
		"exec:echo '# guest alive'" poweroff
	echo "# launcher ended $?"; } 2>&1 | tee "$console.out"
}

# Checkers of the debug kernel that were off when the run ended.
idle_checkers()
{
	for c in $checkers; do
		said "$c looked" || echo "$c"
	done
}

# Jobs that touch what is not mapped are a program's fault, and these programs'
# purpose: the driver must live with them.  So are those that touch what they did
# not list, as often as a program says that its jobs did.
rules_broken()
{
	cat $logs | grep -E '"event": "(hint|truncated)"' |
		grep -Ev 'a job touched (an address that nobody mapped|memory that it did not list)' |
		{ case $suite in
		# CPUs write to chains that run.
		fuzz*) grep -v 'a stale line of the L2 was read' ;;
		*) cat ;;
		esac; }
	unlisted=$(cat $logs | grep -c 'a job touched memory that it did not list')
	meant=$(awk '/^# jobs that touch what they did not list: / { n += $NF } END { print n + 0 }' \
		"$console.out")
	[ "$unlisted" = "$meant" ] || {
		echo "jobs that touched what they did not list: $unlisted, not $meant"
		cat $logs | grep '"event": "unlisted"'
	}
}

# logs_there: is each GPU's event log there?
logs_there()
{
	for log in $logs; do
		[ -s "$log" ] || return 1
	done
}

# point NAME COMMAND...: the next point of TAP, ok if the command succeeds.
points=0
point()
{
	name=$1
	shift
	points=$((points + 1))
	"$@" && echo "ok $points - $name" || echo "not ok $points - $name"
}

# What the kernel said.  DMA-API's checker counts seven mappings of one page at most, and storm-card
# has clients that bind theirs more often, or the page of zeros: that is a limit of the checker.
kernel_said()
{
	case $suite in
	storm-card) sed '/DMA-API: exceeded [0-9]* overlapping/,/end trace/d' "$console" \
		"$console.out" ;;
	*) cat "$console" "$console.out" ;;
	esac
}

# Three more points of TAP: about the end of the run, the kernel's log, and what
# the GPU saw.
verdict()
{
	echo "1..3"
	ended_well
	if kernel_said | grep -Eq "$SPLAT"; then
		kernel_said | grep -Em 20 -A 12 "$SPLAT" | sed 's/^/# /'
		echo "not ok 2 - kernel log silent"
	elif [ ! -s "$console" ]; then
		echo "not ok 2 - kernel log silent # no log at all"
	elif [ -n "$(idle_checkers)" ]; then
		echo "not ok 2 - kernel log silent # did not look:" $(idle_checkers)
	else
		echo "ok 2 - kernel log silent"
	fi
	if ! logs_there; then
		echo "not ok 3 - no rule of the hardware broken # no event log"
	elif [ -n "$(rules_broken)" ]; then
		rules_broken | head -n 5 | sed 's/^/# /'
		echo "not ok 3 - no rule of the hardware broken"
	else
		echo "ok 3 - no rule of the hardware broken"
	fi
}

# How long a job may run: on a busy host the GPU's process may not get a core for
# a while, and a job that was not at fault must not be taken for one that hangs.
# Where the tests wait for hangs the limit is a compromise.
patient=10000
brisk=1500
# Long enough to close a file, and then waited for in full.
resolute=4000
# Where only the loss of the GPU may end a wait, and no reset.
endless=600000
none="--sim-arg --gpu --sim-arg bifrost --sim-arg --coherency --sim-arg none"
a_card="--card --vram 64 --vram-visible 16"
reloads=50
# The debug kernel takes far longer, and sees a leak in every single one.
[ "$flavour" = fast ] || reloads=10

# The protocol that the driver is told.  Programs that look at what a chain writes before it ends
# need a GPU that is snooped, and so do those that reset one in mid-chain: a reset loses
# what the L2 holds, and the GPU says so.
protocol=ace
case $suite in
bifrost | card-port | moves-port | swiotlb | edges | two-none) protocol=none ;;
lite | edges-lite) protocol=ace-lite ;;
esac

# load LIMIT [PROTOCOL]: the step that loads the driver, anew when it is there.
load()
{
	echo "exec:! test -d /sys/module/agate || rmmod agate && \
		insmod $GUEST/agate.ko tell_listed=1 timeout_ms=$1 coherency=${2:-$protocol}"
}

# idle CYCLES: the step that lets so much of the GPU's time pass without work.
idle()
{
	echo "gpu:{\"cmd\": \"idle\", \"cycles\": $1}"
}

# stick WHAT: the step that makes the GPU's next transition of this kind never end.
stick()
{
	echo "gpu:{\"cmd\": \"latency\", \"$1\": -1, \"once\": 1}"
}

# beside PROGRAM TEST STEP: the step, while that test of another program runs, from when it
# says READY on.
beside()
{
	own=/run/$1.out
	echo "exec:{ CMOCKA_MESSAGE_OUTPUT=TAP $GUEST/$1 $2; echo \"# $1 ended \$?\"; } >$own 2>&1 & \
		until grep -q READY $own; do sleep 0.1; done; ${3#exec:}; wait; cat $own"
}

# mark TEXT: the step that writes it into the event log.
mark()
{
	echo "gpu:{\"cmd\": \"mark\", \"text\": \"$1\"}"
}

# The step that brings the card's firmware.
firmware="put:$BUILD/firmware/agate/card.fw:/lib/firmware/agate/card.fw"

# inject SPEC: the step that makes the GPU do this wrong.
inject()
{
	echo "gpu:{\"cmd\": \"inject\", \"spec\": \"$1\"}"
}

# The kernel keeps a part of VRAM mapped, and CPUs combine writes to all of it, or to nothing.
part_mapped="$patient page_limit=16 vram_mapped=4"
uncombined="$part_mapped vram_uncached=1"

set --
case $suite in
calls)
	more=$(test_step many 100000)
	[ "$flavour" = fast ] || more=$(test_step failnth $failnth_turn)
	set -- "$(load $patient)" "$(test_step uapi-bo)" "$(test_step uapi-submit)" \
		"$(test_step mmap)" "$(test_step contiguous)" "$(test_step stats)" \
		"$(test_step races)" "$(test_step bo-cache)" \
		"$(test_step top "$GUEST/agate-top $GUEST/agate-info")" "$more" ;;
esac
# Without the programs that look at what a chain writes while it runs (`closed`, `gone`),
# or whose jobs do not list all that they touch (`listed`).
case $suite in
swiotlb)
	set -- "$(test_step reload $GUEST/agate.ko 2)" "$(load $patient)" "$(test_step uapi-bo)" \
		"$(test_step uapi-submit)" "$(test_step mmap)" "$(test_step contiguous)" \
		"$(test_step prime)" "$(test_step scanout)" "$(test_step strangers)" "$(load $brisk)" \
		"$(test_step coherency)" "$(test_step jobs)" "$(test_step fences)" \
		"$(load $patient)" "$(test_step compute)" "$(test_step stale)" ;;
esac
case $suite in
bifrost) sim_args=$none ;;
lite)
	sim_args="--sim-arg --coherency --sim-arg ace-lite"
	set -- "$(test_step wired)" ;;
esac
case $suite in
jobs | bifrost | lite)
	set -- "$@" "$(load $brisk)" "$(test_step coherency)" "$(test_step jobs)" \
		"$(test_step fences)" "$(load $patient)" "$(test_step compute)" \
		"$(test_step stale)" "$(test_step listed)" "$(test_step queued)" "$(test_step readers)" ;;
esac
case $suite in
jobs)
	# A chain without end never flushes: where the GPU is not coherent, nobody sees
	# that it runs.  Nothing that needs a GPU comes behind `gone`.
	set -- "$@" "$(test_step closed)" "$(load $endless)" "kill-sim-on:BUSY" \
		"$(test_step gone)" ;;
reset)
	sim_args="--sim-arg --stop-latency --sim-arg stuck"
	# Nothing that needs a GPU comes behind `caught`.
	set -- "$(load $brisk)" "$(test_step jobs)" "$(test_step fences)" "$(load $resolute)" \
		"$(test_step closed)" "$(load $patient)" "$(test_step asleep)" "exec:rmmod agate" \
		"kill-sim-on:BUSY" "$(test_step caught)" ;;
dvfs)
	# The points of a GPU without power change later, and these tests wait for none.
	sim_args="--sim-arg --stop-latency --sim-arg stuck"
	set -- "$(load "$patient runtime_pm=0")" "$(test_step dvfs table)" "$(test_step trips)" \
		"$(mark fixed)" "$(test_step dvfs fixed)" \
		"$(mark changing)" "$(test_step dvfs equal)" "$(idle 80000000)" \
		"$(test_step dvfs slow)" "$(test_step dvfs fast)" "$(test_step dvfs begin)" \
		"$(idle 750000)" "$(test_step dvfs middle)" "$(test_step dvfs userspace)" \
		"$(inject refuse-clock:1,refuse-clock:3,refuse-clock:7,refuse-clock:9)" \
		"$(test_step dvfs refused)" "$(test_step dvfs unbound)" "$(test_step dvfs leaving)" \
		"$(load "$brisk runtime_pm=0")" "$(test_step dvfs reset)" ;;
wired)
	sim_args="--sim-arg --stop-latency --sim-arg stuck"
	set -- "$(test_step wired)" "$(load $patient)" "$(test_step restart)" ;;
edges) set -- "$(load $brisk)" "$(test_step coherency)" ;;
edges-lite)
	sim_args="--sim-arg --coherency --sim-arg ace-lite"
	set -- "$(test_step wired)" "$(load $brisk)" "$(test_step coherency)" ;;
power | power-long)
	resets="reset_*suspend*"
	[ $suite = power ] || resets="reset_*"
	# Loading the driver makes three.
	sim_args="--sim-arg --inject --sim-arg fail-power:4,fail-power:6,fail-power:8"
	set -- "exec:insmod $GUEST/agate.ko tell_listed=1 timeout_ms=$resolute autosuspend_ms=20" \
		"$(test_step runtime-pm)" "$(load "$endless autosuspend_ms=20")" \
		"$(test_step runtime-pm sleeps)" "$(idle 80000000)" "$(test_step runtime-pm slept)" \
		"$(test_step power-sticks hold)" "$(stick power)" "$(test_step power-sticks tiler)" \
		"$(test_step power-sticks awake)" "$(stick power)" "$(test_step power-sticks down)" \
		"$(stick reset)" "$(test_step power-sticks wakes_hard)" \
		"$(test_step power-sticks "$resets")" "$(test_step power-sticks unbound)" \
		"kill-sim-on:ASLEEP" "$(test_step runtime-pm lost)" ;;
fuzz | fuzz-card)
	# Nobody here lists what its jobs touch.
	words=
	if [ $suite = fuzz-card ]; then
		words=card
		sim_args="$a_card"
		set -- "$firmware"
	fi
	words="$fuzz_seconds $words seed=$fuzz_seed"
	LIMIT=${LIMIT:-$((600 + fuzz_seconds))}
	set -- "$@" "exec:insmod $GUEST/agate.ko timeout_ms=$brisk" "$(test_step compat)" \
		"$(test_step fuzz "$words")" ;;
shared)
	set -- "$(load $patient)" "$(test_step prime)" "$(test_step scanout)" "$(test_step strangers)" ;;
two)
	# Nothing that needs the second GPU comes behind its end.
	gpus=2
	set -- "$(load $endless)" "$(test_step two-gpus)"
	[ "$flavour" = fast ] || set -- "$@" "$(test_step failnth-two $failnth_turn)"
	set -- "$@" "kill-sim-on=1:BUSY" "$(test_step one-goes)" ;;
two-none | swiotlb-two)
	gpus=2
	[ $suite = swiotlb-two ] || sim_args=$none
	set -- "$(load $endless)" "$(test_step two-gpus)" ;;
storm* | swiotlb-storm*)
	# Nobody here lists what its jobs touch, or waits for a job that hangs.
	sim_args="--sim-arg --stop-latency --sim-arg stuck"
	case $suite in
	*-two) gpus=2 ;;
	*-card)
		card=card
		sim_args="$sim_args $a_card"
		set -- "$firmware" ;;
	esac
	set -- "$@" "exec:insmod $GUEST/agate.ko timeout_ms=200 coherency=$protocol" \
		"$(test_step storm "60 $gpus $card")" ;;
reload)
	set -- "$(test_step reload $GUEST/agate.ko $reloads)" "$(test_step absent)" \
		"$(load $patient)" "$(test_step backing)" "$(test_step heaps)" \
		"$(test_step reservations)" "$(test_step parked)" "$(test_step probed)"
	# Only this kernel has lockdep.
	[ "$flavour" = fast ] || set -- "$@" "$(test_step lock-order)"
	# In spaces a chain without end runs while 200 registers are read: no limit may end it.
	set -- "$@" "$(load $endless)" "$(test_step spaces)" "$(test_step asleep)" ;;
esac
. tests/guest/run-card.sh
[ $# -gt 0 ] || {
	echo "run.sh: no suite $suite" >&2
	exit 2
}
logs=$console.events
[ $gpus = 1 ] || logs="$logs $console.events.1"
guest "$@"
verdict
. tests/guest/run-checks.sh
