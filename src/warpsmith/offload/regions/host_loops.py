"""A host loop without kernels is one statement: what it touches is known by its sections (poly), before it runs.

    for (i = 1; i < n; i++) u[i] = 0.5 * u[i - 1];      before: u[0 .. n)      after: u[1 .. n)
    for (i …) if (v[index[i]] < 0) break;               before: the whole block of memory that holds v

Invariant: as in needs.py. Where sections cannot be computed, or rest on an assumption, it is everything that is
present.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from warpsmith.loops.versions import stable
from warpsmith.offload.expressions import binary
from warpsmith.offload.memory.places import PlaceAccess, evaluate_expressions
from warpsmith.offload.names import on_device
from warpsmith.offload.plan import DeviceBuffer
from warpsmith.offload.regions.needs import HostNeeds, MemoryRange, Need, Surroundings, incoherent
from warpsmith.offload.transfers.transfers import host_address, section_bytes
from warpsmith.poly.effects.effects import effects
from warpsmith.poly.pointers.accesses import direct_call
from warpsmith.poly.regions.sections import covered_sections, sections
from warpsmith.tree.nodes import (
    Call,
    DeclStmt,
    Expr,
    ExprStmt,
    For,
    If,
    Index,
    Loop,
    Member,
    Name,
    Return,
    Stmt,
    Switch,
    Unary,
    Verbatim,
    While,
)
from warpsmith.tree.types import Array, Pointer, Symbol, Type
from warpsmith.tree.walk import peel, walk

__all__ = ["HostLoops"]


class HostLoops(Struct, frozen=True):
    """Answers for the loops of one function."""

    around: Surroundings
    needs: HostNeeds

    def unit(self, loop: Loop) -> Need:
        """Return what a host loop without kernels needs."""
        need = Need()
        done = evaluate_expressions(*_find_evaluated_in(loop), objects=self.around.objects)
        if any(isinstance(part, Verbatim) and part.control for part in walk(loop)):
            raise incoherent("a jump", loop.span)
        met = [access for access in done.accesses if self.needs.meets(access)]
        definitions = self.around.presence.summaries.definitions
        own = [call for call in done.calls if direct_call(call) in definitions]
        others = [call for call in done.calls if call not in own]
        lent = self.needs.foreign(need, others)
        if done.opaque:
            need.suspended = done.opaque[0].span
        if need.suspended is not None:
            return need
        writes = any(access.write for access in met) or any(one.write for one in lent)
        if own or lent or done.copies:
            if met or lent or done.copies or any(self.accesses_memory(call) for call in own):
                need.everything(loop.span, write=writes)
            return need
        if met and not self.as_sections(need, loop, met):
            need.everything(met[0].place.span, write=writes)
        return need

    def accesses_memory(self, call: Call) -> bool:
        """Whether a function of the program touches any memory but its own variables."""
        known = self.around.presence.summaries
        done = effects(known.program, call, self.around.function, known)
        return bool(done.element_reads or done.element_writes)

    def as_sections(self, need: Need, loop: Loop, met: list[PlaceAccess]) -> bool:
        """Add the sections of what the loop touches; False where they are not known."""
        request, function = self.around.request, self.around.function
        known = self.around.presence.summaries
        question = (request.program, function, (loop,), (loop,), request.poly)
        answer = sections(*question, summaries=known)
        if answer.assumptions or (answer.failures and any(_is_deep(access.place) for access in met)):
            return False
        found = {section.symbol: section for section in answer.sections}
        ranges: dict[Symbol, tuple[MemoryRange, bool, bool]] = {}
        for access in met:
            symbol = _base(access.place)
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
            if not stable(request.program, function, bounds, (loop,), known):
                return False
            if isinstance(symbol.type, Pointer) and not self.needs.same_after(
                Name(span=loop.span, type=symbol.type, symbol=symbol), loop
            ):
                return False
            renewed = not section.read and any(
                s.covers for s in covered_sections(*question, summaries=known, wanted=symbol).sections
            )
            bytes = _section_range(symbol, section.element, section.lower, section.upper, access)
            ranges[symbol] = (bytes, not renewed, section.written)
        for mine, read, written in ranges.values():
            need.before += [mine] if read else []
            need.after += [mine] if written else []
        return True

    def as_block(self, need: Need, loop: Loop, symbol: Symbol, met: list[PlaceAccess]) -> bool:
        """Add the block of memory in which the loop touches unknown elements; False where the pointer moves."""
        pointer = Name(span=loop.span, type=symbol.type, symbol=symbol)
        request, known = self.around.request, self.around.presence.summaries
        if not stable(request.program, self.around.function, pointer, (loop,), known):
            return False
        if not self.needs.same_after(pointer, loop):
            return False
        block = MemoryRange(symbol, pointer, None, met[0].place.span)
        need.before.append(block)
        need.after += [block] if any(access.write for access in met) else []
        return True


def _section_range(symbol: Symbol, element: Type, lower: Expr, upper: Expr, access: PlaceAccess) -> MemoryRange:
    pointer = Symbol(on_device(symbol.name), f"device:{symbol.key}", Pointer(element), "device", symbol.span)
    buffer = DeviceBuffer(pointer, symbol, lower, upper, (), cell=False)
    span = access.place.span
    return MemoryRange(symbol, host_address(buffer, span), section_bytes(buffer), span)


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


def _find_evaluated_in(loop: Loop) -> Iterator[Stmt | Expr]:
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
