"""Statements that call an algorithm of the standard library, as the loops that these are.

    std::fill(v.begin(), v.end(), x);              For(v_at, 0 <= v_at < v.size()) { v[v_at] = x; }
    std::transform(p, p + n, q, f);                For(p_at, 0 <= p_at < n) { q[p_at] = f(p[p_at]); }
    std::for_each(par, b, e, [&](double &x) {…});  For(…) { double &x = v[v_at]; … }

Those that give a number are in `values.py`.

Invariant: the loop does what the standard says that the algorithm does, in one of the orders that it allows. What the
call evaluates once is evaluated before the loop. The statement prints as the user's text while nothing in it has
changed. What is not understood (an output iterator, a function that changes more) is left as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from msgspec.structs import replace

from warpsmith.base.source import Span
from warpsmith.front.c.builders import StatementBuilder
from warpsmith.front.c.counted.canonical import recognize
from warpsmith.front.c.counted.writes import Writes, writes_of
from warpsmith.front.clang import kinds
from warpsmith.front.cxx.algorithms.applied import AppliedFunction
from warpsmith.front.cxx.algorithms.positions import Position, Positions, Range
from warpsmith.front.cxx.library import CxxLibrary
from warpsmith.front.cxx.objects import address, again, before, behind
from warpsmith.tree.nodes import (
    Assign,
    Binary,
    Block,
    Cast,
    DeclStmt,
    Expr,
    ExprStmt,
    For,
    Literal,
    Name,
    Stmt,
    Unary,
    VarDecl,
    While,
)
from warpsmith.tree.text.lexical import identifiers
from warpsmith.tree.types import BOOL, Array, Pointer, Record, Scalar, Symbol, Type, is_integer
from warpsmith.tree.walk import names, peel, root_symbol

__all__ = ["AlgorithmLoops"]

_POLICIES: Final = frozenset({"seq", "par", "par_unseq", "unseq"})

Written = Callable[[Expr], Stmt | None]
"""From the counter to the body of the loop."""


class AlgorithmLoops:
    """Finds such statements in the rows of one function."""

    def __init__(self, statements: StatementBuilder) -> None:
        self.statements = statements
        self.context = statements.context
        self.table = statements.table
        self.expressions = statements.expressions
        self.library = CxxLibrary(self.expressions)
        self.positions = Positions(self.expressions)
        self.applied = AppliedFunction(self.expressions, self.library)
        self.taken: set[str] = set()
        self._words: set[str] = set()
        self._makers: dict[str, Callable[[list[int], Span], Stmt | None]] = {
            "fill": self._fill,
            "fill_n": self._fill,
            "copy": self._copy,
            "copy_n": self._copy,
            "iota": self._iota,
            "transform": self._transform,
            "for_each": self._for_each,
            "for_each_n": self._for_each,
        }
        self._name = ""

    def statement(self, row: int, span: Span) -> Stmt | None:
        """Return the loop, or the block with it, that an expression statement is; None for any other statement."""
        row = self.table.inner(row)
        name = self.algorithm(row)
        if name not in self._makers:
            return None
        self._name = name
        return self._makers[name](self.arguments(row), span)

    def algorithm(self, row: int) -> str:
        """Return the name of the algorithm that a row calls; "" where it calls none."""
        callee = self.table.aux[row] if self.table.kind[row] == kinds.CALL else -1
        if callee < 0 or not self.context.is_library(callee):
            return ""
        name = self.context.dump.declared[callee][1]
        return name if self.context.detail(callee)[0] == f"std::{name}" else ""

    def arguments(self, row: int) -> list[int]:
        """Return the arguments of a call, without an execution policy."""
        _, arguments = self.expressions.cxx.parts_of(row, self.table.aux[row])
        first = self.table.inner(arguments[0]) if arguments else -1
        named = first >= 0 and self.table.kind[first] == kinds.DECL_REF and self.table.aux[first] >= 0
        if named and self.context.is_library(self.table.aux[first]):
            name = self.context.dump.declared[self.table.aux[first]][1]
            return arguments[1:] if name in _POLICIES else arguments
        return arguments

    # --- algorithms that write

    def range(self, rows: Sequence[int], *, counted: bool) -> Range | None:
        """Return the elements that the first two arguments name: from one place to another, or so many (`counted`)."""
        if len(rows) < 2:
            return None
        return (self.positions.counted if counted else self.positions.between)(rows[0], rows[1])

    def _fill(self, rows: list[int], span: Span) -> Stmt | None:
        over = self.range(rows, counted=self._name.endswith("_n"))
        if over is None or len(rows) != 3:
            return None
        value, place = self.expressions.try_expression(rows[2]), before(span)
        if value is None or not isinstance(over.first.element, Scalar):
            return None
        kept = self.keep(value, "value", span)
        if kept is None:
            return None
        declared, name = kept
        made = self.library.convert(name, over.first.element, place)
        return self.loop(over, span, declared, lambda at: self.store(over.first, over, at, made))

    def _copy(self, rows: list[int], span: Span) -> Stmt | None:
        over = self.range(rows, counted=self._name.endswith("_n"))
        target = self.positions.find(rows[2]) if len(rows) == 3 else None
        if over is None or target is None or not self._fits(over.first.element, target.element):
            return None
        start = over.first.offset
        return self.loop(over, span, (), lambda at: self.store(
            target, over, at, self.library.convert(over.first.at(again(at), start, before(span)), target.element, span)
        ))  # fmt: skip

    def _fits(self, element: Type, target: Type) -> bool:
        if isinstance(element, Record):
            return element == target
        return isinstance(element, Scalar) and isinstance(target, Scalar)

    def _iota(self, rows: list[int], span: Span) -> Stmt | None:
        """std::iota counts in the type of the value; numbers that are no integers would be rounded on the way."""
        over = self.range(rows, counted=False)
        value = self.expressions.try_expression(rows[2]) if len(rows) == 3 else None
        if over is None or value is None or not isinstance(value.type, Scalar) or not is_integer(value.type):
            return None
        kept, element, type = self.keep(value, "value", span), over.first.element, value.type
        if kept is None or not isinstance(element, Scalar) or type.bits < 32:
            return None
        declared, name = kept
        place = before(span)

        def store(at: Expr) -> Stmt:
            walked = at
            if over.first.offset is not None:
                walked = Binary(span=place, type=at.type, op="-", left=at, right=over.bounds(place)[0])
            number = Cast(span=place, type=_plain(type), operand=walked)
            moved = Binary(span=place, type=_plain(type), op="+", left=again(name), right=number)
            return self.store(over.first, over, again(at), self.library.convert(moved, element, place))

        return self.loop(over, span, declared, store)

    def _transform(self, rows: list[int], span: Span) -> Stmt | None:
        over = self.range(rows, counted=False)
        places = [self.positions.find(row) for row in rows[2:-1]]
        found = [place for place in places if place is not None]
        if over is None or len(rows) not in (4, 5) or len(found) != len(places):
            return None
        target, place = found[-1], before(span)

        def store(at: Expr) -> Stmt | None:
            read = [one.at(again(at), over.first.offset, place) for one in (over.first, *found[:-1])]
            value = self.applied.value(rows[-1], read, place)
            if value is None or not isinstance(target.element, Scalar) or not isinstance(value.type, Scalar):
                return None
            return self.store(target, over, at, self.library.convert(value, target.element, place))

        return self.loop(over, span, (), store, found)

    def store(self, target: Position, over: Range, at: Expr, value: Expr) -> Stmt:
        """Return the store to the element of `target` that belongs to the one of `over` at a counter's value."""
        place = before(value.span)
        element = target.at(again(at), over.first.offset, place)
        made = Assign(span=place, type=element.type, op="=", target=element, value=again(value))
        return ExprStmt(span=place, expr=made)

    # --- for_each

    def _for_each(self, rows: list[int], span: Span) -> Stmt | None:
        over = self.range(rows, counted=self._name.endswith("_n"))
        if over is None or len(rows) != 3:
            return None
        row = self.table.inner(rows[2])
        if self.table.kind[row] != kinds.LAMBDA or not self._stands_in_place(row):
            return None
        (parameter,) = self._parameters(row)
        type, element = self.context.symbol(parameter).type, over.first.element
        refers = isinstance(type, Pointer) and type.reference
        if not (isinstance(type, Pointer) and refers and _bare(type.to) == _bare(element)) and not (
            isinstance(type, Scalar) and isinstance(element, Scalar)
        ):
            return None
        symbol, place, body = self.context.declare_local(parameter), before(span), self.table.body(row)
        assert body is not None

        def write(at: Expr) -> Stmt:
            value: Expr = over.first.at(again(at), over.first.offset, place)
            value = address(value) if refers else self.library.convert(value, type, place)
            declared = DeclStmt(span=place, declarations=(VarDecl(span=place, symbol=symbol, init=value),))
            self.statements.loops_around += 1
            inner = self.statements.build(body)
            self.statements.loops_around -= 1
            rest = inner.statements if isinstance(inner, Block) else (inner,)
            return Block(span=inner.span, statements=(declared, *rest))

        made = self.loop(over, span, (), write)
        if made is not None:
            self.context.in_place.add((0, self.table.start[row]))
        return made

    def _parameters(self, row: int) -> list[int]:
        return [self.table.aux[c] for c in self.table.children(row) if self.table.kind[c] == kinds.PARM_DECL]

    def _stands_in_place(self, row: int) -> bool:
        """Whether a lambda of one parameter, in the file itself, may be the body of a loop."""
        body = self.table.body(row)
        if body is None or self.statements.text.file is not self.context.text(0).file:
            return False
        leaves = any(self.table.kind[r] == kinds.RETURN for r in range(body, self.table.after[body]))
        return len(self._parameters(row)) == 1 and not leaves and self.applied.keeps_captured(row)

    # --- the loop

    def keep(self, value: Expr, word: str, span: Span) -> tuple[tuple[Stmt, ...], Expr] | None:
        """Return a value that is evaluated once, with the statements before the loop that do so."""
        if not isinstance(value.type, Scalar):
            return None
        if isinstance(peel(value), Literal):
            return (), value
        place, type = before(span), _plain(value.type)
        name = Name(span=place, type=type, symbol=self.variable(word, type, span))
        return (DeclStmt(span=place, declarations=(VarDecl(span=place, symbol=name.symbol, init=value),)),), name

    def variable(self, word: str, type: Scalar, span: Span) -> Symbol:
        """Return a variable whose name is no word of the file."""
        if not self._words:
            self._words = set(identifiers(self.statements.text.file.text))
        while word in self._words or word in self.taken:
            word += "_"
        return Symbol(
            word, f"{span.file.path}:{span.start}:{word}", type, "local", Span(span.file, span.start, span.start)
        )

    def loop(
        self, over: Range, span: Span, ahead: Sequence[Stmt], write: Written, others: Sequence[Position] = ()
    ) -> Stmt | None:
        """Return the loop over a range; None where the body may change what it goes over."""
        root, place = root_symbol(over.first.data), before(span)
        if root is None:
            return None
        counter = self.variable(f"{root.name}_at", over.counter_type(), span)
        at = Name(span=place, type=counter.type, symbol=counter)
        written = write(at)
        if written is None or not self._stays([over.first, *others], writes_of([written])):
            return None
        unknown = self._find_unknown(writes_of([written]))
        if unknown is not None and self.statements.knowledge.functions:
            return None
        body = written if isinstance(written, Block) else Block(span=behind(span), statements=(written,))
        lower, upper = over.bounds(place)
        init = DeclStmt(span=place, declarations=(VarDecl(span=place, symbol=counter, init=lower),))
        condition = Binary(span=place, type=BOOL, op="<", left=at, right=upper)
        advance = Unary(span=place, type=counter.type, op="++x", operand=again(at))
        head = Span(span.file, span.start, span.start + len(span.text.partition("\n")[0].rstrip()))
        alone = not ahead
        if unknown is not None:  # it is asked for again when more is known of the function
            waits = While(
                span=span, intact=True, form="for", init=init, condition=condition, advance=advance, body=body,
                header=head, reason=f"it calls {unknown.name}, which may change what it goes over",
            )  # fmt: skip
            return waits if alone else None
        if isinstance(recognize(init, condition, advance, body, self.statements.knowledge), str):
            return None
        loop = For(
            span=span if alone else place, intact=alone, variable=counter, declares=True, lower=again(lower),
            relation="<", bound=again(upper), step=1, body=body, header=head,
        )  # fmt: skip
        return loop if alone else Block(span=span, intact=True, statements=(*ahead, loop))

    def _stays(self, places: Sequence[Position], writes: Writes) -> bool:
        """Whether a body leaves alone where the elements are: it runs no code that is not seen, and changes none of the
        pointers."""
        found = [part for place in places for part in (place.data, place.offset) if part is not None]
        read = {name.symbol for part in found for name in names(part) if not isinstance(name.symbol.type, Array)}
        return not (writes.unknown or writes.opaque or read & writes.variables)

    def _find_unknown(self, writes: Writes) -> Symbol | None:
        """Return a function that a body calls, and that may change anything, as far as is known by now."""
        known, library = self.statements.knowledge.functions, self.statements.knowledge.library
        for called in sorted(writes.calls, key=lambda symbol: symbol.key):
            own = known.get(called.key)
            if called.key not in library and (own is None or own.variables or own.stores or own.unknown):
                return called
        return None


def _plain(type: Scalar) -> Scalar:
    return Scalar(type.name, type.bits, type.kind, spelling=type.spelling)


def _bare(type: Type) -> Type:
    if isinstance(type, Record):
        return replace(type, const=False)
    return _plain(type) if isinstance(type, Scalar) else type
