"""Reads and writes of variables in the order of C, calls and pointers resolved."""

from __future__ import annotations

import functools

import pytest

from tests.poly.analysis import program_of
from tests.poly.programs import function, shown
from warpsmith.poly.effects.summaries import Summaries
from warpsmith.poly.effects.variables import VariableEvent, Variables
from warpsmith.tree.nodes import ExprStmt, Stmt
from warpsmith.tree.program import Program

HEAD = """#define _GNU_SOURCE
#include <math.h>
struct pt { double x, y; };
int g; static int own; double table[4]; int taken; int *kept = &taken;
void elsewhere(void); void with(int *);
static void bump(void) { g++; }
static void set(int *p) { *p = 1; }
static int get(const int *p) { return *p; }
"""
# ! is a write that is certain
CASES: dict[str, str] = {
    "x = i + 1;": "i, x!",
    "x += i;": "i, x, x!",
    "i ? (x = 1) : 2;": "i, x=",
    "s.x = i;": "i, s.x!",
    "local[i] = 1;": "i, local=",
    "x = local[i];": "i, local, x!",
    "a[i] = 1;": "a, i",
    "bump();": "g, g=",
    "set(&x);": "x=",
    "x = get(&i);": "i, x!",
    "sincos(1, &c, &d);": "c=!, d=!",
    "i && (sincos(1, &c, &d), 1);": "i, c=, d=",
    "modf(c, &d);": "c, d=!",
    "x = *p;": "p, x, x!",
    "*p = 1;": "p, x=",
    "q = p;": "p, q!",
}


@functools.cache
def _program() -> Program:
    body = "\n".join(CASES)
    return program_of(
        f"{HEAD}void f(int i, double *a, int *q) {{ int x, own = 2; double local[3], c, d; struct pt s; int *p = &x;\n"
        f"{body}\nelsewhere();\nwith(&x);\n}}"
    )


def _variables() -> Variables:
    return Variables.of(Summaries.of(_program()), function(_program(), "f"))


def _shown(event: VariableEvent) -> str:
    name = ".".join((event.symbol.name, *event.path))
    if not event.write:
        return name
    direct = type(event.node).__name__ in ("Assign", "Unary", "VarDecl")
    return f"{name}{'' if event.certain and direct else '='}{'!' if event.certain else ''}"


def _stmt(position: int) -> Stmt:
    return function(_program(), "f").body.statements[position - len(CASES) - 2]


@pytest.mark.parametrize("text", CASES)
def test_events_in_order(text: str) -> None:
    stmt = _stmt(list(CASES).index(text))
    assert isinstance(stmt, ExprStmt)
    assert ", ".join(map(_shown, _variables().evaluate(stmt.expr))) == CASES[text]
    assert list(map(_shown, _variables().own(stmt))) == list(map(_shown, _variables().everything(stmt)))


def test_nothing_is_evaluated_without_an_expression() -> None:
    assert _variables().evaluate(None) == []


def test_an_unknown_call_may_touch_what_is_known_outside() -> None:
    events = _variables().own(_stmt(len(CASES)))
    assert shown({e.symbol for e in events if e.write}) == "g kept own table taken x"
    given = _variables().own(_stmt(len(CASES) + 1))
    assert {"x", "g"} <= {e.symbol.name for e in given if e.write}
    assert not any(e.certain for e in (*events, *given) if e.write)
    assert [e.symbol.key for e in events if e.write] == sorted(e.symbol.key for e in events if e.write)


def test_variables_within_reach() -> None:
    variables = _variables()
    within = {text: shown(variables.within_reach(_stmt(k))) for k, text in enumerate(CASES)}
    assert within["x = i + 1;"] == "i x" and within["bump();"] == "bump g"
    assert within["*p = 1;"] == "p", "what lies behind its own pointers is memory"


def test_what_is_always_live() -> None:
    assert {"x", "table", "taken"} <= set(shown(_variables().always_live()).split())
    assert not {"i", "c", "own"} & {s.name for s in _variables().always_live() if s.storage == "local"}


def test_where_variables_are_written() -> None:
    variables = _variables()
    events = [event for event in variables.everything(variables.function.body) if event.write]
    assert {event.symbol.name for event in events} >= {"x", "local", "g", "c", "d", "q"}
    for symbol in {event.symbol for event in events}:
        assert variables.writes_of(symbol) == [event.node.span for event in events if event.symbol == symbol]
    assert variables.writes_of(variables.function.parameters[0]) == []
