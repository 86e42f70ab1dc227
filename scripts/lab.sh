#!/bin/sh
# SPDX-License-Identifier: MIT
#
# lab.sh: find the lab that a name means.
#
# usage: scripts/lab.sh NAME, in the project's folder
#        scripts/lab.sh --list
#
# NAME is 05, 5, mmap or 05-mmap; prints 05-mmap.  A lab is a folder NN-topic in
# labs/ with a lab.json.
set -eu

. scripts/box-lib.sh

LABS=${LABS:-labs}

list()
{
	for file in "$LABS"/[0-9][0-9]-*/lab.json; do
		name=${file%/lab.json}
		name=${name##*/}
		# make would expand other characters of a name that it is given.
		case $name in
		*[!a-z0-9-]*) ;;
		*) [ ! -e "$file" ] || echo "$name" ;;
		esac
	done
}

if [ "${1-}" = --list ]; then
	list
	exit 0
fi
if [ -z "${1-}" ]; then
	echo "Which lab?  LAB=NN, one of: $(list | xargs)" >&2
	exit 1
fi

for lab in $(list); do
	number=${lab%%-*}
	case $1 in
	"$lab" | "$number" | "${number#0}" | "${lab#*-}")
		echo "$lab"
		exit 0
		;;
	esac
done
printf '%s\n' "There is no lab $1.  There are: $(list | xargs)" | printable >&2
exit 1
