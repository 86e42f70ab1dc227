#!/bin/bash
# SPDX-License-Identifier: MIT
#
# inputs.sh: is all that a suite reads of this tree among its inputs?  As TAP.
#
# usage: tests/inputs.sh TABLE [SUITE...]
#
# Runs each suite, or all that can be kept, with its system calls watched, and compares the files
# that were opened or run with those that its line in TABLE names (see keep.sh).  Files that the
# suite made while it ran are not inputs.
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
		committed:* | listed:* | maybe:* | summed:*) ;;
		*) find -L "${input#*:}" ! -type d -print0 | xargs -r -0 realpath ;;
		esac
	done
	realpath tests/suite.sh tests/keep.sh
}

# Files that were run or opened to be read, one a line.  strace reports the program that a
# process runs by the name that was given, and then the loader with its folder.  With the input
# "summed:" a file does not count that is only compared with a list of checksums.
seen()
{
	awk -v summed="$(printf '%s\n' "${list[@]}" | grep -c '^summed:')" '
		FNR == 1 { checks = 0 }
		summed && /^execve\("[^"]*\/sha256sum", \["sha256sum", "--check"/ { checks = 1 }
		checks { next }
		/^execve\("/ { split($0, part, "\""); program = part[2]; next }
		/^openat\(AT_FDCWD</ && program != "" {
			folder = $0
			sub(/^openat\(AT_FDCWD</, "", folder)
			sub(/>, ".*/, "", folder)
			print program ~ /^\// ? program : folder "/" program
			program = ""
		}
		/^open/ && !/O_WRONLY/ && sub(/.* = [0-9]+</, "") && sub(/>$/, "")' "$work"/trace.*
}

# Leaves out files that are no inputs: those that a suite leaves for its next run, which takes them
# only where the content agrees, and those that make looks at to see that there is nothing to be made.
no_inputs()
{
	grep -vE "^$top/(\.git(/|$)|\.checkpatch-camelcase)" |
		grep -vE "^$top/$BUILD/(tests/(starters|labs|mutants|scores)|check|style|logs)/" |
		grep -vE "^$top/$BUILD/(driver/sparse\.log$|.*\.(d|list)$)"
}

# Headers that make has compiled in advance stand for the lines that name them; the headers
# themselves are inputs.
made_from()
{
	sed -E "s#^($top/$BUILD/pch)/(fast|debug)/([^/]*)/.*#\1/includes/\3#"
}

# Those of them that are in the tree, and older than the run.
opened()
{
	seen | sort -u | while read -r file; do
		[ ! -f "$file" ] || realpath "$file"
	done | grep "^$top/" | no_inputs | made_from | sort -u |
		xargs -r -d '\n' -I FILE find FILE ! -cnewer "$work/begun"
}

unlisted()
{
	local name c limit inputs command argv list
	IFS='|' read -r name c limit inputs command < <(grep "^$1|" "$table")
	read -ra argv <<<"$command"
	read -ra list <<<"$inputs"
	rm -f "$work"/trace.*
	touch "$work/begun"
	CMOCKA_MESSAGE_OUTPUT=TAP strace -ff -y --seccomp-bpf -qq -e trace=open,openat,execve \
		-o "$work/trace" timeout -k 10 "$limit" "${argv[@]}" </dev/null >"$work/log" 2>&1
	[ -n "$(opened)" ] || echo "# nothing was seen to be opened: $(tail -n 3 "$work/log")"
	opened | grep -vxF -f <(named "${list[@]}")
}

[ $# -gt 0 ] || set -- $(awk -F '|' '$4 != "-" { print $1 }' "$table")
echo "1..$#"
for suite; do
	no_findings "$suite" "$(unlisted "$suite")"
done
