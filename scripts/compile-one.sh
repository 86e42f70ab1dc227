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
#   COMPOSE_TREE     where copies of the lab's files are, in a folder called like DIR
#   COMPOSE_BOX      what the box for the compiler is made of (box-lib.sh)
#
# Makes OUT/NAME.o, NAME.facts (its includes, sections and symbols) and NAME.log, the
# compiler's words.  An object is taken again only when what it was made of has the same
# content.  Exit status: 0; 10 when the file is at fault; 1 for all else.
set -u

. scripts/box-lib.sh

out=$1 dir=$2 file=$3
name=$out/${file%.c}
object=$name.o
source=$dir/$file
copies=$COMPOSE_TREE/$dir
lab=${out##*/}

# The lab's files here, for one may include another.
files()
{
	sed -n 's/^files //p' "$out/info" | while read -r listed; do
		[ ! -f "$copies/$listed" ] || echo "$listed"
	done
}

key()
{
	{ echo "$COMPOSE_KEY $source"; files | sed "s|^|$copies/|" | xargs -r -d '\n' cat; } |
		sha256sum
}

# say LINE TEXT: an error as the compiler words it
say()
{
	echo "$source:$1${1:+:1:} error: $2"
}

not_handed_in()
{
	say "$1" "includes $2, which is not among lab ${lab%%-*}'s files"
}

# In the box, with the copy where the file is outside; the file itself where there is no
# box: what was edited meanwhile is compiled again next time.
compile()
{
	box_run "$COMPOSE_BOX" "$name.facts" "$copies" "$dir" \
		scripts/compile-boxed.sh "$BUILD/bin" "$COMPOSE_PARTS/compile" \
		"$source" "$@" 3>"$object" 4>"$name.d"
	status=$?
	[ ! -e "$COMPOSE_BOX.none" ] || cmp -s "$source" "$copies/$file" || : >"$name.stale"
	return $status
}

# The compiler was ended, or had to end: what it says then it says last.  A segmentation
# fault is how it meets the limit of its stack.  SIGXCPU and SIGXFSZ can also end the shell
# in the box, when it writes to a file that the compiler's messages have filled.
ended()
{
	[ "$status" = $((128 + 24)) ] || [ "$status" = $((128 + 25)) ] ||
		[ "$(wc -c <"$name.words")" -ge $BOX_WORDS ] || tail -n 20 "$name.words" | grep -qE \
		'(File size limit exceeded|CPU time limit exceeded|Segmentation fault) signal|: out of memory alloc|memory exhausted|[cC]annot allocate memory|^(CPU time limit|File size limit) exceeded'
}

# The included files of the submission's folder that would not be handed in, by the names
# that a file gives: the first of them, each once.  A name that leads through a link is left to strangers(), because what a link leads to is not the student's
# to know about.
left_behind()
{
	files >"$name.handed"
	sed -n 's/^include //p' "$name.facts" 2>/dev/null | awk -v handed="$name.handed" '
		BEGIN { while ((getline line <handed) > 0) seen[line] }
		{ line = $1; sub(/^[^ ]* /, "") }
		!($0 in seen) { seen[$0]; print line, $0; if (++n == 1000) exit }' |
		while read -r line included; do
			beside "$included" && not_handed_in "$line" "$dir/$included"
		done | head -n 20
	rm -f "$name.handed"
}

# Is that a file in the submission's folder, which no link leads out of?
beside()
{
	[ -e "$dir/$1" ] || return
	rest=$1 path=$dir
	while :; do
		path=$path/${rest%%/*}
		[ ! -L "$path" ] || return
		case $rest in
		*/*) rest=${rest#*/} ;;
		*) return 0 ;;
		esac
	done
}

# Whatever else it includes, from what the compiler read.
strangers()
{
	# The compiler leaves out what is in front here.
	files | sed "s|^|${dir#./}/|" >"$name.known"
	tr -s ' \\\n' '\n' <"$name.d" | sed -e '/^$/d' -e '/:$/d' |
		grep -vE "^($COMPOSE_TRUSTED)" | grep -vxF -f "$name.known" |
		while read -r included; do
			line=$(grep -nE "^[[:space:]]*#[[:space:]]*include.*${included##*/}" \
				"$copies/$file" | head -n 1)
			not_handed_in "$(echo "${line:-1}" | sed 's/:.*//')" "$included"
		done
}

key=$(key)
[ ! -e "$object" ] || [ "$key" != "$(cat "$object.key" 2>/dev/null)" ] || exit 0

rm -f "$object.key" "$name.stale" "$name.failed"
# shellcheck disable=SC2086 # a list of options
{ compile $COMPOSE_CFLAGS; echo $? >"$name.status"; } | printable >"$name.words"
status=$(cat "$name.status")
{
	left_behind
	if [ "$status" = 0 ]; then
		strangers
	elif ended; then
		say '' "does not compile within the limits: $BOX_CPU_S s of processor time, $((
			BOX_MEMORY_KIB >> 10)) MiB of memory, $((BOX_WORDS >> 10)) KiB of messages"
		status=10
	fi
} >"$name.log"
[ "$status" != 0 ] || [ ! -s "$name.log" ] || status=10
cat "$name.words" >>"$name.log"
rm -f "$name.words" "$name.status"
if [ "$status" = 0 ]; then
	[ -e "$name.stale" ] || echo "$key" >"$object.key"
else
	rm -f "$object"
fi
case $status in
0 | 10) exit "$status" ;;
esac
echo "$source: the compiler came to no end (status $status): $(tail -n 1 "$name.log")" >"$name.failed"
exit 1
