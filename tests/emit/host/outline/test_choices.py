"""What stands in the user's text beside the calls: fields of states, and what is computed where a region runs."""

from __future__ import annotations

import pytest

from tests.emit.examples import Maker
from warpsmith.emit.host.outline.choices import declaration_of, is_on, unless, use, where_on, with_fields
from warpsmith.emit.host.outline.model import DeviceState, NotOutlinedError
from warpsmith.tree.nodes import Call, Conditional, DeclStmt, Empty, Expr, ExprStmt, If, Index, Literal, Name, VarDecl
from warpsmith.tree.printing.printer import nothing, print_expr
from warpsmith.tree.types import DOUBLE, INT, VOID, FunctionType, Pointer, Record, Symbol, Type

_AT = Maker("a;").span("a;")
_POINT = Record("point", 16, spelling="struct point")
_STATE = DeviceState(
    "ws_f_data",
    Symbol("ws_gpu", "state", Record("ws_f_data", 0, spelling="struct ws_f_data"), "local", _AT),
    (Symbol("points", "f:points", Pointer(VOID), "local"), Symbol("sum", "f:sum", DOUBLE, "local")),
    guarded=True,
)


def _number(value: int) -> Expr:
    return Literal(span=_AT, type=INT, text=str(value), value=value)


def _named(name: str, type: Type) -> Name:
    symbol = Symbol(name, f"f:{name}", type, "local", _AT)
    return Name(span=_AT, type=symbol.type, symbol=symbol)


def test_a_field_whose_type_the_header_does_not_know_is_read_as_what_it_points_to() -> None:
    element = Index(span=_AT, type=_POINT, base=_named("points", Pointer(_POINT)), index=_number(3))
    holders = dict.fromkeys(_STATE.fields, _STATE)
    said = with_fields(ExprStmt(span=_AT, expr=element), holders)
    assert isinstance(said, ExprStmt)
    assert print_expr(said.expr, nothing) == "((struct point *)ws_gpu.points)[3]"
    plain = with_fields(ExprStmt(span=_AT, expr=_named("sum", DOUBLE)), holders)
    assert isinstance(plain, ExprStmt) and print_expr(plain.expr, nothing) == "ws_gpu.sum"
    with pytest.raises(NotOutlinedError):
        with_fields(ExprStmt(span=_AT, expr=_named("sum", INT)), holders)


@pytest.mark.parametrize(
    ("value", "wanted"), [("5", "ws_gpu.on ? 5 : 0"), ("1 < 2 ? 5 : 0", "ws_gpu.on && 1 < 2 ? 5 : 0")]
)
def test_a_declaration_reads_nothing_where_the_guards_fail(value: str, wanted: str) -> None:
    init: Expr = _number(5)
    if "?" in value:
        test = Name(span=_AT, type=INT, symbol=Symbol("1 < 2", "t", INT, "local"))
        init = Conditional(span=_AT, type=INT, condition=test, then=init, other=_number(0))
    symbol = Symbol("h", "f:h", INT, "local", _AT)
    declaration = DeclStmt(span=_AT, declarations=(VarDecl(span=_AT, symbol=symbol, init=init),))
    (made,) = where_on(declaration, _STATE).declarations
    assert made.init is not None and print_expr(made.init, nothing) == wanted


def test_the_users_statements_run_unless_the_device_does_all() -> None:
    type = FunctionType(_STATE.variable.type, ())
    called = Name(span=_AT, type=type, symbol=Symbol("begin", "begin", type, "function"))
    call = Call(span=_AT, type=_STATE.variable.type, function=called, arguments=())
    (declared,) = declaration_of(_STATE, call, Empty(span=_AT)).declarations
    assert declared.symbol is _STATE.variable and declared.init is call
    chosen = unless(is_on(_STATE, called), (Empty(span=_AT),), called)
    assert isinstance(chosen, If) and print_expr(chosen.condition, nothing) == "!ws_gpu.on"
    assert use(_STATE.variable, called).symbol is _STATE.variable
