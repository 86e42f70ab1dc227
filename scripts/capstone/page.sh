#!/bin/sh
# SPDX-License-Identifier: MIT
#
# page.sh: compare all frames of a capstone, and make its page.
#
# usage: scripts/capstone/page.sh DIR CLIENTS VRAM WANTED GPU SPACES
#
# DIR is what run.sh left; VRAM and WANTED are bytes, and SPACES are the address spaces of all
# clients.  Writes DIR/index.html, which needs nothing else.  Fails if a frame differs, if the GPU
# was not in that many address spaces, or if something that was to go wrong did not: run.sh says what.
set -eu

out=$1 clients=$2 vram=$3 wanted=$4 gpu=$5 spaces=$6
here=$(dirname "$0")

say() { printf '  %-8s %s\n' "$1" "$2"; }

fail()
{
	echo "capstone: $*" >&2
	exit 1
}

# A test that did not see the trouble has shown nothing.
trouble()
{
	for what in drop-irq:2 delay-irq:1 stick-as:1; do
		[ "$(grep -c "\"event\": \"injected\", \"what\": \"${what%:*}\"" "$out/events.jsonl")" = "${what#*:}" ] ||
			fail "not ${what#*:} ${what%:*}: the run was too short"
	done
	grep -q '"event": "card_power", "on": 0' "$out/events.jsonl" || fail "the system did not sleep"
	grep -q 'resetting the GPU' "$out/disturbed.log" || fail "the GPU was not reset"
	# One sleep alone moves no more than what VRAM holds.
	[ "$(copied src)" -ge "$wanted" ] || fail "too little left VRAM"
	[ "$(copied dst)" -ge "$wanted" ] || fail "too little came back into VRAM"
}

# copied SIDE: bytes that the mover copied out of VRAM (src) or into it (dst)
copied()
{
	awk -v side="$1" -f "$here/../copied.awk" "$out/events.jsonl" | cut -d ' ' -f 2
}

# Each page table that the GPU was given.
tables()
{
	sed -n 's/.*"command": "UPDATE".*"table": "\(0x[1-9a-f][^"]*\)".*/\1/p' "$out/events.jsonl" |
		sort -u
}

# Which undisturbed picture FILE is: its number, or -1.
picture_of()
{
	n=0
	for picture in "$out"/undisturbed/gem*.png; do
		if cmp -s "$1" "$picture"; then
			echo $n
			return
		fi
		n=$((n + 1))
	done
	echo -1
}

# What every client wrote.
compare()
{
	for folder in "$out"/clients/client-*; do
		diff -r "$out/undisturbed" "$folder" >"$out/differs" || fail "$(head -n 1 "$out/differs")"
	done
	rm "$out/differs"
}

# What data.awk does not know (page.js).
facts()
{
	printf '{"pictures": ['
	comma=
	for picture in "$out"/undisturbed/gem*.png; do
		printf '%s"data:image/png;base64,%s"' "$comma" "$(base64 -w 0 "$picture")"
		comma=,
	done
	printf '],\n"frames": [%s],\n' "$(for frame in "$out"/frames/*.png; do
		picture_of "$frame"
	done | paste -s -d ,)"
	printf '"clients": %d, "spaces": %d, "vram": %d, "wanted": %d, "gpu": "%s",\n' \
		"$clients" "$spaces" "$vram" "$wanted" "$gpu"
	awk -f "$here/data.awk" "$out/events.jsonl"
	printf '}'
}

# The template, with files in the place of their marks.
page()
{
	facts >"$out/data.json"
	awk -v data="$out/data.json" -v script="$here/page.js" '
		function file(name, line) { while ((getline line <name) > 0) print line }
		/@DATA@/ { printf "%s", substr($0, 1, index($0, "@DATA@") - 1); file(data)
			   print substr($0, index($0, "@DATA@") + 6); next }
		$0 == "@SCRIPT@" { file(script); next }
		{ print }' "$here/page.html" >"$out/index.html"
}

trouble
[ "$(tables | wc -l)" -ge "$spaces" ] || fail "the GPU was in $(tables | wc -l) address spaces, not $spaces"
compare
page
grep -q '"frames": \[[^]]*-1' "$out/data.json" && fail "a shown frame differs: $out/frames"
grep -q '"interrupted": 0' "$out/data.json" && fail "the system did not sleep in the middle of a frame"
rm "$out/data.json"
say FRAMES "$(find "$out/frames" -name '*.png' | wc -l) shown, each one like the undisturbed one"
say PAGE "$out/index.html"
