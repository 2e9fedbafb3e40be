#!/bin/sh
# run.sh PROGRAM: the whole program keeps what nature keeps.
set -u

program=${1:?usage: run.sh PROGRAM}
failed=0

# below NAME VALUE MOST
below() {
    if awk -v a="$2" -v m="$3" 'BEGIN { exit !(a != "" && a + 0 <= m + 0) }'; then
        echo "ok      $1: $2"
    else
        echo "FAILED  $1: $2 is more than $3"
        failed=1
    fi
}

# value WORD: what is printed after it
value() {
    printf '%s\n' "$output" | awk -v word="$1" '{ for (k = 1; k < NF; k++) if ($k == word) found = $(k + 1) } END { print found }'
}

output=$("$program" --side 4 --steps 40 --report 10) || failed=1
below "energy, drift" "$(value drift)" 2e-3
below "momentum" "$(value momentum)" 1e-11
below "everyone seen" "$(($(value seen) - 4 * 64))" 0
below "nobody twice" "$((4 * 64 - $(value seen)))" 0

output=$("$program" --side 4 --steps 30 --report 15 --second 3 --hold 20 --temperature 1.2) || failed=1
below "thermostat, too hot" "$(value temperature)" 1.6
below "momentum of two species" "$(value momentum)" 1e-11

"$program" --nonsense > /dev/null 2>&1
below "usage" $? 2

exit $failed
