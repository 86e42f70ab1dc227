#!/bin/sh
# SPDX-License-Identifier: MIT
#
# capstone.sh: `make capstone` with few frames: the frames, the page, and whether it notices what
# it has to notice.  As TAP.
set -u
. tests/tap.sh

BUILD=${BUILD:-build}
work=$BUILD/tests/capstone
out=$work/out
rm -rf "$work"
mkdir -p "$work"

run()
{
	FRAMES=2 LIMIT=600 scripts/capstone/run.sh "$out" >"$work/log" 2>&1
}

complain() { tail -n 20 "$work/log"; }

page()
{
	scripts/capstone/page.sh "$work/spoilt" 3 16777216 100663296 midgard 7 >"$work/log" 2>&1
}

# spoilt COMMAND...: the page of what COMMAND made worse is refused
spoilt()
{
	rm -rf "$work/spoilt"
	cp -r "$out" "$work/spoilt"
	(cd "$work/spoilt" && "$@")
	! page
}

# What is wrong with the page, seen without a browser.
page_findings()
{
	grep -n '@DATA@\|@SCRIPT@' "$out/index.html"
	grep -noE '(src|href)="[^"]*' "$out/index.html" | grep -v 'data:'
	sed -n '/id="data">/,/<\/script>/p' "$out/index.html" | sed 's/.*id="data">//; s/<\/script>.*//' \
		>"$work/data.json"
	for list in pictures frames moves chains faults cores clock supply resets injected shown; do
		grep -q "\"$list\": *\[." "$work/data.json" || echo "$list is empty"
	done
}

# A browser draws all of it, if there is a browser.
browser_findings()
{
	browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || {
		echo "# no Chromium: nobody has looked at the page" >&3
		return
	}
	timeout 60 "$browser" --headless --no-sandbox --disable-gpu --virtual-time-budget=5000 \
		--window-size=1400,1500 --dump-dom "file://$(realpath "$out")/index.html" \
		>"$work/dom" 2>"$work/browser"
	grep -i 'uncaught\|CONSOLE.*error' "$work/browser"
	[ "$(grep -o '<canvas' "$work/dom" | wc -l)" = 6 ] || echo "not all charts are drawn"
	[ "$(grep -o '<img' "$work/dom" | wc -l)" = "$(find "$out/frames" -name '*.png' | wc -l)" ] ||
		echo "not all frames are shown"
}

exec 3>&1
echo 1..8
run
result $? "frames are the same, whatever happens"
spoilt sh -c 'printf x >>frames/frame-00003.png'
result $? "a frame that was shown differently is seen"
spoilt rm clients/client-2/gem-0001.png
result $? "a frame that is missing is seen"
spoilt cp clients/client-3/gem-0000.png clients/client-3/gem-0001.png
result $? "a frame that a program drew differently is seen"
spoilt sed -i 's/"table": "0x[^"]*"/"table": "0x1000"/' events.jsonl
result $? "a run in fewer address spaces is seen"
spoilt sed -i '/"card_power", "on": 0/d' events.jsonl && spoilt sed -i '/"stick-as"/d' events.jsonl
result $? "trouble that did not come is seen"
no_findings "the page is whole" "$(page_findings)"
no_findings "a browser shows all of it" "$(browser_findings)"
