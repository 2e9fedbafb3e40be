"""Pragmas of a text as nodes: lines, and macros that are made of `_Pragma`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.front.conftest import Load, found, function
from warpsmith.tree.nodes import Pragma

BUILDS = """
void f(int n, double *a)
{
#ifdef THREADS
#ifdef NAMED
    n++;
#endif
#pragma omp parallel for
#else
#pragma omp simd
#endif
    for (int i = 0; i < n; i++) a[i] = i;
#ifdef _OPENMP
#pragma omp parallel for
#endif
    for (int i = 0; i < n; i++) a[i] = i;
}
"""


@pytest.mark.parametrize(
    ("arguments", "left_out"),
    [
        ((), [True, False, False]),
        (("-DTHREADS",), [False, True, False]),
        (("-DTHREADS", "-fopenmp"), [False, True, False]),
    ],
)
def test_the_build_says_which_pragmas_of_a_conditional_there_are(
    load: Load, arguments: tuple[str, ...], left_out: list[bool]
) -> None:
    pragmas = found(function(load(BUILDS, *arguments)), Pragma)
    assert [p.left_out for p in pragmas if isinstance(p, Pragma)] == left_out


def test_a_header_that_is_included_twice_is_not_left_out(load: Load, tmp_path: Path) -> None:
    header = "#ifndef H\n#define H\nstatic void g(int n, double *a)\n{\n#pragma omp simd\n"
    (tmp_path / "h.h").write_text(f"{header}    for (int i = 0; i < n; i++) a[i] = i;\n}}\n#endif\nint after;\n")
    loaded = load('#include "h.h"\n#include "h.h"\nvoid f(int n, double *a) { g(n, a); }\n')
    (pragma,) = found(function(loaded, "g"), Pragma)
    assert isinstance(pragma, Pragma) and not pragma.left_out


def test_a_macros_comments_are_no_part_of_a_clause(load: Load) -> None:
    text = "#define SIZE$ 4 /* each */ // of them\nvoid f(int n, int *a) {\n"
    unit = load(text + "#pragma omp parallel for schedule(static, SIZE$)\nfor (int i = 0; i < n; i++) a[i] = 0; }")
    (pragma,) = found(function(unit), Pragma)
    assert isinstance(pragma, Pragma) and pragma.directive is not None
    assert pragma.directive.argument("schedule") == "static, 4"


MACROS = """
#define FOR _Pragma("omp parallel for")
#define DO(x) _Pragma(#x)
#define MP(x) DO(omp x)
#define LATE(x) DO(x)
#define N 4
#define N 5
#define M 6
void f(int n, int *a)
{
    FOR
    for (int i = 0; i < n; i++) a[i] = 0;
    DO(omp parallel for schedule(static, M))
    for (int i = 0; i < n; i++) a[i] = 0;
    MP(parallel for)
    for (int i = 0; i < n; i++) a[i] = 0;
    LATE(_Pragma("omp simd"))
    for (int i = 0; i < n; i++) a[i] = 0;
#pragma omp parallel for schedule(static, N)
    for (int i = 0; i < n; i++) a[i] = M;
}
"""


def test_macros_that_are_made_of_pragmas(load: Load) -> None:
    pragmas = [p for p in found(function(load(MACROS)), Pragma) if isinstance(p, Pragma)]
    made = {p.text: p.directive for p in pragmas}
    words = [(text, d.words) for text, d in made.items() if d is not None]
    assert words[0] == ("FOR", ("parallel", "for"))
    assert words[3] == ('_Pragma("omp simd")', ("simd",)) and len(pragmas) == 5
    chosen = made["DO(omp parallel for schedule(static, M))"]
    assert chosen is not None and chosen.argument("schedule") == "static, 6"
    # what is put together from pieces is not guessed
    pieced = made["MP(parallel for)"]
    assert pieced is not None and pieced.unknown == ("MP(parallel for)",)
    # a macro that is defined twice has no text of its own
    last = made["#pragma omp parallel for schedule(static, N)"]
    assert last is not None and last.argument("schedule") == "static, N"


TEAM = """
#define DO(x) _Pragma(#x)
#define OMP(x) DO(omp x)
int BACK(int);
#define ROUND(x) BACK(x)
#define BACK(x) ROUND(x)
void g(int);
void f(int n, int *a)
{
    OMP(parallel)
    {
        g(ROUND(n));
    }
    g(1);
}
"""


def test_a_pragma_is_seen_through_the_macros_that_make_it(load: Load) -> None:
    (made,) = found(function(load(TEAM)), Pragma)
    assert isinstance(made, Pragma) and made.directive is not None
    assert made.directive.unknown == ("OMP(parallel)",)
