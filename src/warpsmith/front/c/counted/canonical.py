"""Which `for` loops are counted: `for (i = lower; i < bound; i += step)` with nothing that disturbs the count.

A loop is counted when its variable is an integer that the body never changes, its bound keeps its value while the
loop runs, and its step is a constant that leads towards the bound. Everything else keeps its reason:

    for (x = 0; x < 1; x += h)        its counter x is a double
    for (i = 0; i < n; i++) n--;      its bound n is written in the body
    for (i = 0; i < f(n); i++)        its bound calls f
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from msgspec import Struct

from warpsmith.base.source import Span, readable
from warpsmith.front.c.counted.shifted_bound import shifted_bound
from warpsmith.front.c.counted.writes import Knowledge, Store, Writes, is_direct, may_name_same_object, writes_of
from warpsmith.tree.containers import holds_no_container, is_container, is_held_by_container
from warpsmith.tree.nodes import (
    Assign,
    Binary,
    Call,
    Cast,
    DeclStmt,
    Expr,
    ExprStmt,
    Index,
    Literal,
    Member,
    Name,
    Relation,
    SizeOf,
    Stmt,
    Unary,
    VerbatimExpr,
)
from warpsmith.tree.types import Opaque, Pointer, Record, Scalar, Symbol, Type, integer_range, is_integer
from warpsmith.tree.walk import names, peel, root_symbol, walk

__all__ = ["LoopParts", "constant_value", "recognize"]

_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "!=": "!="}
_LONGEST = 48
_CHANGES = {"x++": 1, "++x": 1, "x--": -1, "--x": -1}


class LoopParts(Struct, frozen=True):
    """The parts of a counted loop."""

    variable: Symbol
    declares: bool
    lower: Expr
    relation: Relation
    bound: Expr
    step: int


class _NotCountedError(Exception):
    """The reason, in the user's words."""


def recognize(
    init: Stmt | None, condition: Expr | None, advance: Expr | None, body: Stmt, knowledge: Knowledge
) -> LoopParts | str:
    """Return the parts of a counted loop, or why the loop is not one."""
    try:
        variable, declares, lower = _start(init)
        _check_walk(variable, advance)
        _check_counter(variable)
        if any(name.symbol == variable for name in names(lower)):
            raise _NotCountedError(f"its first value depends on its own counter {variable.name}")
        relation, bound = _condition(condition, variable, lower, advance)
        step = _step(advance, variable)
        _check_direction(relation, step, variable)
        disturbed = _Body(writes_of([body]), knowledge)
        disturbed.check(variable, f"its counter {variable.name}")
        _check_bound(bound, variable, disturbed)
    except _NotCountedError as reason:
        return str(reason)
    return LoopParts(variable, declares, lower, relation, bound, step)


def _start(init: Stmt | None) -> tuple[Symbol, bool, Expr]:
    match init:
        case None:
            raise _NotCountedError("it does not set its counter")
        case DeclStmt(declarations=(only,)) if only.init is not None:
            return only.symbol, True, only.init
        case DeclStmt():
            raise _NotCountedError("it declares more than its counter")
        case ExprStmt(expr=expr):
            match peel(expr):
                case Assign(op="=", target=target, value=value):
                    target = peel(target)
                    if isinstance(target, Name):
                        return target.symbol, False, value
                    raise _NotCountedError("its counter is not a plain variable")
                case Binary(op=","):
                    raise _NotCountedError("it sets more than one counter")
    raise _NotCountedError("it does not set its counter")


def _check_walk(variable: Symbol, advance: Expr | None) -> None:
    """Raise where the loop goes from one struct to the next that it names."""
    step = peel(advance) if advance is not None else None
    if not isinstance(step, Assign) or not _is(step.target, variable) or not isinstance(variable.type, Pointer):
        return
    value = peel(step.value)
    if isinstance(value, Member) and value.arrow and _is(value.base, variable):
        raise _NotCountedError(f"it walks a linked list ({_words(step)}): its elements have no numbers")


def _check_counter(variable: Symbol) -> None:
    type = variable.type
    if isinstance(type, Pointer):
        raise _NotCountedError(f"its counter {variable.name} is a pointer")
    if not isinstance(type, Scalar) or not is_integer(type) or type.kind == "bool":
        name = type.name if isinstance(type, Scalar) else "value of another type"
        raise _NotCountedError(f"its counter {variable.name} is a {name}")
    if type.volatile:
        raise _NotCountedError(f"its counter {variable.name} is volatile")


def _condition(condition: Expr | None, variable: Symbol, lower: Expr, advance: Expr | None) -> tuple[Relation, Expr]:
    if condition is None:
        raise _NotCountedError("it has no condition")
    test = peel(condition)
    if isinstance(test, Binary) and test.op in _MIRRORED:
        left, right = peel(test.left), peel(test.right)
        if isinstance(left, Name) and left.symbol == variable:
            return cast(Relation, test.op), test.right
        if isinstance(right, Name) and right.symbol == variable:
            return cast(Relation, _MIRRORED[test.op]), test.left
        shifted = shifted_bound(test, variable, constant_value(lower), _step(advance, variable))
        if shifted is not None:
            return shifted
    raise _NotCountedError(f"its condition is not a comparison of {variable.name} with a bound")


def _step(advance: Expr | None, variable: Symbol) -> int:
    if advance is None:
        raise _NotCountedError(f"it does not advance its counter {variable.name}")
    step = _advance(peel(advance), variable)
    low, high = integer_range(variable.type) if isinstance(variable.type, Scalar) else (0, 0)
    if step == 0 or not -high - 1 <= step <= high or (low == 0 and abs(step) > high):
        raise _NotCountedError(f"its step {step} does not fit its counter {variable.name}")
    return step


def _advance(expr: Expr, variable: Symbol) -> int:
    match expr:
        case Unary(op=op, operand=operand) if op in _CHANGES and _is(operand, variable):
            return _CHANGES[op]
        case Assign(op="+=" | "-=", target=target, value=value) if _is(target, variable):
            return _constant_step(value) * (1 if expr.op == "+=" else -1)
        case Assign(op="=", target=target, value=value) if _is(target, variable):
            match peel(value):
                case Binary(op="+", left=left, right=right) if _is(left, variable):
                    return _constant_step(right)
                case Binary(op="+", left=left, right=right) if _is(right, variable):
                    return _constant_step(left)
                case Binary(op="-", left=left, right=right) if _is(left, variable):
                    return -_constant_step(right)
    raise _NotCountedError(f"it does not advance its counter {variable.name} by a constant step")


def _is(expr: Expr, variable: Symbol) -> bool:
    expr = peel(expr)
    return isinstance(expr, Name) and expr.symbol == variable


def _constant_step(expr: Expr) -> int:
    value = constant_value(expr)
    if value is None:
        raise _NotCountedError(f"its step {_words(expr)} is not a constant")
    return value


def _words(expr: Expr) -> str:
    return " ".join(expr.span.text.split())


def constant_value(expr: Expr) -> int | None:
    """Return the value of an integer constant expression; None where it is none (or its arithmetic could wrap)."""
    expr = peel(expr)
    match expr:
        case Literal(value=int(value)) | SizeOf(value=int(value)):
            return value
        case Name(symbol=symbol) if symbol.storage == "enumerator":
            return symbol.value
        case Unary(op="-" | "+", operand=operand, type=type):
            inner = constant_value(operand)
            return None if inner is None else _fits(-inner if expr.op == "-" else inner, type)
        case Cast(operand=operand, type=type):
            inner = constant_value(operand)
            return None if inner is None else _fits(inner, type)
        case Binary(op="+" | "-" | "*" | "<<" as op, left=left, right=right, type=type):
            a, b = constant_value(left), constant_value(right)
            if a is None or b is None or (op == "<<" and not 0 <= b < 64):
                return None
            return _fits({"+": a + b, "-": a - b, "*": a * b}[op] if op != "<<" else a << b, type)
        case _:
            return None


def _fits(value: int, type: Type) -> int | None:
    if not isinstance(type, Scalar) or not is_integer(type):
        return None
    low, high = integer_range(type)
    return value if low <= value <= high else None


def _check_direction(relation: Relation, step: int, variable: Symbol) -> None:
    if relation == "!=":
        if step not in (1, -1):
            raise _NotCountedError(f"its step {step} may jump over the bound that != waits for")
    elif (step > 0) != (relation in ("<", "<=")):
        raise _NotCountedError(f"its counter {variable.name} runs away from its bound")


def _check_bound(bound: Expr, variable: Symbol, disturbed: _Body) -> None:
    if any(name.symbol == variable for name in names(bound)):
        raise _NotCountedError(f"its bound depends on its own counter {variable.name}")
    for part in walk(bound):
        match part:
            case Call(function=function):
                raise _NotCountedError(f"its bound calls {_words(function)}")
            case VerbatimExpr(reason=reason):
                raise _NotCountedError(f"its bound has {reason}")
            case Assign() | Unary(op="x++" | "x--" | "++x" | "--x"):
                raise _NotCountedError("its bound changes a variable")
            case Name(symbol=symbol) if symbol.storage not in ("enumerator", "function"):
                disturbed.check(symbol, f"its bound {symbol.name}")
            case Index() | Member() | Unary(op="*") if not isinstance(part.type, Record):
                disturbed.check_memory(part)
            case _:
                pass


class _Body(Struct, frozen=True):
    """What runs between two tests of the condition."""

    writes: Writes
    knowledge: Knowledge

    def check(self, symbol: Symbol, what: str) -> None:
        """Raise where `symbol` may change while the loop runs; what a reference is bound to it stays bound to."""
        if isinstance(symbol.type, Pointer) and symbol.type.reference:
            return
        for opaque, reason in self.writes.opaque:
            if opaque == symbol:
                raise _NotCountedError(f"what {reason} in the body does with {what} is not known")
        if symbol in self.writes.variables:
            # what is given its address may write it
            calls = [store for store in self.writes.stores if store.root == symbol and isinstance(store.type, Opaque)]
            given = calls and not isinstance(symbol.type, Pointer)
            raise _NotCountedError(f"{what} may be written {_by(calls)}" if given else f"{what} is written in the body")
        if isinstance(symbol.type, Scalar) and symbol.type.volatile:
            raise _NotCountedError(f"{what} is volatile")
        shared = symbol.storage in ("global", "static", "static local")
        unseen = symbol.storage == "global" and not self.knowledge.whole
        exposed = symbol.key in self.knowledge.escaped or unseen
        if self.writes.unknown and (shared or exposed):
            raise _NotCountedError(f"{what} may be changed by a call that is not known{self._call()}")
        if exposed:
            self._stores(symbol.type, what, self.writes, "in the body")
        for called in self.writes.calls:
            self._check_call(symbol, what, called, shared, exposed)

    def _call(self) -> str:
        """Return the first call of what is not known, with its line."""
        return f": {_in_line(self.writes.at)}" if self.writes.at is not None else ""

    def _stores(self, type: Type, what: str, writes: Writes, where: str) -> None:
        kept = (store for store in writes.stores if not (is_container(type) and holds_no_container(store.type)))
        if any(store.indirect and may_name_same_object(store.type, type) for store in kept):
            raise _NotCountedError(f"{what} may be changed through a pointer {where}")

    def _check_call(self, symbol: Symbol, what: str, called: Symbol, shared: bool, exposed: bool) -> None:
        known = self.knowledge.functions.get(called.key)
        if known is None:
            if called.key not in self.knowledge.library and (shared or exposed):
                raise _NotCountedError(f"{what} may be changed by {called.name}, whose text is not given")
            return
        if symbol in known.variables:
            raise _NotCountedError(f"{what} is written by {called.name}")
        if known.unknown and (shared or exposed):
            raise _NotCountedError(f"{what} may be changed by {called.name}, which calls what is not known")
        if exposed:
            self._stores(symbol.type, what, known, f"by {called.name}, which the body calls")

    def check_memory(self, load: Index | Member | Unary) -> None:
        """Raise where the element that the bound reads may change while the loop runs."""
        root, what = root_symbol(load), f"its bound {_words(load)}"
        direct = is_direct(load)
        if direct and root is not None and self.knowledge.is_hidden(root):
            mine = [store for store in self.writes.stores if store.root == root and _may_reach(store, load, root)]
            if mine:
                raise _NotCountedError(f"{what} may be written {_by(mine)}")
            return
        if self.writes.unknown:
            raise _NotCountedError(f"{what} may be changed by a call that is not known{self._call()}")
        everything = [(self.writes, "in the body")]
        for called in sorted(self.writes.calls, key=lambda symbol: symbol.key):
            known = self.knowledge.functions.get(called.key)
            if known is not None:
                everything.append((known, f"by {called.name}, which the body calls"))
            if known is None and called.key not in self.knowledge.library:
                raise _NotCountedError(f"{what} may be changed by {called.name}, whose text is not given")
            if known is not None and known.unknown:
                raise _NotCountedError(f"{what} may be changed by {called.name}, which calls what is not known")
        for writes, where in everything:
            found = [store for store in writes.stores if _may_reach(store, load, None if not direct else root)]
            if found:
                raise _NotCountedError(f"{what} may be written {_by(found) if writes is self.writes else where}")


def _may_reach(store: Store, load: Expr, owner: Symbol | None) -> bool:
    """Whether a store may change what is loaded, which lies in `owner` itself (None: behind a pointer)."""
    if is_held_by_container(load) and holds_no_container(store.type):
        return False
    apart = owner is not None and not store.indirect and store.root != owner
    return not apart and (isinstance(store.type, Opaque) or may_name_same_object(store.type, load.type))


def _by(stores: Sequence[Store]) -> str:
    """Return the first of the body's stores in words, with its line."""
    spans = sorted((s.at for s in stores if s.at is not None), key=lambda span: (span.file.path, span.start))
    if not spans:
        return "in the body"
    return f"by {_in_line(spans[0])}"


def _in_line(span: Span) -> str:
    """Return a text in few words, with its line."""
    words = " ".join(readable(span.text).split())
    return f"{words if len(words) <= _LONGEST else words[:_LONGEST] + '…'} in line {span.line}"
