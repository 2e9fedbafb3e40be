"""Expressions in the names of a generated function: what is passed, by value or address, and what cannot be said."""

from __future__ import annotations

import pytest

from tests.emit.examples import Maker
from warpsmith.emit.host.outline.model import NotOutlinedError
from warpsmith.emit.host.outline.names import OwnNames, passable
from warpsmith.tree.nodes import Assign, Binary, Call, Expr, Index, Literal, Member, Name, SizeOf, Unary, VerbatimExpr
from warpsmith.tree.printing.printer import nothing, print_expr, print_type
from warpsmith.tree.types import BOOL, DOUBLE, INT, SIZE_T, Array, FunctionType, Opaque, Pointer, Record, Symbol, Type

SPAN = Maker("int x;").span("x")
PAIR = Record("pair", 16, spelling="struct pair")
N = Symbol("n", "n", INT, "parameter")
A = Symbol("a", "a", Pointer(DOUBLE), "parameter")
M = Symbol("m", "m", Array(Array(DOUBLE, None, 50), None, 20), "global")
P = Symbol("p", "p", Pointer(PAIR), "parameter")
S = Symbol("s", "s", PAIR, "local")
R = Symbol("r", "r", Pointer(INT, reference=True), "parameter")
F = Symbol("f", "f", FunctionType(INT, ()), "function")
ROW = Pointer(Array(DOUBLE, None, 50))
GPU = Symbol("a_gpu", "device:a", Pointer(DOUBLE), "device")


def name(symbol: Symbol) -> Name:
    return Name(span=SPAN, type=symbol.type, symbol=symbol)


def number(value: int) -> Expr:
    return Literal(span=SPAN, type=INT, text=str(value), value=value)


def plus(left: Expr, right: Expr, type: Type) -> Expr:
    return Binary(span=SPAN, type=type, op="+", left=left, right=right)


def unary(op: str, operand: Expr, type: Type) -> Expr:
    return Unary(span=SPAN, type=type, op=op, operand=operand)


def index(base: Expr, at: Expr, type: Type) -> Expr:
    return Index(span=SPAN, type=type, base=base, index=at)


def say(expr: Expr, *written: Symbol) -> tuple[str, list[str]]:
    """Return the text of an expression in a function's names, and each parameter with what is passed for it."""
    names = OwnNames({GPU: GPU}, written)
    text = print_expr(names.value(expr), nothing)
    return text, [
        f"{print_type(a.parameter.type, a.parameter.name)} = {print_expr(a.given, nothing)}" for a in names.arguments
    ]


CASES: dict[str, tuple[Expr, str, list[str]]] = {
    "a value": (plus(name(N), number(1), INT), "n + 1", ["int n = n"]),
    "a pointer": (plus(name(A), name(N), A.type), "a + n", ["double *a = a", "int n = n"]),
    "a pointer moved by nothing": (plus(name(A), number(0), A.type), "a", ["double *a = a"]),
    "an address": (unary("&", index(name(A), name(N), DOUBLE), A.type), "&a[n]", ["double *a = a", "int n = n"]),
    "what memory holds": (index(name(A), name(N), DOUBLE), "a", ["double a = a[n]"]),
    "rows": (plus(name(M), number(2), ROW), "(char *)m + (long long)2 * 400", ["void *m = m"]),
    "a structure": (plus(name(P), name(N), P.type), "(char *)p + (long long)n * 16", ["void *p = p", "int n = n"]),
    "a member": (Member(span=SPAN, type=INT, base=name(P), field="k", arrow=True), "k", ["int k = p->k"]),
    "a whole structure": (name(S), "s", ["void *s = &s"]),
    "what a reference holds": (unary("*", name(R), INT), "r", ["int r = r"]),
    "the port's own": (plus(name(GPU), number(1), GPU.type), "a_gpu + 1", []),
    "an enumerator": (name(Symbol("RED", "RED", INT, "enumerator", value=-3)), "-3", []),
    "a known size": (SizeOf(span=SPAN, type=SIZE_T, text="sizeof(double)", value=8), "sizeof(double)", []),
    "a size of the user's": (SizeOf(span=SPAN, type=SIZE_T, text="sizeof(struct pair)", value=16), "16", []),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_what_is_passed(case: str) -> None:
    expr, text, passed = CASES[case]
    assert say(expr) == (text, passed)


def test_what_is_written_is_passed_by_address_and_read_there() -> None:
    assert say(plus(name(N), number(1), INT), N) == ("*n + 1", ["int *n = &n"])
    assert say(unary("*", name(R), INT), R) == ("*r", ["int *r = (&r)"])


def test_names_of_parameters_differ() -> None:
    first = Member(span=SPAN, type=INT, base=name(P), field="n", arrow=True)
    text, passed = say(plus(plus(name(N), first, INT), name(N), INT))
    assert text == "n + n_ + n" and passed == ["int n = n", "int n_ = p->n"]


REFUSED: dict[str, Expr] = {
    "a call": Call(span=SPAN, type=INT, function=name(F), arguments=()),
    "a text": VerbatimExpr(span=SPAN, type=INT, text="x", reads=(), writes=(), calls=False, reason="x"),
    "a size at run time": SizeOf(span=SPAN, type=SIZE_T, text="sizeof(int[n])", value=None, operands=(name(N),)),
    "a size of the port's own": SizeOf(span=SPAN, type=SIZE_T, text=f"sizeof({GPU.name}[0])", value=None),
    "memory behind the port's own": index(name(GPU), number(1), DOUBLE),
    "an increment": unary("x++", name(N), INT),
    "two values": Binary(span=SPAN, type=INT, op=",", left=name(N), right=name(N)),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_said_elsewhere(case: str) -> None:
    with pytest.raises(NotOutlinedError):
        say(REFUSED[case])


def test_memory_that_a_written_variable_selects_is_refused() -> None:
    with pytest.raises(NotOutlinedError):
        say(index(name(A), name(N), DOUBLE), N)


def test_types_of_parameters() -> None:
    assert passable(BOOL, number(1)) == INT
    assert print_type(passable(Pointer(Pointer(DOUBLE)), number(1))) == "void *"
    with pytest.raises(NotOutlinedError):
        passable(Opaque("thing"), number(1))


def test_a_pointer_that_is_set_is_passed_by_address() -> None:
    names = OwnNames({}, (A, P), (), (A, P))
    set_ = Assign(span=SPAN, type=A.type, op="+=", target=name(A), value=name(N))
    assert print_expr(names.value(set_), nothing) == "*a += n"
    passed = [print_type(a.parameter.type, a.parameter.name) for a in names.arguments]
    assert passed == ["double **a", "int n"] and print_expr(names.arguments[0].given, nothing) == "&a"
    for lost in (name(P), unary("*", name(A), DOUBLE), index(name(P), number(0), DOUBLE)):
        with pytest.raises(NotOutlinedError):
            names.value(lost)


def test_what_a_variable_of_the_ports_own_is_can_be_said_where_the_function_is_called() -> None:
    own = Symbol("own", "port:own", INT, "local")
    field = Member(span=SPAN, type=INT, base=name(P), field="count", arrow=True)
    read = index(name(A), name(own), DOUBLE)
    names = OwnNames({own: own}, (), given={own: field})
    assert print_expr(names.value(read), nothing) == "a"
    assert [print_expr(a.given, nothing) for a in names.arguments] == ["a[p->count]"]
    with pytest.raises(NotOutlinedError):
        OwnNames({own: own}, ()).value(read)
    # a counter of the function's own has no value there
    with pytest.raises(NotOutlinedError):
        OwnNames({own: own}, (), given={N: field}).value(read)


def test_what_is_written_through_a_pointer_can_be_read_before() -> None:
    count = Member(span=SPAN, type=INT, base=name(P), field="count", arrow=True)
    assert say(count, P) == ("count", ["int count = p->count"])
    with pytest.raises(NotOutlinedError):
        OwnNames({}, (P,), moved=(P,)).value(count)
