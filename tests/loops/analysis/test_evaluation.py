"""Loads that are certainly evaluated: whether one may be made a little earlier."""

from __future__ import annotations

import functools

import pytest

from tests.offload.analyzed import Analyzed, analyzed
from warpsmith.loops.analysis.evaluation import KnownBefore, find_reassigned, risks
from warpsmith.poly.analyze import Facts
from warpsmith.poly.facts import PolyOptions
from warpsmith.tree.nodes import For, Index, Member, Unary, While
from warpsmith.tree.printing.printer import print_expr
from warpsmith.tree.walk import same, walk

HEAD = """#include <stdlib.h>
struct grid { double *u, dt, few[4]; int n; struct grid *next; };
void unknown(void); static double quiet(double x) { return x; } static void leave(void) { exit(1); }
"""
# the body, the load that is asked for, and under which conditions it is safe before the loop (None: never)
CASES = {
    "header": ("for (int i = 0; i < g->n; i++) a[i] = g->dt;", "g->dt", ""),
    "before": ("a[0] = g->dt; for (int i = 0; i < n; i++) if (a[i] > 1) a[i] = g->dt;", "g->dt", ""),
    "first": ("for (int i = 0; i < n; i++) a[i] = g->dt;", "g->dt", "0 < n"),
    "certain": ("for (int i = 0; i < 9; i++) a[i] = g->dt;", "g->dt", ""),
    "never": ("for (int i = 0; i < n; i++) if (a[i] > 1) a[i] = g->dt;", "g->dt", None),
    "short": ("for (int i = 0; i < n; i++) a[i] = a[i] > 1 && g->dt > 2;", "g->dt", None),
    "chosen": ("for (int i = 0; i < n; i++) a[i] = a[i] > 1 ? g->dt : 1;", "g->dt", None),
    "test": ("for (int i = 0; i < n; i++) a[i] = g->dt > 1 ? 1 : 2;", "g->dt", "0 < n"),
    "behind": ("for (int i = 0; i < n; i++) { if (a[i] > 3) break; a[i] = g->dt; }", "g->dt", None),
    "unknown": ("for (int i = 0; i < n; i++) { unknown(); a[i] = g->dt; }", "g->dt", None),
    "known": ("for (int i = 0; i < n; i++) { a[i] = quiet(2); a[i] = g->dt; }", "g->dt", "0 < n"),
    "left": ("for (int i = 0; i < n; i++) { leave(); a[i] = g->dt; }", "g->dt", None),
    "inner": ("for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) a[i] = g->dt;", "g->dt", "0 < n, 0 < m"),
    "partly": ("for (int i = 0; i < n; i++) { if (a[i] > 1) a[i] = g->dt; for (int j = 0; j < m; j++) a[j] = g->dt; }",
               "g->dt", None),
    "outside": ("for (int i = 0; i < n; i++) { a[i] = g->dt; for (int j = 0; j < m; j++) a[j] = g->dt; }",
                "g->dt", "0 < n"),
    "either": ("for (int i = 0; i < n; i++) { J K }", "g->dt", "0 < n, 0 < m || 0 < b"),
    "apart": ("while (n > m) { K m++; } J", "g->dt", None),
    "one after the other": ("for (int i = 0; i < 1; i++) { J K }", "g->dt", "0 < m || 0 < b"),
    "second under a test": ("for (int i = 0; i < n; i++) { J if (a[i] > 1) { K } }", "g->dt", None),
    "both, and alone": ("for (int i = 0; i < n; i++) { J K a[i] = g->dt; }", "g->dt", "0 < n"),
    "deeper": ("for (int i = 0; i < n; i++) { J for (int l = 0; l < c; l++) { K } }", "g->dt",
               "0 < n, 0 < m || (0 < c && 0 < b)"),
    "triangle": ("for (int i = 0; i < n; i++) for (int j = 0; j < i; j++) a[i] = g->dt;", "g->dt", None),
    "address": ("for (int i = 0; i < n; i++) { double *p = &g->dt; if (a[i] > 1) a[i] = *p; }", "g->dt", None),
    "do": ("int i = 0; do { a[i] = g->dt; i++; } while (i < n);", "g->dt", ""),
    "while": ("while (n > m) { a[m++] = g->dt; }", "g->dt", None),
    "moved": ("struct grid *p = g; p = p->next; if (n > 3) p = g; for (int i = 0; i < n; i++) if (i > 2) a[i] = p->dt;",
              "p->dt", None),
    "array": ("for (int i = 0; i < n; i++) if (a[i] > 1) a[i] = g->dt; else a[i] = g->few[2];", "g->few[2]", None),
}  # fmt: skip


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Analyzed:
    given = "struct grid *g, double *a, int n, int m, int b, int c"
    loops = (("J ", "for (int j = 0; j < m; j++) a[j] = g->dt; "), ("K ", "for (int k = 0; k < b; k++) a[k] = g->dt; "))
    texts = (
        (k, functools.reduce(lambda t, one: t.replace(*one), loops, f"{body} ")) for k, (body, *_) in CASES.items()
    )
    parts = (f"void t_{k.replace(' ', '_').replace(',', '')}({given}) {{ {body} }}\n" for k, body in texts)
    more = """void f(struct grid *g, struct grid (*all)[2], double *a, int i) { double part[4], v = 2; int k;
        k = i; a[k]++; v = g->next->u[i] + part[2] + part[i] + part[7] + all[1][0].dt + *a + (i + 2);
        double *q = &v; *q = 1; }"""
    return analyzed(HEAD + "".join(parts) + more, tmp_path_factory.mktemp("evaluated"))


@pytest.mark.parametrize("name", CASES)
def test_the_conditions_under_which_a_load_is_made_anyway(name: str, program: Analyzed) -> None:
    function = f"t_{name.replace(' ', '_').replace(',', '')}"
    loop = next(n for n in walk(program.function(function).body) if isinstance(n, For | While))
    load = program.expr(CASES[name][1], function)
    facts = Facts.about(program.program, PolyOptions())
    nodes = [n for n in walk(loop) if isinstance(n, Member | Unary | Index) and same(n, load)]
    found = KnownBefore.of(facts, program.function(function), loop).needs(load, nodes)
    assert (None if found is None else ", ".join(map(print_expr, found))) == CASES[name][2]


@pytest.mark.parametrize(
    ("load", "parts"),
    [
        ("g->next->u[i]", ["g->next->u[i]", "g->next", "g"]),
        ("part[2]", []), ("part[i]", ["part[i]"]), ("part[7]", ["part[7]"]),
        ("all[1][0].dt", ["all[1]"]), ("*a", ["*a"]), ("i + 2", []),
    ],
)  # fmt: skip
def test_what_must_be_valid_for_a_load(load: str, parts: list[str], program: Analyzed) -> None:
    assert [print_expr(part) for part in risks(program.expr(load))] == parts


def test_variables_that_are_given_another_value(program: Analyzed) -> None:
    names = {s.name for s in find_reassigned(program.function())}
    assert {"k", "v"} <= names and not {"g", "a", "i", "q"} & names
    assert "part" in names  # declared without a value
