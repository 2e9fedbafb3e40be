"""The variables that a node itself names."""

from __future__ import annotations

import pytest

from tests.poly.analysis import program_of
from warpsmith.tree.named import find_named
from warpsmith.tree.walk import walk

TEXT = """
void f(int n, double *a, int m, int k)
{
    int i;
    double (*rows)[n] = 0;
    for (i = 0; i < k; i++)
        a[i] = sizeof(*rows);
    goto end;
end:
    a[0] = m;
}
"""


@pytest.mark.parametrize(
    ("kind", "named"),
    [
        ("For", {"i"}),
        ("VarDecl", {"n"}),
        ("Name", {"i", "k", "a", "m"}),
        ("Binary", set()),
        ("Assign", set()),
    ],
)
def test_what_each_kind_of_node_names(kind: str, named: set[str]) -> None:
    ((_, function),) = program_of(TEXT).functions()
    found = {symbol.name for part in walk(function.body) if type(part).__name__ == kind for symbol in find_named(part)}
    assert named <= found if kind == "Name" else found == named


def test_all_of_a_statement_is_named_by_its_parts() -> None:
    ((_, function),) = program_of(TEXT).functions()
    assert {s.name for part in walk(function.body) for s in find_named(part)} >= {"n", "a", "m", "k", "i"}
