#!/bin/sh
# SPDX-License-Identifier: MIT
#
# launcher.sh: the steps and exit statuses of agate-vm, as TAP.
#
# Needs the fast kernel, the initramfs and build/bin/.
set -u
. tests/tap.sh

build=$(realpath "${BUILD:-build}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM HUP

# vm STEP...: a run with those steps, by the command $by; its output is in $work/out and $work/err.
by=
vm()
{
	: >"$work/out"
	$by "$build/bin/agate-vm" run --kernel "$build/guest/kernel-fast" \
		--initramfs "$build/guest/initramfs.cpio.gz" --sim "$build/bin/agate-sim" \
		--timeout 60 --console "$work/console" "$@" >"${out:-$work/out}" 2>"$work/err" </dev/null
}

complain()
{
	tail -n 100 "$work/out" "$work/err" | cut -c 1-200
}

said()
{
	grep -qx "$1" "$work/out"
}

complained()
{
	grep -q "$1" "$work/err"
}

echo 1..65

vm 'exec:echo one; echo two >&2' 'exec:echo three'
check "steps run in order, output comes through" 0 $? said three
check "standard error stays apart" 0 0 complained '^two$'

vm 'exec:exit 7' 'exec:echo not reached'
check "a failing step ends the run with its status" 7 $? [ ! -s "$work/out" ]

vm 'exec:kill -SEGV $$'
check "a signal is 128 + its number" 139 $? complained 'signal 11'

vm 'exec:exit 255'
check "a guest cannot forge the launcher's statuses" 239 $? true

vm 'exec:echo c >/proc/sysrq-trigger; sleep 600'
check "a panic ends the run, and its reason is shown" 240 $? complained 'sysrq triggered crash'

vm --timeout 2 'exec:sleep 600'
check "--timeout ends a run that hangs" 241 $? complained 'the time is up'

# This reader is slower than the guest, so there is always more output; it gives up long after
# the run should end.
slow_reader()
{
	rounds=0
	while [ $rounds -lt 600 ] && [ "$(head -c 16384 | wc -c)" != 0 ]; do
		rounds=$((rounds + 1))
		sleep 0.02
	done
	[ $rounds -lt 600 ] && echo ended
}

said_slowly=$({ out=/proc/self/fd/3 vm --timeout 2 'exec:yes'; echo $? >"$work/status"; } \
	3>&1 | slow_reader)
check "and one that is never silent" 241 "$(cat "$work/status")" [ "$said_slowly" = ended ]

# A reader that never reads, for longer than the run may take.
mkfifo "$work/fifo"
sleep 600 <"$work/fifo" &
reader=$!
out=$work/fifo vm --timeout 2 'exec:yes'
check "and one whose output nobody takes" 241 $? kill -0 $reader
kill $reader

# As many turns of a loop as the guest can do in about a second.
turns=10000 took=0
while [ "$took" -lt 2000 ]; do
	turns=$((turns * 2))
	count="exec:n=0; while [ \$n -lt $turns ]; do n=\$((n + 1)); done"
	begun=$(date +%s%3N)
	vm "$count" || break
	took=$(($(date +%s%3N) - begun))
done
cpu=$(taskset -cp $$ | sed 's/.*: *\([0-9]*\).*/\1/')
by="taskset -c $cpu tests/busy.sh 8"
vm --timeout $((took / 250 + 1)) "$count"
check "but not one that waits for a processor" 0 $? true
by=

vm 'exec-within:200:sleep 600 & sleep 600'
check "a step's own limit ends the step" 241 $? complained 'killed after 200 ms'

vm 'exec:poweroff -f; sleep 600'
check "a guest that switches itself off is noticed" 242 $? complained 'powered off'

vm poweroff
check "poweroff is a good end" 0 $? true

head -c 5000000 /dev/urandom >"$work/sent"
vm "put:$work/sent:/tmp/deep/down/file:0640" 'exec:stat -c %a:%s /tmp/deep/down/file' \
	"get:/tmp/deep/down/file:$work/received"
check "a file survives the way in and out" 0 $? cmp -s "$work/sent" "$work/received"
check "with the mode that was asked for" 0 0 said 640:5000000

vm 'exec:yes | head -c 2000000'
check "output is not lost, however much" 0 $? [ "$(wc -c <"$work/out")" = 2000000 ]

vm --output-max 1 'exec:yes | head -c 2000000'
check "but there is an end to it" 0 $? complained 'too much output'
check "and what came before it is kept" 0 0 [ "$(wc -c <"$work/out")" = $((1 << 20)) ]

vm "get:/no/such/file:$work/received"
check "what the guest refuses says why" 244 $? complained '/no/such/file: No such file'

vm "get:/no/such/file:$work/never"
check "and leaves no empty file" 244 $? [ ! -e "$work/never" ]

check "and leaves alone what it would have replaced" 0 0 cmp -s "$work/sent" "$work/received"

echo short >"$work/short"
vm "put:$work/short:/tmp/short" "get:/tmp/short:$work/received"
check "what it does replace is as long as what came" 0 $? cmp -s "$work/short" "$work/received"

vm "put:$work/nothing:/tmp/x"
check "so does what the host lacks" 243 $? complained 'nothing: No such file'

vm --sim /bin/false exec:true
check "a GPU that does not start is a failure of the host" 243 $? complained '/bin/false'

vm health 'exec:echo 1 >/proc/sys/kernel/printk; echo 0 >/sys/kernel/debug/kprobes/enabled' \
	'exec:i=0; while [ $i -lt 100 ]; do echo x >/dev/shm/$i; i=$((i + 1)); done' health \
	'exec:rm /dev/shm/*' health
status=$?
for key in console_loglevel kprobes shmem_files shmem_pages tainted; do
	grep "^$key " "$work/out" | cut -d ' ' -f 2 | xargs
done >"$work/health"
{ read -r level && read -r kprobes && read -r files f1 f2 && read -r pages p1 p2 &&
	read -r tainted; } <"$work/health"
check "a kernel's checks are looked at from outside" 0 $status \
	[ "$level $kprobes $tainted" = '7 1 1 1 0 0 0 0 0' ]
check "so is the memory of files, exactly" 0 0 \
	[ "$f1 $f2 $p1 $p2" = "$((files + 100)) $files $((pages + 100)) $pages" ]

vm 'gpu:{"cmd": "idle", "cycles": 1}' 'gpu:{"cmd": "mark", "text": "a:b"}' exec:true
check "requests reach the GPU's process" 0 $? [ ! -s "$work/err" ]

vm 'gpu:{"cmd": "idle"}'
check "what it refuses says why" 243 $? complained 'gpu: idle wants cycles'

vm gpu:idle
check "and so does what is no request" 243 $? complained 'gpu: the request is not JSON'

vm 'gpu=1:{"cmd": "ping"}'
check "and what goes to a GPU that is not there" 243 $? complained 'gpu: no answer'

vm bogus:step
check "an unknown step is a usage error" 245 $? complained 'usage: '

vm --seed 4294967296 exec:true
check "and so is a seed that the GPU would not take" 245 $? complained 'seed is not a number'

vm 'exec:cat /proc/sys/kernel/random/uuid; date +%s'
first=$(head -n 1 "$work/out")
said_now=$(sed -n 2p "$work/out")
vm 'exec:cat /proc/sys/kernel/random/uuid'
check "restored guests have random numbers of their own" 0 $? \
	[ "$first" != "$(cat "$work/out")" ]
check "and the host's time" 0 0 [ $(($(date +%s) - said_now)) -lt 60 ]

"$build/bin/agate-vm" run --kernel "$build/guest/kernel-fast" \
	--initramfs "$build/guest/initramfs.cpio.gz" --sim "$build/bin/agate-sim" --timeout 60 \
	'exec:echo unheard; ls /sys/bus/pci/devices' <&- >&- 2>"$work/err"
check "a caller may have closed the standard streams" 0 $? true

vm --cold 'exec:cat /sys/bus/pci/devices/*/device | grep -c 0x1110'
check "a cold boot has the GPU as well" 0 $? said 1

# In the guest: a line with each GPU's `alive` word, in BAR2's control page.
alive='exec:for gpu in /sys/bus/pci/devices/*; do
	grep -q 0x1110 $gpu/device || continue
	echo 1 >$gpu/enable
	bar2=$(sed -n "3s/ .*//p" $gpu/resource)
	busybox devmem $((bar2 + 0x10c0)) 32
done | tr "\n" " "; echo'

# alive_were LINE...: what those steps printed, one after the other.
alive_were()
{
	printf '%s\n' "$@" | cmp -s - "$work/out"
}
living='0x00000001 ' dead='0x00000000 '

vm --gpus 2 --sim-log "$work/log" --sim-trace "$work/trace" "$alive" kill-sim=1 "$alive" \
	kill-sim "$alive"
check "a second GPU is plugged like the first, and each is killed alone" 0 $? \
	alive_were "$living$living" "$living$dead" "$dead$dead"
check "each has a log and a trace" 0 0 \
	[ -e "$work/log" -a -e "$work/log.1" -a -e "$work/trace" -a -e "$work/trace.1" ]

vm --gpus 2 --cold 'kill-sim-on=1:now' 'exec:echo now; sleep 1' "$alive"
check "also in a cold boot, at a sign" 0 $? grep -qx "$living$dead" "$work/out"

vm kill-sim=1
check "a GPU that is not there cannot be killed" 243 $? complained 'no process of GPU 1'
vm --gpus 3 exec:true
check "there are at most two" 245 $? complained 'gpus is not 1 or 2'

# The sizes of GSM and of VRAM in BAR2's header, in KiB.
sizes='exec:for gpu in /sys/bus/pci/devices/*; do
	grep -q 0x1110 $gpu/device || continue
	echo 1 >$gpu/enable
	bar2=$(sed -n "3s/ .*//p" $gpu/resource)
	for at in 48 64; do echo $(($(busybox devmem $((bar2 + at)) 32) / 1024)); done
done | tr "\n" " "; echo'
sizes_were()
{
	[ "$(head -n 1 "$work/out")" = "$1 " ]
}
vm "$sizes"
check "a GPU that is no card shows all that BAR2 has room for" 0 $? sizes_were '512 49152'
vm --card --vram 64 --vram-visible 8 --dma-bits 36 --ggtt-64k "$sizes" \
	'gpu:{"cmd": "crc", "pa": 549821874176, "len": 4096}'
check "a card has memory that CPUs do not see" 0 $? sizes_were '512 8192'
vm --card --vram 64 --vram-visible 65 exec:true
check "it does not show more than it has" 243 $? complained 'BAR2 cannot show that much VRAM'
vm --vram 64 exec:true
check "VRAM of its own is a card's" 243 $? complained 'usage: agate-sim'

# The second one to begin.
printf '#!/bin/sh\nmkdir "%s" 2>/dev/null || exit 3\nexec "%s" "$@"\n' "$work/begun" \
	"$build/bin/agate-sim" >"$work/one-sim"
chmod +x "$work/one-sim"
vm --sim "$work/one-sim" --gpus 2 exec:true
check "a second GPU that does not start is a failure of the host" 243 $? \
	complained 'did not get ready'

printf '#!/bin/sh\necho "$*" >>"%s"\nexec "%s" "$@"\n' "$work/args" "$build/bin/agate-sim" >"$work/told-sim"
chmod +x "$work/told-sim"
vm --sim "$work/told-sim" --gpus 2 exec:true
check "each knows its number, and writes files of its own" "0 1 1" \
	"$? $(grep -cw -e '--number 0' "$work/args") $(grep -cw -e '--number 1' "$work/args")" true

# In a cache of its own, because the test breaks it.
damaged()
{
	XDG_CACHE_HOME=$work/cache ACCEL=tcg vm "$@"
}
damaged exec:true
status=$?
snapshot=$(find "$work/cache" -type f -size +1M)
check "a snapshot is made when there is none" 0 $status [ -s "$snapshot" ]
damaged --gpus 2 "$alive"
check "and serves guests with two GPUs" 0 $? alive_were "$living$living"
damaged "$alive"
check "and then with one again" "0 1" "$? $(find "$work/cache" -type f -size +1M | wc -l)" \
	alive_were "$living"
# The same kernel in all but its name.
mkdir "$work/other"
cp "$build/guest/kernel-fast/ram" "$work/other"
sed 's/(agate@agate)/(agate@other)/' "$build/guest/kernel-fast/bzImage" >"$work/other/bzImage"
! cmp -s "$build/guest/kernel-fast/bzImage" "$work/other/bzImage" &&
	damaged --kernel "$work/other" 'exec:echo fine'
check "another kernel has a snapshot of its own" "0 2" \
	"$? $(find "$work/cache" -type f -size +1M | wc -l)" said fine
find "$work/cache" -type f -size +1M -newer "$snapshot" -delete
damaged 'exec:echo fine'
check "beside that of the first one" "0 1" "$? $(find "$work/cache" -type f -size +1M | wc -l)" \
	said fine
truncate -s 1M "$snapshot"
damaged 'exec:echo fine'
check "one that was cut short is made anew" 0 $? complained 'damaged: making a new one'
head -c 4096 /dev/zero | dd of="$snapshot" conv=notrunc status=none
damaged 'exec:echo fine'
check "and so is one that lost its header" 0 $? said fine
# Behind the header is QEMU's state, and then the guest's memory.
printf damage | dd of="$snapshot" bs=1 seek=4096 conv=notrunc status=none
damaged 'exec:echo fine'
check "one whose state is damaged is made anew, and the run goes on" 0 $? said fine
check "which it says" 0 0 complained 'damaged: removing the snapshot'
damaged 'exec:echo fine'
check "and the next run finds a good one" 0 $? [ ! -s "$work/err" ]
printf damage | dd of="$snapshot" bs=1 seek=$(($(stat -c %s "$snapshot") / 2)) conv=notrunc status=none
damaged 'exec:echo fine'
check "one whose memory is damaged is made anew" 0 $? complained 'damaged: removing the snapshot'

# A wrapper that gives QEMU another machine at the first restore, so that QEMU refuses the
# state.
real=$(command -v qemu-system-x86_64)
mkdir "$work/bin"
cat >"$work/bin/qemu-system-x86_64" <<-EOF
	#!/bin/sh
	case " \$* " in
	*" -incoming "*) [ -e "$work/restored" ] || port=2; : >"$work/restored" ;;
	esac
	for arg; do
		case \$arg in
		virtserialport,*) arg=\${arg%%nr=1*}nr=\${port:-1}\${arg#*nr=1} ;;
		esac
		set -- "\$@" "\$arg"
		shift
	done
	exec "$real" "\$@"
EOF
chmod +x "$work/bin/qemu-system-x86_64"
PATH=$work/bin:$PATH damaged 'exec:echo fine'
check "one that QEMU does not take is made anew" 0 $? said fine
check "and what QEMU has against it is said" 0 0 complained 'QEMU .*: removing the snapshot'

# Two boots for a snapshot that fail: a kernel that panics, and a QEMU that is killed once.
damaged --append rdinit=/none exec:true
check "a kernel that panics at its boot is called that, the second time" 240 $? \
	complained "^agate-vm: booting the kernel for the snapshot: the guest's kernel panicked"
mkdir "$work/dying"
cat >"$work/dying/qemu-system-x86_64" <<-EOF
	#!/bin/sh
	mkdir "$work/died" 2>/dev/null && kill -KILL \$\$
	exec "$real" "\$@"
EOF
chmod +x "$work/dying/qemu-system-x86_64"
PATH=$work/dying:$PATH damaged --append anew 'exec:echo fine'
check "and after a QEMU that was killed meanwhile it boots once more" 0 $? said fine
check "which it says as well" 0 0 complained 'QEMU was ended by signal 9: once more'

# A wrapper that lets QEMU run for a moment at a time, as a busy host may, until the kernel has
# begun its second processor.
mkdir "$work/slow"
cat >"$work/slow/qemu-system-x86_64" <<-EOF
	#!/bin/bash
	{
		while kill -STOP \$\$ && sleep 0.1 && kill -CONT \$\$ && sleep 0.01 &&
			! grep -q 'Bringing up secondary' "$work/console"; do :; done
	} 2>/dev/null 1>&2 <&2 &
	exec "$real" "\$@"
EOF
chmod +x "$work/slow/qemu-system-x86_64"
PATH=$work/slow:$PATH vm --cold 'exec:echo fine'
check "a kernel boots on a host that seldom lets it run" 0 $? said fine
check "and does not take its timer for a broken one" 0 0 \
	[ "$(grep -c 'Bringing up secondary\|timer not connected' "$work/console")" = 1 ]
