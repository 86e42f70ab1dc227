#!/bin/sh
# SPDX-License-Identifier: MIT
#
# shell.sh: a shell in a guest, with the reference driver and with a student's, as TAP.
#
# usage: tests/labs/shell.sh
set -u
. tests/tap.sh

export BUILD=${BUILD:-build}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM HUP
unset LAB FROM DEBUG DEMO COLD DRIVER GPU GPUS VRAM VISIBLE PUT

complain()
{
	cat "$work/out"
}

# in_guest COMMAND...: each typed into the shell; what it says is in $work/out
in_guest()
{
	printf '%s\n' "$@" exit | COLD=0 timeout 400 scripts/shell.sh >"$work/out" 2>&1
}

said() { tr -d '\r' <"$work/out" | grep -qE "$1"; }

echo "1..23"

# A pattern begins its line, for the terminal echoes what was typed behind a prompt.
export LAB=02 FROM=solutions
in_guest 'agate-hold --export 2 >/tmp/held &' 'until grep -q ^held /tmp/held; do sleep 1; done' \
	'cat /tmp/held /sys/kernel/debug/dri/0/bos /sys/kernel/debug/dma_buf/bufinfo'
status=$?
[ $status = 0 ] && said '^handle 2: 8192 bytes at GPU address 0x'
result $? "agate-hold makes BOs"
said '^the job ran'
result $? "and runs a job on one"
said '^size=8192 .* label="hold 2"'
result $? "debugfs shows what it holds"
said '^handle 2: exported as descriptor' && said '^Total 2 objects, 12288 bytes'
result $? "and the dma-bufs of what it exports"

in_guest false
result $? "what the last command ended with is no failure of make's"

# The starter's probe succeeds without its topic, lab 01's fails.
mkdir -p "$work/02-gem-object" "$work/01-first-contact"
scripts/starter.sh 02-gem-object 0 "$work/02-gem-object" &&
	FROM=$work in_guest agate-hold && said '^CREATE_BO: EOPNOTSUPP'
result $? "the student's driver is in it"
scripts/starter.sh 01-first-contact 0 "$work/01-first-contact" &&
	LAB=01 FROM=$work in_guest 'cat /proc/modules' && said 'did not take the GPU' &&
	said 'agate.* failed with error -95'
result $? "a probe that fails is told with its reason, and the shell comes up"

echo '#error not done' >"$work/02-gem-object/agate_gem.c"
! FROM=$work in_guest true && said 'error: #error not done'
result $? "what does not compile is told"
! LAB=all in_guest true && said 'a shell has one driver: say which lab'
result $? "all labs have no driver"
unset LAB
! FROM=solutions in_guest true && said 'FROM=solutions needs LAB='
result $? "FROM alone says nothing"

unset FROM
# The first pictures take a while where the machine is busy.
DEMO=1 in_guest 'until agate-top --once --interval 500 | grep "agate-gem.*[1-9]%"; do :; done' &&
	said '^ *[0-9]+ agate-gem +agate .*BOs: .*paged'
result $? "DEMO=1: agate-gem draws, and agate-top shows it"
! DRIVER=panfrost DEMO=1 in_guest true && said 'agate-gem draws with our driver only'
result $? "and only with our driver"

GPUS=2 in_guest 'agate-gem --size 64 --bos imported --stats -o /tmp/gem.png' \
	'agate-top --once --interval 100' && said '^BOs: imported' &&
	said '^agate 0000:00:03.0: ' && said '^agate 0000:00:04.0: '
result $? "GPUS=2: there are two, and agate-top lists both"
VRAM=64 VISIBLE=16 in_guest 'agate-gem --size 64 -o /tmp/gem.png' \
	'agate-gem --size 64 --vram --overcommit 2 -o /tmp/vram.png' 'agate-map --once' \
	'agate-map --once --json | grep -q evict && cmp /tmp/gem.png /tmp/vram.png && echo evicted' &&
	said '^  vram: .* of 64 MiB; .* of 16 MiB' && said '^ .* vram +-> nowhere +free ' &&
	said '^evicted'
result $? "VRAM=64: there is a card, and agate-map shows it"
! VISIBLE=16 in_guest true && said 'there is no card without VRAM='
result $? "and no visible part without one"
printf '#!/bin/sh\necho mine\n' >"$work/mine"
PUT="$work/mine $BUILD/guest/kernel-fast/modules/vgem.ko" in_guest mine 'insmod /bin/vgem.ko' \
	'cat /proc/modules' && said '^mine' && said '^vgem '
result $? "PUT: programs and modules are in the guest"
! PUT="$work/none" in_guest true && said 'PUT=.*/none: there is no such file'
result $? "and a file that is not there is told"
! GPUS=3 in_guest true && said 'GPUS=3: there are 1 and 2'
result $? "and not more"

export DRIVER=panfrost
in_guest panfrost-bo
status=$?
[ $status = 0 ] && said '^  Upstream.s Panfrost goes into a guest' &&
	said '^. *OK . purge_a_heap'
result $? "upstream's driver is in it, and its tests"
GPU=bifrost
export GPU
in_guest 'dmesg | grep mali-' && said 'mali-g72 id 0x6001 '
result $? "on the other GPU, too"
GPU=adreno
! in_guest true && said 'GPU=adreno: there are midgard and bifrost'
result $? "no other GPU is known"
unset GPU
export LAB=02
! in_guest true && said 'say one of them'
result $? "a shell has one driver, the student's or upstream's"
unset LAB
export DRIVER=lima
! in_guest true && said 'the only other driver is DRIVER=panfrost'
result $? "no other driver is known"
