"""The sources of the pointers that a run declares: all of them, or no answer."""

from __future__ import annotations

import functools

import pytest

from tests.poly.analysis import program_of
from tests.poly.programs import function, shown
from warpsmith.poly.pointers.derived import sources
from warpsmith.tree.nodes import Function, VarDecl
from warpsmith.tree.walk import walk

# the run, which declares p, and what p is made from (None: not known)
CASES: list[tuple[str, str | None]] = [
    ("double *p = a;", "a"),
    ("double *p = a + 2 * n;", "a"),
    ("double *p = &s[n].x;", "s"),
    ("double *p = fixed + 1;", "fixed"),
    ("double *p = n ? a : b;", "a b"),
    ("double *p; p = a; if (n) p = b;", "a b"),
    ("double *p; for (int i = 0; i < n; i++) p = i ? p : a;", "a"),
    ("double *q = a; double *r = q + 1; double *p = r;", "a"),
    ("double *p = a, *q = p; p = q + 1;", "a"),
    ("double own[4]; double *p = own;", "own"),
    ("double *p = 0;", ""),
    ("double *p;", ""),
    # from memory, from a call, from what is not followed
    ("double *p = m[n];", None),
    ("double *p = t->data;", None),
    ("double *p = make(n);", None),
    ("double *q = m[0]; double *p = q;", None),
    ("double *p = a; double **at = &p; *at = b;", None),
    ("double *p = (double *)n;", None),
    ("double *p = a; KEEP(p);", None),
]
HEAD = """#define KEEP(x) do { x = 0; break; } while (1)
struct pt { double x; }; struct tab { double *data; };
double *make(long);
double fixed[9];
"""


@functools.cache
def functions() -> list[Function]:
    """Return a function for each run: all are parsed at once."""
    parameters = "long n, double *a, double *b, double **m, struct pt *s, struct tab *t"
    texts = (f"void f{k}({parameters}) {{ {run} }}" for k, (run, _) in enumerate(CASES))
    program = program_of(HEAD + "\n".join(texts))
    return [function(program, f"f{k}") for k in range(len(CASES))]


@pytest.mark.parametrize("number", range(len(CASES)), ids=[case[0] for case in CASES])
def test_sources(number: int) -> None:
    one = functions()[number]
    p = next(n.symbol for n in walk(one) if isinstance(n, VarDecl) and n.symbol.name == "p")
    found = sources(one.body.statements, p)
    assert (None if found is None else shown(found)) == CASES[number][1]


def test_what_the_run_does_not_declare_is_not_derived() -> None:
    one = functions()[0]
    assert sources(one.body.statements, one.parameters[1]) is None
