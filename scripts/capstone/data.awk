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
	count = split("moves chains faults cores clock supply resets injected shown", names, " ")
}

{
	time = text("time")
	event = text("event")
}
event == "mover_end" && text("ended") == "done" && text("op") ~ /^(COPY|FILL)$/ { moved() }
event == "chain_start" { started[text("slot")] = time }
event == "chain_end" { add("chains", text("slot") "," started[text("slot")] "," time) }
event == "fault" { waiting[text("as")] = time }
event == "fault_resumed" { add("faults", waiting[text("as")] "," time) }
event == "power" && text("domain") == "SHADER" { add("cores", time "," bits(number(text("ready")))) }
event == "clock" { add("clock", time "," text("mhz")) }
event == "card_power" { add("supply", time "," text("on")) }
event == "reset" { add("resets", time) }
event == "injected" { add("injected", time ",\"" text("what") "\"") }
event == "flip_done" && text("reason") == "none" { add("shown", time) }

END {
	for (i = 1; i <= count; i++)
		printf "\"%s\": [%s],\n", names[i], lists[names[i]]
	printf "\"end\": %s\n", time
}
