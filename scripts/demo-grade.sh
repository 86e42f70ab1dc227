#!/bin/sh
# SPDX-License-Identifier: MIT
#
# demo-grade.sh: demonstrate grading.
#
# usage: scripts/demo-grade.sh DIR
#
# Grades the reference of a lab, then the same file with a bug in it.  Fails when the
# first does not get all points that the fast kernel gives, or when the second does.
set -eu

out=$1
BUILD=${BUILD:-build}
lab=02-gem-object
bug=tests/mutants/02/closed-early.patch

say() { printf '  %-8s %s\n' "$1" "$2"; }

# Has every test that ran passed?
all_passed()
{
	! grep -qE '"status": "(fail|crash|timeout)"' "$1/result.json"
}

rm -rf "$out/reference" "$out/bug"
mkdir -p "$out/reference" "$out/bug/solutions"

say GRADE "lab 02, the reference"
"$BUILD/bin/agate-grade" --lab "$lab" --from solutions --out "$out/reference"
all_passed "$out/reference"

echo
say GRADE "lab 02, with a bug in it:"
sed '/^--- /,$d' "$bug" | sed '/^$/d; s/^/           /'
cp -r "solutions/$lab" "$out/bug/solutions/"
patch -s -p1 --no-backup-if-mismatch -d "$out/bug" <"$bug"
"$BUILD/bin/agate-grade" --lab "$lab" --from "$out/bug/solutions" --out "$out/bug"
! all_passed "$out/bug"
