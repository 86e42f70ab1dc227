#!/bin/sh
# SPDX-License-Identifier: MIT
#
# blame-boxed.sh: find the words of a file that made its object use a symbol, in the box.
#
# usage: scripts/blame-boxed.sh COMPILE FILE OBJECT SYMBOL..., by compose-lib.sh
#
# Often a macro or an inline function of a header uses the symbol.  Relocations show where
# the object uses it, debug information shows the line and the functions inlined there,
# and the macros' definitions show which word of the line leads to it.  Gives descriptor 3
# a line "SYMBOL LINE WORD" for each symbol that this finds.
set -u

compile=$1 file=$2 object=$3
shift 3

command -v addr2line >/dev/null && command -v readelf >/dev/null || exit 1
echo begun >&5

printf '%s\n' "$@" >"$WORK/symbols"

# "SECTION OFFSET SYMBOL", of code only
readelf -W -r "$object" | awk '
	FNR == NR { wanted[$1]; next }
	/^Relocation section/ { section = $3; gsub(/\047|\.rela/, "", section); next }
	section ~ /text/ && $5 in wanted && count[$5]++ < 20 { print section, $1, $5 }
' "$WORK/symbols" - >"$WORK/uses"

# "SYMBOL LINE FUNCTION...": the file's own outermost line, and the functions inlined there
cut -d ' ' -f 1 "$WORK/uses" | sort -u | while read -r section; do
	sed -n "s/^$section \([0-9a-f]*\) .*/0x\1/p" "$WORK/uses" >"$WORK/offsets"
	sed -n "s/^$section [0-9a-f]* //p" "$WORK/uses" >"$WORK/used"
	addr2line -a -f -i -e "$object" -j "$section" @"$WORK/offsets" | awk -v file="$file:" '
		FNR == NR { symbol[FNR] = $1; next }
		/^0x/ { n++; inlined = ""; done = 0; next }
		!odd { function_name = $1; odd = 1; next }
		{
			odd = 0
			where = $1
			sub(/^\.\//, "", where)
			if (!done && index(where, file) == 1) {
				print symbol[n], substr(where, length(file) + 1) + 0, inlined
				done = 1
			}
			inlined = inlined " " function_name
		}' "$WORK/used" -
done >"$WORK/lines"

# Uses in data have no line: take any line that leads there.
awk 'FILENAME == ARGV[1] { seen[$1]; next } !($1 in seen) { print $1, 0 }' "$WORK/lines" "$WORK/symbols" \
	>>"$WORK/lines"

"$compile" "$file" "$WORK/macros" -E -dM >"$WORK/macros.log" 2>&1 3>&- 5>&-
awk -f scripts/blame.awk "$WORK/lines" "$WORK/macros" "$file" >&3
