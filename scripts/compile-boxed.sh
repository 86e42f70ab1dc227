#!/bin/sh
# SPDX-License-Identifier: MIT
#
# compile-boxed.sh: what happens to one file in the box (box-lib.sh).
#
# usage: scripts/compile-boxed.sh SCANS COMPILE FILE PCH [OPTION...], by compile-one.sh
#
# SCANS is where agate-scan-source and agate-scan-expanded are, COMPILE the command that
# the reference was compiled with, PCH a precompiled header for FILE, or ''.  Gives the object to
# descriptor 3, what it was made of to 4, and to 5 facts: "begun", "include LINE NAME",
# "precompiled" if the object was made with PCH, and the object's sections and symbols as
# readelf lists them.  Exit status: 0; 10 when the file is at fault; 1 for all else.
set -u

scans=$1 compile=$2 file=$3 pch=$4
shift 4
object=$WORK/object.o

command -v gcc >/dev/null && command -v readelf >/dev/null || exit 1
echo begun >&5

# preprocess PCH OUTPUT OPTION...: without carets, whose lines could look like messages
preprocess()
{
	pch_now=$1
	shift
	AGATE_PCH=$pch_now "$compile" "$file" "$@" -E -fno-diagnostics-show-caret 2>&1 3>&- 4>&- 5>&-
	echo "status $?"
}

# no_end SAID [FATAL]: from what the preprocessor says, why it did not come to the file's end.  Then
# nobody knows which words are there, so its last words refuse the file.
no_end()
{
	awk -v file="$file:" -v fatal="${2-}" '
		fatal != "" && $0 == fatal { found = 1 }
		/terminated program|compiler error|out of memory|memory exhausted|annot allocate/ {
			print
			found = 1
		}
		/^status / && $2 > 128 && $2 < 192 {
			print file " error: a signal ended the preprocessor"
			found = 1
		}
		END { exit !found }' "$1"
}

# expand PCH: scans the file with its macros expanded, behind what PCH was expanded to in
# advance.  The scan also makes poison.h, for pasted().
expand()
{
	rm -f "$WORK/expanded"
	mkfifo "$WORK/expanded" || return 1
	exec 6<"${1:-/dev/null}${1:+.expanded}" || return 1
	{
		preprocess "$1" "$WORK/expanded" -dD ${1:+-fpch-preprocess} >"$WORK/expanding"
		# If it never opened the pipe, the scan still waits for somebody who does.
		: <>"$WORK/expanded"
	} &
	expanding=$!
	{ cat <&6 && cat; } <"$WORK/expanded" |
		"$scans/agate-scan-expanded" "$file" "$WORK/poison.h" "$WORK/own" >"$WORK/scanned"
	scanned=$?
	wait $expanding
	return $scanned
}

# If the preprocessor says anything with the precompiled header, which may be damaged, it works
# again without.  A file that it refuses does not compile either.
expanded()
{
	expand "$pch"
	scanned=$?
	if [ -n "$pch" ] && [ "$(cat "$WORK/expanding")" != 'status 0' ]; then
		expand ''
		scanned=$?
	fi
	cat "$WORK/scanned"
	if [ $scanned -gt 128 ]; then
		echo "$file: error: a signal ended the search for what macros make"
		scanned=10
	fi
	[ $scanned = 0 ] || return $scanned
	! no_end "$WORK/expanding" || return 10
}

# poisoned WORDS: what the preprocessor says of these words; without the precompiled header, if
# it does not come to the file's end with it.
fatal='compilation terminated.'
poisoned()
{
	if [ -n "$pch" ]; then
		preprocess "$pch" "$WORK/poisoned" -include "$1" -fpch-preprocess >"$1.said"
		no_end "$1.said" "$fatal" >/dev/null || return 0
	fi
	preprocess '' "$WORK/poisoned" -include "$1" >"$1.said"
	! no_end "$1.said" || return 10
	grep -xF "$fatal" "$1.said" >>"$WORK/fatal"
	return 0
}

# Only the preprocessor sees a word that macros put together.  It also complains about
# words in headers; the file cannot take a header's name (agate-scan-expanded).  Its output,
# which may be more than a file may hold, goes nowhere.
#
# To poison a macro removes it, and then other macros expand to something else.  So the words that
# are no macros have a run of their own, in which everything expands as for the compiler.
pasted()
{
	ln -s /dev/null "$WORK/poisoned" || return 1
	poisoned "$WORK/poison.h.words" >"$WORK/ended" &
	poisoned "$WORK/poison.h"
	poisoned=$?
	wait $! || poisoned=$?
	[ $poisoned = 0 ] || {
		cat "$WORK/ended"
		return $poisoned
	}
	cat "$WORK/poison.h.words.said" "$WORK/poison.h.said" >"$WORK/poisoning"
	awk -v file="$file:" '
		index($0, file) == 1 && /attempt to use poisoned/ {
			word = $NF
			gsub(/"/, "", word)
			sub(/ attempt to use.*/, "")
			if (!seen[$0, word]++)
				print $0, "`" word "`, put together by a macro, is not allowed in a lab\047s file"
			found = 1
		}
		END { exit found ? 10 : 0 }' "$WORK/poisoning"
}

# headers OUTPUT FILE OPTION...: of FILE, the headers' text after macro expansion
headers()
{
	text=$1 from=$2
	shift 2
	"$compile" "$from" "$text" -E -fno-diagnostics-show-caret "$@" >"$WORK/said" 2>&1 \
		3>&- 4>&- 5>&- || return
	awk -v from="${from%/*}/" -v dir="${file%/*}/" '
		/^# [0-9]+ "/ {
			path = $0
			sub(/^# [0-9]+ "/, "", path)
			own = index(path, from) == 1 || index(path, dir) == 1
			next
		}
		!own && !/^#/ && NF { $1 = $1; print }' "$text" | sha256sum
}

# Does a macro of the file expand in a header that is included after it?  Then the headers say
# something else where these macros are hidden from them.
changed()
{
	[ -s "$WORK/own" ] || return 0
	mkdir "$WORK/hidden" || return 1
	"$scans/agate-scan-source" "$file" "$WORK/own" >"$WORK/hidden/${file##*/}" || return 1
	as_is=$(headers "$WORK/as-is" "$file") || {
		cat "$WORK/said"
		return 10
	}
	hidden=$(headers "$WORK/as-hidden" "$WORK/hidden/${file##*/}" -iquote "${file%/*}")
	[ "$as_is" != "$hidden" ] || return 0
	first=$(sort -n "$WORK/own" | head -n 1)
	echo "$file:${first% *}: error: \`${first#* }\`, or another macro, changes what a header says" \
		"that is included after it: define macros after the last #include"
	return 10
}

"$scans/agate-scan-source" "$file"
refused=$?
case $refused in
0 | 12) ;;
10) exit 10 ;;
*) exit 1 ;;
esac
# The compiler works meanwhile; its messages come last.  If it says anything with the precompiled
# header, it compiles again without, and those messages count.
compile_it()
{
	AGATE_PCH=$pch "$compile" "$file" "$object" -pipe ${pch:+-Winvalid-pch} "$@" \
		>"$WORK/compiling" 2>&1 3>&- 4>&- 5>&-
	compiled=$?
	[ -n "$pch" ] || return $compiled
	[ $compiled != 0 ] || [ -s "$WORK/compiling" ] || return 0
	pch=
	: >"$WORK/again"
	compile_it "$@"
}
compile_it "$@" &
compiling=$!
expanded >"$WORK/scanning" 2>&1
expanded=$?
pasted >>"$WORK/scanning" 2>&1
pasted=$?
[ $expanded != 0 ] || {
	changed >>"$WORK/scanning" 2>&1
	expanded=$?
}
wait $compiling
compiled=$?
[ ! -s "$WORK/scanning" ] || cat "$WORK/scanning"
[ $expanded != 10 ] && [ $pasted != 10 ] && [ $refused = 0 ] || exit 10
# SIGXCPU and SIGXFSZ may have ended a shell that wrote down what they said.
for status in $expanded $pasted; do
	case $status in
	$((128 + 24)) | $((128 + 25))) exit "$status" ;;
	esac
done
[ $expanded = 0 ] && [ $pasted = 0 ] || exit 1
[ ! -s "$WORK/compiling" ] || cat "$WORK/compiling"
[ $compiled = 0 ] || exit 10
# The compiler came to its end, so the preprocessor has to as well, each time.
grep -qx 'status 0' "$WORK/expanding" && [ ! -s "$WORK/fatal" ] || {
	cat "$WORK/expanding" "$WORK/fatal"
	echo "$file: error: the preprocessor does not come to its end"
	exit 10
}
[ -z "$pch" ] || [ -e "$WORK/again" ] || echo precompiled >&5
readelf -W -S -s "$object" >&5 2>/dev/null || {
	echo "$file: error: the object that it compiles to is damaged"
	exit 10
}
# Without what is precompiled, which precompile.sh has looked at.
cat "$WORK/expanded.d" >&4 || exit 1
exec cat "$object" >&3
