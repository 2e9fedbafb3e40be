"""The needs of host code inside a data region: which bytes must be valid on the host before it runs, which must be sent
to the device after it.

    u[i] = v[(int)w[1]] + 1.0      before: &w[1], &v[(int)w[1]]          after: &u[i]
    observe(u)                     a suspension: nothing is kept while it runs, since nobody knows what it does

Invariant: every present byte that the code reads stands in `before`, every one that it may write in `after`; a write
that may leave a part of its range as it was stands in both. A range is named by expressions that have the same value
where they are asked for; what cannot be named so is everything that is present.
"""

from __future__ import annotations

from msgspec import Struct, field

from warpsmith.base.source import Span
from warpsmith.base.verdict import Reason
from warpsmith.offload.fragments import OffloadRegion, OffloadRequest
from warpsmith.offload.memory.disturbance import disturbs, may_move
from warpsmith.offload.memory.foreign import Foreign, foreign, size_of
from warpsmith.offload.memory.places import (
    Evaluated,
    PlaceAccess,
    evaluate_expressions,
    find_loads_for,
    find_names_for,
    is_repeatable,
)
from warpsmith.offload.memory.presence import ANY_KIND, Presence, Resident, element_kinds
from warpsmith.poly.effects.effects import effects
from warpsmith.poly.effects.library import is_plain
from warpsmith.poly.pointers.accesses import direct_call
from warpsmith.tree.containers import is_held_by_container
from warpsmith.tree.nodes import Assign, Call, DeclStmt, Expr, ExprStmt, Function, Name, Stmt, Unary, Verbatim
from warpsmith.tree.types import Array, Pointer, Symbol
from warpsmith.tree.walk import names, peel, root_symbol

__all__ = ["HostNeeds", "IncoherentError", "MemoryRange", "Need", "Surroundings", "incoherent"]


class IncoherentError(Exception):
    """Host code in a data region that no update can serve; `reason` names it."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason.text)
        self.reason = reason


def incoherent(text: str, span: Span) -> IncoherentError:
    """Return the error that says why no update can serve the code at `span`."""
    return IncoherentError(Reason("POR018", text, span))


class Surroundings(Struct, frozen=True):
    """What is known of one function whose statements run in a data region. `device`: the functions that lead to a
    kernel; `objects`: objects may be made and destroyed in the data region: their memory is watched, and an exception
    ends it."""

    request: OffloadRequest
    presence: Presence
    resident: Resident
    offload_regions: tuple[OffloadRegion, ...]
    device: frozenset[Symbol]
    objects: bool = False

    @property
    def function(self) -> Function:
        """The function as it is before its offload regions are rewritten."""
        return self.request.facts.function


class MemoryRange(Struct, frozen=True):
    """Memory that is named by an address; None for both: everything present; None for `bytes` alone: the block of
    memory that holds the address."""

    variable: Symbol | None
    address: Expr | None
    bytes: Expr | None
    cause: Span


class Need(Struct):
    """What must be valid on the host before, what must be sent to the device after, and whether all is in a
    suspension."""

    before: list[MemoryRange] = field(default_factory=list)
    after: list[MemoryRange] = field(default_factory=list)
    suspended: Span | None = None

    def everything(self, cause: Span, *, write: bool) -> None:
        """Note that all that is present may be read, and written."""
        self.before.append(MemoryRange(None, None, None, cause))
        if write:
            self.after.append(MemoryRange(None, None, None, cause))


class HostNeeds(Struct, frozen=True):
    """Answers for the host code of one function."""

    around: Surroundings

    def header(self, *values: Stmt | Expr | None) -> Need:
        """Return what a condition needs: nothing can stand behind it, so that it must not write."""
        done = evaluate_expressions(*values, objects=self.around.objects)
        for access in done.accesses:
            if access.write and self.meets(access):
                raise incoherent("a condition writes memory that kernels use", access.place.span)
        need = self.need(done, None)
        if need.after or need.suspended:
            span = need.suspended or need.after[0].cause
            raise incoherent("a condition calls what may write, or free, memory that kernels use", span)
        return need

    def values(self, offload_region: OffloadRegion) -> Need:
        """Return what the host evaluates for an offload region: sizes, conditions, the scalars that kernels are
        given."""
        need = Need()
        symbols = {use.symbol for draft in offload_region.drafts for use in draft.uses if use.kind == "value"}
        exprs = [e for b in offload_region.buffers for e in (b.lower, b.upper)]
        exprs += [g.condition for g in offload_region.guards if g.condition is not None]
        symbols |= {n.symbol for expr in exprs for n in names(expr)}
        span = offload_region.scope[0].span
        for symbol in sorted(symbols, key=lambda s: s.key):
            place = Name(span=span, type=symbol.type, symbol=symbol)
            access = PlaceAccess(place, True, False, True, None)
            if not isinstance(symbol.type, Array) and self.meets(access):
                self.note_access(need, access, None, [])
        return need

    def meets(self, access: PlaceAccess) -> bool:
        """Whether an access may be one to present memory, whose host copy may be older where it is read."""
        around = self.around
        if is_held_by_container(access.place):
            return False  # no kernel moves a vector's elements, or counts them
        if not access.write and not around.presence.is_written(access.place.type):
            return False
        return around.presence.may_meet(around.function, access.place, around.resident.absent)

    def need(self, done: Evaluated, stmt: Stmt | None) -> Need:
        """Return what evaluating something needs; `stmt` is the statement, None for a condition."""
        around = self.around
        need = Need()
        met = [access for access in done.accesses if self.meets(access)]
        kernels = [call for call in done.calls if direct_call(call) in around.device]
        own = [call for call in done.calls if direct_call(call) in around.presence.summaries.definitions]
        for node in done.opaque:
            if isinstance(node, Verbatim) and node.control:
                raise incoherent(f"a jump ({node.reason})", node.span)
            need.suspended = node.span
        accessed = self.foreign(need, [call for call in done.calls if call not in own])
        early = [t for t in met if t.write and not _is_last(t, stmt)]
        if kernels:
            self.beside_kernels(need, met, kernels, other=bool(early or accessed or done.copies))
        if own and early:
            need.everything(early[0].place.span, write=True)
        for access in met:
            self.note_access(need, access, stmt, own)
        for one in accessed:
            self.note_lent(need, one, stmt)
        for pointer in done.copies:
            self.note_copy(need, pointer, own)
        return need

    def foreign(self, need: Need, calls: list[Call]) -> list[Foreign]:
        """Return what functions of the library touch; a suspension where that cannot be said of one of them."""
        accessed: list[Foreign] = []
        for call in calls:
            answer = foreign(self.around.presence, self.around.function, call, self.around.resident.absent)
            if isinstance(answer, str):
                need.suspended = call.span
            else:
                accessed += answer
        return accessed

    def beside_kernels(self, need: Need, met: list[PlaceAccess], kernels: list[Call], *, other: bool) -> None:
        """Refuse what would have to be updated between the parts of one expression; `other`: there is more of it."""
        around = self.around
        if need.suspended is not None or other or disturbs(around.presence.summaries, around.function, kernels, met):
            text = "one expression runs kernels that may write what it reads: make two statements of it"
            raise incoherent(text, kernels[0].span)

    def note_access(self, need: Need, access: PlaceAccess, stmt: Stmt | None, own: list[Call]) -> None:
        """Note an access; `own` are the calls of the program's functions in the same expression."""
        around, place, span = self.around, access.place, access.place.span
        # a call's own arguments are read before it runs
        other = [call for call in own if access.write or call is not access.within]
        moves = may_move(around.presence.summaries, around.function, other, place)
        if not is_repeatable(place, sure=access.sure) or moves:
            need.everything(span, write=access.write)
            return
        if access.write and (stmt is None or not self.same_after(place, stmt, find_names_for(place))):
            need.everything(span, write=True)
            return
        address = Unary(span=span, type=Pointer(place.type), op="&", operand=place)
        mine = MemoryRange(root_symbol(place), address, size_of(place.type, place), span)
        if access.read or not access.sure:
            need.before.append(mine)
        if access.write:
            need.after.append(mine)

    def note_lent(self, need: Need, one: Foreign, stmt: Stmt | None) -> None:
        """Note the memory that a function of the library is given."""
        span = one.address.span
        known = one.bytes is not None and all(is_repeatable(e, sure=False) for e in (one.address, one.bytes))
        if not known or one.bytes is None or (one.write and (stmt is None or not self.same_after(one.address, stmt))):
            need.everything(span, write=one.write)
            return
        mine = MemoryRange(root_symbol(one.address), one.address, one.bytes, span)
        if one.read or not one.sure:
            need.before.append(mine)
        if one.write:
            need.after.append(mine)

    def note_copy(self, need: Need, pointer: Expr, own: list[Call]) -> None:
        """Note the block of memory, or the array, that an object is copied from."""
        around = self.around
        if isinstance(pointer.type, Array):
            access = PlaceAccess(pointer, True, False, True, None)
            if self.meets(access):
                self.note_access(need, access, None, own)
            return
        element = pointer.type.to if isinstance(pointer.type, Pointer) else pointer.type
        if not around.presence.is_written(element):
            return
        if own or not is_repeatable(pointer, sure=True):
            need.everything(pointer.span, write=False)
            return
        need.before.append(MemoryRange(root_symbol(pointer), pointer, None, pointer.span))

    def same_after(self, place: Expr, stmt: Stmt, values: frozenset[Symbol] | None = None) -> bool:
        """Whether an address has the same value behind the statement. `values`: the variables whose values it is made
        from, where those are not all that it names."""
        request = self.around.request
        done = effects(request.program, stmt, self.around.function, self.around.presence.summaries)
        named = {n.symbol for n in names(place)}
        declared = {d.symbol for d in stmt.declarations} if isinstance(stmt, DeclStmt) else set()
        if (named if values is None else values) & done.direct_writes or named & declared:
            return False
        loads = find_loads_for(place)
        return not loads or self.leaves(stmt, loads)

    def leaves(self, stmt: Stmt, loads: list[PlaceAccess]) -> bool:
        """Whether a statement changes none of what an address is loaded from: objects of other types are no part."""
        done = evaluate_expressions(stmt)
        known = [self.around.presence.summaries.library(call) for call in done.calls]
        if done.opaque or any(entry is None or entry.writes for entry in known) or not all(map(is_plain, done.calls)):
            return False
        written = {kind for access in done.accesses if access.write for kind in element_kinds(access.place.type)}
        needed = {kind for access in loads for kind in element_kinds(access.place.type)}
        return ANY_KIND not in written | needed and not written & needed


def _is_last(access: PlaceAccess, stmt: Stmt | None) -> bool:
    """Whether the access is the assignment that a statement is, which happens after all that it evaluates."""
    expr = peel(stmt.expr) if isinstance(stmt, ExprStmt) else None
    return isinstance(expr, Assign) and peel(expr.target) is access.place
