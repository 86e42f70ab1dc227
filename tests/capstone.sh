#!/bin/sh
# SPDX-License-Identifier: MIT
#
# capstone.sh: `make capstone` with few frames, on both GPUs: the frames, the page, and whether it
# notices what it has to notice.  As TAP.
set -u
. tests/tap.sh

BUILD=${BUILD:-build}
work=$BUILD/tests/capstone
out=$work/out
rm -rf "$work"
mkdir -p "$work"

# run GPU FOLDER
run()
{
	GPU=$1 FRAMES=2 LIMIT=600 scripts/capstone/run.sh "$2" >"$work/log" 2>&1
}

complain() { tail -n 20 "$work/log"; }

page()
{
	scripts/capstone/page.sh "$work/spoilt" 3 16777216 100663296 midgard 7 >"$work/log" 2>&1
}

# spoilt WHY COMMAND...: the page of what COMMAND made worse is refused, for that reason
spoilt()
{
	why=$1
	shift
	rm -rf "$work/spoilt"
	cp -r "$out" "$work/spoilt"
	(cd "$work/spoilt" && "$@")
	! page && grep -qE "^capstone: $why" "$work/log"
}

# The card's supply goes and comes after all the rest.
sleep_late()
{
	sed '/"card_power"/d' events.jsonl >late
	grep '"card_power"' events.jsonl >>late
	mv late events.jsonl
}

# No copy leaves VRAM, except those just before the supply goes.
all_stays()
{
	off=$(grep -n '"card_power", "on": 0' events.jsonl | cut -d : -f 1)
	awk -v off="$off" '(NR > off - 40 && NR < off) || !/"COPY", "src": "0x80/' events.jsonl >stays
	grep -q '"COPY", "src": "0x80' stays && mv stays events.jsonl
}

# never NAME WHY COMMAND...: a run without that trouble
never()
{
	name=$1
	shift
	spoilt "$@"
	result $? "it is seen that $name"
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

# A browser draws all of it.
browser_findings()
{
	timeout 400 "$browser" --headless --no-sandbox --disable-gpu --virtual-time-budget=5000 \
		--window-size=1400,1500 --dump-dom "file://$(realpath "$out")/index.html" \
		>"$work/dom" 2>"$work/browser"
	grep -i 'uncaught\|CONSOLE.*error' "$work/browser"
	[ "$(grep -o '<canvas' "$work/dom" | wc -l)" = 6 ] || echo "not all charts are drawn"
	[ "$(grep -o '<img' "$work/dom" | wc -l)" = "$(find "$out/frames" -name '*.png' | wc -l)" ] ||
		echo "not all frames are shown"
}

echo 1..16
run bifrost "$work/bifrost"
result $? "frames are the same, whatever happens: bifrost"
run midgard "$out"
result $? "frames are the same, whatever happens: midgard"
spoilt "a shown frame differs" sh -c 'printf x >>frames/frame-00003.png'
result $? "a frame that was shown differently is seen"
spoilt 'Only in .*undisturbed' rm clients/client-2/gem-0001.png
result $? "a frame that is missing is seen"
spoilt 'Binary files .* differ' cp clients/client-3/gem-0000.png clients/client-3/gem-0001.png
result $? "a frame that a program drew differently is seen"
spoilt 'the GPU was in 1 address spaces' sed -i 's/"table": "0x[^"]*"/"table": "0x1000"/' events.jsonl
result $? "a run in fewer address spaces is seen"
never "the system did not sleep" "the system did not sleep$" sed -i '/"card_power", "on": 0/d' events.jsonl
never "it did not sleep in the middle of a frame" "the system did not sleep in the middle" sleep_late
never "an interrupt was not lost" 'not 2 drop-irq' sed -i '0,/"drop-irq"/{/"drop-irq"/d}' events.jsonl
never "no interrupt was late" 'not 1 delay-irq' sed -i '/"delay-irq"/d' events.jsonl
never "the MMU did not hang" 'not 1 stick-as' sed -i '/"stick-as"/d' events.jsonl
never "the GPU was not reset" 'the GPU was not reset' sed -i '/resetting the GPU/d' disturbed.log
never "only the sleep moved memory out" 'too little left VRAM' all_stays
never "nothing came back" 'too little came back' \
	sed -i '/"COPY", .*"dst": "0x80.*"done"/d' events.jsonl
no_findings "the page is whole" "$(page_findings)"
if browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome); then
	no_findings "a browser shows all of it" "$(browser_findings)"
else
	result 0 "a browser shows all of it # SKIP no Chromium: nobody has looked at the page"
fi
