#!/bin/sh
# Compares the program with known physics:
#
#   test.sh PROGRAM          seconds, on a slow machine as well
#   test.sh PROGRAM long     fine grids against the tables
#
# References: G. de Vahl Davis, Int. J. Numer. Meth. Fluids 3 (1983), natural convection, Ra = 1000: Nu = 1.118;
# U. Ghia, K. N. Ghia, C. T. Shin, J. Comput. Phys. 48 (1982), moving lid, Re = 100: smallest u = -0.2109.
set -u

program=${1:?usage: test.sh PROGRAM [long]}
failed=0
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# near NAME VALUE EXPECTED TOLERANCE
near() {
    if awk -v a="$2" -v b="$3" -v t="$4" 'BEGIN { d = a - b; if (d < 0) d = -d; exit !(a != "" && d <= t) }'; then
        echo "ok      $1: $2"
    else
        echo "FAILED  $1: $2, expected $3 within $4"
        failed=1
    fi
}

# value WORD ARGUMENTS...: what the program prints after WORD
value() {
    word=$1
    shift
    "$program" "$@" | awk -v word="$word" '{ for (k = 1; k < NF; k++) if ($k == word) found = $(k + 1) } END { print found }'
}

# A sine dies as exp(-2 pi^2 t); the error falls with the square of the cell.
coarse=$(value error --case decay --nx 8 --ny 8 --steps 16 --report 4)
fine=$(value error --case decay --nx 16 --ny 16 --steps 64 --report 0)
near "decay, coarse" "$coarse" 0 2.1e-3
near "decay, order" "$(awk -v a="$coarse" -v b="$fine" 'BEGIN { print a / b }')" 4.0 0.2

# Conduction ends in a straight line.
near "slab" "$(value error --case slab --nx 8 --ny 4 --steps 300 --report 50)" 0 1e-4

# No fluid is made or lost, whichever way the pressure is found.
near "lid, divergence" "$(value divergence --case lid --nx 12 --ny 12 --steps 10 --report 5)" 0 1e-3
jacobi=$(value energy --case lid --nx 12 --ny 12 --steps 10 --report 0 --tolerance 1e-6 --sweeps 500)
redblack=$(value energy --case lid --nx 12 --ny 12 --steps 10 --report 0 --tolerance 1e-6 --method redblack)
near "lid, two solvers" "$jacobi" "$redblack" 1e-6

# The tracer is only moved.
near "dye" "$(value dye --case lid --nx 12 --ny 12 --steps 10 --report 0 --dye --upwind 0.5)" 0.25 1e-5

# Hot on the left, cold on the right.
near "cavity" "$(value nusselt --case cavity --nx 8 --ny 8 --steps 120 --report 40 --method redblack)" 1.118 0.05

# The snapshot has two ints and three fields of floats.
"$program" --case cavity --nx 8 --ny 6 --steps 5 --report 0 --dye --snapshot "$scratch/fields" > /dev/null
near "snapshot, bytes" "$(wc -c < "$scratch/fields")" $((8 + 3 * 4 * 8 * 6)) 0
near "snapshot, wide" "$(od -An -td4 -N4 "$scratch/fields" | tr -d ' ')" 8 0

# A wrong option is refused.
"$program" --nx none > /dev/null 2>&1
near "usage" $? 2 0

if [ "${2:-}" = long ]; then
    near "cavity, fine" "$(value nusselt --case cavity --nx 32 --ny 32 --steps 2000 --report 0 --method redblack)" \
        1.118 0.004
    near "lid, fine" "$(value slowest --case lid --nx 40 --ny 40 --steps 2000 --report 0 --method redblack)" \
        -0.2109 0.002
fi

[ $failed -eq 0 ] && echo "all is well"
exit $failed
