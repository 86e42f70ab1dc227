#!/bin/sh
# SPDX-License-Identifier: MIT
#
# compile-one.sh: compile one of a lab's files, unless that was done already.
#
# usage: scripts/compile-one.sh OUT DIR FILE, by compose-lib.sh, which says how:
#
#   COMPOSE_PARTS    the folder whose `compile` is the command
#   COMPOSE_CFLAGS   options to add
#   COMPOSE_PCH      where precompiled headers are (kernel/precompile.sh), if there are any
#   COMPOSE_ABI      what those must be made for
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

# files FOLDER: the lab's files here, for one may include another, as files of FOLDER
files()
{
	while read -r word listed; do
		[ "$word" != files ] || [ ! -f "$copies/$listed" ] || echo "$1$listed"
	done <"$out/info"
}

key()
{
	key_of=$(files "$copies/")
	{ echo "$COMPOSE_KEY $source"; split_lines "$key_of" cat </dev/null; } | sha256sum
}

# The precompiled header for this file.  There is none if the file does not begin with the same
# #include lines, or if one of them means a file of the lab.
precompiled()
{
	pch=$COMPOSE_PCH/$lab/$file
	[ -e "$pch.gch" ] && [ -e "$pch.expanded" ] && read -r pch_abi <"$pch.abi" &&
		[ "$pch_abi" = "$COMPOSE_ABI" ] || return
	pch_includes=$(cat "$pch.includes")
	case "$(awk -f scripts/includes.awk "$copies/$file")$newline" in
	"$pch_includes$newline"*) ;;
	*) return ;;
	esac
	for listed in $(files ''); do
		case $pch_includes in
		*"\"$listed\""*) return ;;
		esac
	done
	echo "$pch"
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
		"$source" "$(precompiled)" "$@" 3>"$object" 4>"$name.d"
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
	[ -e "$name.facts" ] || return
	found=0
	HANDED=$(files '') awk '
		BEGIN {
			n = split(ENVIRON["HANDED"], handed, "\n")
			for (i = 1; i <= n; i++)
				seen[handed[i]]
		}
		!sub(/^include /, "") { next }
		{ line = $1; sub(/^[^ ]* /, "") }
		!($0 in seen) { seen[$0]; print line, $0; if (++found == 1000) exit }' "$name.facts" |
		while [ $found -lt 20 ] && read -r line included; do
			beside "$included" || continue
			not_handed_in "$line" "$dir/$included"
			found=$((found + 1))
		done
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

# Whatever else it includes, from what the compiler read, which leaves out a ./ in front.
strangers()
{
	KNOWN=$(files "${dir#./}/"; echo "$COMPOSE_PCH/$lab/$file") awk '
		BEGIN {
			trusted = "^(" ENVIRON["COMPOSE_TRUSTED"] ")"
			n = split(ENVIRON["KNOWN"], own, "\n")
			for (i = 1; i <= n; i++)
				known[own[i]]
		}
		{
			gsub(/\\/, " ")
			for (i = 1; i <= NF; i++)
				if ($i !~ /:$/ && $i !~ trusted && !($i in known))
					print $i
		}' "$name.d" |
		while read -r included; do
			line=$(grep -nE "^[[:space:]]*#[[:space:]]*include.*${included##*/}" \
				"$copies/$file" | head -n 1)
			not_handed_in "$(echo "${line:-1}" | sed 's/:.*//')" "$included"
		done
}

key=$(key)
if [ -e "$object" ] && [ -e "$object.key" ] && read -r old <"$object.key"; then
	[ "$key" != "$old" ] || exit 0
fi

rm -f "$object.key" "$name.stale" "$name.failed"
# shellcheck disable=SC2086 # a list of options
{ compile $COMPOSE_CFLAGS; echo $? >"$name.status"; } | printable >"$name.words"
read -r status <"$name.status"
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
[ ! -s "$name.words" ] || cat "$name.words" >>"$name.log"
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
