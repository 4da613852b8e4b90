#!/bin/sh
# expect_ending.sh CODE STATUS TEXT RANK COMMAND…: runs COMMAND with the path of a result file behind it
# and passes if it leaves with CODE, if the file ends in an `end` line of that STATUS and of CODE whose
# reason holds TEXT, and if RANK, which ended the job, removed its data file. EFFIO_REPORTS, if set, holds
# the reports, separated by '|', that the ranks have to print to stderr before, and EFFIO_CALLS parts of the
# `end` line, separated likewise. MPICH's launcher reports the
# rank whose end it saw first, which may be one that it killed itself: 9; a rank that is gone before it can
# be asked for its code counts as 1 (docs/exit-codes.md). 4.0.2 does so about once in 30 times, later
# versions more often.
set -u
code=$1 status=$2 text=$3 rank=$4
shift 4
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
"$@" "$directory/r" 2> "$directory/stderr"
left=$?
cat "$directory/stderr" >&2
fail() {
    echo "$1" >&2
    cat "$directory/r" >&2
    exit 1
}
reports_its_own() {
    "$1" --version 2> /dev/null | grep -q HYDRA
}
[ "$left" = "$code" ] || { { [ "$left" = 9 ] || [ "$left" = 1 ]; } && reports_its_own "$1"; } ||
    fail "exit code $left, not $code"
end=$(tail -n 1 "$directory/r")
case $end in
    *'"kind":"end"'*"\"status\":\"$status\",\"exit_code\":$code,"*"\"reason\":\""*"$text"*) ;;
    *) fail "no such end line" ;;
esac
[ "$(grep -c '"kind":"end"' "$directory/r")" = 1 ] || fail "more than one end line"
IFS='|'
for report in ${EFFIO_REPORTS-}; do
    grep -qF "$report" "$directory/stderr" || fail "no rank reports '$report'"
done
for call in ${EFFIO_CALLS-}; do
    case $end in
        *"$call"*) ;;
        *) fail "the end line has no $call" ;;
    esac
done
[ ! -e "$directory/r.calls" ] || fail "the file of the calls was not removed"
[ ! -e "$directory/r.data$rank" ] || fail "the data file was not removed"
