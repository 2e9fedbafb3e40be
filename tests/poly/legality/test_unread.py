"""Variables whose value nobody learns."""

from __future__ import annotations

import pytest

from tests.poly.analysis import program_of
from tests.poly.programs import function
from warpsmith.poly.legality.unread import is_unread
from warpsmith.tree.nodes import GlobalDecl
from warpsmith.tree.walk import names


@pytest.mark.parametrize(
    ("text", "unread"),
    [
        ("void f(void) { static int k = 0; k++; }", True),
        ("void f(int n) { int k = 0; k += n; k = k + 2; --k; }", True),
        ("static int k; void f(void) { k++; } void g(void) { k = 3; }", True),
        ("int k; void f(void) { k++; }", False),
        ("static int k; void f(void) { k++; } int g(void) { return k; }", False),
        ("static int k; void f(int *a) { k++; a[k] = 1; }", False),
        ("static int k; void f(int *a) { a[k++] = 1; }", False),
        ("static int k; void f(void) { if (k++) return; }", False),
        ("static int k; void f(int n) { n = k; k++; }", False),
        ("static int k; void f(int n) { k += n = k; }", False),
        ("static int k, m; void f(void) { k += m++; }", False),
        ("static int k; int g(int); void f(void) { k = g(k); }", False),
        ("static int k; void g(int *); void f(void) { g(&k); k++; }", False),
        ("static volatile int k; void f(void) { k++; }", False),
        ("static int k, *p = &k; void f(void) { k++; }", False),
        ("void f(int n) { int k = 0; k++; for (k = 0; k < n; k++) ; }", False),
    ],
)
def test_unread(text: str, unread: bool) -> None:
    program = program_of(text)
    found = {n.symbol for n in names(function(program, "f")) if n.symbol.name == "k"}
    declared = {d.symbol for u in program.units for i in u.items if isinstance(i, GlobalDecl) for d in i.declarations}
    (symbol,) = found or {s for s in declared if s.name == "k"}
    assert is_unread(program, symbol) == unread
