# SPDX-License-Identifier: MIT
#
# address.awk: numbers in a GPU's event log.

# The number behind "0x", as far as doubles are exact.
function address(text,    i, n)
{
	n = 0
	for (i = 3; i <= length(text); i++)
		n = 16 * n + index("0123456789abcdef", substr(text, i, 1)) - 1
	return n
}

# What the event in $0 says under this name, without quotes.
function field(name)
{
	if (!match($0, "\"" name "\": \"?[^\",}]+"))
		return ""
	name = substr($0, RSTART, RLENGTH)
	sub(/^[^:]*: "?/, "", name)
	return name
}
