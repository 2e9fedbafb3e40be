"""Nests: the outermost loops in the order of the text, and the references of one."""

from __future__ import annotations

from pathlib import Path

from tests.poly.programs import load
from warpsmith.loops.search.nests import outermost, references
from warpsmith.tree.nodes import For

TEXT = """
void f(int n, double *a, double *b)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            a[i] += b[j];
    if (n > 3) {
        while (n > 9)
            n--;
        for (int k = 0; k < n; k++)
            b[k] = a[b[k] > 0 ? k : 0];
    }
}
"""


def test_loops_inside_others_are_no_nests_of_their_own(tmp_path: Path) -> None:
    ((_, function),) = load(TEXT, tmp_path).functions()
    found = list(outermost(function.body))
    assert [loop.span.line for loop in found] == [4, 8, 10]
    assert [loop.variable.name if isinstance(loop, For) else "" for loop in found] == ["i", "", "k"]


def test_every_reference_counts_those_in_subscripts_too(tmp_path: Path) -> None:
    ((_, function),) = load(TEXT, tmp_path).functions()
    assert [references(loop) for loop in outermost(function.body)] == [2, 0, 3]
