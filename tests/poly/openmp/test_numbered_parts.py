"""Arrays with a part for each thread: which are found, and what is said of those that are none. The programs of
team_programs.py have more of both, and are run (test_team_runs.py)."""

from __future__ import annotations

import pytest

from tests.poly.analysis import program_of
from warpsmith.poly.analyze import Facts
from warpsmith.poly.claimed import regions_of
from warpsmith.poly.facts import PolyOptions
from warpsmith.poly.openmp.numbered_parts import NumberedParts, find_numbered, find_parts

_PROGRAM = """
extern int omp_get_thread_num(void);
static double part[4][8];
%s
double f(int n, const double *x)
{
    double total = 0;
#pragma omp parallel num_threads(4)
    {
        int me = omp_get_thread_num();
#pragma omp for
        for (int i = 0; i < n; i++) %s
    }
    for (int t = 0; t < 4; t++) for (int k = 0; k < 8; k++) { %s }
    return total;
}
"""


def found(update: str, combined: str, more: str = "") -> NumberedParts:
    program = program_of(_PROGRAM % (more, update, combined))
    function = next(f for _, f in program.functions() if f.symbol.name == "f")
    (region,) = regions_of(function)
    assert {symbol.name for symbol in find_numbered(region.body)} == {"part"}
    return find_parts(Facts.about(program, PolyOptions()), function, region)


@pytest.mark.parametrize("update", ["part[me][i % 8] += x[i];", "part[me][i % 8] -= 2 * x[i];", "part[me][i % 8]++;"])
def test_every_part_is_added_up(update: str) -> None:
    one = found(update, "total += part[t][k]; part[t][k] = 0;")
    assert len(one.free) == 1 and not one.why


@pytest.mark.parametrize(
    ("update", "combined", "more", "why"),
    [
        (
            "part[me][i % 8] *= x[i];",
            "total += part[t][k];",
            "",
            "line 12 otherwise than a thread adds",
        ),
        ("part[me][i % 8] = x[i];", "total += part[t][k];", "", "line 12"),
        ("part[me][(int)part[me][0]] += x[i];", "total += part[t][k];", "", "line 12"),
        ("part[me][i % 8] += x[i];", "total += part[t][k] * t;", "", "line 14 otherwise than all of its parts are"),
        ("part[me][i % 8] += x[i];", "total += part[t][(k + t) % 8];", "", "line 14"),
        ("part[me][i % 8] += x[i];", "if (k < n) total += part[t][k];", "", "line 14"),
        ("part[me][i % 8] += x[i];", "total += part[t][k]; part[t][k] = 1;", "", "line 14"),
        ("part[me][i % 8] += x[i];", "total += part[t][k];", "double g(void) { return part[1][0]; }", "line 4"),
        ("part[me][i % 8] += x[i];", "total += part[t][k];", "double *other = part[1];", "its address"),
    ],
)
def test_what_is_no_array_of_parts(update: str, combined: str, more: str, why: str) -> None:
    one = found(update, combined, more)
    assert not one.free and why in one.why
