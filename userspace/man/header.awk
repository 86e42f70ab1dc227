# SPDX-License-Identifier: MIT
#
# header.awk: make Markdown of agate.h.
#
# usage: awk -f header.awk userspace/agate.h
#
# Each comment becomes the text below the declarations that follow it, and a line
# /* ---- NAME ---- */ becomes a heading.  The licence, the include guards and what is for
# C++ alone are left out.

function escaped(text)
{
	gsub(/[\\*_<>`$~^|#\[\]@]/, "\\\\&", text)
	return text
}

function flush()
{
	if (code != "")
		printf "```\n%s```\n\n", code
	if (comment != "")
		printf "%s\n\n", comment
	code = comment = ""
}

/^\/\* SPDX/ || /^#pragma/ || /^#(if|endif|ifndef|include)/ || /^#define AGATE_H$/ { next }
/^extern "C"/ || /^}$/ { next }

/^\/\* ---- / {
	flush()
	gsub(/^\/\* ---- | -+ \*\/$/, "")
	printf "# %s\n\n", toupper($0)
	next
}

# A comment on one line, or the lines of a longer one.
!in_code && /^\/\*.*\*\/$/ {
	flush()
	gsub(/^\/\* *| *\*\/$/, "")
	comment = escaped($0)
	next
}
!in_code && /^\/\*/ { flush(); in_comment = 1; next }
in_comment && /\*\/$/ { in_comment = 0; next }
in_comment {
	sub(/^ \*/, "")
	sub(/^ /, "")
	comment = comment (comment == "" ? "" : "\n") escaped($0)
	next
}

# A declaration reaches to the next empty line; a comment without one is a text of its own.
/^$/ {
	if (!in_code || code !~ /{[^}]*$/)
		in_code = 0
	if (!in_code)
		flush()
	next
}
{
	in_code = 1
	code = code $0 "\n"
}
END { flush() }
