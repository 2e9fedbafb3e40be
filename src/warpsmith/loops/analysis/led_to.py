"""The object that a parameter leads to, in place of the pointer, and the value that it has, in its own.

    static void push(int *out, int *count, int v) { out[*count] = v; ++*count; }
    push(x, &k, a[i]);      →      x[k] = a[i];  ++k;      count leads to k, and to nothing else; v is used at once

Invariant: the function only follows the pointer, which it never sets; the object is named by variables that nothing in
the function can change, so that it is the same one wherever it is named.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from warpsmith.loops.analysis.substitute import copy_tree
from warpsmith.poly.dependences.updates import has_effect
from warpsmith.poly.effects.origin import own_writes
from warpsmith.tree.nodes import (
    Assign,
    Call,
    Expr,
    ExprStmt,
    Function,
    Index,
    Literal,
    Member,
    Name,
    Node,
    SizeOf,
    Unary,
    replace,
)
from warpsmith.tree.types import Array, Pointer, Scalar, Symbol, Type
from warpsmith.tree.walk import names, peel, rebuild, walk

__all__ = ["find_object", "find_value", "with_objects"]

N = TypeVar("N", bound=Node)


def find_object(parameter: Symbol, argument: Expr, callee: Function, caller: Function) -> Expr | None:
    """Return what the address that is given for a parameter is of, where the function only follows that; else None."""
    bare = peel(argument)
    led = peel(bare.operand) if isinstance(bare, Unary) and bare.op == "&" else None
    if led is None or not isinstance(parameter.type, Pointer) or not _is_same(parameter.type.to, led.type):
        return None
    if not _is_steady(led, caller) or any(parameter in own_writes(node) for node in walk(callee.body)):
        return None
    if any(isinstance(n, SizeOf) and parameter.name in n.text for n in walk(callee.body)):
        return None
    followed = sum(_follows(node, parameter) for node in walk(callee.body))
    return led if followed == sum(n.symbol == parameter for n in names(callee.body)) else None


def find_value(parameter: Symbol, argument: Expr, callee: Function) -> Expr | None:
    """Return what can stand for a number that is used once, in the value that the function's first statement assigns,
    before anything has changed; else None."""
    first = callee.body.statements[0] if callee.body.statements else None
    assigned = peel(first.expr) if isinstance(first, ExprStmt) else None
    if not isinstance(assigned, Assign) or not isinstance(parameter.type, Scalar) or parameter.type.volatile:
        return None
    uses = [sum(n.symbol == parameter for n in names(part)) for part in (callee.body, assigned.value)]
    quiet = not any(has_effect(n) or isinstance(n, Call) for e in (assigned.value, argument) for n in walk(e))
    if uses != [1, 1] or not quiet or any(isinstance(n, SizeOf) for n in walk(callee.body)):
        return None
    return argument if _is_same(parameter.type, peel(argument).type) else None


def with_objects(node: N, objects: Mapping[Symbol, Expr]) -> N:
    """Return a statement with the objects in place of the pointers to them."""

    def change(part: Node) -> Node:
        for symbol, led in objects.items():
            if _follows(part, symbol):
                new = copy_tree(led)
                return replace(part, base=new, arrow=False) if isinstance(part, Member) else new
        return part

    return rebuild(node, change) if objects else node


def _follows(node: Node, pointer: Symbol) -> bool:
    match node:
        case Unary(op="*", operand=operand):
            return _is(operand, pointer)
        case Index(base=base, index=index):
            first = peel(index)
            return _is(base, pointer) and isinstance(first, Literal) and first.value == 0
        case Member(base=base, arrow=True):
            return _is(base, pointer)
        case _:
            return False


def _is(expr: Expr, symbol: Symbol) -> bool:
    bare = peel(expr)
    return isinstance(bare, Name) and bare.symbol == symbol


def _is_same(pointed: Type, type: Type) -> bool:
    """Whether a pointer reads an object as what it is; that it promises not to write may be its own."""
    if isinstance(pointed, Scalar) and isinstance(type, Scalar):
        plain = (pointed.name, pointed.bits, pointed.kind) == (type.name, type.bits, type.kind)
        return plain and not pointed.volatile and not type.volatile
    return pointed == type


def _is_steady(led: Expr, caller: Function) -> bool:
    """Whether an expression names the same object wherever the function stands that cannot see the caller's variables:
    a variable, or an element at a place that only these say."""
    if isinstance(led, Name):
        return led.symbol.storage in ("local", "parameter", "global", "static", "static local")
    if not isinstance(led, Index):
        return False
    base, index = peel(led.base), peel(led.index)
    named = [part for part in (base, index) if isinstance(part, Name)]
    if not isinstance(base, Name) or not isinstance(index, Name | Literal):
        return False
    taken = {
        n.operand.symbol
        for n in walk(caller.body)
        if isinstance(n, Unary) and n.op == "&" and isinstance(n.operand, Name)
    }
    own = (n.symbol.storage in ("local", "parameter") or isinstance(n.symbol.type, Array) for n in named)
    return all(own) and not any(n.symbol in taken for n in named)
