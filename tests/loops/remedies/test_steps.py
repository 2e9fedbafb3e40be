"""Steps proposed for a sequential loop are tried: one that is named helps; where none does, none is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpsmith.front.load import FrontOptions, load_program
from warpsmith.loops.remedies import steps
from warpsmith.loops.remedies.steps import count_refusal, step_trial
from warpsmith.poly.analyze import analyze
from warpsmith.poly.facts import PolyOptions
from warpsmith.tree.nodes import For, While

HEAD = """#include <stdlib.h>
void f(int n, int m, double *restrict x, double *restrict y, double a[n][m], const int *at)
{
"""

HELPED = {
    "makes a part of it parallel": "for (int i = 0; i < n; i++) { x[i + 1] = x[i] * x[i]; y[i] = 2 * i; }",
    "makes it parallel": "double v[2]; for (int i = 0; i < n; i++) { v[0] = x[i]; y[i] = v[0] * v[0]; }",
    "gives an order in which it is parallel": (
        "for (int i = 1; i < n; i++) for (int j = 1; j < m; j++) a[i][j] = a[i - 1][j] + a[i][j - 1];"
    ),
}

NOT_HELPED = {
    "no single step makes it parallel; tried: ": "for (int i = 0; i < n; i++) x[i + 1] = 0.5 * x[i] * x[i];",
    "there is no step to try on it": "for (int i = 0; i < n; i++) x[at[i]] = i;",
}


def said(text: str, folder: Path) -> str:
    path = folder / "f.c"
    path.write_text(f"{HEAD}    {text}\n}}\n")
    facts = analyze(load_program([str(path)], FrontOptions()).program, PolyOptions())
    loop = facts.functions[0].loops[0]
    assert loop.category in ("sequential", "unanalyzable") and isinstance(loop.loop, For)
    return step_trial(facts, loop.loop).text


@pytest.mark.parametrize("gain", HELPED)
def test_a_step_that_helps_is_named(gain: str, tmp_path: Path) -> None:
    text = said(HELPED[gain], tmp_path)
    step, _, words = text.partition(" ") if gain == "makes it parallel" else text.partition(f" {gain}")
    assert gain in text and "=f/i" in step, (text, words)


@pytest.mark.parametrize("word", NOT_HELPED)
def test_no_step_is_named_where_none_helps(word: str, tmp_path: Path) -> None:
    assert said(NOT_HELPED[word], tmp_path).startswith(word)


@pytest.mark.parametrize("gain", HELPED)
def test_a_step_whose_check_fails_is_not_named(gain: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps, "_after", lambda facts, step: None)
    assert said(HELPED[gain], tmp_path).startswith("no single step makes it parallel; tried: ")


@pytest.mark.parametrize(
    "header, why",
    [
        (
            "double *p = x; p != x + at[0]; p++",
            "canonicalize cannot count its iterations: its bound is more",
        ),
        ("double *p = x; p != x + n; p++", None),
    ],
)
def test_why_a_walk_is_not_counted(header: str, why: str | None, tmp_path: Path) -> None:
    path = tmp_path / "f.c"
    path.write_text(f"{HEAD}    for ({header})\n        *p = 1;\n}}\n")
    facts = analyze(load_program([str(path)], FrontOptions()).program, PolyOptions())
    loop = facts.functions[0].loops[0].loop
    assert isinstance(loop, While)
    found = count_refusal(facts, loop)
    assert (found is None) == (why is None) and (found is None or found.text.startswith(str(why))), found
