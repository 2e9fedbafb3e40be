"""Between uses of two kinds threads meet where a barrier stands on every way, and only there."""

from __future__ import annotations

import pytest

from tests.poly.analysis import program_of
from warpsmith.poly.openmp.concurrency.barriers import find_unordered
from warpsmith.tree.walk import names

_HEAD = "void f(int n, double *one, double *two) { double x; int c = n; "


def meets(body: str, *, again: bool = False) -> bool:
    """Whether no use of `one` and `two` lacks a barrier between; the statements are those behind `c`."""
    ((_, function),) = program_of(f"{_HEAD} {body} }}").functions()
    kinds = {id(n): n.symbol.name for n in names(function.body) if n.symbol.name in ("one", "two")}
    return find_unordered(function.body.statements[2:], kinds, again=again) is None


_B = "\n#pragma omp barrier\n"
_FOR = "\n#pragma omp for\n"
_NOWAIT = "\n#pragma omp for nowait\n"
_LOOP = "for (int i = 0; i < n; i++)"


@pytest.mark.parametrize(
    ("body", "ordered"),
    [
        (f"one[0] = 1; {_B} x = two[0];", True),
        ("one[0] = 1; x = two[0];", False),
        (f"{_FOR} {_LOOP} one[i] = 1; {_FOR} {_LOOP} two[i] = 1;", True),
        (f"{_NOWAIT} {_LOOP} one[i] = 1; {_FOR} {_LOOP} two[i] = 1;", False),
        ("\n#pragma omp single\n one[0] = 1; two[0] = 1;", True),
        ("\n#pragma omp single nowait\n one[0] = 1; two[0] = 1;", False),
        ("\n#pragma omp master\n one[0] = 1; two[0] = 1;", False),
        ("\n#pragma omp critical\n one[0] = 1; two[0] = 1;", False),
        (f"one[0] = 1; if (c) {{ {_B} }} two[0] = 1;", False),
        (f"if (c) {{ one[0] = 1; {_B} }} two[0] = 1;", True),
        (f"one[0] = 1; {_LOOP} {{ {_B} }} two[0] = 1;", False),
        (f"{_LOOP} {{ one[0] = 1; {_B} two[0] = 1; }}", False),
        (f"{_LOOP} {{ one[0] = 1; {_B} two[0] = 1; {_B} }}", True),
        (f"{_LOOP} {{ one[0] = 1; if (c) continue; {_B} two[0] = 1; {_B} }}", False),
        (f"{_FOR} {_LOOP} {{ one[i] = 1; two[i] = 1; }}", False),
    ],
)
def test_barriers(body: str, *, ordered: bool) -> None:
    assert meets(body) == ordered


def test_statements_that_run_again_meet_those_of_the_time_before() -> None:
    assert meets(f"one[0] = 1; {_B} two[0] = 1;")
    assert not meets(f"one[0] = 1; {_B} two[0] = 1;", again=True)
    assert meets(f"one[0] = 1; {_B} two[0] = 1; {_B}", again=True)
    assert not meets(f"one[0] = 1; {_B} two[0] = 1; if (c) return; {_B}", again=True)
