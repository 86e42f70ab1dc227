#!/bin/sh
# SPDX-License-Identifier: MIT
#
# book-browser.sh: look at the book's pages in a headless Chromium, if one is installed.
#
# usage: tests/book-browser.sh FOLDER, the one that scripts/book.sh html made
#
# Prints what is wrong: a page that is wider than a phone, a laptop's or a projector's window,
# an error of a script, a search that finds nothing.  Says so if there is no browser.
set -u

folder=$(realpath "$1")
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || {
	echo "# no Chromium: nobody has looked at the pages"
	exit 0
}

# A page that shows another one at several widths, and writes what it sees.
cat >"$folder/look.html" <<'EOF'
<!DOCTYPE html><meta charset="utf-8"><body><script>
const page = location.hash.slice(1);
const said = (text) => {
	const line = document.createElement("p");

	line.textContent = "SAID " + page + ": " + text;
	document.body.append(line);
};
const frame = document.createElement("iframe");
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function wide(width, size) {
	const root = frame.contentDocument.documentElement;

	frame.style.width = width + "px";
	if (size)
		root.dataset.size = size;
	else
		delete root.dataset.size;
	await pause(50);
	if (root.scrollWidth > root.clientWidth)
		said(`${root.scrollWidth} pixels in a window of ${width}`);
}

async function search(query, some) {
	const input = frame.contentDocument.querySelector("#search input");

	frame.contentDocument.getElementById("found").hidden = true;
	input.value = query;
	input.dispatchEvent(new Event("input"));
	for (let i = 0; i < 40 && frame.contentDocument.getElementById("found").hidden; i++)
		await pause(50);
	const found = frame.contentDocument.querySelectorAll("#found a[href]").length;

	if (some !== found > 0)
		said(`${found} found for ${query}`);
}

frame.style.height = "800px";
frame.onload = async () => {
	for (const width of [320, 390, 768, 1366, 1920])
		await wide(width);
	await wide(1920, "large");
	await wide(1280, "large");
	await search("reservation", true);
	await search("noWordOfThisBook", false);
	for (const key of ["d", "d", "d", "p", "p"])
		frame.contentDocument.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
	const end = document.createElement("p");

	end.textContent = "LOOKED";
	document.body.append(end);
};
frame.src = page;
document.body.append(frame);
</script></body>
EOF
for path in "$folder"/*.html; do
	page=$(basename "$path")
	[ "$page" != look.html ] || continue
	"$browser" --headless --no-sandbox --disable-gpu --allow-file-access-from-files \
		--user-data-dir="$tmp/profile" --enable-logging=stderr --virtual-time-budget=20000 \
		--window-size=2000,1000 --dump-dom "file://$folder/look.html#$page" \
		>"$tmp/dom" 2>"$tmp/log"
	grep -o 'SAID [^<]*' "$tmp/dom" | grep -v '" + page' | sed 's/^SAID //'
	grep -q '<p>LOOKED' "$tmp/dom" || echo "$page: the browser has not looked at it to the end"
	grep 'CONSOLE' "$tmp/log" | sed "s/^/$page: /"
done
rm -f "$folder/look.html"
