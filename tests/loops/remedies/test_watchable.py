"""Which accesses of a loop can be watched: all, each once, or none."""

from __future__ import annotations

import functools

import pytest

from tests.poly.analysis import program_of
from tests.poly.programs import function
from warpsmith.loops.remedies.watchable import find_accesses, find_spots
from warpsmith.tree.program import Program
from warpsmith.tree.walk import loops

# the body of a loop over i; what it touches through p ("-": not known), and all that it touches (w: written)
CASES: list[tuple[str, str, str]] = [
    ("b[p[i]] = a[i];", "p[i]", "w b[p[i]], p[i], a[i]"),
    ("b[p[p[i]]]++;", "p[p[i]], p[i]", "w b[p[p[i]]], p[p[i]], p[i]"),
    ("b[i] += *a;", "", "w b[i], *a"),
    ("g->x[i] = g->y[i].v;", "", "w g->x[i], g->x, g->y[i].v, g->y"),
    ("double t = b[i]; b[i] = t;", "", "w b[i], b[i]"),
    ("double w[4]; w[0] = a[i]; b[i] = w[0];", "", "w b[i], a[i]"),
    ("for (int k = p[i]; k < p[i + 1]; k++) b[k] = 1;", "p[i], p[i + 1]", "w b[k], p[i], p[i + 1]"),
    ("m[i][1] = a[i];", "", "w m[i][1], a[i]"),
    ("r[i][1] = a[i];", "", "w r[i][1], r[i], a[i]"),
    ("b[i] = sqrt(a[i]);", "", "w b[i], a[i]"),
    ("b[i] = p[i] > 0 ? a[i] : 0;", "p[i]", "w b[i], p[i], a[i]"),
    ("b[i] = sizeof(a[0]);", "", "w b[i]"),
    ("int *q = p; b[q[i]] = 1;", "-", "w b[q[i]], q[i]"),
    ("b[i] = *(p + i);", "-", "w b[i], *(p + i)"),
    ("other(b, i);", "", "-"),
    ("b[i] = one(i);", "", "-"),
    ("use(&b[i]);", "", "-"),
    ("double *q = &b[i]; *q = 1;", "", "-"),
    ("b[i] = GET(p, i);", "-", "-"),
    ("b[ZERO] = 1;", "", "w b[ZERO]"),
]
HEAD = """#include <math.h>
#define GET(x, k) x[k]
#define ZERO 0
struct v { double v; };
struct g { double *x; struct v *y; };
void other(double *, int);
void use(double *);
static int one(int k) { return k + 1; }
"""


@functools.cache
def _program() -> Program:
    parameters = "int n, int *p, double *a, double *b, struct g *g, double (*m)[4], double **r"
    texts = (f"void f{k}({parameters}) {{ for (int i = 0; i < n; i++) {{ {c[0]} }} }}" for k, c in enumerate(CASES))
    return program_of(HEAD + "\n".join(texts))


@pytest.mark.parametrize("number", range(len(CASES)), ids=[case[0] for case in CASES])
def test_accesses(number: int) -> None:
    _, through_p, every = CASES[number]
    loop = next(inner for inner, around in loops(function(_program(), f"f{number}").body) if not around)
    spots = find_spots(loop, "p")
    assert ("-" if spots is None else ", ".join(span.text for span in spots)) == through_p
    touched = find_accesses(_program(), loop)
    shown = "-" if touched is None else ", ".join(("w " if t.role == "write" else "") + t.span.text for t in touched)
    assert sorted(shown.split(", ")) == sorted(every.split(", "))
