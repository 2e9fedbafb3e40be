"""The memory of arrays with a part for each thread: which parts are alike, and what is said of others. The programs of
team_programs.py have more of both, and are run (test_team_runs.py)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.poly.analysis import program_of
from warpsmith.poly.analyze import Facts
from warpsmith.poly.claimed import regions_of
from warpsmith.poly.facts import PolyOptions
from warpsmith.poly.openmp import part_memory
from warpsmith.poly.openmp.numbered_parts import NumberedParts, find_parts
from warpsmith.poly.openmp.part_memory import PartMemory, find_memory
from warpsmith.poly.openmp.thread_counts import ThreadCount
from warpsmith.tree.nodes import Name
from warpsmith.tree.walk import names

_PROGRAM = """
#include <stdlib.h>
extern int omp_get_thread_num(void);
double f(int n, int w, const double *x, const unsigned *bin)
{
    double total = 0;
    %s
#pragma omp parallel num_threads(4)
    {
        int me = omp_get_thread_num();
#pragma omp for
        for (int i = 0; i < n; i++) part[me][bin[i]] += x[i];
    }
    for (int t = 0; t < 4; t++) for (int k = 0; k < w; k++) total += part[t][k];
    return total;
}
"""
_START = "double **part = (double **)malloc(4 * sizeof *part);"
_NEXT = "for (int t = 1; t < 4; t++) part[t] = part[t - 1] + w;"

ALIKE = {
    "rows of their own": f"{_START} for (int t = 0; t < 4; t++) part[t] = (double *)calloc(w, sizeof(double));",
    "rows of an array": "double *part[4]; for (int t = 0; t < 4; t++) { part[t] = malloc(w * sizeof(double)); }",
    "one block": f"{_START} part[0] = calloc(4 * w, sizeof(double)); {_NEXT}",
    "one block of bytes": f"{_START} part[0] = (double *)malloc(sizeof **part * w * 4); {_NEXT}",
    "a width in a variable": f"{_START} int v = w; part[0] = (double *)calloc(v, 4 * 8); {_NEXT}",
}
OTHERS = {
    "a row is missing": (
        f"{_START} for (int t = 1; t < 4; t++) part[t] = (double *)calloc(w, sizeof(double));",
        "gets a row in line 7 otherwise than by a loop over all of them",
    ),
    "rows of several sizes": (
        f"{_START} for (int t = 0; t < 4; t++) part[t] = (double *)calloc(w + t, sizeof(double));",
        "gets rows of several sizes",
    ),
    "a row in some rounds": (
        f"{_START} for (int t = 0; t < 4; t++) if (t > n) part[t] = (double *)calloc(w, sizeof(double));",
        "in some rounds of a loop only",
    ),
    "a larger block": (f"{_START} part[0] = calloc(5 * w, sizeof(double)); {_NEXT}", "not known to fill"),
    "a block of another type's size": (f"{_START} part[0] = calloc(4 * w, 16); {_NEXT}", "not known to fill"),
    "a block that is given again": (
        f"{_START} for (int r = 0; r < 2; r++) {{ part[0] = calloc(4 * w, 8); {_NEXT} }}",
        "otherwise than once",
    ),
    "rows before their block": (f"{_START} {_NEXT} part[0] = calloc(4 * w, 8);", "otherwise than once"),
    "a width that changes": (
        f"{_START} part[0] = calloc(4 * w, sizeof(double)); {_NEXT} w = 1;",
        "that may not be all rows",
    ),
    "a table that is given again": (
        f"{_START} part[0] = calloc(4 * w, 8); {_NEXT} part = malloc(4 * sizeof *part);",
        "that no block is known to hold",
    ),
    "every second row": (
        f"{_START} part[0] = calloc(4 * w, 8); for (int t = 1; t < 4; t += 2) part[t] = part[t - 1] + w;",
        "that may not be all rows",
    ),
    "a round is left": (
        f"{_START} part[0] = calloc(4 * w, 8); for (int t = 1; t < 4; t++) {{ if (t == n) break; "
        "part[t] = part[t - 1] + w; }",
        "that may not be all rows",
    ),
    "the row after the next": (
        f"{_START} part[0] = calloc(4 * w, 8); for (int t = 1; t < 4; t++) part[t] = part[t - 2] + w;",
        "otherwise than by a loop over all of them",
    ),
}


def found(memory: str) -> NumberedParts:
    program = program_of(_PROGRAM % memory)
    function = next(f for _, f in program.functions() if f.symbol.name == "f")
    (region,) = regions_of(function)
    return find_parts(Facts.about(program, PolyOptions()), function, region)


@pytest.mark.parametrize("title", ALIKE)
def test_parts_that_are_alike(title: str) -> None:
    one = found(ALIKE[title])
    assert len(one.free) == 1 and not one.why


@pytest.mark.parametrize("title", OTHERS)
def test_parts_that_may_differ(title: str) -> None:
    memory, why = OTHERS[title]
    one = found(memory)
    assert not one.free and why in one.why


def memory_of(text: str) -> PartMemory:
    program = program_of(_PROGRAM % text)
    function = next(f for _, f in program.functions() if f.symbol.name == "f")
    (region,) = regions_of(function)
    symbol = next(n.symbol for n in names(region.body) if n.symbol.name == "part")
    return find_memory(ThreadCount(Facts.about(program, PolyOptions()), function), region, symbol)


def test_only_a_block_limits_what_is_added_to_its_rows() -> None:
    assert memory_of(ALIKE["rows of their own"]).rows is None
    rows = memory_of(ALIKE["one block"]).rows
    assert rows is not None and not isinstance(rows, Name)


BUGS: dict[str, tuple[str, Callable[[pytest.MonkeyPatch], None]]] = {
    "a nest is not looked at": (
        "a row in some rounds",
        lambda patch: patch.setattr(part_memory, "_is_nest", lambda one: True),
    ),
    "rounds are never left": ("a round is left", lambda patch: patch.setattr(part_memory, "_leaves", lambda x: False)),
    "products are equal": (
        "a larger block",
        lambda patch: patch.setattr(ThreadCount, "is_equal", lambda self, one, other: True),
    ),
    "everything is fixed": (
        "a width that changes",
        lambda patch: patch.setattr(ThreadCount, "is_steady", lambda self, name: True),
    ),
}


@pytest.mark.parametrize("bug", BUGS)
def test_seeded_bugs_are_caught(bug: str, monkeypatch: pytest.MonkeyPatch) -> None:
    title, seed = BUGS[bug]
    assert not found(OTHERS[title][0]).free
    seed(monkeypatch)
    assert found(OTHERS[title][0]).free
