# SPDX-License-Identifier: MIT
#
# coverage.awk: what of the simulator ran, file by file, and whether it is enough.
#
# usage: awk -f coverage.awk -v least=95 -v failed=TESTS -v uncovered=FILE -v reasons=PAGE
#        SOURCES GCOV
#
# SOURCES names the files that count, one a line; GCOV is what gcov -t printed; TESTS
# are the programs that failed.  Prints a table, then TAP: whether they passed, whether
# every source was compiled, whether enough of each folder's lines ran, and whether PAGE
# names each file of which not all did.  FILE gets those lines, as FILE:LINE:TEXT.

BEGIN {
	while ((getline text <reasons) > 0)
		page = page text
}

FNR == NR {
	source[$0] = 1
	order[++sources] = $0
	next
}

# COUNT:LINE:TEXT, and before them the file's name as the text of line 0.
match($0, /^ *[^:]*: *0:Source:/) {
	file = substr($0, RLENGTH + 1)
	next
}

# gcov reports a header's function once for each file that compiled it: its line ran when
# it ran in one of them.
file in source && match($0, /^ *[^ :]+: *[0-9]+:/) {
	split($0, part, ":")
	count = part[1]
	gsub(/ /, "", count)
	line = part[2] + 0
	if (count == "-" || line == 0)
		next
	lines[file, line] = substr($0, RLENGTH + 1)
	last[file] = last[file] < line ? line : last[file]
	if (count !~ /^[#=]/)
		ran[file, line] = 1
}

function row(name, all, covered)
{
	printf "%-32s %6d %8d %7.1f%%\n", name, all, covered, 100 * covered / all
}

# A header without code has no line in the table.
function count_file(name, folder,	line, all, covered)
{
	for (line = 1; line <= last[name]; line++) {
		if (!((name, line) in lines))
			continue
		all++
		if ((name, line) in ran)
			covered++
		else
			print name ":" line ":" lines[name, line] >uncovered
	}
	if (all)
		row(name, all, covered)
	else if (name ~ /\.c$/)
		missing = missing " " name
	if (covered < all && !index(page, "`" name "`"))
		unexplained = unexplained " " name
	folder_all[folder] += all
	folder_covered[folder] += covered
	total_all += all
	total_covered += covered
}

function result(good, name)
{
	print (good ? "ok " : "not ok ") ++tests " - " name
	bad += !good
}

END {
	printf "" >uncovered
	printf "%-32s %6s %8s %8s\n", "file", "lines", "covered", "percent"
	for (i = 1; i <= sources; i++) {
		folder = order[i]
		sub(/\/[^\/]*$/, "", folder)
		if (!(folder in folder_all))
			folders[++n] = folder
		count_file(order[i], folder)
	}
	print ""
	for (i = 1; i <= n; i++)
		if (folder_all[folders[i]])
			row(folders[i] "/", folder_all[folders[i]], folder_covered[folders[i]])
	if (total_all)
		row("total", total_all, total_covered)
	print ""
	if (failed)
		print "# failed:" failed
	result(!failed, "the tests passed")
	if (missing)
		print "# never compiled:" missing
	result(!missing, "every source was compiled")
	for (i = 1; i <= n; i++)
		result(folder_all[folders[i]] &&
		       100 * folder_covered[folders[i]] >= least * folder_all[folders[i]],
		       folders[i] "/: " least " % of the lines ran")
	if (unexplained)
		print "# without a reason:" unexplained
	result(!unexplained, reasons " has a reason for every file of which not all ran")
	print "1.." tests
	exit bad != 0
}
