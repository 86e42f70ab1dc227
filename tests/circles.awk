# SPDX-License-Identifier: MIT
#
# Circles in a graph: lines "FROM TO" in, one line out for each set of nodes that all lead to
# each other and are more than there may be.
#
# usage: awk -v most=N -f tests/circles.awk
{
	leads[$1, $2] = 1
	node[$1]
	node[$2]
}

END {
	for (via in node)
		for (from in node)
			if ((from, via) in leads)
				for (to in node)
					if ((via, to) in leads)
						leads[from, to] = 1
	for (a in node) {
		if (a in told)
			continue
		circle = a
		n = 1
		for (b in node)
			if (b != a && (a, b) in leads && (b, a) in leads) {
				circle = circle " " b
				told[b]
				n++
			}
		if (n > most)
			print n " in a circle: " circle
	}
}
