"""What the search makes variables of: members and what pointers lead to, where the loops run better so."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpsmith.front.load import FrontOptions, load_program
from warpsmith.loops.prepared import Prepared
from warpsmith.offload.automatic import automatic
from warpsmith.poly.analyze import Facts
from warpsmith.poly.facts import PolyOptions
from warpsmith.tree.walk import loops

HEAD = """
#include <math.h>
struct sums { double sum, most; long n; struct { double b; } a; double v[4]; unsigned few : 3; volatile int seen; };
union both { double d; long n; };
struct holder { union both u; double sum; };
static struct sums all;
static double look(void) { return all.sum; }
static double peek(const struct sums *s) { return s->sum; }
static void add(struct sums *s, double v) { s->sum += v; s->n++; }
extern void see(struct sums *s);
"""
GIVEN = "int n, int m, double *x, double *y, struct sums *p, struct sums *q, struct holder *h, double *r"
TAKEN = [
    ("struct sums s = {0}; for (int i = 0; i < n; i++) { s.sum += x[i]; s.n++; } *r = s.sum + s.n;", "s.sum s.n"),
    ("for (int i = 0; i < n; i++) all.sum += x[i];", "all.sum"),
    ("for (int i = 0; i < n; i++) if (x[i] > all.most) all.most = x[i];", "all.most"),
    ("for (int i = 0; i < n; i++) { all.a.b += x[i]; all.v[2] += 1; all.v[3] -= 2; }", "all.a.b all.v[2] all.v[3]"),
    ("for (int i = 0; i < n; i++) p->sum += x[i];", "p->sum"),
    ("for (int i = 0; i < n; i++) *r += x[i];", "*r"),
    ("for (int i = 0; i < n; i++) { x[i] = 1; p->sum += x[i]; }", "p->sum"),
    ("for (int i = 0; i < n; i++) { p->sum += x[i]; q->n++; }", "p->sum q->n"),
    # a test tells whether they are two
    ("for (int i = 0; i < n; i++) { p->sum += x[i]; q->sum += 1; }", "p->sum q->sum"),
    ("for (int i = 0; i < n; i++) { p->most = fmax(p->most, x[i]); p->n += 2; }", "p->most p->n"),
    ("for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) p->sum += x[i * m + j];", "p->sum"),
    ("for (int i = 0; i < n; i++) { p->sum += x[i]; y[i] = p->sum; }", "p->sum"),
    ("for (int i = 0; i < n; i++) add(p, x[i]);", "p->sum p->n"),
    ("for (int i = 0; i < n; i++) h->sum += x[i];", "h->sum"),
]  # fmt: skip
LEFT = [
    # nothing is gained
    "for (int i = 0; i < n; i++) p->sum = p->sum * p->sum + x[i];",
    "for (int i = 0; i < n; i++) { struct sums s = {0}; for (int j = 0; j < m; j++) s.sum += x[j]; y[i] = s.sum; }",
    "double v[2]; for (int i = 0; i < n; i++) { v[0] = x[i]; y[i] = v[0] * v[0]; }",
    # elements of arrays are others' business
    "for (int i = 0; i < n; i++) x[2] += x[i];",
    "for (int i = 0; i < n; i++) p[i].sum += x[i];",
    "for (int i = 0; i < n; i++) p->v[i & 3] += x[i];",
    # somebody looks at it, or may change it
    "for (int i = 0; i < n; i++) { all.sum += x[i]; y[i] = look(); }",
    "struct sums s = {0}; for (int i = 0; i < n; i++) { s.sum += x[i]; see(&s); }",
    "struct sums s = {0}; for (int i = 0; i < n; i++) { s.sum += x[i]; p[i & 1] = s; }",
    "for (int i = 0; i < n; i++) { p->sum += x[i]; p = q; }",
    # no memory that a variable stands for
    "for (int i = 0; i < n; i++) p->few += x[i] > 1;",
    "for (int i = 0; i < n; i++) p->seen += x[i] > 1;",
    "for (int i = 0; i < n; i++) { h->u.d += x[i]; h->u.n ^= 1; }",
]  # fmt: skip


def _search(body: str, folder: Path) -> Prepared:
    path = folder / "given.c"
    path.write_text(f"{HEAD}void f({GIVEN})\n{{\n    {body}\n}}\n")
    facts = Facts.about(load_program([str(path)], FrontOptions()).program, PolyOptions())
    # the function is called by nobody: it is asked for
    (function,) = (f for _, f in facts.program.functions() if f.symbol.name == "f")
    return automatic(Prepared(facts, facts), tuple(loop for loop, _ in loops(function.body)))


def _promoted(prepared: Prepared) -> list[str]:
    return [str(getattr(a.step, "place", "")) for a in prepared.applied if a.step.name == "promote"]


@pytest.mark.parametrize(("body", "places"), TAKEN, ids=[body for body, _ in TAKEN])
def test_sums_in_memory_become_variables(body: str, places: str, tmp_path: Path) -> None:
    found = _search(body, tmp_path)
    assert [p.replace("s->", "p->") if "add" in body else p for p in _promoted(found)] == places.split()


@pytest.mark.parametrize("body", LEFT)
def test_what_is_not_helped_stays_as_it_is(body: str, tmp_path: Path) -> None:
    assert not _promoted(_search(body, tmp_path))
