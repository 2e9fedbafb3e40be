"""Constructs that are not modelled in one place say little about the variables that they name elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpsmith.base.verdict import Proved, Refuted
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.poly.analyze import analyze
from warpsmith.poly.facts import LoopFacts, PolyOptions

UNMODELLED = {
    "a macro header": "#define EACH(i) for (i = 0; i < 100; i++)\n@EACH(i) b[i] = 1;",
    "a conditional": "@for (i = 0; i < 100; i++) {\n#ifdef DEBUG\n b[i]--;\n#endif\n b[i] = 1; }",
    "a statement expression": "@b[0] = ({ i = 1; i; });",
}


def _loops(text: str, folder: Path) -> tuple[LoopFacts, ...]:
    path = folder / "given.c"
    path.write_text(text)
    (function,) = analyze(load_program([str(path)], FrontOptions()).program, PolyOptions()).functions
    return function.loops


def _function(code: str) -> str:
    lines, _, body = code.partition("@")
    return (
        f"double a[100], b[100];\n{lines}void f(void)\n{{\n    int i;\n    {body}\n"
        "    for (i = 0; i < 100; i++)\n        a[i] += 1;\n}\n"
    )


@pytest.mark.parametrize("code", UNMODELLED.values(), ids=UNMODELLED)
def test_a_loop_beside_it_is_parallel(code: str, tmp_path: Path) -> None:
    last = _loops(_function(code), tmp_path)[-1]
    assert isinstance(last.verdict, Proved), last.reasons


def test_a_variable_whose_address_it_takes_is_not_private(tmp_path: Path) -> None:
    text = """
#define KEEP(x) do { kept = &x; break; } while (1)
int *kept;
double a[100];
void f(void)
{
    int i, j;
    KEEP(i);
    for (j = 0; j < 100; j++) {
        i = j;
        a[j] += *kept;
    }
}
"""
    last = _loops(text, tmp_path)[-1]
    assert not isinstance(last.verdict, Proved)
    assert isinstance(_loops(text.replace("&x", "0").replace("+= *kept", "+= i"), tmp_path)[-1].verdict, Proved)


def test_the_nearest_pair_of_a_conflict_may_not_cost_more_than_the_verdict(tmp_path: Path) -> None:
    text = """
void closure(int n, double path[60][60])
{
    for (int k = 0; k < n; k++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                path[i][j] = path[i][j] < path[i][k] + path[k][j] ? path[i][j] : path[i][k] + path[k][j];
}
"""
    outer, *_ = _loops(text, tmp_path)
    assert isinstance(outer.verdict, Refuted)
    assert outer.verdict.reasons[0].dependence is not None
