#!/bin/sh
# expect_ending.sh CODE STATUS TEXT RANK COMMAND…: runs COMMAND with the path of a result file behind it
# and passes if it leaves with CODE, or with 9 of a launcher that reports the rank that it killed itself
# (MPICH's from 4.1 on), if the file ends in an `end` line of that STATUS and of CODE whose reason holds
# TEXT, and if RANK, which ended the job, removed its data file.
set -u
code=$1 status=$2 text=$3 rank=$4
shift 4
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
"$@" "$directory/r"
left=$?
fail() {
    echo "$1" >&2
    cat "$directory/r" >&2
    exit 1
}
[ "$left" = "$code" ] || [ "$left" = 9 ] || fail "exit code $left, not $code"
end=$(tail -n 1 "$directory/r")
case $end in
    *'"kind":"end"'*"\"status\":\"$status\",\"exit_code\":$code,"*"\"reason\":\""*"$text"*) ;;
    *) fail "no such end line" ;;
esac
[ "$(grep -c '"kind":"end"' "$directory/r")" = 1 ] || fail "more than one end line"
[ ! -e "$directory/r.data$rank" ] || fail "the data file was not removed"
