# SPDX-License-Identifier: MIT
#
# blame.awk: find the word of a file's line that leads to a symbol.
#
# usage: awk -f blame.awk USES MACROS FILE, by blame-boxed.sh
#
# USES has lines "SYMBOL LINE FUNCTION...", with the functions that were inlined in that
# line of FILE on the way to the symbol; line 0 is any.  MACROS is what the preprocessor
# prints for -dM.  Prints "SYMBOL LINE WORD" once for each symbol, with the first such
# line.

# The names in a text, each as a key of found[].
function names(text, found,    n, i, words)
{
	split("", found)
	gsub(/"([^"\\]|\\.)*"/, " ", text)
	n = split(text, words, /[^A-Za-z0-9_]+/)
	for (i = 1; i <= n; i++)
		if (words[i] ~ /^[A-Za-z_]/)
			found[words[i]]
}

# Does a macro's text lead to one of goals[]?
function leads(word,    found, name)
{
	if (word in goals)
		return 1
	if (!(word in macro) || word in visited)
		return 0
	visited[word]
	names(macro[word], found)
	for (name in found)
		if (leads(name))
			return 1
	return 0
}

# The word of a line that leads to a goal, its own name first; empty when there is none.
function word_of(text,    n, i, words)
{
	sub(/\/\/.*/, "", text)
	gsub(/\/\*.*\*\//, " ", text)
	gsub(/"([^"\\]|\\.)*"/, " ", text)
	n = split(text, words, /[^A-Za-z0-9_]+/)
	for (i = 1; i <= n; i++)
		if (words[i] in goals)
			return words[i]
	for (i = 1; i <= n; i++) {
		split("", visited)
		if (words[i] ~ /^[A-Za-z_]/ && leads(words[i]))
			return words[i]
	}
	return ""
}

function blame(use,    line, word, at, from, to)
{
	split("", goals)
	for (at = 1; at <= use_words[use]; at++)
		if (at != 2)
			goals[use_word[use, at]]
	line = use_word[use, 2]
	from = line ? line : 1
	to = line ? line + 3 : lines
	for (at = from; at <= to; at++) {
		word = word_of(source[at])
		if (word != "")
			return at " " word
	}
	# Debug information may give only the last line of a statement.
	for (at = line - 1; at >= line - 3 && at > 0; at--) {
		word = word_of(source[at])
		if (word != "")
			return at " " word
	}
	return line ? line " " use_word[use, 1] : ""
}

FNR == 1 { while (FILENAME != ARGV[input]) input++ }

input == 1 {
	uses++
	use_words[uses] = NF
	for (i = 1; i <= NF; i++)
		use_word[uses, i] = $i
}

input == 2 && $1 == "#define" {
	word = $2
	sub(/\(.*/, "", word)
	macro[word] = $0
	sub(/^#define [A-Za-z0-9_]+(\([^)]*\))?/, "", macro[word])
}

input == 3 { source[++lines] = $0 }

END {
	for (i = 1; i <= uses; i++) {
		symbol = use_word[i, 1]
		if (!(symbol in best) || use_word[i, 2] + 0 < line_of[symbol]) {
			line_of[symbol] = use_word[i, 2] + 0
			best[symbol] = i
		}
	}
	for (symbol in best) {
		answer = blame(best[symbol])
		if (answer != "")
			print symbol, answer
	}
}
