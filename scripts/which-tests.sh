#!/bin/sh
# SPDX-License-Identifier: MIT
#
# which-tests.sh: do tests exist that match TEST and STEP?
#
# usage: [TEST=..] [STEP=..] scripts/which-tests.sh LAB [exact], in the project's folder
#
# Runs before anything is built, because building takes longer than this check.  TEST is a
# pattern; with `exact` it is one test's name, or its id, LAB/NAME.  LAB may be `all`.
set -eu

. scripts/compose-lib.sh

wanted=${TEST:-} exact=${2-} found= names=
[ "$1" = all ] && labs=$(scripts/lab.sh --list) || labs=$(scripts/lab.sh "$1")
[ -z "$exact" ] || wanted=${wanted##*/}

# Split the patterns and lists below only at line ends.
newline='
'
IFS=$newline
set -f
for lab in $labs; do
	info=$(lab_info "$lab")
	steps=$(printf '%s\n' "$info" | sed -n 's/^steps //p')
	for name in $(printf '%s\n' "$info" | sed -n 's/^test //p'); do
		names="$names $name"
		if [ -n "$exact" ]; then
			[ "$name" != "$wanted" ] || found=1
		else
			# shellcheck disable=SC2254 # a pattern is meant
			case $name in
			$wanted) found=1 ;;
			esac
		fi
	done
	# A user can choose a hidden test, but no message names it.
	for name in $(printf '%s\n' "$info" | sed -n 's/^hidden-test //p'); do
		# shellcheck disable=SC2254
		case $name in
		$wanted) found=1 ;;
		esac
	done
done

if [ -n "$wanted" ] && [ -z "$found" ]; then
	printf 'There is no test %s in lab %s.  There are:%s\n' "$wanted" "$1" "$names" | printable >&2
	exit 1
fi
[ -n "${STEP:-}" ] || exit 0
if [ "$1" = all ]; then
	echo "A step is one of a lab's: STEP goes with one LAB." >&2
	exit 1
fi
case $STEP in
*[!0-9]* | ???* | 0 | 00) ;;
*) [ "$STEP" -gt "$steps" ] || exit 0 ;;
esac
printf 'There is no step %s in lab %s: it has steps 1 to %s.\n' "$STEP" "$1" "$steps" | printable >&2
exit 1
