"""Where pointers come from: every root that a variable may hold, what escapes, and which sets may be one memory."""

from __future__ import annotations

import functools

import pytest

from tests.poly.analysis import program_of
from tests.poly.programs import function, shown
from warpsmith.poly.effects.summaries import Summaries
from warpsmith.poly.pointers.accesses import Base
from warpsmith.poly.pointers.pointers import UNKNOWN, Provenance, Root, is_persistent
from warpsmith.tree.types import INT, Storage, Symbol

HEAD = """#include <stdlib.h>
struct tab { double *data; };
void unknown(double *); void change(double **);
double *out; static double *own; double fixed[9];
static double *same(double *p) { return p; }
static double *fresh(int n) { return malloc(n); }
static double *both(double *p, int n) { return n ? p : fresh(n); }
static void keep(double *p) { out = p; }
static void look(const double *p) { double x = *p; }
"""

# the body, the roots of p, and what escapes
CASES: list[tuple[str, str, str]] = [
    ("p = a;", "entry a", ""),
    ("p = a; p = b + 1;", "entry a, entry b", ""),
    ("p = local;", "object local", ""),
    ("p = &x;", "object x", ""),
    ("double *q = local; p = q; q = b;", "entry b, object local", ""),
    ("double *q = p; p = a; p = q;", "entry a", ""),
    ("p = n ? a : local;", "entry a, object local", ""),
    ("p = t->data;", "unknown", ""),
    ("p = *m;", "unknown", ""),
    ("p = (double *)n;", "unknown", ""),
    ("p = 0;", "", ""),
    ("p = out;", "entry out", ""),
    ("p = malloc(8);", "fresh", ""),
    ("p = fresh(n);", "fresh", ""),
    ("p = same(a);", "entry a", ""),
    ("p = both(a, n);", "entry a, fresh", ""),
    ("p = both(local, n);", "fresh, object local", ""),
    ("p = 0; double *q = local; double **at = &q; out = (double *)at;", "", "object local, object q"),
    ("p = same(local);", "object local", ""),
    ("p = a; change(&p);", "entry a, unknown", "entry a, object p"),
    ("p = a; double **at = &p; *at = b;", "entry a, unknown", "entry a, entry b"),
    ("p = local; unknown(p);", "object local", "object local"),
    ("p = local; keep(p);", "object local", "object local"),
    ("p = local; look(p);", "object local", ""),
    ("p = local; out = p;", "object local", "object local"),
    ("p = local; t->data = p;", "object local", "object local"),
    ("p = local; long k = (long)p;", "object local", "object local"),
    ("p = local; struct tab u = { p };", "object local", "object local"),
    ("p = a; double **q = &p; out = (double *)q;", "entry a, unknown", "entry a, object p"),
    ("void *v; posix_memalign(&v, 64, 8); p = v;", "fresh", ""),
    ("p = local; p[0] = 1; return p;", "object local", ""),
]


@functools.cache
def _summaries() -> Summaries:
    parameters = "int n, double *a, double *b, double **m, struct tab *t"
    texts = [
        f"double *f{k}({parameters}) {{ double *p, local[4], x; {body} return 0; }}"
        for k, (body, _, _) in enumerate(CASES)
    ]
    return Summaries.of(program_of(HEAD + "\n".join(texts)))


def _provenance(number: int) -> Provenance:
    known = _summaries()
    return known.provenance(function(known.program, f"f{number}"))


def _shown(roots: frozenset[Root]) -> str:
    return ", ".join(sorted({f"{r.kind} {r.symbol.name}" if r.symbol is not None else r.kind for r in roots}))


@pytest.mark.parametrize("number", range(len(CASES)), ids=[case[0] for case in CASES])
def test_roots_and_escapes(number: int) -> None:
    where = _provenance(number)
    _, roots, escaped = CASES[number]
    assert _shown(next(found for s, found in where.roots.items() if s.name == "p")) == roots
    assert _shown(where.escaped) == escaped


def test_what_is_returned() -> None:
    assert _shown(_provenance(len(CASES) - 1).returns) == "object local"
    assert _shown(_provenance(0).returns) == ""


def test_variables_through_which_pointers_are_loaded() -> None:
    assert shown(_provenance(7).deep) == "" and shown(_provenance(8).deep) == ""
    text = "void f(double **m, double **k) { m[0][1] = 2; k[0] = 0; }"
    known = Summaries.of(program_of(text))
    assert shown(known.provenance(function(known.program, "f")).deep) == "m"


def _symbol(name: str, storage: Storage) -> Symbol:
    return Symbol(name, name, INT, storage)


def test_sets_that_may_be_one_memory() -> None:
    own, seen, wide = (_symbol(*x) for x in (("own", "local"), ("seen", "local"), ("wide", "global")))
    held = Root("object", seen)
    where = Provenance({}, frozenset({held}), frozenset(), frozenset(), {})

    def meet(left: Root, right: Root) -> bool:
        assert where.meet(frozenset({left}), frozenset({right})) == where.meet(frozenset({right}), frozenset({left}))
        return where.meet(frozenset({left}), frozenset({right}))

    private, shared = Root("object", own), Root("object", wide)
    assert meet(private, private) and not meet(private, held) and not meet(private, UNKNOWN)
    assert (
        meet(held, UNKNOWN) and meet(shared, UNKNOWN) and meet(Root("entry", own), UNKNOWN) and meet(UNKNOWN, UNKNOWN)
    )
    assert not meet(Root("fresh"), UNKNOWN) and not meet(Root("entry", own), Root("entry", wide))
    assert not where.meet(frozenset(), frozenset({UNKNOWN})), "no address is none of anything"
    assert where.meet(frozenset({UNKNOWN}), frozenset({private, held})) and where.meet(
        frozenset({private, held}), frozenset({UNKNOWN})
    )
    exposed = [where.is_exposed(r) for r in (private, held, shared, Root("fresh"), UNKNOWN, Root("entry", own))]
    assert exposed == [False, True, True, False, True, True]


def test_addresses_of_bases() -> None:
    x = _symbol("x", "local")
    where = Provenance({x: frozenset({Root("fresh")})}, frozenset(), frozenset(), frozenset(), {})
    assert where.of(Base(x)) == {Root("fresh")} and where.of(Base(x, address=True)) == {Root("object", x)}
    assert where.of(Base(x, deep=True)) == where.of(Base(None)) == {UNKNOWN}
    assert where.of(Base(_symbol("g", "global"))) == {Root("entry", _symbol("g", "global"))}


@pytest.mark.parametrize(
    ("storage", "expected"),
    [
        ("global", True),
        ("static", True),
        ("static local", True),
        ("device", True),
        ("local", False),
        ("parameter", False),
    ],
)
def test_what_outlives_a_call(storage: Storage, expected: bool) -> None:
    assert is_persistent(_symbol("x", storage)) == expected
