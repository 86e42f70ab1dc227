# SPDX-License-Identifier: MIT
#
# includes.awk: the #include lines with which a C file begins, before anything else but comments.
#
# usage: awk -f includes.awk FILE
#
# A line that is not of the plainest form ends the list, and so does whatever comes after a
# comment on its line, or could lead out of the folders that headers are in.

/\\[ \t\r\v\f]*$/ { exit }
comment {
	if (index($0, "*/") && $0 !~ /^([^*]|\*+[^*\/])*\*+\/[ \t]*$/)
		exit
	comment = !index($0, "*/")
	next
}
/^[ \t]*$/ || /^\/\// { next }
/^\/\*/ {
	rest = substr($0, 3)
	if (!index(rest, "*/"))
		comment = 1
	else if (rest !~ /^([^*]|\*+[^*\/])*\*+\/[ \t]*$/)
		exit
	next
}
/\.\./ { exit }
/^#include (<[a-zA-Z0-9_][a-zA-Z0-9_\/.-]*\.h>|"[a-zA-Z0-9_.-]+\.h")$/ { print; next }
{ exit }
