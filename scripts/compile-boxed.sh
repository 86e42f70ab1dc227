#!/bin/sh
# SPDX-License-Identifier: MIT
#
# compile-boxed.sh: what happens to one file in the box (box-lib.sh).
#
# usage: scripts/compile-boxed.sh SCAN COMPILE FILE [OPTION...], by compile-one.sh
#
# SCAN is agate-scan-source, COMPILE the command that the reference was compiled with.
# Gives the object to descriptor 3, what it was made of to
# 4, and to 5 facts: "begun", "include LINE NAME", and the object's sections and symbols
# as readelf lists them.  Exit status: 0; 10 when the file is at fault; 1 for all else.
set -u

scan=$1 compile=$2 file=$3
shift 3
object=$WORK/object.o

command -v gcc >/dev/null && command -v readelf >/dev/null || exit 1
echo begun >&5

# Only the preprocessor sees a word that macros put together.  It also complains about
# words in headers; the file cannot take a header's name (scan-words.h).
pasted()
{
	"$scan" --poison >"$WORK/poison.h" || exit 1
	"$compile" "$file" "$WORK/poisoned" -E -include "$WORK/poison.h" \
		-fno-diagnostics-show-caret >/dev/null 2>"$WORK/poisoned.log" 3>&- 4>&- 5>&-
	awk -v file="$file:" 'index($0, file) == 1 && /attempt to use poisoned/ {
		word = $NF
		gsub(/"/, "", word)
		sub(/ attempt to use.*/, "")
		print $0, "`" word "`, put together by a macro, is not allowed in a lab\047s file"
		found = 1
	} END { exit !found }' "$WORK/poisoned.log"
}

"$scan" "$file"
case $? in
0) ;;
10) exit 10 ;;
11) ! pasted || exit 10 ;;
*) exit 1 ;;
esac
"$compile" "$file" "$object" -pipe "$@" 3>&- 4>&- 5>&- || exit 10
readelf -W -S -s "$object" >&5 2>/dev/null || {
	echo "$file: error: the object that it compiles to is damaged"
	exit 10
}
cat "$object.d" >&4 && cat "$object" >&3
