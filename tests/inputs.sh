#!/bin/bash
# SPDX-License-Identifier: MIT
#
# inputs.sh: is all that a suite reads of this tree among its inputs?  As TAP.
#
# usage: tests/inputs.sh TABLE SUITE...
#
# Runs each suite with its system calls watched, and compares the files that were opened
# or run with those that its line in TABLE names (see keep.sh).  What the suite itself
# made while it ran is no input.
set -u
. tests/tap.sh
. tests/keep.sh

table=$1
shift
top=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM HUP

# What the list names, one file a line.
named()
{
	local input
	for input in "$@"; do
		case $input in
		committed:* | listed:*) ;;
		*) find -L "${input#*:}" ! -type d -print0 | xargs -r -0 realpath ;;
		esac
	done
	realpath tests/suite.sh tests/keep.sh
}

# The tree's files that one of the traces shows to be opened or run, and that are older
# than the run.  What is only written is no input.
opened()
{
	cat "$work"/trace.* | grep -v 'O_WRONLY' |
		sed -nE 's/^[a-z0-9]+\((AT_FDCWD[^,]*, )?"([^"]*)".*\) = ([0-9]+).*/\2/p' |
		sort -u | while read -r file; do
			[ -f "$file" ] && [ ! "$file" -nt "$work/begun" ] && realpath "$file"
		done | grep "^$top/" | sort -u
}

unlisted()
{
	local name c limit inputs command argv list
	IFS='|' read -r name c limit inputs command < <(grep "^$1|" "$table")
	read -ra argv <<<"$command"
	read -ra list <<<"$inputs"
	rm -f "$work"/trace.*
	touch "$work/begun"
	CMOCKA_MESSAGE_OUTPUT=TAP strace -ff --seccomp-bpf -qq -e trace=open,openat,execve \
		-o "$work/trace" timeout -k 10 "$limit" "${argv[@]}" </dev/null >"$work/log" 2>&1
	[ -n "$(opened)" ] || echo "# nothing was seen to be opened: $(tail -n 3 "$work/log")"
	opened | grep -vxF -f <(named "${list[@]}")
}

echo "1..$#"
for suite; do
	no_findings "$suite" "$(unlisted "$suite")"
done
