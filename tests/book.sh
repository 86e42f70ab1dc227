#!/bin/sh
# SPDX-License-Identifier: MIT
#
# book.sh: the book is made, and what it shows and names is there, as TAP.
#
# usage: tests/book.sh [--long]
#
# --long makes EPUB and PDF as well, compares the names of the kernel's functions with the
# kernel's source, and looks at the pages in a headless Chromium if one is installed.
set -u
. tests/tap.sh

BUILD=${BUILD:-build}
out=$BUILD/tests/book
facts=$out/html/facts.txt
log=$out/log
mkdir -p "$out"

# fact KIND: lines "CHAPTER<tab>TEXT", each once
fact()
{
	awk -F '\t' -v kind="$1" '$2 == kind { print $1 "\t" $3 }' "$facts" | sort -u
}

chapters()
{
	git ls-files -co --exclude-standard 'book/*.md' | while read -r path; do
		name=$(basename "$path" .md)
		grep -qx "$name" book/chapters.txt || echo "$path: not in chapters.txt"
		head -n 1 "$path" | grep -q 'SPDX-License-Identifier: CC-BY-SA-4.0' ||
			echo "$path: no CC-BY-SA-4.0"
	done
}

figures()
{
	fact figure | while read -r chapter path; do
		grep -q 'currentColor' "book/$path" || echo "$chapter: $path has colours of its own"
		! grep -q '<marker[^>]*viewBox' "book/$path" ||
			echo "$chapter: WeasyPrint draws the arrowheads of $path as squares"
	done
	for path in book/figures/*.svg; do
		fact figure | grep -qF "${path#book/}" || echo "$path: in no chapter"
	done
}

# Every link leads to a page and a place on it; a page uses nothing from elsewhere.
links()
{
	fact link | while read -r chapter target; do
		page=${target%%#*} id=${target#*#}
		[ -f "$out/html/$page" ] || { echo "$chapter: no page $page"; continue; }
		[ "$id" = "$target" ] || grep -qF "id=\"$id\"" "$out/html/$page" ||
			echo "$chapter: no place $target"
	done
	grep -nE '(src|href)="(https?:)?//' "$out"/html/*.html | grep -v '<a href=' |
		sed 's/$/: needs a network/'
	grep -nE "url\(|import |fetch\(|XMLHttp" "$out/html/style.css" "$out/html/book.js"
}

# elsewhere NAME: has elsewhere.txt this file or function?
elsewhere()
{
	awk -F '\t' -v name="$1" '$1 == name { found = 1 } END { exit !found }' book/elsewhere.txt
}

paths()
{
	fact path | while read -r chapter path; do
		case $path in
		build/* | agate/card.fw) ;;	# made, or in the guest
		*) [ -e "$path" ] || elsewhere "$path" || echo "$chapter: no $path" ;;
		esac
	done
}

# A function is one of this tree's, or elsewhere.txt says whose it is.
functions()
{
	git grep -hoE '\b[a-z_0-9]+\(' -- '*.c' '*.h' '*.lua' | tr -d '(' | sort -u >"$out/ours"
	fact function | while read -r chapter name; do
		grep -qx "$name" "$out/ours" || elsewhere "$name" ||
			echo "$chapter: nobody has a function $name()"
	done
	cut -f 1 book/elsewhere.txt | grep -v '^#' | while read -r name; do
		{ fact function; fact path; } | cut -f 2 | grep -qxF "$name" ||
			echo "elsewhere.txt: no chapter names $name"
	done
}

# make_command LINE: complains if make does not know the command, or a name in it
make_command()
{
	words=$1
	target=$(echo "$words" | cut -d ' ' -f 2)
	grep -qE "^## make $target( |\$)" Makefile book/module.mk || {
		echo "no command: make $target"
		return
	}
	takes="$(sed -n "s/^TAKES_$target	*:= *//p" Makefile) KERNEL KERNEL_SRC DEPS FRESH MUTANTS PREFIX V"
	case $takes in
	*TAKES_*) takes="$takes $(sed -n 's/^TAKES_grade	*:= *//p' Makefile)" ;;
	esac
	lab='' test=''
	for word in $(echo "$words" | cut -s -d ' ' -f 3-); do
		case $word in
		LAB=all | LAB=NN) ;;
		LAB=*) lab=labs/$(ls labs | grep "^${word#LAB=}-") ;;
		TEST=*) test=${word#TEST=} ;;
		esac
		case " $(echo $takes) " in
		*" ${word%%=*} "*) ;;
		*) echo "make $target does not take $word" ;;
		esac
	done
	[ "$lab" != labs/ ] || { echo "no such lab: $words"; return; }
	[ -z "$test" ] || grep -q "\"$test\"" "$lab/lab.json" || echo "no test $test: $words"
}

# Commands that only read are run, and have to find something.
commands()
{
	set -f
	fact command | while IFS='	' read -r chapter line; do
		line=$(echo "$line" | sed 's/ *#.*//')
		case $line in
		'') continue ;;
		make\ *) make_command "$line" ;;
		'git grep '* | 'grep '* | 'sed -n '* | 'ls '*)
			[ -n "$(sh -c "$line" 2>&1)" ] || echo "finds nothing: $line" ;;
		'$EDITOR '*) [ -e "${line#* }" ] || echo "no file: $line" ;;
		*) echo "neither run nor checked: $line" ;;
		esac | sed "s/^/$chapter: /"
	done
	set +f
}

search()
{
	while read -r c; do
		grep -q "^\[\"$c.html" "$out/html/search.js" || echo "$c: not in the search"
	done <book/chapters.txt
	[ "$(tail -n 1 "$out/html/search.js")" = '];' ] || echo "search.js has no end"
}

# wrong NAME WORDS LINE...: a chapter of these lines is refused, and the reason has WORDS
wrong()
{
	name=$1 words=$2
	shift 2
	{
		echo '# Wrong'
		printf '%s\n' "$@"
	} >"$out/wrong.md"
	said=$(pandoc --from markdown --lua-filter book/web/filter.lua --metadata chapter=wrong \
		--metadata target=html --to html "$out/wrong.md" 2>&1 >/dev/null)
	case $? in
	0) echo "$name: taken" ;;
	*) case $said in
		*"$words"*) ;;
		*) echo "$name: $said" ;;
		esac ;;
	esac
}

refused()
{
	wrong 'no file' 'no file kernel/none.c' '``` {.c file="kernel/none.c" part="x"}' '```'
	wrong 'no part' '0 parts' '``` {.c file="kernel/agate_drv.c" part="agate_close"}' '```'
	wrong 'no line' 'no line with' '``` {.c file="kernel/agate_drv.c" from="not there" to="}"}' '```'
	wrong 'two lines' 'two lines' '``` {.c file="kernel/agate_drv.c" from="return ret;"}' '```'
	wrong 'typed code' 'in no file' '``` c' 'int x;' '```'
	wrong 'code beside' 'text in a block' '``` {.c file="kernel/agate_drv.c" part="agate_open"}' 'int x;' '```'
	wrong 'link' 'not a chapter' '[there](../README.md)'
	wrong 'picture' 'does not stand for a picture' '![short](figures/blocks.svg)'
}

# The checks below look at the facts of a chapter: these are wrong on purpose.
caught()
{
	keep=$facts
	facts=$out/wrong-facts
	printf 'x\t%s\t%s\n' command 'make bake' command 'make grade TSET=a' command 'make grade LAB=77' \
		command 'make grade LAB=02 TEST=none' command 'rm x' command 'git grep no[s]uchword -- kernel' \
		path kernel/none.c function no_such_thing link none.html link 'machine.html#none' >"$facts"
	found=$( { commands; paths; functions; links; } | grep -c '^x: ')
	facts=$keep
	[ "$found" = 10 ] || echo "$found of 10 mistakes found"
}

both_formats()
{
	scripts/book.sh epub "$out/agate.epub" 2>&1
	[ -s "$out/agate.epub" ] || echo "no EPUB"
	command -v weasyprint >/dev/null || { echo "# no weasyprint: no PDF made"; return; }
	scripts/book.sh pdf "$out/agate.pdf" 2>&1
	[ -s "$out/agate.pdf" ] || echo "no PDF"
	# WeasyPrint sets italics upright where the font has none, and says nothing.
	[ "$(fc-match --format='%{slant}' 'DejaVu Serif,Noto Serif,serif:italic')" = 100 ] ||
		echo "the PDF's font has no italics"
}

kernel_names()
{
	source=$BUILD/guest/kernel-fast/source
	grep -v '^#' book/elsewhere.txt | while read -r name where; do
		case $where in
		kbase | libc | mesa | "before 6.1") ;;
		kernel) [ -e "$source/$name" ] || echo "the kernel has no $name" ;;
		*) grep -qw "$name" "$source/$where" 2>/dev/null || echo "$where: no $name()" ;;
		esac
	done
}

if ! scripts/book.sh html "$out/html" >"$log" 2>&1; then
	cat "$log"
	echo "Bail out! the book cannot be made"
	exit 1
fi
checks="warnings chapters figures links paths functions commands search refused caught"
[ "${1-}" != --long ] || checks="$checks both_formats kernel_names browser"

warnings() { cat "$log"; }
browser() { tests/book-browser.sh "$out/html"; }

echo "1..$(echo "$checks" | wc -w)"
for check in $checks; do
	found=$($check)
	printf '%s\n' "$found" | grep '^# no '
	no_findings "$check" "$(printf '%s\n' "$found" | grep -v '^# no ')"
done
