# SPDX-License-Identifier: MIT
#
# symbols.awk: the rules for the symbols of a lab's objects.
#
# usage: awk -v lab=NN-topic -f symbols.awk INFO COMMON NM
#
# INFO is agate-lab-info's output, COMMON a list of symbols that any file may use
# (words; # starts a comment), NM what `nm -P -A -g` said of the objects.  Prints a
# line for each rule that is broken.

function allow(name)
{
	if (sub(/\*$/, "", name))
		prefix[name]
	else
		allowed[name]
}

function is_allowed(name,    p)
{
	if (name in allowed)
		return 1
	for (p in prefix)
		if (index(name, p) == 1)
			return 1
	return 0
}

BEGIN { number = lab; sub(/-.*/, "", number) }

FNR == 1 { input++ }

input == 1 && $1 == "exports" { wanted[$2]; order[++exports] = $2 }
input == 1 && $1 == "allow" { allow($2) }

input == 2 { sub(/#.*/, ""); for (i = 1; i <= NF; i++) allow($i) }

input == 3 {
	file = $1
	sub(/:$/, "", file)
	sub(/.*\//, "", file)
	sub(/\.o$/, ".c", file)
	if ($3 ~ /^[Uwv]$/) {
		used[++uses] = $2
		user[uses] = file
	} else if (!($2 in wanted)) {
		print file ": defines " $2 ", which is not what lab " number " exports: make it static"
	} else if ($2 in defined) {
		print file ": defines " $2 ", and so does " defined[$2]
	} else {
		defined[$2] = file
	}
}

END {
	for (i = 1; i <= exports; i++)
		if (!(order[i] in defined))
			print lab ": does not define " order[i] ", which other files of the driver need"
	for (i = 1; i <= uses; i++)
		if (!(used[i] in defined) && !is_allowed(used[i]))
			print user[i] ": uses " used[i] ", which lab " number " does not allow"
}
