"""Constructs taken apart: which they are, their parts, and how many threads they have for certain."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.front.teams.as_text import read_text
from tests.front.teams.constructs import READ, program
from warpsmith.flows.port import PortOptions, port
from warpsmith.front.teams.construct import ThreadRegion, find_constructs, take_apart
from warpsmith.tree.printing.printer import print_expr


@pytest.mark.parametrize(
    ("title", "regions", "sure"),
    [("no barrier", 1, False), ("two regions", 2, False), ("a number of threads that is asked for", 1, True)],
)
def test_parts_of_a_construct(tmp_path: Path, title: str, regions: int, *, sure: bool) -> None:
    before, _ = read_text(program(READ[title]), tmp_path)
    (function,) = before.units[0].functions
    ((pragma, body),) = find_constructs(function)
    found = take_apart(function, pragma, body, {})
    assert sum(isinstance(part, ThreadRegion) for part in found.parts) == regions
    assert (print_expr(found.teams), print_expr(found.threads), found.sure) == ("teams", "8", sure)


def test_constructs_that_ask_nothing_are_none(tmp_path: Path) -> None:
    text = """#pragma omp target teams num_teams(teams) thread_limit(B)
    {
#pragma omp parallel
        a[0] = 1;
    }"""
    before, found = read_text(program(text), tmp_path)
    assert not [*find_constructs(before.units[0].functions[0])]
    assert (found.read, found.left) == (0, ())


_INSTANCES = """
#include <cstdio>
#include <omp.h>
template <int W, bool UP> void scale(const int *in, int *out, int n)
{
    const int teams = (n + W - 1) / W;
    #pragma omp target teams num_teams(teams) thread_limit(W * (UP + 1))
    {
        int part[W * 2];
        #pragma omp parallel num_threads(W * (UP + 1))
        {
            int t = omp_get_thread_num(), b = omp_get_team_num();
            part[t] = t;
            #pragma omp barrier
            int i = b * W + t / (UP + 1);
            if (i < n && t % (UP + 1) == 0)
                out[i] = in[i] * part[W * (UP + 1) - 1 - t];
        }
    }
}
int main()
{
    int a[100], b[100], s = 0;
    for (int i = 0; i < 100; i++)
        a[i] = i;
    #pragma omp target data map(to: a[0:100]) map(from: b[0:100])
    {
        scale<8, true>(a, b, 100);
        scale<4, false>(a, b, 40);
    }
    for (int i = 0; i < 100; i++)
        s += b[i] * (i % 7);
    std::printf("%d\\n", s);
}
"""


@pytest.mark.slow
def test_clauses_of_templates_have_the_numbers_of_each_instance(tmp_path: Path) -> None:
    path = tmp_path / "a.cpp"
    path.write_text(_INSTANCES)
    result = port([str(path)], PortOptions())
    assert result.verification is not None and result.verification.status == "pass"
    assert result.plan is not None
    # one kernel for each
    assert sum(fragment.function.symbol.name == "scale" for fragment in result.plan.fragments) == 2
