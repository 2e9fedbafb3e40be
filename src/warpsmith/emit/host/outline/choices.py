"""What the user's text has for the device beside its calls: the state that they hand on, and choices by it.

struct ws_f_data ws_gpu = ws_f_begin(a);           declaration_of(state, call)
double h = ws_gpu.on ? p->h : 0;                   where_on(declaration, state)
if (!ws_f_1(ws_gpu, n)) for (…) …                  unless(call, loop)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from warpsmith.emit.host.outline.model import DeviceState, HostFunction
from warpsmith.emit.host.outline.names import refuse
from warpsmith.emit.host.outline.statements import uses
from warpsmith.emit.words import Support
from warpsmith.tree.nodes import (
    Binary,
    Block,
    Call,
    Cast,
    Conditional,
    DeclStmt,
    Expr,
    If,
    Literal,
    Member,
    Name,
    Node,
    Stmt,
    Unary,
    VarDecl,
    replace,
)
from warpsmith.tree.types import INT, VOID, FunctionType, Pointer, Symbol, Type
from warpsmith.tree.walk import rebuild, walk

__all__ = ["call_of", "declaration_of", "is_on", "is_switched_on", "unless", "use", "where_on", "with_fields"]

Run = tuple[Stmt, ...]
N = TypeVar("N", bound=Node)


def with_fields(stmt: N, holders: Mapping[Symbol, DeviceState]) -> N:
    """Return a part of the user's text that names variables of states as fields of these, each as a pointer to
    what the user's text knows where the header does not."""
    named = uses(stmt)
    fields = {field: field for holder in holders.values() for field in holder.fields}
    found = {symbol: holder for symbol, holder in holders.items() if named[symbol]}
    uses_of = [part for part in walk(stmt) if isinstance(part, Name) and part.symbol in found]
    kept = all(part.type == fields[part.symbol].type or isinstance(part.type, Pointer) for part in uses_of)
    if not kept or len(uses_of) != sum(named[symbol] for symbol in found):
        raise refuse("what stands in the user's text names a buffer", stmt)

    def change(node: Node) -> Node:
        if not (isinstance(node, Name) and node.symbol in found):
            return node
        state, field = use(found[node.symbol].variable, node), fields[node.symbol]
        member = Member(span=node.span, type=field.type, base=state, field=field.name, arrow=False)
        return member if field.type == node.type else Cast(span=node.span, type=node.type, operand=member)

    return rebuild(stmt, change) if found else stmt


def where_on(declaration: DeclStmt, state: DeviceState) -> DeclStmt:
    """Return a declaration of the port's own whose values are computed where the device is in use, and else are 0."""

    def change(one: VarDecl) -> VarDecl:
        value, test = one.init, is_on(state, one)
        assert value is not None
        if isinstance(value, Conditional) and isinstance(value.other, Literal) and value.other.value == 0:
            test = Binary(span=one.span, type=INT, op="&&", left=test, right=value.condition)
            return replace(one, init=replace(value, condition=test))
        zero = Literal(span=one.span, type=INT, text="0", value=0)
        return replace(one, init=Conditional(span=one.span, type=value.type, condition=test, then=value, other=zero))

    return replace(declaration, declarations=tuple(map(change, declaration.declarations)))


def use(symbol: Symbol, at: Node) -> Name:
    """Return a use of a variable."""
    return Name(span=at.span, type=symbol.type, symbol=symbol)


def is_on(state: DeviceState, at: Node) -> Expr:
    """Return whether the guards hold in a state."""
    return Member(span=at.span, type=INT, base=use(state.variable, at), field="on", arrow=False)


def is_switched_on(words: Support, at: Node) -> Expr:
    """Return whether the port is switched on."""
    symbol = Symbol(words.on, words.on, FunctionType(INT, ()), "function")
    return Call(span=at.span, type=INT, function=Name(span=at.span, type=symbol.type, symbol=symbol), arguments=())


def call_of(function: HostFunction, given: Sequence[Expr], at: Node) -> Call:
    """Return the call of a generated function."""
    result: Type = INT if function.answers else VOID
    if function.begins is not None:
        result = function.begins.variable.type
    taken = (*(state.variable.type for state in function.takes), *(a.parameter.type for a in function.arguments))
    type = FunctionType(result, taken)
    symbol = Symbol(function.name, function.name, type, "function", at.span)
    return Call(
        span=at.span, type=result, function=Name(span=at.span, type=type, symbol=symbol), arguments=tuple(given)
    )


def declaration_of(state: DeviceState, call: Call, at: Node) -> DeclStmt:
    """Return the declaration of a state, which a call begins."""
    return DeclStmt(span=at.span, declarations=(VarDecl(span=at.span, symbol=state.variable, init=call),))


def unless(test: Expr, instead: Run, at: Node) -> Stmt:
    """Return `if (!test) instead`."""
    condition = Unary(span=at.span, type=INT, op="!", operand=test)
    then = instead[0] if len(instead) == 1 else Block(span=at.span, statements=instead)
    return If(span=at.span, condition=condition, then=then, other=None, reasons=("device",))
