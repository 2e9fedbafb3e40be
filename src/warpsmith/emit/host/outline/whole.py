"""A region that becomes one function, the host's part between its launches included.

    for (k = 0; k < n; k++) {                   for (int k = 0; k < n; k++) {
        k1(A_gpu, n, k);                   →        k1(A_gpu, n, k);          all in ws_f_1
        if (k + 1 < n) k2(A_gpu, n, k);             if (k + 1 < n) k2(…);
    }                                           }

Invariant: the function does what the statements do, in their order. What it is passed is read where it is called:
nothing in it changes that before it is needed, and nothing is read that the statements might not read. The user's
variables that it sets are passed by address, or are not needed behind it and are its own.

Limits: between launches the host counts, compares and sets numbers; it computes nothing with floating point, which
another compiler may round in another way, and calls nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import TypeGuard

from warpsmith.emit.host.outline.model import NotOutlinedError
from warpsmith.emit.host.outline.names import refuse
from warpsmith.emit.host.outline.needed import is_read_first
from warpsmith.emit.host.outline.statements import (
    Moving,
    is_free,
    is_plain_declaration,
    is_stop,
    reads_memory,
    uses,
    writes_memory,
)
from warpsmith.tree.nodes import (
    Assign,
    Binary,
    Block,
    CaptureStmt,
    DeclStmt,
    Empty,
    Expr,
    ExprStmt,
    For,
    If,
    Name,
    Node,
    Pragma,
    Stmt,
    Unary,
    VarDecl,
    While,
    replace,
)
from warpsmith.tree.types import Scalar, Symbol
from warpsmith.tree.walk import children, peel, rebuild, walk

__all__ = ["check_order", "is_movable", "whole_region"]

Run = tuple[Stmt, ...]


def whole_region(run: Run, exposed: Collection[Symbol], is_needed: Callable[[Symbol], bool]) -> Run:
    """Return statements as a function has them; `exposed`: variables that change where memory does; `is_needed`:
    whether the value of one is needed behind them.

    Raises NotOutlinedError where they can only be said in the user's text.
    """
    run = tuple(stmt for stmt in run if not _says_nothing(stmt))
    for stmt in run:
        _check(stmt, inside=False)
    check_order(run, exposed)
    own: list[Symbol] = []
    for symbol in sorted(_set_here(run), key=lambda symbol: symbol.key):
        plain = symbol.storage in ("local", "parameter") and symbol not in exposed and isinstance(symbol.type, Scalar)
        if plain and not is_read_first(run, symbol) and not is_needed(symbol):
            own.append(symbol)
        elif any(isinstance(part, For) and part.variable == symbol for stmt in run for part in walk(stmt)):
            raise refuse("the counter of a loop is needed behind it", run[0])
    return tuple(_declare_own(run, own))


def check_order(run: Run, exposed: Collection[Symbol]) -> None:
    """Raise NotOutlinedError where statements of a function may read what others have written before them: what it is
    passed was read where it is called."""
    if _written_then_read(run, exposed, wrote=False) is None:
        raise refuse("what is read here may have been written before", run[0])


def is_movable(stmt: Stmt) -> bool:
    """Whether a loop or a test may stand in a generated function, with all that it declares and sets."""
    try:
        _check(stmt, inside=False)
    except NotOutlinedError:
        return False
    return not _set_here((stmt,)) and _written_then_read((stmt,), (), wrote=False) is not None


# --- what may leave the user's text


def _check(stmt: Stmt, *, inside: bool) -> None:
    """Raise NotOutlinedError unless a statement may stand in a generated function; `inside`: in a loop or a test, what
    it reads of the host's memory is not read where the function is called."""
    match stmt:
        case Block(statements=statements):
            for one in statements:
                _check(one, inside=inside)
        case If(condition=condition, then=then, other=other, reasons=()) if not is_stop(stmt):
            _check_expression(condition, stmt, inside=inside)
            for one in (then, *(() if other is None else (other,))):
                _check(one, inside=True)
        case For(lower=lower, bound=bound, body=body):
            _check_expression(lower, stmt, inside=inside)
            _check_expression(bound, stmt, inside=inside)
            _check(body, inside=True)
        case While():
            _check_while(stmt, inside=inside)
        case _:
            if not _is_simple(stmt):
                raise refuse("a statement of the user's cannot leave his text", stmt)
            _check_reads(stmt, stmt, inside=inside)


def _check_while(stmt: While, *, inside: bool) -> None:
    init, condition, advance = stmt.init, stmt.condition, stmt.advance
    whole = condition is not None and is_free(condition) and (advance is None or _is_setting(advance))
    if not whole or condition is None or not isinstance(init, ExprStmt | None):
        raise refuse("a loop of the host's cannot leave the user's text", stmt)
    if init is not None:
        _check(init, inside=inside)
    _check_expression(condition, stmt, inside=inside)
    _check(stmt.body, inside=True)


def _check_expression(expr: Expr, at: Stmt, *, inside: bool) -> None:
    if not _is_plain(expr):
        raise refuse("what the host computes here cannot leave the user's text", at)
    _check_reads(expr, at, inside=inside)


def _is_simple(stmt: Stmt) -> bool:
    match stmt:
        case ExprStmt(expr=expr):
            return _is_setting(expr)
        case DeclStmt(declarations=declarations, types=""):
            bare = all(isinstance(d.symbol.type, Scalar) and d.init is None for d in declarations)
            return bare or (is_plain_declaration(stmt) and _computes_nothing(stmt))
        case If(reasons=()):
            return is_stop(stmt)
        case _:
            return isinstance(stmt, Moving | CaptureStmt | Empty) or _says_nothing(stmt)


def _check_reads(part: Node, at: Stmt, *, inside: bool) -> None:
    if inside and reads_memory(part, ()):
        raise refuse("what is read here may not be read where it does not run", at)


def _is_setting(expr: Expr) -> TypeGuard[Assign]:
    """Whether an expression only sets a variable of a number."""
    if not (isinstance(expr, Assign) and isinstance(peel(expr.target), Name) and is_free(expr.value)):
        return False
    return (expr.op == "=" or _is_whole(expr)) and _is_plain(expr.value)


def _is_plain(expr: Expr) -> bool:
    changes = (isinstance(part, Assign) or (isinstance(part, Unary) and part.op not in "+-~!*&") for part in walk(expr))
    return not any(changes) and _computes_nothing(expr)


def _computes_nothing(root: Node) -> bool:
    """Whether no floating-point number is computed: such numbers are compared and handed on alone."""
    return all(_is_whole(part) for part in walk(root) if isinstance(part, Binary))


def _is_whole(expr: Expr) -> bool:
    return not (isinstance(expr.type, Scalar) and expr.type.kind == "float")


def _says_nothing(stmt: Stmt) -> bool:
    return isinstance(stmt, Pragma) and stmt.directive is None


# --- the order of what is read and written


def _written_then_read(run: Iterable[Stmt], exposed: Collection[Symbol], *, wrote: bool) -> bool | None:
    """Return whether statements write the host's memory, where they `wrote` it before; None if they read it behind
    that: what is passed is read before all of them."""
    for stmt in run:
        if wrote and reads_memory(stmt, exposed):
            return None
        if isinstance(stmt, For | While | If | Block):
            writes = any(isinstance(part, Stmt) and writes_memory(part) for part in walk(stmt))
            if writes and isinstance(stmt, For | While) and reads_memory(stmt, exposed):
                return None
            inner = [part for part in children(stmt) if isinstance(part, Stmt)]
            if writes and _written_then_read(inner, exposed, wrote=False) is None:
                return None
            wrote = wrote or writes
        else:
            wrote = wrote or writes_memory(stmt)
    return wrote


# --- variables


def _set_here(run: Iterable[Stmt]) -> set[Symbol]:
    """Return the variables that statements set and do not declare."""
    found: set[Symbol] = set()
    declared: set[Symbol] = set()
    for part in (part for stmt in run for part in walk(stmt)):
        match part:
            case VarDecl(symbol=symbol):
                declared.add(symbol)
            case For(variable=variable, declares=declares):
                (declared if declares else found).add(variable)
            case Assign(target=target) if isinstance(name := peel(target), Name):
                found.add(name.symbol)
            case _:
                continue
    return found - declared


def _declare_own(run: Run, own: Iterable[Symbol]) -> Iterator[Stmt]:
    """Yield statements that declare some variables themselves: in the loops that count with them, or in front."""
    counters = {symbol for symbol in own if not any(_is_beside(stmt, symbol) for stmt in run)}
    for symbol in own:
        if symbol not in counters:
            declaration = VarDecl(span=run[0].span, symbol=symbol, init=None)
            yield DeclStmt(span=run[0].span, declarations=(declaration,))

    def change(node: Node) -> Node:
        counts = isinstance(node, For) and node.variable in counters and not node.declares
        return replace(node, declares=True) if counts else node

    for stmt in run:
        yield rebuild(stmt, change) if counters else stmt


def _is_beside(node: Node, symbol: Symbol) -> bool:
    """Whether a variable is named outside of the loops that count with it."""
    if isinstance(node, For) and node.variable == symbol:
        return bool(uses(node.lower)[symbol])
    if isinstance(node, Name) and node.symbol == symbol:
        return True
    return any(_is_beside(part, symbol) for part in children(node))
