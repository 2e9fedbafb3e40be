"""Numbers that algorithms of the standard library give, each as the statements that make it.

    std::accumulate(b, e, x)       double sum = x; For(…) { sum = sum + v[v_at]; }
    std::count_if(b, e, f)         long count = 0; For(…) { if (f(v[v_at])) count = count + 1; }
    std::any_of(b, e, f)           bool any = false; For(…) { if (f(v[v_at])) { any = true; break; } }
    *std::min_element(b, e)        double least = v[0]; For(1 <= v_at …) { if (v[v_at] < least) least = v[v_at]; }
    std::min_element(b, e) - b     the same, and where it stands: the first one of several
    std::find(b, e, x) != e        long found = v.size(); For(…) { if (v[v_at] == x) { found = v_at; break; } }

Invariant: the statements evaluate what the call evaluates, in one of the orders that the standard allows, and change
nothing but variables of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

import msgspec.structs
from msgspec import Struct

from warpsmith.base.source import Span
from warpsmith.front.c.builders import StatementBuilder
from warpsmith.front.clang import kinds
from warpsmith.front.cxx.algorithms.lambdas import CalledLambdas
from warpsmith.front.cxx.algorithms.loops import AlgorithmLoops
from warpsmith.front.cxx.algorithms.names import EXTREMES, PAIRED, QUANTIFIERS, SEARCHES
from warpsmith.front.cxx.algorithms.positions import Position, Range
from warpsmith.front.cxx.library import NATIVE
from warpsmith.front.cxx.objects import again, before, behind
from warpsmith.tree.nodes import (
    Assign,
    Binary,
    Block,
    Break,
    Call,
    Cast,
    DeclStmt,
    Expr,
    ExprStmt,
    If,
    Index,
    Literal,
    Name,
    Stmt,
    Unary,
    VarDecl,
)
from warpsmith.tree.types import BOOL, INT, LONG, Scalar, Type, common_type, is_integer
from warpsmith.tree.walk import peel, same, walk

__all__ = ["AlgorithmNumber", "FoundValues"]

_GROUPED: Final = frozenset({"reduce", "transform_reduce"})

_BOOL: Final = msgspec.structs.replace(BOOL, spelling="bool")
"""As C++ spells it."""


class AlgorithmNumber(Struct, frozen=True):
    """Statements, and the number that they make."""

    statements: tuple[Stmt, ...]
    value: Expr


class FoundValues:
    """Finds such calls in the rows of one function, and builds what they are."""

    def __init__(self, statements: StatementBuilder, loops: AlgorithmLoops) -> None:
        self.statements = statements
        self.context = statements.context
        self.table = statements.table
        self.expressions = statements.expressions
        self.loops = loops
        self.library = loops.library
        self.lambdas = CalledLambdas(statements, loops)
        self._makers: dict[str, Callable[[list[int], Span, str], AlgorithmNumber | None]] = {
            **dict.fromkeys(("accumulate", "reduce", *PAIRED), self._sum),
            **dict.fromkeys(("count", "count_if"), self._count),
            **dict.fromkeys(QUANTIFIERS, self._quantifier),
        }

    def begin(self) -> None:
        """Begin a statement: the names of its variables are its own."""
        self.loops.taken.clear()

    def rows(self, row: int) -> Iterator[int]:
        """Yield the rows of the numbers in an expression, none inside of another one."""
        node, behind = row, self.table.after[row]
        while node < behind:
            kind = self.table.kind[node]
            if kind == kinds.LAMBDA or self._is_value(node):
                if kind != kinds.LAMBDA:
                    yield node
                node = self.table.after[node]
            else:
                node += 1

    def _is_value(self, row: int) -> bool:
        if self.loops.algorithm(row) in self._makers:
            return True
        if self.lambdas.is_value(row):
            return True
        return self._extreme_of(row) is not None or self._difference(row) is not None or self._searched(row) is not None

    def compute(self, row: int) -> AlgorithmNumber | None:
        """Return what the row of a number is; None where it is not understood."""
        name = self.loops.algorithm(row)
        if name in self._makers:
            return self._makers[name](self.loops.arguments(row), self._span(row), name)
        if self.lambdas.is_value(row):
            called = self.lambdas.compute(row)
            return AlgorithmNumber(called.statements, called.value) if called is not None else None
        extreme = self._extreme_of(row)
        if extreme is not None:
            return self._extreme(extreme, None)
        difference = self._difference(row)
        if difference is not None:
            return self._distance(*difference)
        searched = self._searched(row)
        return self._compare(*searched) if searched is not None else None

    def _span(self, row: int) -> Span:
        return Span(self.statements.text.file, *self.table.range(row, self.statements.text.uses))

    # --- how rows say what of an algorithm's result they want

    def _call_of(self, row: int, names: frozenset[str]) -> int | None:
        """Return the row of the call of one of these algorithms that a row is."""
        inner = self.table.inner(row)
        return inner if self.loops.algorithm(inner) in names else None

    def _operator(self, row: int) -> tuple[str, list[int]]:
        """Return an operator of the language or of the library's iterators, with its operands."""
        kind, aux, parts = self.table.kind[row], self.table.aux[row], self.table.expressions(row)
        if kind == kinds.UNARY:
            return kinds.UNARY_OPERATORS[aux], parts
        if kind == kinds.BINARY:
            return kinds.BINARY_OPERATORS[aux], parts
        if kind != kinds.CALL or aux < 0 or not self.context.is_library(aux):
            return "", []
        name = self.context.dump.declared[aux][1]
        if not name.startswith("operator"):
            return "", []
        given = [p for p in parts if self.table.kind[self.table.inner(p)] != kinds.DECL_REF or not self._names(p, aux)]
        return name.removeprefix("operator"), given

    def _names(self, row: int, callee: int) -> bool:
        return self.table.aux[self.table.inner(row)] == callee

    def _extreme_of(self, row: int) -> int | None:
        """Return the call in `*std::min_element(…)`."""
        op, parts = self._operator(row)
        return self._call_of(parts[0], EXTREMES) if op == "*" and len(parts) == 1 else None

    def _difference(self, row: int) -> tuple[int, int] | None:
        """Return the call in `std::min_element(b, e) - b` or std::distance(b, std::find(b, e, x)), and the row of b."""
        op, parts = self._operator(row)
        if op == "-" and len(parts) == 2:
            last, first = parts
        elif self.loops.algorithm(row) == "distance":
            arguments = self.loops.arguments(row)
            if len(arguments) != 2:
                return None
            first, last = arguments
        else:
            return None
        call = self._call_of(last, EXTREMES | SEARCHES)
        return (call, first) if call is not None else None

    def _searched(self, row: int) -> tuple[int, int, str] | None:
        """Return the call in `std::find(b, e, x) != e`, the row of what it is compared with, and the operator."""
        op, parts = self._operator(row)
        if op not in ("==", "!=") or len(parts) != 2:
            return None
        call = self._call_of(parts[0], SEARCHES)
        return (call, parts[1], op) if call is not None else None

    # --- sums

    def _sum(self, rows: list[int], span: Span, name: str) -> AlgorithmNumber | None:
        over, paired = self.loops.range(rows, counted=False), name in PAIRED and len(rows) != 5
        other = self.loops.positions.find(rows[2]) if paired and len(rows) in (4, 6) else None
        rest = rows[3 if paired else 2 :]
        if over is None or (paired and other is None) or not isinstance(over.first.element, Scalar):
            return None
        if name == "reduce" and not rest:
            first: Expr | None = Literal(span=before(span), type=INT, text="0", value=0)
            first = self.library.convert(first, over.first.element, before(span)) if first is not None else None
        else:
            first = self.expressions.try_expression(rest[0]) if rest else None
        # std::transform_reduce(first, last, initial, sum, function): of one range
        function = rest[2:] if name in PAIRED else ()
        if first is None or not isinstance(first.type, Scalar) or len(rest) > (3 if name in PAIRED else 2):
            return None
        type, place = _plain(first.type), before(span)
        total = self._new("sum", type, span)

        others = () if other is None else (other,)

        def add(at: Expr) -> Stmt | None:
            value: Expr | None = over.first.at(again(at), over.first.offset, place)
            if other is not None and value is not None:
                value = self._paired(function, value, other.at(again(at), over.first.offset, place), place)
            elif function and value is not None:
                value = self.loops.applied.value(function[0], [value], place)
            # these may add elements to each other first, in the elements' own type
            if value is None or (name in _GROUPED and not _is_like(value.type, type)):
                return None
            made = self._combined(rest[1:2], again(total), value, place)
            if made is None or not isinstance(made.type, Scalar):
                return None
            return _set(total, self.library.convert(made, type, place))

        return self._made(over, span, total, (_declare(total, again(first)),), add, others=others)

    def _paired(self, function: Sequence[int], left: Expr, right: Expr, place: Span) -> Expr | None:
        if not isinstance(right.type, Scalar):
            return None
        if function:
            return self.loops.applied.value(function[0], (left, right), place)
        return Binary(span=place, type=common_type(left.type, right.type), op="*", left=left, right=right)

    def _combined(self, function: Sequence[int], total: Expr, value: Expr, place: Span) -> Expr | None:
        if not isinstance(value.type, Scalar):
            return None
        if function:
            return self.loops.applied.value(function[0], (total, value), place)
        return Binary(span=place, type=common_type(total.type, value.type), op="+", left=total, right=value)

    # --- how many, whether one, whether all

    def _count(self, rows: list[int], span: Span, name: str) -> AlgorithmNumber | None:
        over, place = self.loops.range(rows, counted=False), before(span)
        tested = self._test(rows, span, by_value=name == "count")
        if over is None or tested is None:
            return None
        ahead, test = tested
        count = self._new("count", LONG, span)

        def add(at: Expr) -> Stmt | None:
            condition = test(over.first.at(again(at), over.first.offset, place))
            more = Binary(span=place, type=LONG, op="+", left=again(count), right=_number(1, place))
            return None if condition is None else _if(condition, (_set(count, more),), place)

        return self._made(over, span, count, (*ahead, _declare(count, _number(0, place))), add)

    def _quantifier(self, rows: list[int], span: Span, name: str) -> AlgorithmNumber | None:
        over, place = self.loops.range(rows, counted=False), before(span)
        tested = self._test(rows, span, by_value=False)
        if over is None or tested is None:
            return None
        element = over.first.at(_number(0, place), None, place)
        looked = tested[1](element)
        if looked is not None and _is_total(looked, element):
            return self._counted(over, tested[1], span, name)
        start = name != "any_of"
        held = self._new(name.removesuffix("_of"), _BOOL, span)

        def look(at: Expr) -> Stmt | None:
            condition = tested[1](over.first.at(again(at), over.first.offset, place))
            if condition is None:
                return None
            condition = _not(condition) if name == "all_of" else condition
            return _if(condition, (_set(held, _truth(not start, place)), Break(span=place)), place)

        return self._made(over, span, held, (_declare(held, _truth(start, place)),), look)

    def _counted(
        self, over: Range, test: Callable[[Expr], Expr | None], span: Span, name: str
    ) -> AlgorithmNumber | None:
        """Return a quantifier as the number of those that decide it: a test of numbers may be made of all elements."""
        place = before(span)
        count = self._new("count", LONG, span)

        def add(at: Expr) -> Stmt | None:
            condition = test(over.first.at(again(at), over.first.offset, place))
            if condition is None:
                return None
            more = Binary(span=place, type=LONG, op="+", left=again(count), right=_number(1, place))
            return _if(_not(condition) if name == "all_of" else condition, (_set(count, more),), place)

        made = self._made(over, span, count, (_declare(count, _number(0, place)),), add)
        op = "!=" if name == "any_of" else "=="
        value = Binary(span=place, type=BOOL, op=op, left=again(count), right=_number(0, place))
        return None if made is None else AlgorithmNumber(made.statements, value)

    def _test(
        self, rows: list[int], span: Span, *, by_value: bool
    ) -> tuple[tuple[Stmt, ...], Callable[[Expr], Expr | None]] | None:
        """Return what makes a condition of an element, `x == value` or `f(x)`, and the statements ahead of it."""
        if len(rows) != 3:
            return None
        place = before(span)
        if not by_value:
            return (), lambda element: self._applied(rows[2], element, place)
        value = self.expressions.try_expression(rows[2])
        kept = self.loops.keep(value, "value", span) if value is not None else None
        if kept is None:
            return None

        def equals(element: Expr) -> Expr | None:
            if not isinstance(element.type, Scalar):
                return None
            return Binary(span=place, type=BOOL, op="==", left=element, right=again(kept[1]))

        return kept[0], equals

    def _applied(self, function: int, element: Expr, place: Span) -> Expr | None:
        if not isinstance(element.type, Scalar):
            return None
        made = self.loops.applied.value(function, (element,), place)
        return made if made is not None and isinstance(made.type, Scalar) else None

    # --- extremes, and where they stand

    def _extreme(self, row: int, base: Position | None) -> AlgorithmNumber | None:
        """Return the least or largest element, or with `base` how far from there it stands."""
        rows, name, span = self.loops.arguments(row), self.loops.algorithm(row), self._span(row)
        place = before(span)
        over = self.loops.range(rows, counted=False)
        if over is None or len(rows) not in (2, 3) or not isinstance(over.first.element, Scalar):
            return None
        if base is not None and not self._is_start(base, over):
            return None
        later = self.loops.positions.moved(over.first, 1, place)
        type = _plain(over.first.element)
        best = self._new("least" if name == "min_element" else "largest", type, span)
        start = over.bounds(place)[0]
        found = self._new("found", LONG, span) if base is not None else None

        def look(at: Expr) -> Stmt | None:
            element = Position(over.first.data, type).at(again(at), None, place)
            pair = (element, again(best)) if name == "min_element" else (again(best), element)
            less = self._less(rows[2:], pair, place)
            if less is None or not isinstance(less.type, Scalar):
                return None
            changes = [_set(best, again(element))]
            changes += [] if found is None else [_set(found, _as_long(again(at), place))]
            return _if(less, changes, place)

        first = Position(over.first.data, type).at(again(start), None, place)
        ahead = () if found is None else (_declare(found, _as_long(again(start), place)),)
        made = self._made(Range(later, over.upper), span, best, (*ahead, _declare(best, first)), look)
        return (
            made if made is None or found is None else AlgorithmNumber(made.statements, self._since(found, base, place))
        )

    def _less(self, function: Sequence[int], pair: tuple[Expr, Expr], place: Span) -> Expr | None:
        if function:
            return self.loops.applied.value(function[0], pair, place)
        return Binary(span=place, type=BOOL, op="<", left=pair[0], right=pair[1])

    def _is_start(self, base: Position, over: Range) -> bool:
        return same(base.data, over.first.data)

    def _since(self, found: Name, base: Position | None, place: Span) -> Expr:
        if base is None or base.offset is None:
            return again(found)
        return Binary(span=place, type=LONG, op="-", left=again(found), right=_as_long(again(base.offset), place))

    def _distance(self, call: int, first: int) -> AlgorithmNumber | None:
        base = self.loops.positions.find(first)
        if base is None:
            return None
        if self.loops.algorithm(call) in EXTREMES:
            return self._extreme(call, base)
        searched = self._search(call)
        if searched is None or not self._is_start(base, searched[1]):
            return None
        return AlgorithmNumber(searched[0].statements, self._since(searched[2], base, before(self._span(call))))

    # --- searches

    def _search(self, row: int) -> tuple[AlgorithmNumber, Range, Name] | None:
        """Return the statements of a search, what it goes over, and where it found what it looks for."""
        rows, name, span = self.loops.arguments(row), self.loops.algorithm(row), self._span(row)
        place = before(span)
        over = self.loops.range(rows, counted=False)
        tested = self._test(rows, span, by_value=name == "find")
        if over is None or tested is None:
            return None
        found = self._new("found", LONG, span)

        def look(at: Expr) -> Stmt | None:
            element = over.first.at(again(at), over.first.offset, place)
            condition = tested[1](element)
            if condition is None:
                return None
            total = _is_total(condition, element)
            condition = _not(condition) if name == "find_if_not" else condition
            here = _set(found, _as_long(again(at), place))
            if not total:
                return _if(condition, (here, Break(span=place)), place)
            less = Binary(span=place, type=BOOL, op="<", left=_as_long(again(at), place), right=again(found))
            return _if(condition, (_if(less, (here,), place),), place)

        last = _as_long(over.bounds(place)[1], place)
        made = self._made(over, span, found, (*tested[0], _declare(found, last)), look)
        return None if made is None else (made, over, found)

    def _compare(self, call: int, other: int, op: str) -> AlgorithmNumber | None:
        """Return the comparison of what a search finds with another position."""
        searched, position, place = self._search(call), self.loops.positions.find(other), before(self._span(call))
        if searched is None or position is None or not self._is_start(position, searched[1]):
            return None
        offset = _number(0, place) if position.offset is None else again(position.offset)
        value = Binary(span=place, type=BOOL, op=op, left=again(searched[2]), right=_as_long(offset, place))
        return AlgorithmNumber(searched[0].statements, value)

    # --- what all have

    def _new(self, word: str, type: Scalar, span: Span) -> Name:
        symbol = self.loops.variable(word, type, span)
        self.loops.taken.add(symbol.name)
        return Name(span=before(span), type=type, symbol=symbol)

    def _made(
        self,
        over: Range,
        span: Span,
        result: Name,
        ahead: Sequence[Stmt],
        write: Callable[[Expr], Stmt | None],
        *,
        others: Sequence[Position] = (),
    ) -> AlgorithmNumber | None:
        loop = self.loops.loop(over, span, ahead, write, others)
        return AlgorithmNumber(loop.statements, again(result)) if isinstance(loop, Block) else None


def _is_total(condition: Expr, element: Expr) -> bool:
    """Whether a test of an element has a value whatever that is: it goes to no other memory, divides no integers, and
    calls no function of the program's."""
    for part in walk(condition):
        if isinstance(part, Call) and not (isinstance(part.function, Name) and part.function.symbol.name in NATIVE):
            return False
        if isinstance(part, Binary) and part.op in ("/", "%", "<<", ">>") and not _is_safe(part):
            return False
        if (isinstance(part, Unary) and part.op == "*") or (isinstance(part, Index) and not same(part, element)):
            return False
    return True


def _is_safe(part: Binary) -> bool:
    """Whether a division or shift has a value whatever its left operand is."""
    if part.op in ("/", "%") and not (isinstance(part.type, Scalar) and is_integer(part.type)):
        return True
    right = peel(part.right)
    if not isinstance(right, Literal) or not isinstance(right.value, int):
        return False
    return right.value > 0 if part.op in ("/", "%") else 0 <= right.value < 31


def _declare(name: Name, value: Expr) -> Stmt:
    place = name.span
    return DeclStmt(span=place, declarations=(VarDecl(span=place, symbol=name.symbol, init=value),))


def _is_like(type: Type, other: Scalar) -> bool:
    """Whether a type is the same number as another one."""
    return isinstance(type, Scalar) and (type.kind, type.bits) == (other.kind, other.bits)


def _set(name: Name, value: Expr) -> Stmt:
    made = Assign(span=name.span, type=name.type, op="=", target=again(name), value=value)
    return ExprStmt(span=name.span, expr=made)


def _if(condition: Expr, statements: Sequence[Stmt], place: Span) -> Stmt:
    then = statements[0] if len(statements) == 1 else Block(span=behind(place), statements=tuple(statements))
    return If(span=place, condition=condition, then=then, other=None)


def _not(condition: Expr) -> Expr:
    return Unary(span=condition.span, type=BOOL, op="!", operand=condition)


def _truth(value: bool, place: Span) -> Expr:
    return Literal(span=place, type=BOOL, text="true" if value else "false", value=int(value))


def _number(value: int, place: Span) -> Expr:
    return Literal(span=place, type=INT, text=str(value), value=value)


def _as_long(value: Expr, place: Span) -> Expr:
    return value if value.type == LONG else Cast(span=place, type=LONG, operand=value)


def _plain(type: Scalar) -> Scalar:
    return Scalar(type.name, type.bits, type.kind, spelling=type.spelling)
