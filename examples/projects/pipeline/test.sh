#!/bin/sh
# test.sh PIPELINE TESTS: the tests of the stages, then the whole program.
set -u

program=${1:?usage: test.sh PIPELINE TESTS}
tests=${2:?usage: test.sh PIPELINE TESTS}
failed=0
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

"$tests" "$scratch" || failed=1

# near STAGE WORD EXPECTED TOLERANCE: what the program prints for a stage
near() {
    value=$(awk -v stage="$1" -v word="$2" '$1 == stage { for (k = 2; k < NF; k++) if ($k == word) print $(k + 1) }' \
        "$scratch/out")
    if awk -v a="$value" -v b="$3" -v t="$4" 'BEGIN { d = a - b; if (d < 0) d = -d; exit !(a != "" && d <= t) }'; then
        echo "ok      $1 $2: $value"
    else
        echo "FAILED  $1 $2: $value, expected $3 within $4"
        failed=1
    fi
}

"$program" --width 40 --height 24 --output "$scratch/out.pgm" > "$scratch/out" || failed=1
near gray mean 0.495 0.05
near equal mean 0.5 0.02
near equal from 0 0
near equal to 1 1e-6
near small mean "$(awk '$1 == "edges" { print $4 }' "$scratch/out")" 0.08
near drawing black "$((960 - $(awk '$1 == "drawing" { print $5 }' "$scratch/out")))" 0
[ "$(wc -c < "$scratch/out.pgm")" -eq $((13 + 960)) ] || { echo "FAILED  picture"; failed=1; }

"$program" --nonsense 1 > /dev/null 2>&1
[ $? -eq 2 ] || { echo "FAILED  usage"; failed=1; }

[ $failed -eq 0 ] && echo "all is well"
exit $failed
