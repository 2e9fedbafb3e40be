"""Arrays that hold one member of an array of structs each, while a loop runs: of which elements, and their names.

    for (i = 1; i < n - 1; i++) p[i].x = p[i + 1].y        x: elements 1 … n - 2        y: elements 2 … n - 1
    g[i][j].x                                              g_x[i * m + j], rows and columns as the loop uses them

Invariant: every element that the loop uses of a member is in its array, and every element of the array is one of the
user's: an end is used in any case, or lies in a row that is, or between such ends. Where a test fails the loop uses
none of the member.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import reduce

from msgspec import Struct
from msgspec.structs import replace as replace_record

from warpsmith.base.source import Span
from warpsmith.base.verdict import Reason
from warpsmith.loops.analysis.extremes import Cover, is_writable, wide, wide_expr
from warpsmith.loops.analysis.substitute import copy_tree
from warpsmith.loops.linear import Linear, number, use
from warpsmith.loops.place import LoopContext, with_run
from warpsmith.loops.writing.expansion import count_of, origin_of, slots_of
from warpsmith.loops.writing.members import MemberPath, MemberUse, find_member_uses, member_name, rows_of_structs
from warpsmith.loops.writing.storage import Room
from warpsmith.poly.analyze import Facts
from warpsmith.poly.facts import PolyOptions, Section
from warpsmith.poly.isl.bound_values import same_value
from warpsmith.poly.regions.sections import covered_sections, known_extent
from warpsmith.tree.nodes import Binary, Cast, Conditional, Expr, Function, Index, Loop, Node
from warpsmith.tree.program import Program
from warpsmith.tree.types import INT, LONG_LONG, SIZE_T, Array, Pointer, Scalar, Symbol, Type, element_type
from warpsmith.tree.walk import names, peel, rebuild, same

__all__ = ["Elements", "MemberArray", "find_member_arrays", "replace_members", "says_positive"]


class Elements(Struct, frozen=True):
    """The values of one subscript, from `low` to in front of `past`."""

    low: Linear
    past: Expr

    def bound(self, span: Span) -> Expr:
        """Return the end as it is written in a loop's header."""
        past = Linear.of(self.past)
        return copy_tree(self.past) if past is None else wide_expr(past, span)


class MemberArray(Struct, frozen=True):
    """A member that the loop uses, of which `elements` (for each subscript, the outermost first; `rows`: how long the
    inner ones are). `tests`: under which conditions it uses any. `needed`: the loop may read what was there before it,
    or leave it; `whole`: it writes all that lies between; `entire`: all elements of the user's array are there, since
    nobody knows which the loop uses."""

    path: MemberPath
    type: Scalar
    elements: tuple[Elements, ...]
    rows: tuple[Expr, ...]
    tests: tuple[Expr, ...]
    needed: bool
    written: bool
    whole: bool
    entire: bool = False

    @property
    def origin(self) -> Linear:
        """Which element the array begins with."""
        low = self.elements[0].low
        return origin_of(Cover(low, low)) if not self.rows else Linear()

    @property
    def room(self) -> Room:
        """How many elements it has."""
        first = self.elements[0]
        past, span = Linear.of(first.past), first.past.span
        if past is not None and not self.rows:
            cover = Cover(first.low, past.shift(-1))
            return Room((slots_of(cover),), (count_of(cover),), checked=False)
        return _RoomOf(_join("*", [_less(first.past, self.origin, span), *self.rows]))

    def element(self, array: Symbol, index: Sequence[Expr], span: Span) -> Index:
        """Return an element of the array by the subscripts of the struct."""
        place = index[0] if self.rows else _less(index[0], self.origin, span)
        for row, column in zip(self.rows, index[1:], strict=True):
            place = _join("+", [_join("*", [place, row]), column])
        return Index(span=span, type=self.type, base=use(array, span), index=place)


class _RoomOf(Room):
    """Room for as many elements as an expression says, which may be no sum of variables."""

    def __init__(self, count: Expr) -> None:
        super().__init__((), (), checked=False)
        self.count = count

    def elements(self, span: Span) -> Expr:
        """Return the number of elements to ask for, at least one."""
        some = Binary(span=span, type=INT, op=">", left=copy_tree(self.count), right=number(0, span))
        wanted = Cast(span=span, type=SIZE_T, operand=copy_tree(self.count))
        return Conditional(span=span, type=SIZE_T, condition=some, then=wanted, other=number(1, span))


class _WholeSection(Section, frozen=True):
    """All of an array, since it is not known which elements of it are used."""


def find_member_arrays(
    facts: Facts, place: LoopContext, symbol: Symbol, uses: Sequence[MemberUse]
) -> tuple[MemberArray, ...] | Reason:
    """Return the members that a loop uses, with their elements, or why these are not known before it."""
    rows = _find_rows(facts, place, symbol)
    if isinstance(rows, Reason):
        return rows
    flat = _ask(facts.program, place, symbol, uses, None)
    if isinstance(flat, Reason):
        return flat
    found: dict[MemberPath, list[Section]] = {path: [] for path in flat} if rows else {p: [s] for p, s in flat.items()}
    for number_of in range(len(rows) + 1) if rows else ():
        asked = _ask(facts.program, place, symbol, uses, number_of)
        if isinstance(asked, Reason):
            return asked
        for path, section in asked.items():
            found[path].append(section)
    types = {one.path: replace_record(one.type, const=False) for one in uses}
    made: list[MemberArray] = []
    for path, sections in found.items():
        one = _make(path, types[path], flat[path], sections, rows)
        if one is None or (rows and not _is_within(one, flat[path], symbol)):
            text = f"the elements of {symbol.name} that the loop uses are no rectangle with plain bounds"
            return Reason("STP002", text, place.loop.header)
        made.append(one)
    return tuple(made)


def replace_members(loop: Loop, symbol: Symbol, change: Callable[[MemberUse], Expr]) -> Loop:
    """Return the loop with something in place of every use of the array, those in subscripts of others first."""
    new: Loop = loop
    while True:
        uses = find_member_uses(new, symbol)
        assert not isinstance(uses, Reason), uses.text
        places = {id(one.node): one for one in uses if not any(_names(index, symbol) for index in one.index)}
        if not places:
            return new
        new = _replaced(new, places, change)


def _replaced(loop: Loop, places: Mapping[int, MemberUse], change: Callable[[MemberUse], Expr]) -> Loop:
    return rebuild(loop, lambda node: change(places[id(node)]) if id(node) in places else node)


def _names(node: Node, symbol: Symbol) -> bool:
    return any(n.symbol == symbol for n in names(node))


# --- which elements


def _find_rows(facts: Facts, place: LoopContext, symbol: Symbol) -> tuple[Expr, ...] | Reason:
    """Return how long the rows are, which must be as long now as where they were declared."""
    found: list[Expr] = []
    moving = facts.origin(place.function).unstable
    for row in rows_of_structs(symbol.type) or ():
        if row.count is not None:
            found.append(number(row.count, place.loop.header))
            continue
        form = Linear.of(row.extent) if row.extent is not None else None
        if form is None or not is_writable(form) or any(_may_change(s, moving) for s in form.symbols):
            return Reason("STP002", f"how long the rows of {symbol.name} are is not known", place.loop.header)
        found.append(wide_expr(form, place.loop.header))
    return tuple(found)


def _may_change(symbol: Symbol, moving: frozenset[Symbol]) -> bool:
    return symbol in moving or symbol.storage not in ("local", "parameter", "enumerator")


def _ask(
    program: Program, place: LoopContext, symbol: Symbol, uses: Sequence[MemberUse], which: int | None
) -> dict[MemberPath, Section] | Reason:
    """Return the section of each member: of an array of it alone that has the subscripts of the structs, or one of them
    (`which`)."""
    probes = {one.path: _probe(symbol, one, which) for one in uses}

    def change(one: MemberUse) -> Expr:
        probe = probes[one.path]
        element: Expr = use(probe, one.node.span)
        for index in one.index if which is None else one.index[which : which + 1]:
            element = Index(span=one.node.span, type=_inner(element.type), base=element, index=index)
        return element

    loop = replace_members(place.loop, symbol, change)
    trial = with_run(program, place.function, (place.loop,), (loop,))
    function = next(f for _, f in trial.functions() if f.symbol == place.function.symbol)
    found: dict[MemberPath, Section] = {}
    for path, probe in probes.items():
        answer = covered_sections(trial, function, (loop,), (loop,), PolyOptions(), wanted=probe)
        section = next((s for s in answer.sections if s.symbol == probe), None)
        if (section is None or answer.assumptions) and which is None and not rows_of_structs(symbol.type):
            section = _find_whole(program, place, symbol, (trial, function, loop, probe))
        elif answer.assumptions:
            section = None
        if section is None:
            shown = f"{symbol.name}'s {member_name(path)}"
            why = answer.failures[0].text.replace(probe.name, shown) if answer.failures else "it rests on a test"
            text = f"which elements of {symbol.name} the loop uses cannot be determined before it: {why}"
            return Reason("STP002", text, place.loop.header)
        met = {n.symbol for end in (section.lower, section.upper) for n in names(end)} & set(probes.values())
        if met:
            text = f"which elements of {symbol.name} the loop uses depends on what they hold"
            return Reason("STP002", text, place.loop.header)
        found[path] = section
    return found


def _find_whole(
    program: Program, place: LoopContext, symbol: Symbol, asked: tuple[Program, Function, Loop, Symbol]
) -> Section | None:
    """Return the section of all of an array of structs, for a member of which it is not known which elements the loop
    uses; None where it is not known how large the array is."""
    trial, function, loop, probe = asked
    extent = known_extent(program, place.function, symbol, place.loop)
    done = Facts.about(trial, PolyOptions()).origin(function).effects(loop)
    if extent is None or any(n.symbol in done.direct_writes for n in names(extent)) or done.calls_unknown:
        return None
    written = probe in done.element_writes
    zero = number(0, place.loop.header)
    return _WholeSection(probe, element_type(probe.type), zero, extent, read=True, written=written, covers=False)


def _probe(symbol: Symbol, one: MemberUse, which: int | None) -> Symbol:
    """Return an array that has a member alone, of as many elements as the array of structs."""
    name, plain = f"{symbol.name}_{member_name(one.path)}", replace_record(one.type, const=False)
    type: Type = Pointer(plain)
    if which is None:
        rows = rows_of_structs(symbol.type) or ()
        inner = reduce(lambda to, row: replace_record(row, of=to, spelling=""), reversed(rows), _as_type(plain))
        declared = symbol.type
        type = replace_record(declared, of=inner, spelling="") if isinstance(declared, Array) else Pointer(inner)
    storage = symbol.storage if which is None else "parameter"
    return Symbol(name, f"{symbol.key}:{name}:{which}", type, storage, symbol.span)


def _as_type(type: Type) -> Type:
    return type


def _inner(type: Type) -> Type:
    return type.of if isinstance(type, Array) else type.to if isinstance(type, Pointer) else type


def _make(
    path: MemberPath, type: Scalar, flat: Section, sections: Sequence[Section], rows: tuple[Expr, ...]
) -> MemberArray | None:
    elements: list[Elements] = []
    tests: list[Expr] = []
    for section in sections:
        low, first = _strip_choice(section.lower)
        past, second = _strip_choice(section.upper)
        start, end = Linear.of(low), Linear.of(past)
        if start is None or not is_writable(start):
            return None
        count = None if end is None else end.minus(start)
        if end is not None and not all(map(is_writable, (end, end.minus(start)))):
            return None
        elements.append(Elements(start, past))
        asked = [t for some in (first, second) if some is not None for t in _conjuncts(some)]
        asked = [t for t in asked if count is None or not says_positive(t, count)]
        tests += [t for t in asked if not any(same(t, known) for known in tests)]
    needed = flat.read or not flat.covers or bool(rows)
    entire = isinstance(flat, _WholeSection)
    return MemberArray(path, type, tuple(elements), rows, tuple(tests), needed, flat.written, flat.covers, entire)


def _is_within(one: MemberArray, flat: Section, symbol: Symbol) -> bool:
    """Whether the elements of rows are all the user's: they are within the rows, and the first and the last of them
    within what is used; of an array that is declared with its rows these are all there."""
    for row, column in zip(one.rows, one.elements[1:], strict=True):
        end, past = Linear.of(_unwiden(row)), Linear.of(column.past)
        if column.low.terms or column.low.constant < 0 or end is None or past is None:
            return False
        room = end.minus(past)
        if room.terms or room.constant < 0:
            return False
    first = one.elements[0].low
    if first.terms or first.constant < 0:
        return False
    if isinstance(symbol.type, Array) and symbol.storage != "parameter":
        return True
    span = flat.lower.span
    last = [_join("-", [each.past, number(1, span)]) for each in one.elements]
    begin = _flatten([wide_expr(each.low, span) for each in one.elements], one.rows)
    finish = _join("+", [_flatten(last, one.rows), number(1, span)])
    lower, upper = _strip_choice(flat.lower)[0], _strip_choice(flat.upper)[0]
    return same_value(lower, begin) and same_value(upper, finish)


def _flatten(index: Sequence[Expr], rows: Sequence[Expr]) -> Expr:
    place = index[0]
    for row, column in zip(rows, index[1:], strict=True):
        place = _join("+", [_join("*", [place, row]), column])
    return place


def _strip_choice(expr: Expr) -> tuple[Expr, Expr | None]:
    """Return `e` and `c` of `c ? e : 0`."""
    expr = peel(expr)
    return (expr.then, expr.condition) if isinstance(expr, Conditional) else (expr, None)


def _conjuncts(test: Expr) -> Iterator[Expr]:
    test = peel(test)
    if isinstance(test, Binary) and test.op == "&&":
        yield from _conjuncts(test.left)
        yield from _conjuncts(test.right)
    else:
        yield test


def says_positive(test: Expr, count: Linear) -> bool:
    """Whether a test says the same as that a count is positive."""
    if not isinstance(test, Binary) or test.op != ">=":
        return False
    left, right = Linear.of(test.left), Linear.of(test.right)
    return left is not None and right is not None and left.minus(right) == count.shift(-1)


# --- numbers of elements


def _unwiden(expr: Expr) -> Expr:
    return expr.operand if isinstance(expr, Cast) else expr


def _join(op: str, operands: Sequence[Expr]) -> Expr:
    """Return operands joined in 64 bits."""
    span = operands[0].span
    first = operands[0] if operands[0].type == LONG_LONG else wide(copy_tree(operands[0]))
    return reduce(lambda a, b: Binary(span=span, type=LONG_LONG, op=op, left=a, right=_signed(copy_tree(b))),
                  operands[1:], first)  # fmt: skip


def _signed(expr: Expr) -> Expr:
    """Return an operand that keeps 64-bit arithmetic signed."""
    type = expr.type
    return wide(expr) if isinstance(type, Scalar) and type.kind == "unsigned" and type.bits == LONG_LONG.bits else expr


def _less(value: Expr, origin: Linear, span: Span) -> Expr:
    return value if origin == Linear() else _join("-", [value, wide_expr(origin, span)])
