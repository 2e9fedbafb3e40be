"""Locks as critical sections: which are read so, and how the rewritten loop looks."""

from __future__ import annotations

import pytest

from tests.poly.analysis import program_of
from tests.poly.programs import function
from warpsmith.poly.claimed import claims_of, find_protected_in
from warpsmith.poly.openmp.locks import with_critical_sections
from warpsmith.tree.nodes import ExprStmt
from warpsmith.tree.printing.printer import print_expr
from warpsmith.tree.walk import walk

HEAD = """typedef struct { int x; } omp_lock_t; void omp_set_lock(omp_lock_t *); void omp_unset_lock(omp_lock_t *);
int omp_test_lock(omp_lock_t *); static omp_lock_t l, m, many[4]; int s, t;
"""
SET, UNSET = "omp_set_lock(&l);", "omp_unset_lock(&l);"


# clauses, what an iteration does, and what is protected in it (None: its locks are left as they are)
@pytest.mark.parametrize(
    ("clauses", "body", "protected"),
    [
        ("", f"{SET} s += 1; {UNSET}", ["s += 1"]),
        ("", f"t = 1; {SET} s += 1; t = 2; {UNSET} s += 3;", ["s += 1; t = 2"]),
        ("", f"if (i) {{ {SET} s += 1; {UNSET} }}", ["s += 1"]),
        ("", f"{SET} s += 1; {UNSET} {SET} s += 2; {UNSET}", ["s += 1", "s += 2"]),
        ("", f"{SET} omp_set_lock(&m); s += 1; omp_unset_lock(&m); t = 2; {UNSET}", ["s += 1; t = 2", "s += 1"]),
        ("", f"{SET} omp_set_lock(&m); s += 1; {UNSET} omp_unset_lock(&m);", None),
        ("", f"{SET} if (i) {UNSET} s += 1;", None),
        ("", f"{SET} s += 1;", None),
        ("", f"{UNSET} s += 1; {SET}", None),
        ("", f"{SET} if (i) continue; s += 1; {UNSET}", None),
        ("", f"{SET} int k = s; {UNSET} t = k;", None),
        ("", f"if (omp_test_lock(&l)) {{ s += 1; {UNSET} }}", None),
        ("", "omp_set_lock(&many[i]); s += 1; omp_unset_lock(&many[i]);", None),
        ("", f"omp_lock_t l; {SET} s += 1; {UNSET}", None),
        ("private(l)", f"{SET} s += 1; {UNSET}", None),
        ("", "s += 1;", None),
    ],
)
def test_locks(clauses: str, body: str, protected: list[str] | None) -> None:
    text = f"void f(void) {{\n#pragma omp parallel for {clauses}\nfor (int i = 0; i < 4; i++) {{ {body} }} }}"
    one = function(program_of(HEAD + text), "f")
    (claim,) = claims_of(one)
    made = with_critical_sections(one, claim)
    assert (made is None) == (protected is None)
    if made is not None:
        found = find_protected_in(made.body)
        shown = ["; ".join(print_expr(n.expr) for n in walk(p.statement) if isinstance(n, ExprStmt)) for p in found]
        assert shown == protected
        assert {p.kind for p in found} == {"critical"} and claims_of(made)[0].pragma is claim.pragma
