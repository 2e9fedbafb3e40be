"""Summaries of functions for their callers: through chains of calls, recursion, callbacks and other files."""

from __future__ import annotations

import functools

import pytest
from msgspec.structs import replace

from tests.poly.analysis import program_of
from tests.poly.programs import function, shown
from warpsmith.poly.effects.outside import Outside, OutsideFunction
from warpsmith.poly.effects.summaries import Summaries, Summary
from warpsmith.poly.pointers.pointers import Root
from warpsmith.tree.nodes import Call, Node
from warpsmith.tree.program import Program
from warpsmith.tree.types import DOUBLE, FunctionType, Pointer, Symbol
from warpsmith.tree.walk import walk

TEXT = """#include <stdlib.h>
#include <string.h>
#include <stdio.h>
double table[9]; double *out; int count; static int hidden; static double *own; int lent_one, kept_one; int *keeper;
double elsewhere(double *); void reader(int *);
static void axpy(int n, double *x, double *y) { for (int i = 0; i < n; i++) y[i] += x[i]; }
static void twice(int n, double *p) { axpy(n, p, p); axpy(n, p, table); }
static void keep(double *p) { out = p; }
static void keeps(double *p) { keep(p); }
static double *pick(double *p, double *q, int w) { return w ? p : q; }
static double *make(int n) { double *t = malloc(n); return t; }
static double *both(double *p, int n) { return n ? p : make(n); }
static double *inner(void) { return table; }
static int even(int n); static int odd(int n) { count++; return n == 0 ? 0 : even(n - 1); }
static int even(int n) { return n == 0 ? 1 : odd(n - 1); }
static void local(void) { double t[3]; t[0] = 1; axpy(1, t, t); }
static void deep(double **m) { m[0][1] = 2; }
static void print(int n) { printf("%d", n); }
static void shows(int n) { print(n); }
static void loses(double *p) { elsewhere(p); }
static int order(const void *p, const void *q) { hidden++; return *(const char *)p - *(const char *)q; }
static void sorts(char *p, int n) { qsort(p, n, 1, order); }
static void sorts_by(char *p, int n, int (*how)(const void *, const void *)) { qsort(p, n, 1, how); }
static void lends(void) { reader(&lent_one); keeper = &kept_one; }
static void few(double *p, ...) { p[0] = 1; }
"""


@functools.cache
def _known() -> Summaries:
    return Summaries.of(program_of(TEXT))


def _summary(name: str) -> Summary:
    known = _known()
    found = known.summary(function(known.program, name).symbol)
    assert found is not None
    return found


def _roots(roots: frozenset[Root] | set[Root]) -> str:
    return " ".join(sorted(f"{r.kind}:{r.symbol.name}" if r.symbol is not None else r.kind for r in roots))


@pytest.mark.parametrize(
    ("name", "loads", "stores"),
    [
        ("axpy", "entry:x entry:y", "entry:y"),
        ("twice", "entry:p object:table", "entry:p object:table"),
        ("keep", "", ""),
        ("local", "", ""),
        ("deep", "entry:m unknown", "unknown"),
        ("sorts", "entry:p", "entry:p"),
        ("few", "", "entry:p"),
    ],
)
def test_memory_in_the_terms_of_callers(name: str, loads: str, stores: str) -> None:
    assert (_roots(_summary(name).loads), _roots(_summary(name).stores)) == (loads, stores)


@pytest.mark.parametrize(
    ("name", "returns"),
    [
        ("pick", "entry:p entry:q"),
        ("make", "fresh"),
        ("both", "entry:p fresh"),
        ("inner", "object:table"),
        ("axpy", ""),
    ],
)
def test_where_results_come_from(name: str, returns: str) -> None:
    assert _roots(_summary(name).returns) == returns


def test_addresses_that_are_kept() -> None:
    kept = {name: sorted(_summary(name).retains) for name in ("keep", "keeps", "axpy", "pick", "loses")}
    assert kept == {"keep": [0], "keeps": [0], "axpy": [], "pick": [], "loses": [0]}


def test_variables_and_the_world() -> None:
    assert shown(_summary("keeps").writes) == "out"
    assert shown(_summary("even").writes) == shown(_summary("odd").writes) == "count", "recursion is swept to its end"
    assert shown(_summary("sorts").writes) == "hidden", "what a library calls does what its text says"
    assert (_summary("shows").io, _summary("shows").reason) == (True, "printf writes output")
    assert _summary("make").allocates and _summary("both").allocates and not _summary("pick").allocates
    assert _summary("loses").calls_unknown and "elsewhere" in _summary("loses").reason
    assert _summary("sorts_by").calls_unknown and not _summary("sorts").calls_unknown


def test_recursion_is_found_on_any_way() -> None:
    known = _known()
    found = {
        n for n in ("even", "odd", "twice", "axpy", "keeps") if known.is_recursive(function(known.program, n).symbol)
    }
    assert found == {"even", "odd"}


def _call(program: Program, text: str) -> Call:
    nodes: list[Node] = [n for _, f in program.functions() for n in walk(f)]
    return next(n for n in nodes if isinstance(n, Call) and n.span.text == text)


def test_which_arguments_a_call_reaches_memory_through() -> None:
    known = _known()

    def reached(text: str, *, write: bool) -> tuple[list[str], str] | None:
        answer = known.reaches(_call(known.program, text), write=write)
        return None if answer is None else (sorted(a.span.text for a in answer[0]), shown(answer[1]))

    assert reached("axpy(n, p, table)", write=True) == (["table"], "")
    assert reached("axpy(n, p, table)", write=False) == (["p", "table"], "")
    assert reached("keep(p)", write=True) == ([], "")
    assert reached("elsewhere(p)", write=True) is None, "nothing is known of it"
    assert reached("malloc(n)", write=True) is None, "a library's function has an entry of its own"


def test_what_calls_do_with_addresses() -> None:
    text = """#include <stdlib.h>
    static double *both(double *p, int n) { return n ? p : malloc(n); }
    static double *last(int n, double *p) { return p; }
    double *unknown(double *); static void keep(double **at, double *p) { *at = p; } static double *kept;
    void f(double *a, int n) { both(a, n); last(n, a); unknown(a); keep(&kept, a); malloc(n); realloc(a, n); }"""
    known = Summaries.of(program_of(text))

    def flow(call: str) -> tuple[str, bool, list[int]]:
        found = known.flow(_call(known.program, call))
        names = (
            None if found.returns is None else [b.symbol.name if b.symbol is not None else "?" for b in found.returns]
        )
        return "unknown" if names is None else " ".join(names), found.fresh, sorted(found.retains)

    assert flow("both(a, n)") == ("a", True, [])
    assert flow("last(n, a)") == ("a", False, [])
    assert flow("unknown(a)") == ("unknown", False, [0])
    assert flow("keep(&kept, a)") == ("unknown", False, [1])
    assert flow("malloc(n)")[1] and flow("malloc(n)")[2] == []


def test_the_parameters_that_are_handed_an_address() -> None:
    known = _known()
    assert "kept_one" in shown(known.find_held()) and "lent_one" in shown(known.address_taken)
    axpy = function(known.program, "axpy")
    assert known.owner(axpy.parameters[1]) == axpy.symbol
    assert known.owner(Symbol("none", "none", DOUBLE, "parameter")) is None
    assert known.function_of(axpy.body.statements[0]) is axpy and known.function_of(axpy) is axpy


def test_what_is_lent_goes_on_to_callees() -> None:
    text = """static int x; static void last(int *p) { *p = 1; } static void first(int *p) { last(p); }
    static void other(void) {} int main(void) { first(&x); other(); return 0; }"""
    known = Summaries.of(program_of(text))
    lent = {n: shown(known.find_lent(function(known.program, n).symbol)) for n in ("first", "last", "other", "main")}
    assert lent == {"first": "x", "last": "x", "other": "", "main": ""}
    assert shown(known.find_held()) == ""


def test_functions_of_other_files() -> None:
    program = program_of("double far(double *); double twice(double *); void f(double *a) { far(a); twice(a); }")
    far, twice = (
        next(n.function.symbol for n in walk(function(program, "f")) if isinstance(n, Call) and n.span.text == text)  # type: ignore[union-attr]
        for text in ("far(a)", "twice(a)")
    )
    parameter = Symbol("p", "far:p", Pointer(DOUBLE), "parameter")
    summary = Summary(stores=frozenset({Root("entry", parameter)}))
    outside = Outside({far: OutsideFunction(far, (parameter,), summary), twice: OutsideFunction(twice)})
    known = Summaries.of(replace(program, outside=outside))
    one = function(program, "f")
    done = known.memory_effects(one.body.statements[0], one)
    assert _roots(done.stores) == "entry:a" and not done.calls_unknown
    other = known.memory_effects(one.body.statements[1], one)
    assert other.calls_unknown and "which of them is linked here is not known" in other.reason
    assert known.summary(Symbol("nobody", "nobody", FunctionType(DOUBLE, (), False), "function")) is None
