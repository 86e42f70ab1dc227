#!/bin/sh
# SPDX-License-Identifier: MIT
#
# compile-one.sh: compile one of a lab's files, unless that was done already.
#
# usage: scripts/compile-one.sh OUT DIR FILE, by compose-lib.sh, which says how:
#
#   COMPOSE_PARTS    the folder whose `compile` is the command
#   COMPOSE_CFLAGS   options to add
#   COMPOSE_KEY      stands for all that can change the result but the lab's files
#   COMPOSE_TRUSTED  what the file may include besides them, a regular expression
#
# Makes OUT/NAME.o and NAME.log, the compiler's words.  An object is taken again
# only when what it was made of has the same content.
set -u

out=$1 dir=$2 file=$3
object=$out/${file%.c}.o
log=$out/${file%.c}.log
source=$dir/$file
lab=${out##*/}

# The lab's files here, for one may include another.
files()
{
	sed -n 's/^files //p' "$out/info" | while read -r name; do
		[ ! -f "$dir/$name" ] || echo "$dir/$name"
	done
}

key()
{
	{ echo "$COMPOSE_KEY $source"; files | xargs -r -d '\n' cat; } | sha256sum
}

# Whatever else a file includes would not come along when it is handed in.
strangers()
{
	{ echo "$source"; files; } >"$object.known"
	tr -s ' \\\n' '\n' <"$object.d" | sed -e '/^$/d' -e '/:$/d' | grep -vE "^($COMPOSE_TRUSTED)" |
		grep -vxF -f "$object.known"
}

if [ ! -f "$source" ]; then
	echo "$source: error: $file: not there; lab ${lab%%-*} is about this file" >"$log"
	rm -f "$object" "$object.key"
	exit 1
fi

key=$(key)
[ ! -e "$object" ] || [ "$key" != "$(cat "$object.key" 2>/dev/null)" ] || exit 0

rm -f "$object" "$object.key"
# shellcheck disable=SC2086 # a list of options
"$COMPOSE_PARTS/compile" "$source" "$object" -pipe $COMPOSE_CFLAGS >"$log" 2>&1 || {
	rm -f "$object"
	exit 1
}
included=$(strangers)
if [ -n "$included" ]; then
	printf '%s\n' "$included" | while read -r name; do
		line=$(grep -nE "^[[:space:]]*#[[:space:]]*include.*${name##*/}" "$source" | head -n 1)
		line=${line%%:*}
		echo "$source:${line:-1}:1: error: includes $name, which is not among lab" \
			"${lab%%-*}'s files"
	done >>"$log"
	rm -f "$object"
	exit 1
fi
echo "$key" >"$object.key"
