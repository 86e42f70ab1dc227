# SPDX-License-Identifier: MIT
#
# tap.sh: what shell tests say in TAP.  Source it from the project's folder, before
# leaving that; complain() is the script's own, and shows what a failed test saw.

number=0
complain() { :; }

# result STATUS NAME: one test, passed when STATUS is 0.
result()
{
	number=$((number + 1))
	if [ "$1" = 0 ]; then
		echo "ok $number - $2"
	else
		complain | sed 's/^/# /'
		echo "not ok $number - $2"
	fi
}

# no_findings NAME FINDINGS: one test, passed when there is nothing in FINDINGS.
no_findings()
{
	number=$((number + 1))
	if [ -z "$2" ]; then
		echo "ok $number - $1"
	else
		printf '%s\n' "$2" | head -n 50 | sed '/^#/!s/^/# /'
		echo "not ok $number - $1"
	fi
}

# check NAME EXPECTED_STATUS STATUS COMMAND...: and the command has to succeed.
check()
{
	name=$1 expect=$2 status=$3
	shift 3
	if [ "$status" = "$expect" ] && "$@"; then
		result 0 "$name"
	else
		result 1 "$name (status $status)"
	fi
}

# until_true COMMAND...: true once it succeeds, false if it has not within 30 seconds.
until_true()
{
	tries=300
	until "$@"; do
		tries=$((tries - 1))
		[ "$tries" -gt 0 ] || return 1
		sleep 0.1
	done
}

# leave_without BUGS: where none has its turn, says so and ends the script.
leave_without()
{
	[ -z "$1" ] || return 0
	echo "1..1"
	echo "ok 1 - none of these bugs has its turn"
	exit
}
