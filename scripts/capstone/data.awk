# SPDX-License-Identifier: MIT
#
# data.awk: the part of the GPU's event log that the capstone's page shows, as members of a
# JSON object.  Times are bus cycles of the GPU.
#
#   moves     [time, what, offset in VRAM, bytes]; what: 0 came in, 1 went out, 2 was cleared
#   chains    [slot, from, to]
#   faults    [from, to]: an access that waited for memory
#   cores     [time, shader cores that are on]
#   clock     [time, MHz]
#   supply    [time, 1 or 0]: the card's
#   resets    [time]
#   injected  [time, what]
#   shown     [time]: one for each frame
#   end       the last event's time
#   interrupted  frames of which the GPU had drawn a part when the card lost its power, and drew
#             the rest afterwards

function text(key,	at, rest)
{
	at = index($0, "\"" key "\": ")
	if (!at)
		return ""
	rest = substr($0, at + length(key) + 4)
	sub(/[,}].*/, "", rest)
	gsub(/"/, "", rest)
	return rest
}

function number(hex,	n, i)
{
	hex = tolower(substr(hex, 3))
	for (i = 1; i <= length(hex); i++)
		n = n * 16 + index("0123456789abcdef", substr(hex, i, 1)) - 1
	return n
}

function add(list, item)
{
	lists[list] = lists[list] (lists[list] == "" ? "" : ",") "[" item "]"
}

function bits(n,	count)
{
	for (; n > 0; n = int(n / 2))
		count += n % 2
	return count + 0
}

# No two programs share an address space, and each draws one frame after the other there.
function drawn(space)
{
	if (text("exception") != "DONE")
		return
	if (text("slot") == 0)
		fragments[space]++
	else if (bins)
		tilers[space]++
}

# The supply went: which frames are in the middle?
function interrupt(	space)
{
	for (space in tilers) {
		if (tilers[space] != fragments[space] || fragments[space] % passes)
			until_then[space] = fragments[space] + 0
	}
}

function went_on(	space, count)
{
	for (space in until_then)
		count += fragments[space] > until_then[space]
	return count + 0
}

# A command of the mover names its two sides by their physical addresses.
function moved(	src, dst)
{
	src = number(text("src"))
	dst = number(text("dst"))
	if (dst >= vram)
		add("moves", time "," (text("op") == "FILL" ? 2 : 0) "," dst - vram "," text("len"))
	else if (src >= vram)
		add("moves", time ",1," src - vram "," text("len"))
}

BEGIN {
	vram = 512 * 1024 * 1024 * 1024
	passes = 8	# of a frame (agate-gem.c): a TILER and a FRAGMENT job each
	count = split("moves chains faults cores clock supply resets injected shown", names, " ")
}

{
	time = text("time")
	event = text("event")
}
event == "mover_end" && text("ended") == "done" && text("op") ~ /^(COPY|FILL)$/ { moved() }
event == "as_done" && text("command") == "UPDATE" { table[text("as")] = text("table") }
event == "chain_start" {
	started[text("slot")] = time
	space[text("slot")] = table[text("as")]
	if (text("slot") != 0)
		bins = 0
}
event == "job_start" && text("type") == "TILER" { bins = 1 }
event == "chain_end" {
	add("chains", text("slot") "," started[text("slot")] "," time)
	drawn(space[text("slot")])
}
event == "fault" { waiting[text("as")] = time }
event == "fault_resumed" { add("faults", waiting[text("as")] "," time) }
event == "power" && text("domain") == "SHADER" { add("cores", time "," bits(number(text("ready")))) }
event == "clock" { add("clock", time "," text("mhz")) }
event == "card_power" {
	add("supply", time "," text("on"))
	if (text("on") == 0)
		interrupt()
}
event == "reset" { add("resets", time) }
event == "injected" { add("injected", time ",\"" text("what") "\"") }
event == "flip_done" && text("reason") == "none" { add("shown", time) }

END {
	for (i = 1; i <= count; i++)
		printf "\"%s\": [%s],\n", names[i], lists[names[i]]
	printf "\"interrupted\": %d,\n", went_on()
	printf "\"end\": %s\n", time
}
