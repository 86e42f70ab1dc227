# SPDX-License-Identifier: MIT
#
# turns.awk: does a GPU's event log have `turns` chains in the order in which a client
# submitted them, one after another?
#
# The client (two-gpus.c) puts the chain of each turn 512 bytes behind that of the turn
# before.  All end well, and none begins before the last one has ended.

# The number behind "0x", as far as doubles are exact.
function address(text,    i, n)
{
	n = 0
	for (i = 3; i <= length(text); i++)
		n = 16 * n + index("0123456789abcdef", substr(text, i, 1)) - 1
	return n
}

/"event": "chain_start"/ {
	match($0, /"head": "0x[0-9a-f]+"/)
	head = address(substr($0, RSTART + 9, RLENGTH - 10))
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
