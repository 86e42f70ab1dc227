#!/bin/sh
# SPDX-License-Identifier: MIT
#
# starter.sh: make a lab's files with its first steps solved.
#
# usage: scripts/starter.sh NN-topic STEP OUT [SOLUTIONS], in the project's folder
#
# Writes to OUT each of the files that lab.json names, from SOLUTIONS/NN-topic
# (default: solutions), where `#if LABnn >= k` marks the code of step k.  STEP 0 is the
# starter.  Every other line of the preprocessor stays.
set -eu

. scripts/compose-lib.sh

[ $# = 3 ] || [ $# = 4 ] || die "usage: $0 NN-topic STEP OUT [SOLUTIONS]"
lab=$1 step=$2 out=$3
solution=${4:-solutions}/$lab
number=${lab%%-*}

info=$(lab_info "$lab")
steps=$(printf '%s\n' "$info" | sed -n 's/^steps //p')
case $step in
*[!0-9]* | '') die "STEP=$step is not a number" ;;
esac
[ "$step" -le "${steps:-0}" ] || die "lab $number has steps 0 to ${steps:-0}, not $step"

mkdir -p "$out"
printf '%s\n' "$info" | sed -n 's/^files //p' | while read -r file; do
	[ -e "$solution/$file" ] || die "$solution/$file: not there"
	# Where it changes nothing, unifdef 2.12 leaves an older output as it is.
	rm -f "$out/$file"
	unifdef -B -x 2 -D"LAB$number=$step" -o "$out/$file" "$solution/$file" ||
		die "$solution/$file: unifdef failed"
	# Conditions that unifdef cannot decide, or that belong to another lab, would
	# stay.
	! grep -nE '^[[:space:]]*#.*\<LAB[0-9]' "$out/$file" >&2 ||
		die "$solution/$file: step $step leaves these lines"
done
