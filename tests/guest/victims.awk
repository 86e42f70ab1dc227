# SPDX-License-Identifier: MIT
#
# victims.awk: which BOs leave VRAM in a GPU's event log, as the lines that victims.c prints, and
# what is wrong with that.  Behind address.awk; `first` and `end` are addresses of the BO that
# the test `away` looks at, and `mark` is that of its two chains between which this BO leaves and
# comes back.
#
# A mark names each test.  Its first BOs have 8 MiB each, and are numbered as they are cleared.

function in_vram(addr)
{
	return addr >= 549755813888	# AGATE_PHYS_VRAM
}

function begin_test(name)
{
	if (test != "" && test != "away" && test != "waits")
		print "# " test ": leave" left
	test = name
	left = last = ""
	back = cleared = running = 0
	delete owner
	delete here
}

/"event": "mark"/ { begin_test(field("text")) }
END { begin_test("") }

/"event": "chain_start"/ { running++ }
/"event": "chain_end"/ { running-- }

# Four commands clear a BO.
/"event": "mover_begin".*"op": "FILL"/ {
	dst = address(field("dst"))
	owner[dst] = int(cleared / 4)
	cleared++
	if (owner[dst] == 0)
		here[dst] = 1
	else
		delete here[dst]
}

/"event": "mover_begin".*"op": "COPY"/ {
	src = address(field("src"))
	dst = address(field("dst"))
	if (in_vram(src)) {
		number = owner[src]
		if (number < 7 && !back && number != last)
			left = left " " number
		last = number
		if (running && (test == "behind_jobs" || test == "behind_running" && number == 3))
			print "a copy from " field("src") " began beside a job"
		delete here[src]
	} else {
		back = 1
		coming[dst] = 1
	}
}

# In `waits` a page table changes behind a fence.
test == "waits" && /"event": "mover_begin".*"op": "STORE"/ { stores++ }

# In `away` one BO comes back.
/"event": "mover_end".*"op": "COPY"/ {
	dst = address(field("dst"))
	if (dst in coming)
		here[dst] = 1
	delete coming[dst]
}

test == "away" && /"event": "walk".*"maps"/ {
	va = address(field("va"))
	if (va >= address(first) && va < address(end)) {
		pa = address(field("maps"))
		walks++
		if (!((pa - pa % 2097152) in here))
			print "a walk of " field("va") " reached " field("maps")
	}
}

test == "away" && /"event": "chain_start"/ && field("head") == mark {
	space = field("as")
	marks++
}

# hardware.md, section 4.4.  UPDATE drops all translations.
test == "away" && marks == 1 && /"event": "as_command"/ && field("as") == space {
	command = field("command")
	region = address(field("lockaddr"))
	size = 2 ^ (region % 64 + 1)
	if (size < 32768)
		size = 32768
	region -= region % size
	if (command == "UPDATE" || region < address(first) || region + size > address(end))
		print command " of " field("lockaddr") " in a space in which only " first " moves"
	commands[command]++
}

END {
	if (marks != 2 || !commands["FLUSH_MEM"] || !commands["FLUSH_PT"])
		print "the BO was not flushed when it left, or when it came back"
	if (!walks)
		print "no walk reached the BO"
	if (!stores)
		print "the mover stored no page-table entry"
}
