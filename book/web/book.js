// SPDX-License-Identifier: MIT
//
// Theme, size and search.  The page works without it, and it needs no network: the index
// is a script beside the page, loaded when somebody searches.
"use strict";

const root = document.documentElement;

// A browser may refuse to remember anything for a page that is a file.
function recall(key) {
	try {
		return localStorage.getItem(key);
	} catch (error) {
		return null;
	}
}

function remember(key, value) {
	try {
		localStorage.setItem(key, value);
	} catch (error) {
		// The choice lasts as long as the page does.
	}
}

function setTheme(theme) {
	if (theme === "dark" || theme === "light")
		root.dataset.theme = theme;
	else
		delete root.dataset.theme;
}

function setSize(size) {
	if (size === "large")
		root.dataset.size = size;
	else
		delete root.dataset.size;
}

setTheme(recall("theme"));
setSize(recall("size"));

const escapes = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const escape = (text) => text.replace(/[&<>"]/g, (c) => escapes[c]);

// Entries are [address, chapter, section, text].  Every word has to be there; one in the
// section's title counts more than many in its text.
function find(index, query) {
	const words = query.toLowerCase().split(/\s+/).filter(Boolean);
	const hits = [];

	for (const entry of index) {
		const title = (entry[1] + " " + entry[2]).toLowerCase();
		const text = entry[3].toLowerCase();
		let score = 0;

		for (const word of words) {
			const times = Math.min(text.split(word).length - 1, 9);
			const gain = times + (title.includes(word) ? 20 : 0);

			if (!gain) {
				score = 0;
				break;
			}
			score += gain;
		}
		if (score)
			hits.push({ entry, score, at: text.indexOf(words[0]) });
	}
	return hits.sort((a, b) => b.score - a.score).slice(0, 20);
}

function show(list, hits, query) {
	const word = query.trim().split(/\s+/)[0];

	list.hidden = !query.trim();
	list.innerHTML = hits.map(({ entry, at }) => {
		const start = Math.max(0, at - 40);
		const piece = entry[3].slice(start, start + 140);
		const i = piece.toLowerCase().indexOf(word.toLowerCase());
		const text = i < 0 ? escape(piece) : escape(piece.slice(0, i)) + "<mark>" +
			escape(piece.slice(i, i + word.length)) + "</mark>" +
			escape(piece.slice(i + word.length));

		return `<li><a href="${escape(entry[0])}"><b>${escape(entry[2])}</b>` +
			`<span>${escape(entry[1])}</span><span>${text}</span></a></li>`;
	}).join("") || "<li><a>Nothing found</a></li>";
}

let loading;

function loadIndex() {
	loading = loading || new Promise((resolve, reject) => {
		const script = document.createElement("script");

		script.src = "search.js";
		script.onload = () => resolve(window.bookIndex);
		script.onerror = reject;
		document.head.append(script);
	});
	return loading;
}

document.addEventListener("DOMContentLoaded", () => {
	const form = document.getElementById("search");
	const input = form.querySelector("input");
	const list = document.getElementById("found");
	const theme = document.getElementById("theme");
	const size = document.getElementById("size");
	const themes = ["auto", "dark", "light"];

	const name = () => { theme.textContent = root.dataset.theme || "auto"; };

	name();
	theme.addEventListener("click", () => {
		const next = themes[(themes.indexOf(root.dataset.theme || "auto") + 1) % 3];

		setTheme(next);
		remember("theme", next);
		name();
	});
	size.addEventListener("click", () => {
		const next = root.dataset.size ? "normal" : "large";

		setSize(next);
		remember("size", next);
	});
	input.addEventListener("input", async () => {
		const index = await loadIndex();

		show(list, find(index, input.value), input.value);
	});
	form.addEventListener("submit", (event) => {
		const first = list.querySelector("a[href]");

		event.preventDefault();
		if (first)
			location.href = first.href;
	});
	document.addEventListener("keydown", (event) => {
		if (event.key === "Escape") {
			list.hidden = true;
			document.getElementById("menu").open = false;
		}
		if (event.target === input || event.ctrlKey || event.metaKey || event.altKey)
			return;
		if (event.key === "/") {
			event.preventDefault();
			input.focus();
		} else if (event.key === "d") {
			theme.click();
		} else if (event.key === "p") {
			size.click();
		}
	});
});
