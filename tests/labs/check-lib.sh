# SPDX-License-Identifier: MIT
#
# check-lib.sh: what the tests of `make check` share.  Source it from the project's folder.
# Needs what make check needs; leaves what it builds in build/check, for next time.

. tests/tap.sh

export BUILD="${BUILD:-build}"
work=$BUILD/tests/labs/$(basename "$0" .sh)
rm -rf "$work"
mkdir -p "$work/labs"
export LABS="$work/labs"

# describe LAB HOST_TESTS ALLOW FILE...: a lab that may use what ALLOW says
describe()
{
	lab=$1 host=$2 allow=$3 kind=kernel
	shift 3
	[ "$lab" != 08-bo ] || kind=library
	part=$BUILD/parts/fast/$lab.o
	[ $kind = kernel ] || part=$BUILD/parts/library/$lab.o
	mkdir -p "$LABS/$lab"
	{
		echo "{\"lab\": \"$lab\", \"kind\": \"$kind\", \"steps\": 0, \"host_tests\": [$host],"
		echo "\"allow\": [$allow], \"files\": ["
		printf '"%s",\n' "$@" | sed '$s/,$//'
		echo '], "exports": ['
		nm -P -g --defined-only "$part" | sed -n '/^agate_abi_/d; s/^\([^ :]*\) .*/"\1",/p' |
			sed '$s/,$//'
		echo ']}'
	} >"$LABS/$lab/lab.json"
}

# start LAB: a student who has the solution.
start()
{
	rm -rf "${work:?}/$1"
	cp -r "solutions/$1" "$work"
}

check_lab()
{
	scripts/check.sh "$1" "$work" >"$work/said" 2>&1
}

complain()
{
	cat "$work/said"
}

# said TEXT...: all of them
said()
{
	for text; do
		grep -qF "$text" "$work/said" || return
	done
}

unsaid()
{
	! grep -qF "$1" "$work/said"
}
