"""The value of a call, written as an expression in its place: for functions that do nothing but return one.

    static double at(const struct grid *g, int i) { return g->u[i] * g->scale; }
    sum += at(s, i + 1) - 1.0;      →      sum += s->u[i + 1] * s->scale - 1.0;

Invariant: the expression has the call's value and type. Nothing in it, nor in the arguments, has an effect, so that it
matters not how often, or whether, an argument is evaluated; an argument becomes what the parameter's type makes of it.
"""

from __future__ import annotations

from warpsmith.loops.analysis.substitute import replace_values
from warpsmith.tree.nodes import Assign, Call, Cast, Expr, Function, Name, Node, Return, SizeOf, Unary, VerbatimExpr
from warpsmith.tree.types import Array, FunctionType, Pointer, Scalar, Symbol, Type
from warpsmith.tree.walk import peel, rebuild, walk

__all__ = ["called_value"]

_STEPS = ("++x", "--x", "x++", "x--")
# an argument of more nodes than this is written once at most
_SHORT = 12


def called_value(call: Call, callee: Function) -> Expr | None:
    """Return what stands for a call of `callee`, None where that needs more than an expression."""
    parts = callee.body.statements
    returned = parts[0] if len(parts) == 1 else None
    type = callee.symbol.type
    if not isinstance(returned, Return) or returned.value is None or not isinstance(type, FunctionType):
        return None
    if len(call.arguments) != len(callee.parameters) or type.variadic or not _is_quiet(returned.value):
        return None
    values: dict[Symbol, Expr] = {}
    for parameter, argument in zip(callee.parameters, call.arguments, strict=True):
        value = _pass_argument(argument, parameter.type)
        if value is None or not _is_quiet(argument, calls=False) or _is_held(parameter, returned.value):
            return None
        uses = sum(isinstance(n, Name) and n.symbol == parameter for n in walk(returned.value))
        if uses > 1 and sum(1 for _ in walk(argument)) > _SHORT:
            return None
        values[parameter] = value
    result = rebuild(replace_values(returned.value, values), _follow)
    return result if peel(returned.value).type == type.result else _cast(result, type.result)


def _follow(node: Node) -> Node:
    """Return `a[i]` for `*&a[i]`."""
    inner = peel(node.operand) if isinstance(node, Unary) and node.op == "*" else None
    return inner.operand if isinstance(inner, Unary) and inner.op == "&" else node


def _cast(value: Expr, type: Type) -> Expr:
    return Cast(span=value.span, type=type, operand=value)


def _pass_argument(argument: Expr, type: Type) -> Expr | None:
    """Return an argument as its parameter has it; None where a conversion cannot be written."""
    bare = peel(argument)
    if isinstance(type, Pointer):
        address = bare.type
        inner = address.of if isinstance(address, Array) else address.to if isinstance(address, Pointer) else None
        return argument if inner == type.to else None
    if isinstance(type, Scalar) and isinstance(bare.type, Scalar):
        return argument if bare.type == type else _cast(argument, type)
    return None


def _is_quiet(expr: Expr, *, calls: bool = True) -> bool:
    """Whether an expression changes nothing itself; `calls`: it may call functions."""
    for part in walk(expr):
        if isinstance(part, Assign | VerbatimExpr) or (isinstance(part, Unary) and part.op in _STEPS):
            return False
        if isinstance(part, Call) and not calls:
            return False
    return True


def _is_held(parameter: Symbol, value: Expr) -> bool:
    """Whether an expression takes a parameter's own address, or its size."""
    for part in walk(value):
        if isinstance(part, SizeOf) and parameter.name in part.text:
            return True
        if isinstance(part, Unary) and part.op == "&":
            inner = peel(part.operand)
            if isinstance(inner, Name) and inner.symbol == parameter:
                return True
    return False
