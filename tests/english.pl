#!/usr/bin/perl
# SPDX-License-Identifier: MIT
#
# english.pl: find sentences that make a reader go over them twice.
#
# usage: tests/english.pl FILE...
#
# Looks at the comments of C files (at nothing else in them), at the # comments of
# shell scripts and makefiles, and at the text of Markdown outside code.  A comment or
# a paragraph counts as one line, so a line break does not hide anything.
use strict;
use warnings;

# What each pattern finds, and what to write instead.
my @patterns = (
	# The first word of a sentence; a question is fine.
	[qr/(?:^|[.:;?!] +|- )(Who(?:ever)? [^.?]*[.;]|Whose [^.?]*[.;])/,
		'name the one who does it'],
	[qr/(?:^|[.:;?!] +|- )(What [^.?;:]* (?:is|are|was|were|has|have|can|cannot|may|must|does|do) [^.?]*[.;])/,
		'begin with the subject'],
	[qr/\b((?:by|of|to|from|for|and|or|as) who [^.?;]*)/, 'name the one who does it'],
	[qr/[:;] (who [a-z]+s\b[^.?;]*)/, 'name the one who does it'],
	[qr/\b(but for)\b/i, 'write "except for" or "without"'],
	[qr/\b(as it were)\b/i, 'say what it is'],
	[qr/\b(for want of|whence|thence)\b/i, 'write "because there is no" or "from where"'],
	[qr/\b((?:it is|it was) (?!clear|true|said|known|likely|possible|not clear)[^.;:,?]{1,40} that)\b/i,
		'begin with the subject'],
	[qr/\b((?:told|tells?|telling) of)\b/i, 'write "report"'],
	[qr/\b((?:is|are|was|were) (?:no|none) (?:register|address|number|GPU|error|fault|power|file|job|RAM))\b/,
		'write "is not a"'],
);

sub c_comments
{
	my ($text) = @_;
	my @found;

	while ($text =~ m{(/\*.*?\*/)|(//[^\n]*)|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'}gs) {
		my $comment = $1 // $2 // next;
		my $line = 1 + (substr($text, 0, $-[0]) =~ tr/\n//);

		next if $comment =~ /SPDX/;
		$comment =~ s{^/[*/]+|\*+/$}{}g;
		# A blank line ends a paragraph, and so does a line of kernel-doc.
		$comment =~ s/\n[ \t]*\*?[ \t]*(?=\n)/\n\n/g;
		$comment =~ s/\n[ \t]*\*[ \t]*(?=@|Return:|Context:|- )/\n\n/g;
		for my $paragraph (split /\n\n+/, $comment) {
			$paragraph =~ s/\n[ \t]*\*?[ \t]*/ /g;
			push @found, [$line, $paragraph];
			$line += () = $paragraph =~ /\n/g;
		}
	}
	return @found;
}

sub hash_comments
{
	my ($text) = @_;
	my ($number, $start, $paragraph) = (0, 0, '');
	my @found;

	for my $line (split(/\n/, $text), '') {
		$number++;
		if ($line =~ /^\s*#+ (.*)/) {
			$start = $number if $paragraph eq '';
			$paragraph .= " $1";
		} elsif ($paragraph ne '') {
			push @found, [$start, $paragraph];
			$paragraph = '';
		}
	}
	return @found;
}

sub markdown
{
	my ($text) = @_;
	my ($number, $code) = (0, 0);
	my @found;

	for my $line (split /\n/, $text) {
		$number++;
		if ($line =~ /^\s*```/) {
			$code = !$code;
			next;
		}
		next if $code || $line =~ /^    /;
		$line =~ s/`[^`]*`/CODE/g;
		push @found, map { [$number, $_] } $line =~ /^\|/ ? split(/\|/, $line) : $line;
	}
	return @found;
}

for my $file (@ARGV) {
	open(my $in, '<', $file) or die "$file: $!\n";
	my $text = do { local $/; <$in> };
	my @parts = $file =~ /\.[ch]$/ ? c_comments($text) :
		    $file =~ /\.md$/ ? markdown($text) : hash_comments($text);

	for my $part (@parts) {
		my ($line, $words) = @$part;

		$words =~ s/\s+/ /g;
		$words =~ s/^ //;
		for my $pattern (@patterns) {
			my ($regex, $advice) = @$pattern;

			print "$file:$line: \"", substr($1, 0, 70), "\": $advice\n" if $words =~ $regex;
		}
	}
}
