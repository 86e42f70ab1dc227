# SPDX-License-Identifier: MIT
#
# victims.awk: which BOs leave VRAM in a GPU's event log, as the lines that victims.c prints, and
# what is wrong with that.  Behind address.awk; before the log comes a file with the lines
#
#   # range TEST FIRST END MARK
#
# that such a test prints of which one BO leaves and comes back: the BO's addresses, and that of
# the two chains between which it does so.
#
# A mark names each test.  Its first BOs have 8 MiB each, and are numbered as they are cleared.

$2 == "range" {
	first[$3] = address($4)
	end[$3] = address($5)
	mark[$3] = $6
	next
}

function in_vram(addr)
{
	return addr >= 549755813888	# AGATE_PHYS_VRAM
}

function end_test()
{
	if (test in first) {
		looked++
		if (marks != 2 || !commands["FLUSH_MEM"] || !commands["FLUSH_PT"])
			print test ": the BO was not flushed when it left, or when it came back"
		if (!walks)
			print test ": no walk reached the BO"
	} else if (test != "" && test != "waits") {
		print "# " test ": leave" left
	}
}

function begin_test(name)
{
	end_test()
	test = name
	left = last = ""
	back = cleared = running = marks = walks = 0
	delete owner
	delete here
	delete coming
	delete commands
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

# In the tests with a range one BO comes back.
/"event": "mover_end".*"op": "COPY"/ {
	dst = address(field("dst"))
	if (dst in coming)
		here[dst] = 1
	delete coming[dst]
}

test in first && /"event": "walk".*"maps"/ {
	va = address(field("va"))
	if (va >= first[test] && va < end[test]) {
		pa = address(field("maps"))
		walks++
		if (!((pa - pa % 2097152) in here))
			print test ": a walk of " field("va") " reached " field("maps")
	}
}

test in first && /"event": "chain_start"/ && field("head") == mark[test] {
	space = field("as")
	marks++
}

# hardware.md, section 4.4.  UPDATE drops all translations.
test in first && marks == 1 && /"event": "as_command"/ && field("as") == space {
	command = field("command")
	region = address(field("lockaddr"))
	size = 2 ^ (region % 64 + 1)
	if (size < 32768)
		size = 32768
	region -= region % size
	if (command == "UPDATE" || region < first[test] || region + size > end[test])
		print test ": " command " of " field("lockaddr") ", where nothing moves"
	commands[command]++
}

END {
	if (looked != 2)
		print looked + 0 " tests with a range, not 2"
	if (!stores)
		print "the mover stored no page-table entry"
}
