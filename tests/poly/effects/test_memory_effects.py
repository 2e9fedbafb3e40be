"""Memory effects of calls, in the terms of the caller: through which of its pointers they load and store."""

from __future__ import annotations

import functools

import pytest

from tests.poly.analysis import program_of
from tests.poly.programs import function, shown
from warpsmith.base.source import Span
from warpsmith.poly.effects.memory_effects import MemoryEffects, name_everything, through
from warpsmith.poly.effects.summaries import Summaries
from warpsmith.poly.effects.summary import Summary
from warpsmith.poly.pointers.accesses import Base
from warpsmith.poly.pointers.pointers import UNKNOWN, Provenance, Root
from warpsmith.tree.program import Program
from warpsmith.tree.types import DOUBLE, INT, Array, Pointer, Record, Symbol

HEAD = """#include <string.h>
#include <stdlib.h>
#include <stdio.h>
double table[9]; double *out; int count; static int calls;
static void one(double *x) { x[0] = 1; }
static void move(double *x, const double *y) { x[0] = y[0]; }
static void wide(void) { table[0] = out[0]; count++; }
static void deep(double **m) { m[0][0] = 1; }
static int by(const void *p, const void *q) { calls++; return *(const double *)p > table[0]; }
static int marks(const void *p, const void *q) { *(double *)p = 0; return 0; }
static void none(double *x) { }
static void prints(void) { printf("x"); out = malloc(8); }
"""
# what is loaded and stored through, by name; ? is what is not known
CASES: dict[str, tuple[str, str]] = {
    "one(a + 3);": ("", "a"),
    "one(local);": ("", "local"),
    "one(n ? a : b);": ("", "a b"),
    "one(0);": ("", ""),
    "none(a);": ("", ""),
    "move(a, b);": ("b", "a"),
    "move(local, table);": ("table", "local"),
    "wide();": ("out", "table"),
    "deep(m);": ("? m", "?"),
    "memcpy(a, b, 8);": ("b", "a"),
    "memset(local, 0, 8);": ("", "local"),
    "qsort(a, n, 8, by);": ("a table", "a"),
    "qsort(a, n, 8, marks);": ("a", "a"),
}


@functools.cache
def _program() -> Program:
    return program_of(
        f"{HEAD}void f(int n, double *a, double *b, double **m) {{ double local[4];\n" + "\n".join(CASES) + "}"
    )


def _done(text: str) -> MemoryEffects:
    one = function(_program(), "f")
    return Summaries.of(_program()).memory_effects(one.body.statements[list(CASES).index(text) + 1], one)


def _roots(roots: set[Root]) -> str:
    return " ".join(sorted({"?" if r.symbol is None else r.symbol.name for r in roots}))


@pytest.mark.parametrize("text", CASES)
def test_calls_in_the_callers_terms(text: str) -> None:
    done = _done(text)
    assert (_roots(done.loads), _roots(done.stores)) == CASES[text]
    assert not done.calls_unknown


def test_named_bases_are_those_of_the_caller() -> None:
    assert shown(_done("move(a, b);").store_bases) == "a" and shown(_done("move(a, b);").load_bases) == "b"
    assert shown(_done("move(local, table);").load_bases) == "table"
    assert shown(_done("wide();").writes) == "count" and shown(_done("wide();").store_bases) == "table"
    assert "calls" in shown(_done("qsort(a, n, 8, by);").writes)


def test_what_a_library_says_of_the_world() -> None:
    known = Summaries.of(_program())
    done = known.memory_effects(function(_program(), "prints").body, function(_program(), "prints"))
    assert (done.io, done.allocates) == (True, True) and done.reason in (
        "printf writes output",
        "malloc allocates memory",
    )


def test_the_first_reason_is_kept() -> None:
    done, place = MemoryEffects(), Span(_program().units[0].file, 0, 1)
    done.join(Summary(io=True, reason="printf writes output", span=place, reads=frozenset()))
    done.join(Summary(allocates=True, reason="malloc allocates"))
    done.blame("later", None)
    assert (done.reason, done.span, done.io, done.allocates, done.calls_unknown) == (
        "printf writes output", place, True, True, False,
    )  # fmt: skip
    done.join(Summary(calls_unknown=True))
    assert done.calls_unknown


def test_a_pointer_that_outlives_calls_leads_where_the_caller_set_it() -> None:
    program = program_of(
        f"{HEAD}double *other;\nstatic void both(void) {{ out[0] = other[0]; }}\n"
        "void set(double *a) { out = a; both(); }\nvoid kept(void) { both(); }"
    )
    known = Summaries.of(program)
    found = {
        name: known.memory_effects(function(program, name).body, function(program, name)) for name in ("set", "kept")
    }
    assert (_roots(found["set"].loads), _roots(found["set"].stores)) == ("other", "a out")
    assert (_roots(found["kept"].loads), _roots(found["kept"].stores)) == ("other", "out")
    assert all((shown(one.load_bases), shown(one.store_bases)) == ("other", "out") for one in found.values())


NOWHERE = Provenance({}, frozenset(), frozenset(), frozenset(), {})


def test_an_access_names_the_pointer_it_goes_through() -> None:
    pointer = Symbol("p", "p", Pointer(DOUBLE), "parameter")
    array, number = Symbol("t", "t", Array(DOUBLE, None, 3), "global"), Symbol("x", "x", INT, "local")
    for base, named in ((Base(pointer), "p"), (Base(array, address=True), "t"), (Base(number, address=True), "")):
        roots: set[Root] = set()
        names: set[Symbol] = set()
        through(base, NOWHERE, roots, names)
        assert shown(names) == named and len(roots) == 1


@pytest.mark.parametrize(
    ("symbol", "own", "roots", "named"),
    [
        (Symbol("x", "x", INT, "local"), "x", 0, ""),
        (Symbol("p", "p", Pointer(DOUBLE), "parameter"), "p", 1, "p"),
        (Symbol("t", "t", Array(DOUBLE, None, 3), "global"), "t", 1, "t"),
        (Symbol("s", "s", Record("s", 8), "local"), "s", 1, ""),
        (Symbol("f", "f", INT, "function"), "", 0, ""),
        (Symbol("E", "E", INT, "enumerator"), "", 0, ""),
    ],
)
def test_what_is_not_modelled_may_touch_all_that_a_variable_leads_to(
    symbol: Symbol, own: str, roots: int, named: str
) -> None:
    variables: set[Symbol] = set()
    found: set[Root] = set()
    bases: set[Symbol] = set()
    name_everything(symbol, NOWHERE, variables, found, bases)
    assert (shown(variables), len(found), shown(bases)) == (own, roots, named)
    assert (UNKNOWN in found) == (symbol.name == "s")
