"""The writes of a piece of the tree, and which of them reach a variable."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpsmith.front.c.counted.writes import (
    Knowledge,
    Store,
    Writes,
    close_over_calls,
    is_direct,
    may_name_same_object,
    writes_of,
)
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.tree.nodes import Assign, ExprStmt, Function
from warpsmith.tree.types import DOUBLE, INT, Array, FunctionType, Opaque, Pointer, Record, Scalar, Symbol, Type
from warpsmith.tree.walk import peel

FLOAT = Scalar("float", 32, "float")
UNSIGNED = Scalar("unsigned int", 32, "unsigned")
CHAR = Scalar("char", 8, "signed")
RECORD = Record("s", 8)
STATEMENTS = {
    # statement: (variables, stores as (root, through a pointer), calls)
    "x = 1": ({"x"}, set(), set()),
    "x++": ({"x"}, set(), set()),
    "a[x] = 1": (set(), {("a", True)}, set()),
    "t[1] = 1": (set(), {("t", False)}, set()),
    "s.k = 1": ({"s"}, {("s", False)}, set()),
    "s.v[2] = 1": ({"s"}, {("s", False)}, set()),
    "p->k = 1": (set(), {("p", True)}, set()),
    "--*a": (set(), {("a", True)}, set()),
    "g(&x)": ({"x"}, {("x", True)}, {"g"}),
    "g(&p->k)": (set(), {("p", True)}, {"g"}),
    "h(a)": (set(), set(), {"h"}),
    "h(t)": (set(), set(), {"h"}),
    "(void)(x + a[0])": (set(), set(), set()),
}
TEXT = """
struct s { int k; int v[4]; };
void g(int *), h(const int *), run(void (*)(void)), part(int *);
void f(int x, int *a, struct s *p, void (*u)(void)) { struct s s; int t[4]; %s }
int total;
static int hidden;
void raises(int *a) { total++; hidden = 1; *a = 2; }
void nested(int *a) { int mine[2]; mine[0] = 1; raises(a); }
void unseen(void) { int k; g(&k); }
"""


@pytest.fixture(scope="module")
def functions(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Function]:
    path: Path = tmp_path_factory.mktemp("writes") / "case.c"
    path.write_text(TEXT % "".join(f"{s}; " for s in [*STATEMENTS, "u()", "run(u)"]))
    program = load_program([str(path)], FrontOptions()).program
    return {f.symbol.name: f for _, f in program.functions()}


def expressions(function: Function) -> list[ExprStmt]:
    return [s for s in function.body.statements if isinstance(s, ExprStmt)]


@pytest.mark.parametrize("number", range(len(STATEMENTS)), ids=STATEMENTS.keys())
def test_what_a_statement_writes(functions: dict[str, Function], number: int) -> None:
    found = writes_of([expressions(functions["f"])[number]])
    names = {s.name for s in found.variables}
    stores = {(store.root.name if store.root else None, store.indirect) for store in found.stores}
    assert (names, stores, {s.name for s in found.calls}) == list(STATEMENTS.values())[number]
    assert not found.unknown


def test_who_is_called_through_a_pointer_is_not_known(functions: dict[str, Function]) -> None:
    through, handed = expressions(functions["f"])[-2:]
    assert writes_of([through]).unknown and not writes_of([through]).calls
    assert writes_of([handed]).unknown


@pytest.mark.parametrize(
    ("left", "right", "may"),
    [
        (INT, UNSIGNED, True),
        (INT, FLOAT, False),
        (INT, DOUBLE, False),
        (CHAR, DOUBLE, True),
        (Pointer(INT), Pointer(DOUBLE), True),
        (Pointer(INT), INT, False),
        (Pointer(INT), CHAR, True),
        (RECORD, INT, True),
        (RECORD, Pointer(INT), True),
    ],
)
def test_types_that_may_name_one_object(left: Type, right: Type, may: bool) -> None:
    assert may_name_same_object(left, right) is may_name_same_object(right, left) is may


def test_only_what_lies_in_the_variable_is_direct(functions: dict[str, Function]) -> None:
    targets = [peel(s.expr) for s in expressions(functions["f"])[2:7]]
    assert [is_direct(t.target) for t in targets if isinstance(t, Assign)] == [False, True, True, True, False]


def test_functions_write_what_those_that_they_call_write(functions: dict[str, Function]) -> None:
    own = {name: writes_of([function.body]) for name, function in functions.items()}
    closed = close_over_calls(own, frozenset())
    assert {s.name for s in closed["raises"].variables} == {"total", "hidden"}
    assert closed["nested"].variables == closed["raises"].variables
    # its own array is nobody else's; what it gives to `raises` is
    assert {store.root.name for store in closed["nested"].stores if store.root} == {"a"}
    assert not closed["raises"].unknown and not closed["nested"].unknown
    assert closed["unseen"].unknown and not close_over_calls(own, frozenset({"g"}))["unseen"].unknown
    assert not closed["unseen"].variables


def test_what_is_merged_has_both() -> None:
    x, y = (Symbol(name, name, INT, "global") for name in "xy")
    one = Writes(frozenset({x}), unknown=True)
    other = Writes(frozenset({y}), frozenset({Store(y, True, INT)}), frozenset({y}), opaque=frozenset({(y, "goto")}))
    merged = one.merge(other)
    assert merged.variables == {x, y} and merged.unknown
    assert (merged.stores, merged.calls, merged.opaque) == (other.stores, other.calls, other.opaque)


def test_text_that_is_not_modeled_may_take_what_has_an_address() -> None:
    plain, taken = Symbol("n", "n", INT, "local"), Symbol("m", "m", INT, "local")
    array = Symbol("t", "t", Array(INT, None, 4), "local")
    other = Symbol("q", "q", Opaque("C"), "local")
    called = Symbol("r", "r", Pointer(FunctionType(INT, ())), "local")
    everything = (plain, taken, array, other, called)
    assert Knowledge(escaped=frozenset({"m"})).find_kept(everything) == (taken, array, other)
    assert Knowledge(references=True).find_kept(everything) == everything
