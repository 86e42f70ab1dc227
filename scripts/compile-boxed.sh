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
# words in headers; the file cannot take a header's name (scan-words.h).  Its output, which
# may be more than a file may hold, goes nowhere.  Unless it comes to the file's end, nobody
# knows which words are there, so its last words refuse the file.
pasted()
{
	"$scan" --poison >"$WORK/poison.h" && ln -s /dev/null "$WORK/poisoned" || exit 1
	{
		"$compile" "$file" "$WORK/poisoned" -E -include "$WORK/poison.h" \
			-fno-diagnostics-show-caret 2>&1 >/dev/null 3>&- 4>&- 5>&-
		echo "status $?"
	} | awk -v file="$file:" '
		index($0, file) == 1 && /attempt to use poisoned/ {
			word = $NF
			gsub(/"/, "", word)
			sub(/ attempt to use.*/, "")
			print $0, "`" word "`, put together by a macro, is not allowed in a lab\047s file"
			found = 1
		}
		/terminated program|compiler error|out of memory|memory exhausted|annot allocate/ {
			print
			found = 1
		}
		/^status / && $2 > 128 && $2 < 192 {
			print file " error: a signal ended the preprocessor"
			found = 1
		}
		END { exit found ? 10 : 0 }'
	poisoned=$?
	[ $poisoned = 0 ] || [ $poisoned = 10 ] || exit 1
	return $poisoned
}

"$scan" "$file"
case $? in
0) ;;
10) exit 10 ;;
11) pasted || exit 10 ;;
*) exit 1 ;;
esac
"$compile" "$file" "$object" -pipe "$@" 3>&- 4>&- 5>&- || exit 10
readelf -W -S -s "$object" >&5 2>/dev/null || {
	echo "$file: error: the object that it compiles to is damaged"
	exit 10
}
cat "$object.d" >&4 && cat "$object" >&3
