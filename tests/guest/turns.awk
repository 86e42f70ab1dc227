# SPDX-License-Identifier: MIT
#
# turns.awk: does a GPU's event log have `turns` chains in the order in which a client
# submitted them, one after another?
#
# The client (two-gpus.c) puts the chain of each turn 512 bytes behind that of the turn
# before.  All end well, and none begins before the last one has ended.  Behind address.awk.

/"event": "chain_start"/ {
	head = address(field("head"))
	run = !running && head == last + 512 ? run + 1 : 1
	last = head
	running = 1
}

/"event": "chain_end"/ {
	running = 0
	if ($0 !~ /"exception": "DONE"/)
		run = 0
	if (run > longest)
		longest = run
}

END {
	if (longest != turns)
		print FILENAME ": " longest + 0 " chains in order, not " turns
}
