"""Forward substitution: see ForwardSubstitute.

    jj = i + 1;             every read of jj in the iteration has one value, made of what the iteration does not change
    mask[jj] = a[jj];  →    mask[i + 1] = a[i + 1];

Invariant: at every read that is replaced, the new expression has the value that the variable had there, converted to
the variable's type.
Limits: integers and pointers; values without calls and without reads of memory that the loop writes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, TypeGuard

import msgspec.structs
from msgspec import Struct

from warpsmith.base.verdict import Proved, Reason, Unknown, Verdict
from warpsmith.loops.analysis.shape import does_not_fit
from warpsmith.loops.analysis.substitute import copy_tree, fixed_text
from warpsmith.loops.analysis.uses import find_declared_in
from warpsmith.loops.place import LoopContext, with_run
from warpsmith.poly.aliasing.aliasing import relation
from warpsmith.poly.aliasing.unchanged import disturbance
from warpsmith.poly.analyze import Facts
from warpsmith.poly.effects.liveness import scalar_values
from warpsmith.poly.effects.origin import own_writes
from warpsmith.poly.facts import PolyOptions
from warpsmith.tree.memory.effective_types import keeps_types
from warpsmith.tree.nodes import (
    Assign,
    Binary,
    Block,
    Call,
    Cast,
    DeclStmt,
    Empty,
    Expr,
    ExprStmt,
    For,
    Index,
    Loop,
    Member,
    Name,
    Node,
    Stmt,
    Unary,
    VarDecl,
    VerbatimExpr,
    replace,
)
from warpsmith.tree.program import Program
from warpsmith.tree.types import Array, Pointer, Scalar, Symbol, Type, common_type, is_integer, promote
from warpsmith.tree.walk import names, peel, rebuild, root_symbol, walk

__all__ = ["ForwardSubstitute"]

# uses in one value, in all: values that are made of values may grow exponentially
_MOST = 64


class ForwardSubstitute(Struct, frozen=True):
    """Put the value of a variable in the place of its uses.

    Legal where every use in an iteration has exactly one value, which is made of numbers, counters and variables that
    do not change in between (M. Wolfe: High Performance Compilers for Parallel Computing, 5.2). The assignments go
    where nothing reads the variable any more.

    Step: loop=f/i variable=jj

    Before:
        void f(int n, int mask[n + 1])
        {
            for (int i = 0; i < n; i++) {
                int jj = i + 1;
                mask[jj] = 2 * jj;
            }
        }

    After:
        void f(int n, int mask[n + 1])
        {
            for (int i = 0; i < n; i++) {
                mask[i + 1] = 2 * (i + 1);
            }
        }
    """

    name: ClassVar[str] = "forward-substitute"

    loop: str
    variable: str

    def check(self, program: Program, facts: Facts) -> Verdict:
        """Say whether every use of the variable in the loop has one value that can be written in its place."""
        place = LoopContext.of(program, self.loop)
        symbol = _variable(place.loop, self.variable)
        if isinstance(symbol, Reason):
            return Unknown((symbol,))
        hidden = facts.origin(place.function).hidden
        if symbol in hidden or symbol.storage not in ("local", "parameter"):
            return does_not_fit(f"{symbol.name} may be changed or read elsewhere", place.loop)
        values = scalar_values(program, place.function, place.loop, facts.summaries)
        reads = _reads(place.loop, symbol)
        if not reads:
            return does_not_fit(f"the loop does not read {symbol.name}", place.loop)
        unknown = next((name for name in reads if not _is_fit(name, values)), None)
        if unknown is not None:
            text = f"{symbol.name} has not one certain value in line {unknown.span.line}"
            return does_not_fit(text, unknown, f"every path of an iteration gives {symbol.name} one value")
        moved = _moved_load(facts, place, reads, values)
        if moved is not None:
            text = f"{' '.join(moved.span.text.split())} may be changed before {symbol.name} is read"
            return does_not_fit(text, moved)
        fixed = fixed_text(place.loop, frozenset({symbol}))
        if fixed is not None:
            return does_not_fit(f"{symbol.name} is named in text that is not modelled", fixed)
        return Proved()

    def apply(self, program: Program) -> Program:
        """Return the program with the values in place of the uses."""
        place = LoopContext.of(program, self.loop)
        symbol = _variable(place.loop, self.variable)
        assert isinstance(symbol, Symbol)
        values = scalar_values(program, place.function, place.loop)
        reads = {id(name) for name in _reads(place.loop, symbol)}

        def change(node: Node) -> Node:
            if isinstance(node, Name) and id(node) in reads:
                return _resolve_use(node, values)
            return node

        facts = Facts.about(program, PolyOptions())
        new = rebuild(place.loop, change)
        if symbol in find_declared_in(place.loop) or symbol not in facts.liveness(place.function).after[place.loop]:
            new = _drop_writes(new, symbol)
        return with_run(program, place.function, (place.loop,), (new,))


def _variable(loop: Loop, name: str) -> Symbol | Reason:
    """Return the variable called `name` that the loop uses, declared inside or outside."""
    found = sorted({n.symbol for n in names(loop) if n.symbol.name == name}, key=lambda s: s.key)
    if len(found) != 1:
        text = f"{name} names more than one variable in this loop" if found else f"the loop uses no variable {name}"
        return Reason("STP003", text, loop.header)
    symbol = found[0]
    if not (is_integer(symbol.type) or isinstance(symbol.type, Pointer)):
        return Reason("STP002", f"{name} is neither an integer nor a pointer", loop.header)
    if isinstance(loop, For) and loop.variable == symbol:
        return Reason("STP002", f"{name} is the loop's own counter", loop.header)
    return symbol


def _reads(loop: Loop, symbol: Symbol) -> list[Name]:
    """Return every name of the variable in the body that is not the target of a plain assignment."""
    targets = {id(peel(n.target)) for n in walk(loop.body) if isinstance(n, Assign)}
    targets |= {id(peel(n.operand)) for n in walk(loop.body) if isinstance(n, Unary) and _steps(n)}
    return [n for n in names(loop.body) if n.symbol == symbol and id(n) not in targets]


def _steps(node: Unary) -> bool:
    return "++" in node.op or "--" in node.op


def _is_fit(name: Name, values: Mapping[Name, Expr]) -> bool:
    """Whether a use has one value, all parts of which are known or do not change."""
    pending = [name]
    for use in pending:
        value = values.get(use)
        if value is None:
            if use is name:
                return False
            continue
        if any(not _is_repeatable(part) for part in walk(value)) or len(pending) > _MOST:
            return False
        pending += names(value)
    return True


def _moved_load(facts: Facts, place: LoopContext, reads: list[Name], values: Mapping[Name, Expr]) -> Expr | None:
    """Return a load in one of the values from memory that the loop may write, by any name; None where there is none."""
    origin = facts.origin(place.function)
    written = origin.effects(place.loop)
    typed = keeps_types(place.unit.arguments)
    for name in reads:
        for part in walk(_resolve_use(name, values)):
            if not _is_load(part, origin.hidden):
                continue
            if disturbance(origin, (place.loop,), part, typed=typed) is None:
                continue
            base = root_symbol(part)
            if base is None or written.calls_unknown:
                return part
            for other in written.element_writes | written.direct_writes:
                kind = relation(facts.program, place.function, base, other, facts.summaries)
                if other == base or (isinstance(other.type, Pointer | Array) and kind != "distinct"):
                    return part
    return None


def _is_load(part: Node, hidden: frozenset[Symbol]) -> TypeGuard[Expr]:
    """Whether a node reads memory that another name may reach."""
    if isinstance(part, Name):
        symbol = part.symbol
        shared = symbol.storage in ("global", "static", "static local") or symbol in hidden
        return shared and not isinstance(symbol.type, Array)
    if isinstance(part, Unary):
        return part.op == "*" and not isinstance(part.type, Array)
    return isinstance(part, Index | Member) and not isinstance(part.type, Array)


def _is_repeatable(part: Node) -> bool:
    """Whether evaluating this node once more, or not at all, makes no difference."""
    if isinstance(part, Call | Assign | VerbatimExpr) or (isinstance(part, Unary) and _steps(part)):
        return False
    type = getattr(part, "type", None)
    return not (isinstance(type, Scalar) and type.volatile)


def _resolve_use(name: Name, values: Mapping[Name, Expr]) -> Expr:
    """Return the value of a use, converted to the variable's type, over what does not change in the iteration."""

    def change(node: Node) -> Node:
        return _resolve_use(node, values) if isinstance(node, Name) and node in values else node

    value = rebuild(values[name], change)
    value = copy_tree(value) if value is values[name] else value
    if _same_type(_computed_type(value), name.symbol.type):
        return value
    return Cast(span=name.span, type=_plain(name.symbol.type), operand=value)


def _computed_type(value: Expr) -> Type:
    """Return the type in which an expression is worked out (`x += e` is worked out in the common type of x and e)."""
    if isinstance(value, Binary) and value.op in ("+", "-", "*", "/", "%", "&", "|", "^"):
        return common_type(_computed_type(value.left), _computed_type(value.right))
    if isinstance(value, Binary) and value.op in ("<<", ">>"):
        return promote(_computed_type(value.left))
    return peel(value).type


def _same_type(own: Type, wanted: Type) -> bool:
    if isinstance(own, Array) and isinstance(wanted, Pointer):
        return own.of == wanted.to
    return own == wanted


def _plain(type: Type) -> Type:
    return msgspec.structs.replace(type, const=False) if isinstance(type, Scalar | Pointer) else type


def _drop_writes(loop: Loop, symbol: Symbol) -> Loop:
    """Return the loop without the statements that only give the variable its value; as it is where one does more."""
    gone: dict[int, Stmt] = {}
    writes = 0
    for node in walk(loop):
        if isinstance(node, VarDecl):
            writes += node.symbol == symbol
        else:
            writes += symbol in own_writes(node)
        kept = _drop_write(node, symbol)
        if kept is not None:
            gone[id(node)] = kept
    if len(gone) != writes:
        return loop

    def change(node: Node) -> Node:
        return _drop_empty(node) if isinstance(node, Block) else gone.get(id(node), node)

    return rebuild(loop, change)


def _drop_write(node: Node, symbol: Symbol) -> Stmt | None:
    """Return what is left of a statement without its write of the variable; None where it does not just write it."""
    if isinstance(node, DeclStmt) and any(d.symbol == symbol for d in node.declarations):
        rest = tuple(d for d in node.declarations if d.symbol != symbol)
        pure = all(_is_repeatable(p) for d in node.declarations if d.symbol == symbol for p in walk(d))
        left: Stmt = replace(node, declarations=rest) if rest else Empty(span=node.span)
        return left if pure else None
    if not isinstance(node, ExprStmt):
        return None
    expr = peel(node.expr)
    if isinstance(expr, Assign):
        pure = isinstance(peel(expr.target), Name) and all(_is_repeatable(p) for p in walk(expr.value))
    else:
        pure = isinstance(expr, Unary) and _steps(expr) and isinstance(peel(expr.operand), Name)
    return Empty(span=node.span) if pure and symbol in own_writes(expr) else None


def _drop_empty(block: Block) -> Block:
    """Return a block without the empty statements that were put in it."""
    kept = tuple(s for s in block.statements if not (isinstance(s, Empty) and not s.intact))
    return block if len(kept) == len(block.statements) else replace(block, statements=kept)
