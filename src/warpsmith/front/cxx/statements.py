"""Statements of C++ that C does not have, and loops in what is not modelled.

    for (auto &x : v) x += 1;      For(v_at, 0 <= v_at < v.size()) { T &x = v.data()[v_at]; x += 1; }
    for (auto it = v.begin(); …)   For(it_at, 0 <= it_at < v.size()) { T *it = &v.data()[it_at]; … }
    [&] { a; b; }();               Block { a; b; }
    Timer t; …                     at the end of its block: opaque code that may do anything, for the destructor

The For of a range-for prints as its own text while nothing in it has changed, else as the loop that it stands for.
"""

from __future__ import annotations

import re
from typing import Final

from warpsmith.base.source import Span
from warpsmith.front.c.builders import StatementBuilder
from warpsmith.front.c.counted.canonical import recognize
from warpsmith.front.clang import kinds
from warpsmith.front.cxx.algorithms.loops import AlgorithmLoops
from warpsmith.front.cxx.algorithms.running import RunningAlgorithms
from warpsmith.front.cxx.algorithms.values import AlgorithmValues
from warpsmith.front.cxx.classes.changes import ObjectChanges
from warpsmith.front.cxx.classes.values import is_numbers
from warpsmith.front.cxx.iterators import find_iterator_loop
from warpsmith.front.cxx.objects import address, again, behind, is_lvalue, is_pure, member_of
from warpsmith.front.cxx.swaps import swap
from warpsmith.tree.containers import DATA, SIZE
from warpsmith.tree.nodes import (
    Binary,
    Block,
    DeclStmt,
    Expr,
    For,
    Index,
    Literal,
    Name,
    Stmt,
    Unary,
    VarDecl,
    Verbatim,
    While,
)
from warpsmith.tree.printing.printer import print_expr
from warpsmith.tree.text.lexical import identifiers
from warpsmith.tree.types import BOOL, INT, SIZE_T, Array, Pointer, Record, Scalar, Symbol, Type

__all__ = ["LEAVES_OBJECTS", "CxxStatements"]

LEAVES_OBJECTS: Final = "a jump out of a block that may run destructors"

_LOOPS: Final = {kinds.FOR: "for", kinds.WHILE: "while", kinds.DO: "do", kinds.RANGE_FOR: "for"}
_HEADED: Final = frozenset({kinds.IF, kinds.SWITCH, kinds.WHILE, kinds.FOR})


class CxxStatements:
    """Builds what `Statements` leaves to it."""

    def __init__(self, statements: StatementBuilder) -> None:
        self.statements = statements
        self.context = statements.context
        self.table = statements.table
        self.ending = False
        self._words: set[str] = set()
        self._changes = ObjectChanges(statements)
        self._algorithms = AlgorithmLoops(statements)
        self._running = RunningAlgorithms(statements, self._algorithms)
        self.values = AlgorithmValues(statements, self._algorithms)

    # --- what is not as in C

    def unusual(self, row: int, span: Span) -> str:
        """Return why a statement is not one of C's form, "" where it is."""
        kind, table = self.table.kind[row], self.table
        if kind in _HEADED and any(table.kind[child] == kinds.VAR_DECL for child in table.children(row)):
            return "a condition that declares a variable"
        if kind in (kinds.IF, kinds.SWITCH):
            parts = table.parts(row)
            text, scan = span.text, self.statements.text.scan
            if kind == kinds.IF and re.match(r"if\s+constexpr\b", text):
                return "if constexpr"
            closing = scan.closing(scan.skip(span.start + len("if" if kind == kinds.IF else "switch")))
            if closing is not None and len(parts) > 1 and table.start[parts[1]] < closing:
                return "an `if` or `switch` with a statement in its header"
        if kind == kinds.DECL_STMT and not self._is_known_declaration(row):
            return "a declaration that makes no variable"
        if kind in (kinds.RETURN, kinds.BREAK, kinds.CONTINUE) and self.ending:
            return LEAVES_OBJECTS
        return ""

    def _is_known_declaration(self, row: int) -> bool:
        """Whether a statement declares variables, or types in a loop."""
        declared = {self.table.kind[child] for child in self.table.children(row)}
        return kinds.VAR_DECL in declared or (self.statements.loops_around > 0 and bool(declared & kinds.TYPES))

    def enter(self, row: int) -> None:
        """Begin the body of a function: learn whether leaving a block of it may run destructors."""
        rows = range(row, self.table.after[row])
        self.ending = any(self.table.kind[r] == kinds.VAR_DECL and self._is_destroyed(r) for r in rows)

    def _is_destroyed(self, variable: int) -> bool:
        """Whether the end of a variable runs something: that of an object which is nothing but numbers does not."""
        types, type = self.context.types, self.table.type[variable]
        return types.ends(type) and not is_numbers(self.context, types.of(type))

    def ends(self, rows: list[int], block: Span) -> list[Stmt]:
        """Return what the end of a block does with the objects that statements of it make: their destructors."""
        made: list[Stmt] = []
        for row in rows:
            for child in self.table.children(row) if self.table.kind[row] == kinds.DECL_STMT else ():
                if self.table.kind[child] == kinds.VAR_DECL and self._is_destroyed(child):
                    symbol = self.context.symbol(self.table.aux[child])
                    place = Span(block.file, max(block.start, block.end - 1), max(block.start, block.end - 1))
                    made.append(Verbatim(
                        span=place, intact=True, text="", reads=(symbol,), writes=(symbol,), calls=True, control=False,
                        reason=f"the destructor of {symbol.name}", kept=(symbol,),
                    ))  # fmt: skip
        return made

    def expression(self, row: int, span: Span) -> Stmt | None:
        """Return an expression statement that is a lambda called on the spot, or a swap; None for any other."""
        swapped = self._find_swapped(row)
        if swapped is not None:
            return swap(self.context, span, *swapped)
        for algorithms in (self._algorithms, self._running, self.values):
            algorithm = algorithms.statement(row, span)
            if algorithm is not None:
                return algorithm
        changed = self._changes.statement(row, span)
        if changed is not None:
            return changed
        placed = self.values.found.lambdas.statement(row, span)
        if placed is not None:
            return placed
        called = self._called_lambda(row)
        if called is None:
            return None
        body = self.table.body(called)
        file_is_main = self.statements.text.file is self.context.text(0).file
        if body is None or not file_is_main or not self.context.captures_keep(called):
            return None
        below = self.table.kind[body : self.table.after[body]]
        parameters = any(self.table.kind[c] == kinds.PARM_DECL for c in self.table.children(called))
        if parameters or kinds.RETURN in below:
            return None
        self.context.in_place.add((0, self.table.start[called]))
        inner = self.statements.build(body)
        return Block(span=span, intact=True, statements=(inner,))

    def _find_swapped(self, row: int) -> tuple[Expr, Expr] | None:
        """Return the two objects that an expression statement swaps: std::swap(a, b), a.swap(b) of containers."""
        table, row = self.table, self.table.inner(row)
        callee = table.aux[row] if table.kind[row] == kinds.CALL else -1
        if callee < 0 or not self.context.is_library(callee):
            return None
        full, parts = self.context.detail(callee)[0], table.expressions(row)
        build = self.statements.expressions.build
        if full == "std::swap" and len(parts) == 3:
            return build(parts[1]), build(parts[2])
        if re.fullmatch(r"std::vector<.*>::swap", full) and len(parts) == 2:
            holder = table.expressions(self.table.inner(parts[0]))
            return (build(holder[0]), build(parts[1])) if holder else None
        return None

    def _called_lambda(self, row: int) -> int | None:
        """Return the lambda that an expression statement makes and calls without arguments."""
        table, row = self.table, self.table.inner(row)
        if table.kind[row] != kinds.CALL or not table.expressions(row):
            return None
        first = self.table.inner(table.expressions(row)[0])
        return first if table.kind[first] == kinds.LAMBDA and len(table.expressions(row)) == 2 else None

    # --- loops in what is not modelled

    def list_loops(self, row: int, reason: str) -> tuple[Stmt, ...]:
        """Return every loop below a row that is kept as text, as loops of which only the place is known."""
        made: list[Stmt] = []
        node, behind = row + 1, self.table.after[row]
        while node < behind:
            form = _LOOPS.get(self.table.kind[node])
            if self.table.kind[node] == kinds.LAMBDA:
                node = self.table.after[node]
                continue
            if form is None:
                node += 1
                continue
            made.append(self._list_only(node, form, reason))
            node = self.table.after[node]
        return tuple(made)

    def _list_only(self, row: int, form: str, reason: str) -> While:
        span = self.statements.span(row)
        named = tuple(self.context.variables(row))
        text = Verbatim(
            span=span, intact=True, text=span.text, reads=named, writes=named, calls=True, control=True, reason=reason
        )
        head = span.text.find("\n")
        header = span if head < 0 else Span(span.file, span.start, span.start + len(span.text[:head].rstrip()))
        return While(
            span=span, intact=True, form="while" if form == "while" else "do" if form == "do" else "for", init=None,
            condition=None, advance=None, header=header, reason=reason,
            body=Block(span=span, intact=True, statements=(text, *self.list_loops(row, reason))),
        )  # fmt: skip

    # --- for (x : v)

    def range_for(self, row: int, span: Span) -> Stmt:
        """Return a range-for over a container or an array as the counted loop that it is."""
        table = self.table
        variables = [c for c in table.children(row) if table.kind[c] == kinds.VAR_DECL]
        parts = table.parts(row)
        header = self._header(span)
        if len(variables) != 1 or len(parts) != 2 or header is None:
            return self.statements.make_opaque(row, "a range-for of an unusual form")
        sequence = self.statements.expressions.build(parts[0])
        found = self._elements(sequence)
        if found is None:
            return self.statements.make_opaque(row, "a range-for over what is no vector or array")
        data, element, bound = found
        symbol = self.context.symbol(table.aux[variables[0]])
        type = symbol.type
        if not self._fits(type, element):
            return self.statements.make_opaque(row, "a range-for whose variable is an object of another type")
        counter = self._counter(symbol, row)
        place = behind(header)
        at = Name(span=place, type=SIZE_T, symbol=counter)
        value: Expr = Index(span=place, type=element, base=data, index=at)
        if isinstance(type, Pointer) and type.reference:
            value = address(value)
        declared = DeclStmt(span=place, declarations=(VarDecl(span=place, symbol=symbol, init=value),))
        self.statements.loops_around += 1
        inner = self.statements.build(parts[1])
        self.statements.loops_around -= 1
        rest = inner.statements if isinstance(inner, Block) and inner.span.text.startswith("{") else (inner,)
        body = Block(span=inner.span, statements=(declared, *rest))
        return For(
            span=span, intact=True, variable=counter, declares=True, lower=_number(0, place), relation="<", bound=bound,
            step=1, body=body, header=header,
        )  # fmt: skip

    # --- for (it = v.begin(); it != v.end(); ++it)

    def iterator_for(self, row: int, span: Span) -> Stmt | None:
        """Return a loop over a vector by an iterator as the counted loop that it is; None for any other `for`."""
        found, header = find_iterator_loop(self.context, row), self._header(span)
        if found is None or header is None:
            return None
        build = self.statements.expressions.build
        sequence, last = build(found.first), build(found.last)
        elements = self._elements(sequence)
        if elements is None or print_expr(sequence) != print_expr(last) or not isinstance(sequence.type, Record):
            return None
        data, element, size = elements
        number = self.table.aux[found.variable]
        symbol = self.context.declare(number, Pointer(element))
        if symbol.type != Pointer(element):
            return None  # other code knows it as an object already
        counter, place = self._counter(symbol, row), behind(header)
        at = Name(span=place, type=SIZE_T, symbol=counter)
        value = address(Index(span=place, type=element, base=data, index=at))
        declared = DeclStmt(span=place, declarations=(VarDecl(span=place, symbol=symbol, init=value),))
        self.statements.loops_around += 1
        inner = self.statements.build(found.body)
        self.statements.loops_around -= 1
        rest = inner.statements if isinstance(inner, Block) and inner.span.text.startswith("{") else (inner,)
        body = Block(span=inner.span, statements=(declared, *rest))
        return self._count(span, header, (counter, size), body)

    def _count(self, span: Span, header: Span, walk: tuple[Symbol, Expr], body: Block) -> Stmt:
        """Return the loop of a counter below a size; one of unknown length where the body may change that."""
        (counter, size), place = walk, behind(header)
        zero, at = _number(0, place), Name(span=place, type=SIZE_T, symbol=counter)
        init = DeclStmt(span=place, declarations=(VarDecl(span=place, symbol=counter, init=zero),))
        condition = Binary(span=place, type=BOOL, op="<", left=at, right=size)
        advance = Unary(span=place, type=SIZE_T, op="++x", operand=again(at))
        counted = recognize(init, condition, advance, body, self.statements.knowledge)
        if isinstance(counted, str):
            return While(
                span=span, intact=True, form="for", init=init, condition=condition, advance=advance, body=body,
                header=header, reason=counted,
            )  # fmt: skip
        return For(
            span=span, intact=True, variable=counter, declares=True, lower=zero, relation="<", bound=size, step=1,
            body=body, header=header,
        )  # fmt: skip

    def _header(self, span: Span) -> Span | None:
        scan = self.statements.text.scan
        closing = scan.closing(scan.skip(span.start + len("for"))) if span.text.startswith("for") else None
        return Span(span.file, span.start, closing + 1) if closing is not None else None

    def _elements(self, sequence: Expr) -> tuple[Expr, Type, Expr] | None:
        """Return the array or pointer of a sequence's elements, their type, and how many there are."""
        if not is_lvalue(sequence) or not is_pure(sequence):
            return None
        span, type = sequence.span, sequence.type
        if isinstance(type, Array):
            return (sequence, type.of, _length(type.count, behind(span))) if type.count is not None else None
        if not isinstance(type, Record) or not type.tag.startswith("std::"):
            return None
        data = member_of(sequence, DATA, behind(span), intact=False)
        if data is None:
            return None
        size = member_of(sequence, SIZE, behind(span), intact=False)
        return (data, data.type.to, size) if size is not None and isinstance(data.type, Pointer) else None

    def _fits(self, type: Type, element: Type) -> bool:
        if isinstance(type, Pointer) and type.reference:
            return type.to == element
        if isinstance(type, Record):
            return type == element and not type.tag.startswith("std::")
        return isinstance(type, Scalar | Pointer) and isinstance(element, Scalar | Pointer)

    def _counter(self, symbol: Symbol, row: int) -> Symbol:
        """Return the counter of a range-for; its name is no word of the file."""
        if not self._words:
            self._words = set(identifiers(self.statements.text.file.text))
        name = f"{symbol.name}_at"
        while name in self._words:
            name += "_"
        path = self.statements.text.file.path
        return Symbol(name, f"{path}:{self.table.start[row]}:{symbol.key}:at", SIZE_T, "local", symbol.span)


def _number(value: int, span: Span) -> Literal:
    return Literal(span=span, type=INT, text=str(value), value=value)


def _length(count: int | None, span: Span) -> Expr:
    return _number(count or 0, span)
