"""Updates around the host code that runs inside a hold: what it reads is brought to the host, what it writes is sent
to the device.

    for (t …) {
        step(u, v);                        homes of its own: enters what is there already
                                       +   update the host: u[5], 8 bytes
        if (t % 100 == 0) printf(u[5]);
        u[0] = t;
                                       +   update the device: u[0], 8 bytes
    }

Invariant: between any two statements, every present byte is valid on the device, and host code never reads a present
byte that may be newer there. A write that may leave a part of its range as it was brings that range to the host first.
What cannot be named (an unknown call, memory that it frees) stands in a pause: nothing is kept while it runs.

A host loop without kernels is one statement: its sections (poly) are what it touches, everything present where they
cannot be computed. Updates stand in front of what reads (under the same condition), and behind what writes.

Limits, each a reason against the hold: writes in a condition or in a `return`; kernels in an expression that reads what
they may write (disturbance.py); OpenMP threads around kernels.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from warpsmith.base.source import Span
from warpsmith.base.verdict import Reason
from warpsmith.loops.versions import stable, tested
from warpsmith.offload.disturbance import disturbs, may_move
from warpsmith.offload.expressions import binary
from warpsmith.offload.flow import Place, statement_runs
from warpsmith.offload.foreign import Foreign, foreign, size_of
from warpsmith.offload.fragments import Home, Request
from warpsmith.offload.places import Evaluated, PlaceTouch, evaluated, is_repeatable, loaded_for
from warpsmith.offload.plan import Buffer
from warpsmith.offload.presence import ANY_KIND, Presence, Resident, element_kinds
from warpsmith.offload.transfers import host_address, section_bytes
from warpsmith.poly.effects import effects
from warpsmith.poly.library import is_plain
from warpsmith.poly.sections import sections
from warpsmith.poly.touches import direct_call
from warpsmith.tree.nodes import (
    Assign,
    Block,
    Break,
    Call,
    Continue,
    DataPause,
    DeclStmt,
    Empty,
    Expr,
    ExprStmt,
    For,
    Function,
    If,
    Index,
    Loop,
    Member,
    Name,
    Pragma,
    Return,
    Stmt,
    Switch,
    Unary,
    Update,
    Verbatim,
    While,
)
from warpsmith.tree.types import INT, Array, Pointer, Symbol, Type
from warpsmith.tree.walk import names, peel, root_symbol, same, walk

__all__ = ["Coherent", "IncoherentError", "Insertions", "Surroundings", "device_call", "updates"]


class IncoherentError(Exception):
    """Host code in a hold that no update can serve; `reason` names it."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason.text)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What is known of one function whose statements run in a hold. `device`: the functions that lead to a kernel."""

    request: Request
    presence: Presence
    resident: Resident
    homes: tuple[Home, ...]
    device: frozenset[Symbol]

    @property
    def function(self) -> Function:
        """The function as it is before its homes are rewritten."""
        return self.request.facts.function


Insertions = dict[Place, list[Stmt]]


@dataclass(slots=True)
class Coherent:
    """What must be inserted around host statements; `fallbacks`: the homes whose own statements run on the host where a
    guard fails, each with what must then stand before and after them."""

    inserted: Insertions = field(default_factory=dict)
    fallbacks: dict[Home, tuple[Stmt, Stmt]] = field(default_factory=dict)

    def needed(self) -> bool:
        """Whether the function's text must change."""
        return bool(self.inserted or self.fallbacks)

    def testing(self) -> Insertions:
        """Return all of it as insertions: what a fallback needs is asked for by its guards."""
        result = {place: list(statements) for place, statements in self.inserted.items()}
        for home, (before, after) in self.fallbacks.items():
            result.setdefault(Place("before", home.scope[0]), []).append(_if_guards_fail(home, before))
            result.setdefault(Place("after", home.scope[-1]), []).insert(0, _if_guards_fail(home, after))
        return result


def updates(around: Surroundings, run: tuple[Stmt, ...], into: Coherent) -> None:
    """Add to `into` what must be inserted around the host statements of `run`. Raises IncoherentError."""
    _Writer(around, {home.scope[0]: home for home in around.homes}, into.inserted, into.fallbacks).run(run)


def device_call(node: Stmt | Expr, device: frozenset[Symbol]) -> Call | None:
    """Return a call in `node` of a function that leads to a kernel."""
    calls = (part for part in walk(node) if isinstance(part, Call))
    return next((call for call in calls if direct_call(call) in device), None)


@dataclass(frozen=True, slots=True)
class _Range:
    """Memory that is named by an address; None for both: everything present; None for `bytes` alone: the block of
    memory that holds the address."""

    variable: Symbol | None
    address: Expr | None
    bytes: Expr | None
    cause: Span


@dataclass(slots=True)
class _Need:
    """What must be valid on the host before, what must be sent to the device after, and whether all is in a pause."""

    before: list[_Range] = field(default_factory=list)
    after: list[_Range] = field(default_factory=list)
    pause: Span | None = None

    def everything(self, cause: Span, *, write: bool) -> None:
        self.before.append(_Range(None, None, None, cause))
        if write:
            self.after.append(_Range(None, None, None, cause))


@dataclass(slots=True)
class _Writer:
    around: Surroundings
    homes: Mapping[Stmt, Home]
    inserted: Insertions
    fallbacks: dict[Home, tuple[Stmt, Stmt]]

    # --- structure

    def run(self, run: tuple[Stmt, ...]) -> None:
        position, anchor = 0, None
        while position < len(run):
            stmt = run[position]
            home = self.homes.get(stmt)
            if isinstance(stmt, Pragma) and home is None:
                anchor = anchor or stmt
                position += 1
                continue
            first = anchor or stmt
            anchor = None
            if home is not None:
                self.home(home, first)
                position += len(home.scope)
                continue
            if first is not stmt and self.leads_to_kernels(stmt) and _is_parallel(run, first, stmt):
                raise _incoherent("OpenMP threads run the kernels inside this", stmt.span)
            self.statement(stmt, first)
            position += 1

    def statement(self, stmt: Stmt, first: Stmt) -> None:
        match stmt:
            case Block():
                self.run(stmt.statements)
            case If() | Switch():
                value = stmt.condition if isinstance(stmt, If) else stmt.value
                self.before(first, self.header(value))
                for inner in statement_runs(stmt):
                    self.run(inner)
            case For() | While():
                self.loop(stmt, first)
            case Break() | Continue() | Empty():
                pass
            case ExprStmt() | DeclStmt() | Return() | Verbatim():
                self.simple(stmt, first)
            case _:
                raise _incoherent("a statement that is not understood", stmt.span)

    def simple(self, stmt: ExprStmt | DeclStmt | Return | Verbatim, first: Stmt) -> None:
        need = self.need(evaluated(stmt), stmt)
        if isinstance(stmt, Return) and (need.after or need.pause):
            text = "what a return computes is written or passed on: give it a variable of its own"
            raise _incoherent(text, stmt.span)
        self.place(need, first, stmt)

    def loop(self, loop: Loop, first: Stmt) -> None:
        leaves = any(isinstance(part, Return) for part in walk(loop.body))
        if not self.leads_to_kernels(loop):
            need = self.unit(loop)
            if not (leaves and (need.after or need.pause)):
                self.place(need, first, loop)
                return
        values = (loop.lower, loop.bound) if isinstance(loop, For) else (loop.init, loop.condition, loop.advance)
        need = self.header(*values)
        self.before(first, need)
        if need.before:
            self.at_end(loop.body, need)
        for inner in statement_runs(loop):
            self.run(inner)

    def at_end(self, body: Stmt, need: _Need) -> None:
        """Put what a loop's condition needs at the end of its body, and before each `continue`."""
        made = [_update(r, to_device=False) for r in need.before]
        run = body.statements if isinstance(body, Block) else (body,)
        place = Place("after", run[-1]) if run else Place("within", body)
        self.inserted.setdefault(place, []).extend(made)
        for stmt in _continues(body):
            self.inserted.setdefault(Place("before", stmt), []).extend(made)

    def home(self, home: Home, first: Stmt) -> None:
        """What a launch reads on the host; and where a guard of a home fails, its statements run there."""
        self.before(first, self.values(home))
        if any(guard.kind == "guarded" and guard.condition is not None for guard in home.guards):
            if any(isinstance(part, Return) for stmt in home.scope for part in walk(stmt)):
                raise _incoherent("the function may be left from inside ported code", home.scope[0].span)
            span = home.scope[0].span
            before, after = (
                Update(span=span, to_device=to_device, variable=None, address=None, bytes=None, cause=span)
                for to_device in (False, True)
            )
            self.fallbacks[home] = (before, after)

    def values(self, home: Home) -> _Need:
        """Return what the host evaluates for a home: sizes, conditions, the scalars that kernels are given."""
        need = _Need()
        symbols = {use.symbol for draft in home.drafts for use in draft.uses if use.kind == "value"}
        exprs = [e for b in home.buffers for e in (b.lower, b.upper)]
        exprs += [g.condition for g in home.guards if g.condition is not None]
        symbols |= {n.symbol for expr in exprs for n in names(expr)}
        span = home.scope[0].span
        for symbol in sorted(symbols, key=lambda s: s.key):
            place = Name(span=span, type=symbol.type, symbol=symbol)
            touch = PlaceTouch(place, True, False, True, None)
            if not isinstance(symbol.type, Array) and self.meets(touch):
                self.touched(need, touch, None, [])
        return need

    def leads_to_kernels(self, stmt: Stmt) -> bool:
        return any(part in self.homes for part in walk(stmt) if isinstance(part, Stmt)) or (
            device_call(stmt, self.around.device) is not None
        )

    # --- insertion

    def before(self, first: Stmt, need: _Need) -> None:
        if need.before:
            made = [_update(r, to_device=False) for r in _distinct(need.before)]
            self.inserted.setdefault(Place("before", first), []).extend(made)

    def place(self, need: _Need, first: Stmt, last: Stmt) -> None:
        if need.pause is not None:
            self.inserted.setdefault(Place("before", first), []).append(
                DataPause(span=need.pause, ends=False, cause=need.pause)
            )
            self.inserted.setdefault(Place("after", last), []).append(
                DataPause(span=need.pause, ends=True, cause=need.pause)
            )
            return
        self.before(first, need)
        if need.after:
            made = [_update(r, to_device=True) for r in _distinct(need.after)]
            self.inserted.setdefault(Place("after", last), []).extend(made)

    # --- what an expression needs

    def header(self, *values: Stmt | Expr | None) -> _Need:
        done = evaluated(*values)
        for touch in done.touches:
            if touch.write and self.meets(touch):
                raise _incoherent("a condition writes memory that kernels use", touch.place.span)
        need = self.need(done, None)
        if need.after or need.pause:
            span = need.pause or need.after[0].cause
            raise _incoherent("a condition calls what may write, or free, memory that kernels use", span)
        return need

    def meets(self, touch: PlaceTouch) -> bool:
        around = self.around
        if not touch.write and not around.presence.is_written(touch.place.type):
            return False
        return around.presence.may_meet(around.function, touch.place, around.resident.short)

    def need(self, done: Evaluated, stmt: Stmt | None) -> _Need:
        """Return what evaluating something needs; `stmt` is the statement, None for a condition."""
        around = self.around
        need = _Need()
        met = [touch for touch in done.touches if self.meets(touch)]
        kernels = [call for call in done.calls if direct_call(call) in around.device]
        own = [call for call in done.calls if direct_call(call) in around.presence.summaries.definitions]
        for node in done.opaque:
            if isinstance(node, Verbatim) and node.control:
                raise _incoherent(f"a jump ({node.reason})", node.span)
            need.pause = node.span
        touched: list[Foreign] = []
        for call in done.calls:
            if call in own:
                continue
            answer = foreign(around.presence, around.function, call, around.resident.short)
            if isinstance(answer, str):
                need.pause = call.span
            else:
                touched += answer
        early = [t for t in met if t.write and not _is_last(t, stmt)]
        if kernels:
            self.beside_kernels(need, met, kernels, other=bool(early or touched))
        if own and early:
            need.everything(early[0].place.span, write=True)
        for touch in met:
            self.touched(need, touch, stmt, own)
        for one in touched:
            self.lent(need, one, stmt)
        return need

    def beside_kernels(self, need: _Need, met: list[PlaceTouch], kernels: list[Call], *, other: bool) -> None:
        """Refuse what would have to be updated between the parts of one expression; `other`: there is more of it."""
        around = self.around
        if need.pause is not None or other or disturbs(around.presence.summaries, around.function, kernels, met):
            text = "one expression runs kernels that may write what it reads: make two statements of it"
            raise _incoherent(text, kernels[0].span)

    def touched(self, need: _Need, touch: PlaceTouch, stmt: Stmt | None, own: list[Call]) -> None:
        """Note an access; `own` are the calls of the program's functions in the same expression."""
        around, place, span = self.around, touch.place, touch.place.span
        moves = may_move(around.presence.summaries, around.function, own, place)
        if not is_repeatable(place, sure=touch.sure) or moves:
            need.everything(span, write=touch.write)
            return
        if touch.write and (stmt is None or not self.same_after(place, stmt)):
            need.everything(span, write=True)
            return
        address = Unary(span=span, type=Pointer(place.type), op="&", operand=place)
        mine = _Range(root_symbol(place), address, size_of(place.type, place), span)
        if touch.read or not touch.sure:
            need.before.append(mine)
        if touch.write:
            need.after.append(mine)

    def lent(self, need: _Need, one: Foreign, stmt: Stmt | None) -> None:
        span = one.address.span
        known = one.bytes is not None and all(is_repeatable(e, sure=False) for e in (one.address, one.bytes))
        if not known or one.bytes is None or (one.write and (stmt is None or not self.same_after(one.address, stmt))):
            need.everything(span, write=one.write)
            return
        mine = _Range(root_symbol(one.address), one.address, one.bytes, span)
        if one.read or not one.sure:
            need.before.append(mine)
        if one.write:
            need.after.append(mine)

    def same_after(self, place: Expr, stmt: Stmt) -> bool:
        """Whether an address has the same value behind the statement."""
        request = self.around.request
        done = effects(request.program, stmt, self.around.function, self.around.presence.summaries)
        named = {n.symbol for n in names(place)}
        declared = {d.symbol for d in stmt.declarations} if isinstance(stmt, DeclStmt) else set()
        if named & (done.direct_writes | declared):
            return False
        loads = loaded_for(place)
        return not loads or self.leaves(stmt, loads)

    def leaves(self, stmt: Stmt, loads: list[PlaceTouch]) -> bool:
        """Whether a statement changes none of what an address is loaded from: objects of other types are no part."""
        done = evaluated(stmt)
        known = [self.around.presence.summaries.library(call) for call in done.calls]
        if done.opaque or any(entry is None or entry.writes for entry in known) or not all(map(is_plain, done.calls)):
            return False
        written = {kind for touch in done.touches if touch.write for kind in element_kinds(touch.place.type)}
        needed = {kind for touch in loads for kind in element_kinds(touch.place.type)}
        return ANY_KIND not in written | needed and not written & needed

    # --- loops as one statement

    def unit(self, loop: Loop) -> _Need:
        """Return what a host loop without kernels needs."""
        need = _Need()
        done = evaluated(*_evaluated_in(loop))
        if any(isinstance(part, Verbatim) and part.control for part in walk(loop)):
            raise _incoherent("a jump", loop.span)
        met = [touch for touch in done.touches if self.meets(touch)]
        definitions = self.around.presence.summaries.definitions
        own = [call for call in done.calls if direct_call(call) in definitions]
        others = [call for call in done.calls if call not in own]
        lent: list[Foreign] = []
        for call in others:
            answer = foreign(self.around.presence, self.around.function, call, self.around.resident.short)
            if isinstance(answer, str):
                need.pause = call.span
                return need
            lent += answer
        if done.opaque:
            need.pause = done.opaque[0].span
            return need
        writes = any(touch.write for touch in met) or any(one.write for one in lent)
        if own or lent:
            if met or lent or any(self.touches_memory(call) for call in own):
                need.everything(loop.span, write=writes)
            return need
        if met and not self.as_sections(need, loop, met):
            need.everything(met[0].place.span, write=writes)
        return need

    def touches_memory(self, call: Call) -> bool:
        known = self.around.presence.summaries
        done = effects(known.program, call, self.around.function, known)
        return bool(done.element_reads or done.element_writes)

    def as_sections(self, need: _Need, loop: Loop, met: list[PlaceTouch]) -> bool:
        """Add the sections of what the loop touches; False where they are not known."""
        request, function = self.around.request, self.around.function
        answer = sections(
            request.program, function, (loop,), (loop,), request.poly, summaries=self.around.presence.summaries
        )
        if answer.assumptions or (answer.failures and any(_is_deep(touch.place) for touch in met)):
            return False
        found = {section.symbol: section for section in answer.sections}
        ranges: dict[Symbol, tuple[_Range, bool, bool]] = {}
        for touch in met:
            symbol = _base(touch.place)
            if symbol in answer.unbounded and isinstance(symbol.type, Pointer):
                if not self.as_block(need, loop, symbol, [t for t in met if _base(t.place) == symbol]):
                    return False
                continue
            section = found.get(symbol) if symbol is not None else None
            if symbol is None or section is None or symbol in ranges:
                if symbol is None or section is None:
                    return False
                continue
            bounds = binary(",", section.lower, section.upper)
            if not stable(request.program, function, bounds, (loop,), self.around.presence.summaries):
                return False
            if isinstance(symbol.type, Pointer) and not self.same_after(
                Name(span=loop.span, type=symbol.type, symbol=symbol), loop
            ):
                return False
            before = section.read or not section.covers
            ranges[symbol] = (_section_range(symbol, section.element, section.lower, section.upper, touch), before,
                              section.written)  # fmt: skip
        for mine, read, written in ranges.values():
            need.before += [mine] if read else []
            need.after += [mine] if written else []
        return True

    def as_block(self, need: _Need, loop: Loop, symbol: Symbol, met: list[PlaceTouch]) -> bool:
        """Add the block of memory in which the loop touches unknown elements; False where the pointer moves."""
        pointer = Name(span=loop.span, type=symbol.type, symbol=symbol)
        request, known = self.around.request, self.around.presence.summaries
        if not stable(request.program, self.around.function, pointer, (loop,), known):
            return False
        if not self.same_after(pointer, loop):
            return False
        block = _Range(symbol, pointer, None, met[0].place.span)
        need.before.append(block)
        need.after += [block] if any(touch.write for touch in met) else []
        return True


def _is_last(touch: PlaceTouch, stmt: Stmt | None) -> bool:
    """Whether the access is the assignment that a statement is, which happens after all that it evaluates."""
    expr = peel(stmt.expr) if isinstance(stmt, ExprStmt) else None
    return isinstance(expr, Assign) and peel(expr.target) is touch.place


def _if_guards_fail(home: Home, then: Stmt) -> Stmt:
    span = home.scope[0].span
    condition = tested(home.guards)
    assert condition is not None
    fails = Unary(span=span, type=INT, op="!", operand=condition)
    return If(span=span, condition=fails, then=then, other=None)


def _section_range(symbol: Symbol, element: Type, lower: Expr, upper: Expr, touch: PlaceTouch) -> _Range:
    pointer = Symbol(f"{symbol.name}_gpu", f"device:{symbol.key}", Pointer(element), "device", symbol.span)
    buffer = Buffer(pointer, symbol, lower, upper, (), cell=False)
    span = touch.place.span
    return _Range(symbol, host_address(buffer, span), section_bytes(buffer), span)


def _is_deep(place: Expr) -> bool:
    """Whether `place` is reached through a pointer that is not a plain variable."""
    while isinstance(place := peel(place), Index | Member | Unary):
        inner = peel(place.operand if isinstance(place, Unary) else place.base)
        if isinstance(inner.type, Pointer) and not isinstance(inner, Name):
            return True
        place = inner
    return False


def _base(place: Expr) -> Symbol | None:
    """Return the array or pointer of which `place` is an element, named directly."""
    place = peel(place)
    while isinstance(place, Index):
        place = peel(place.base)
    if isinstance(place, Unary) and place.op == "*":
        place = peel(place.operand)
    return place.symbol if isinstance(place, Name) and isinstance(place.symbol.type, Array | Pointer) else None


def _evaluated_in(loop: Loop) -> Iterator[Stmt | Expr]:
    """Yield everything that the loop evaluates."""
    for part in walk(loop):
        match part:
            case For():
                yield part.lower
                yield part.bound
            case While():
                yield from (e for e in (part.condition, part.advance) if e is not None)
            case If():
                yield part.condition
            case Switch():
                yield part.value
            case ExprStmt() | DeclStmt() | Return() | Verbatim():
                yield part
            case _:
                pass


def _continues(body: Stmt) -> Iterator[Continue]:
    """Yield the `continue` statements of the loop with this body."""
    if isinstance(body, Continue):
        yield body
    if not isinstance(body, For | While):
        for run in statement_runs(body):
            for stmt in run:
                yield from _continues(stmt)


def _is_parallel(run: tuple[Stmt, ...], first: Stmt, stmt: Stmt) -> bool:
    start = next(i for i, s in enumerate(run) if s is first)
    between = (s for s in run[start:] if isinstance(s, Pragma))
    return any("omp" in pragma.text.split()[:3] for pragma in between if pragma.span.start < stmt.span.start)


def _update(range: _Range, *, to_device: bool) -> Update:
    return Update(
        span=range.cause, to_device=to_device, variable=range.variable, address=range.address, bytes=range.bytes,
        cause=range.cause, block=range.address is not None and range.bytes is None,
    )  # fmt: skip


def _distinct(ranges: list[_Range]) -> list[_Range]:
    """Return the ranges without repetitions; everything makes the others needless."""
    whole = next((r for r in ranges if r.address is None), None)
    if whole is not None:
        return [whole]
    kept: list[_Range] = []
    for new in ranges:
        if not any(_equal(old, new) for old in kept):
            kept.append(new)
    return kept


def _equal(a: _Range, b: _Range) -> bool:
    if a.address is None or b.address is None or not same(a.address, b.address):
        return a.address is b.address
    return a.bytes is b.bytes if a.bytes is None or b.bytes is None else same(a.bytes, b.bytes)


def _incoherent(text: str, span: Span) -> IncoherentError:
    return IncoherentError(Reason("POR018", text, span))
