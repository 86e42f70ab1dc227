#!/bin/sh
# SPDX-License-Identifier: MIT
#
# gdb.sh: what `make gdb` promises, as TAP.
#
# usage: tests/labs/gdb.sh
#
# gdb reads its commands from its arguments and ends; what it said is looked at.
# gdb and the guest write to one terminal, each where the other may be in the middle
# of a line, so gdb keeps a log of its own words; the guest's lines come whole.
set -u
. tests/tap.sh

BUILD=${BUILD:-build}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM HUP

# session NAME VARIABLE=VALUE... -- COMMAND...
session()
{
	log=$work/$1.log
	terminal=$work/$1.terminal
	shift
	variables=
	while [ "$1" != -- ]; do
		variables="$variables $1"
		shift
	done
	shift
	for command; do
		set -- "$@" -ex "$command"
		shift
	done
	env $variables timeout -k 10 400 scripts/gdb.sh -nx -batch -iex "set logging file $log" \
		-iex 'set logging enabled on' "$@" >"$terminal" 2>&1 </dev/null
}

complain()
{
	tail -n 40 "$terminal"
}

# has WHAT PATTERN: gdb's log has a line like this
has()
{
	grep -qE "$2" "$log"
	result $? "$1"
}

# guest_said WHAT TEXT: the terminal has it, maybe behind half a line of gdb's
guest_said()
{
	grep -F "$2" "$terminal" | grep -qvF "not $2"
	result $? "$1"
}

# lists WHAT FILE: gdb's log has the ten lines that `list` shows, as they are in FILE
lists()
{
	grep -E '^[0-9]+	' "$log" | sort -n | uniq >"$work/shown"
	grep -n '' "$2" | sed 's/:/	/' | grep -cxFf "$work/shown" >"$work/count"
	[ "$(cat "$work/count")" -ge 8 ]
	result $? "$1"
}

echo "1..12"

session init LAB=01 FROM=solutions -- 'break agate_pci_init' continue 'bt 3' list
has "a breakpoint in what probe calls is hit" \
	'hit Breakpoint 1, agate_pci_init .*at solutions/01-first-contact/agate_pci\.c:'
has "the way there goes through the frame" '^#1 .* agate_probe .*at kernel/agate_drv\.c:'
lists "the source is shown" solutions/01-first-contact/agate_pci.c

session test LAB=02 FROM=solutions TEST=handle -- 'break agate_gem_create_ioctl' \
	continue list 'print data' delete continue
has "a breakpoint is hit when a test runs" \
	'hit Breakpoint 1, agate_gem_create_ioctl .*at solutions/02-gem-object/agate_gem\.c:'
lists "the lab's file is shown" solutions/02-gem-object/agate_gem.c
has "variables are there" '^\$1 = \(void \*\) 0x'
guest_said "the test goes on to its end" 'ok 1 - handle'
has "and gdb is told" '^\[agate\] the test is over'

# The module of this lab is loaded by the tests: each time, at another place.
session reload LAB=01 FROM=solutions TEST=served -- 'break agate_pci_fini' continue continue \
	'info symbol agate_pci_fini' delete continue
[ "$(grep -c 'hit Breakpoint 1, agate_pci_fini' "$log")" = 2 ]
result $? "a breakpoint holds when the driver is loaded again"
guest_said "and the test passes" 'ok 1 - served'

session student LAB=02 -- 'break agate_gem_create_ioctl' 'info breakpoints' 'agate-test no-such'
has "without FROM it is the student's own file" 'at labs/02-gem-object/agate_gem\.c:'
has "a test that is not there is named" 'no test no-such; there are: '
