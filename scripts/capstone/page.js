/* SPDX-License-Identifier: MIT */
/*
 * What the capstone's page shows: data.awk says what is in the lists of `run`; run.sh adds
 * pictures, frames (for each shown frame, the number of the picture that it equals, or -1),
 * clients, spaces (the clients' address spaces), vram (bytes), wanted (bytes), and gpu.
 */
const run = JSON.parse(document.getElementById("data").textContent);
const CYCLES_PER_MS = 800000;
const MIB = 1 << 20;
const COLORS = ["--in", "--out", "--new"];
const STORIES = {
	"drop-irq": ["an interrupt was lost", "looked at the GPU when the job's time was up, and found it done"],
	"delay-irq": ["an interrupt came 15 ms late", "waited"],
	"stick-as": ["the MMU did not answer a command", "reset the GPU and started its jobs anew"],
	"sleep": ["the system slept, and the card lost its memory",
		"let no job begin, saved what was in VRAM before, restored it afterwards, and went on"],
};

const make = (parent, tag, text, name) => {
	const element = document.createElement(tag);

	if (text !== undefined)
		element.textContent = text;
	if (name)
		element.className = name;
	parent.append(element);
	return element;
};
const byId = (id) => document.getElementById(id);
const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name);
const sum = (list, value) => list.reduce((total, item) => total + value(item), 0);
const mib = (bytes) => Math.round(bytes / MIB).toLocaleString("en") + " MiB";

/* ---- What went wrong ---- */

const events = run.injected.map(([time, what]) => ({ time, what }))
	.concat(run.supply.filter(([, on]) => !on).map(([time]) => ({ time, what: "sleep" })))
	.sort((a, b) => a.time - b.time);

function showEvents() {
	events.forEach(({ time, what }, n) => {
		const row = make(byId("events"), "tr");
		const [happened, answer] = STORIES[what];

		make(row, "td", n + 1);
		make(row, "td", (time / CYCLES_PER_MS).toFixed(1));
		make(row, "td", happened);
		make(row, "td", answer);
	});
}

/* ---- Facts and frames ---- */

function showFacts() {
	const bytes = (what) => sum(run.moves.filter((move) => move[1] === what), (move) => move[3]);
	const same = run.frames.filter((picture) => picture >= 0).length;
	const facts = [
		[`${same} of ${run.frames.length}`, "shown frames are the undisturbed ones, byte for byte"],
		[mib(run.wanted), `wanted by ${run.clients} programs, in ${mib(run.vram)} of VRAM`],
		[mib(bytes(0)), "moved into VRAM"],
		[mib(bytes(1)), "moved out of it"],
		[run.chains.length.toLocaleString("en"), `job chains in ${run.spaces} address spaces`],
		[run.faults.length, "page faults served"],
		[run.interrupted, "frames that the GPU had drawn a part of when the system slept"],
		[events.length, "things that went wrong on purpose"],
	];

	byId("what").textContent = `${run.clients} programs drew the same turning gem at the same time ` +
		`on a simulated ${run.gpu} GPU, with far less memory than they wanted; all but the first ` +
		"one by turns in address spaces of their own. Interrupts were lost and late, the MMU " +
		"stopped answering, and the whole system slept in the middle of frames.";
	for (const [number, text] of facts)
		make(make(byId("facts"), "li"), "b", number).after(" " + text);
}

function showFrames() {
	run.frames.forEach((picture, n) => {
		const item = make(byId("strip"), "li", undefined, picture < 0 ? "differs" : "");
		const image = make(item, "img");

		image.src = run.pictures[Math.max(picture, 0)];
		image.alt = picture < 0 ? `frame ${n + 1} differs` : `frame ${n + 1}: the gem, turned, picture ${picture}`;
		item.append(n + 1);
	});
}

/* ---- The chart ---- */

/* A canvas as wide as the page, in a row of its own; `paint` gets x() for a time. */
function row(title, height, paint) {
	const box = make(byId("chart"), "div", undefined, "row");
	const heading = make(box, "h3");
	const canvas = make(box, "canvas");
	const scale = window.devicePixelRatio || 1;
	const width = box.clientWidth;
	const context = canvas.getContext("2d");

	heading.innerHTML = title;
	canvas.setAttribute("role", "img");
	canvas.setAttribute("aria-label", heading.textContent);
	canvas.width = width * scale;
	canvas.height = height * scale;
	canvas.style.height = height + "px";
	context.scale(scale, scale);
	paint(context, (time) => time / run.end * width, width, height);
}

const key = (name, text) => `<i style="background: var(${name})"></i> ${text}`;

/* Each move colours its range from then on; a later one paints over it. */
function paintVram(context, x, width, height) {
	for (const [time, what, offset, bytes] of run.moves) {
		const top = offset / run.vram * height, tall = Math.max(bytes / run.vram * height, 0.5);

		context.clearRect(x(time), top, width, tall);
		if (what === 1)
			continue;
		context.fillStyle = color(COLORS[what]);
		context.fillRect(x(time), top, width, tall);
	}
}

/* Sums of value() in bins of a few pixels. */
function bins(list, x, width, step, when, value) {
	const sums = new Array(Math.ceil(width / step) + 1).fill(0);

	for (const item of list)
		sums[Math.floor(x(when(item)) / step)] += value(item);
	return sums;
}

function paintMoves(context, x, width, height) {
	const step = 3, middle = height / 2;
	const of = (what) => bins(run.moves.filter((move) => move[1] === what), x, width, step,
				  (move) => move[0], (move) => move[3]);
	const [into, out, fresh] = [of(0), of(1), of(2)];
	const most = Math.max(...into.map((bytes, n) => bytes + fresh[n]), ...out, 1);

	into.forEach((bytes, n) => {
		const up = bytes / most * middle, cleared = fresh[n] / most * middle;

		context.fillStyle = color("--in");
		context.fillRect(n * step, middle - up, step - 0.5, up);
		context.fillStyle = color("--new");
		context.fillRect(n * step, middle - up - cleared, step - 0.5, cleared);
		context.fillStyle = color("--out");
		context.fillRect(n * step, middle, step - 0.5, out[n] / most * middle);
	});
}

function paintSlot(slot) {
	return (context, x, width, height) => {
		context.fillStyle = color("--busy");
		for (const [of, from, to] of run.chains) {
			if (of === slot)
				context.fillRect(x(from), 2, Math.max(x(to) - x(from), 0.4), height - 4);
		}
	};
}

function paintFaults(context, x, width, height) {
	context.fillStyle = color("--mark");
	for (const [from, to] of run.faults)
		context.fillRect(x(from), 0, Math.max(x(to) - x(from), 2), height);
}

/* A line that keeps its value until the next one. */
function steps(context, list, x, width, height, most, name) {
	let y = height - 2;

	context.strokeStyle = color(name);
	context.lineWidth = 1.5;
	context.beginPath();
	context.moveTo(0, y);
	for (const [time, value] of list) {
		context.lineTo(x(time), y);
		y = height - 2 - value / most * (height - 6);
		context.lineTo(x(time), y);
	}
	context.lineTo(width, y);
	context.stroke();
}

function paintPower(context, x, width, height) {
	const most = (list) => Math.max(...list.map(([, value]) => value), 1);

	steps(context, run.clock, x, width, height, most(run.clock), "--out");
	steps(context, run.cores, x, width, height, most(run.cores), "--in");
}

/* The number of one that is close to the last stands lower. */
function showMarks(box) {
	let last = -1, low = false;

	events.forEach(({ time }, n) => {
		const line = make(box, "div", undefined, "event");
		const part = time / run.end;

		low = part - last < 0.015 && !low;
		last = part;
		line.style.left = part * 100 + "%";
		make(line, "span", n + 1, low ? "low" : "");
	});
}

function chart() {
	const box = byId("chart");

	box.replaceChildren();
	row(`Residency: VRAM from its first byte (top) to its last: ${key("--in", "came back")}, ` +
	    `${key("--new", "new")}; blank: has left, or was never used`, 200, paintVram);
	row(`Moves: ${key("--in", "into VRAM")}, ${key("--new", "cleared")}, ${key("--out", "out of it")}`,
	    90, paintMoves);
	row("Slot 0: fragment jobs", 22, paintSlot(0));
	row("Slot 1: compute and tiler jobs", 22, paintSlot(1));
	row("Page faults, while they waited", 16, paintFaults);
	row(`Power: ${key("--in", "shader cores that are on")}, ${key("--out", "clock")}`, 60, paintPower);
	showMarks(box);
	make(box, "div").id = "cursor";
}

/* Which frame the display shows at a time. */
function point(event) {
	const box = byId("chart").getBoundingClientRect();
	const part = (event.clientX - box.left) / box.width;
	const frame = run.shown.filter(([time]) => time <= part * run.end).length - 1;

	byId("cursor").style.left = part * 100 + "%";
	[...byId("strip").children].forEach((item, n) => item.classList.toggle("now", n === frame));
}

showFacts();
showFrames();
showEvents();
chart();
byId("chart").addEventListener("pointermove", point);
window.addEventListener("resize", chart);
