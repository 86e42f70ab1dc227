#!/bin/sh
# SPDX-License-Identifier: MIT
#
# book.sh: make the book from book/*.md.
#
# usage: scripts/book.sh html|epub|pdf OUT, in the project's folder
#
# html: a folder with one page for each chapter, which needs no network and no server.
# facts.txt beside it is what tests/book.sh checks.  epub, pdf: a file.
set -eu

format=$1 out=$2
chapters=$(cat book/chapters.txt)
web=book/web

title_of()
{
	sed -n 's/^# //p' "book/$1.md" | head -n 1
}

# turn CHAPTER OPTION...: one chapter through the filter
turn()
{
	chapter=$1
	shift
	pandoc --from markdown+gfm_auto_identifiers-smart-implicit_figures-citations --lua-filter "$web/filter.lua" \
		--metadata chapter="$chapter" "$@" "book/$chapter.md"
}

# What the page's template says about the other pages, as YAML.
around()
{
	echo 'chapters:'
	previous='' next=''
	last=
	for page in $chapters; do
		echo "- page: $page"
		echo "  title: '$(title_of "$page" | sed "s/'/''/g")'"
		[ "$page" != "$1" ] || { echo '  here: true'; previous=$last; }
		[ "$last" != "$1" ] || next=$page
		last=$page
	done
	[ -z "$previous" ] || echo "previous: $previous"
	[ -z "$next" ] || echo "next: $next"
}

make_html()
{
	rm -rf "$out.new"
	mkdir -p "$out.new"
	{
		echo '// The words of every section, for the search.'
		echo 'window.bookIndex = ['
	} >"$out.new/search.js"
	for c in $chapters; do
		around "$c" >"$out.new/around.yaml"
		turn "$c" --metadata target=html --metadata facts="$out.new/facts.txt" \
			--metadata index="$out.new/search.js" --metadata-file "$out.new/around.yaml" \
			--template "$web/page.html" --toc --toc-depth 2 --to html5 \
			--output "$out.new/$c.html"
	done
	echo '];' >>"$out.new/search.js"
	cp "$web/style.css" "$web/book.js" "$out.new"
	first=$(head -n 1 book/chapters.txt)
	cp "$out.new/$first.html" "$out.new/index.html"
	rm -rf "$out.new/around.yaml" "$out"
	mv "$out.new" "$out"
}

# All chapters as one document, in which links lead to places of the same document.
one_document()
{
	parts=
	mkdir -p "$out.parts"
	for c in $chapters; do
		turn "$c" --metadata target=book --to json --output "$out.parts/$c.json"
		parts="$parts $out.parts/$c.json"
	done
	# shellcheck disable=SC2086 # a list of files
	pandoc --from json --standalone --resource-path book --toc --toc-depth 2 \
		--metadata title='The Agate book' --metadata pagetitle='The Agate book' \
		--metadata lang=en --metadata rights='CC-BY-SA-4.0' "$@" $parts
	rm -r "$out.parts"
}

mkdir -p "$(dirname "$out")"
case $format in
html)
	make_html
	;;
epub)
	one_document --to epub3 --css "$web/epub.css" --output "$out"
	;;
pdf)
	command -v weasyprint >/dev/null || {
		echo "There is no weasyprint, which makes the PDF." >&2
		exit 1
	}
	one_document --to html5 --css web/print.css --output "$out.html"
	weasyprint --quiet --encoding utf-8 --base-url "$PWD/book/" "$out.html" "$out.new"
	mv "$out.new" "$out"
	rm "$out.html"
	;;
*)
	echo "book.sh: html, epub or pdf" >&2
	exit 2
	;;
esac
