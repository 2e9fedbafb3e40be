"""What statements of the host do to the copies that a walk keeps (walk.py): reads and writes of host copies, memory
that is freed, variables in bounds that get another value.

    s += b[i];    b stale on the host: found        b[i] = 0;    the device copy of b, if there is one, is stale
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from warpsmith.base.source import Span
from warpsmith.poly.analyze import Facts
from warpsmith.poly.effects.effects import effects
from warpsmith.poly.isl.polynomial import Polynomial
from warpsmith.poly.mapped.accessed import Touched, certainly_reads, certainly_writes, touched_by
from warpsmith.poly.mapped.copies import CopyPair, Stale
from warpsmith.poly.mapped.extents import Extent
from warpsmith.poly.mapped.objects import MappedObject, Objects
from warpsmith.poly.mapped.unset import find_possibly_set, made_unset
from warpsmith.poly.mapped.ways import Jumps, Way
from warpsmith.poly.mapped.words import Words
from warpsmith.poly.pointers.accesses import direct_call
from warpsmith.tree.nodes import (
    Assign,
    Call,
    Expr,
    Function,
    Index,
    Member,
    Name,
    Node,
    Stmt,
    Unary,
)
from warpsmith.tree.types import Scalar, Symbol
from warpsmith.tree.walk import names, walk

__all__ = ["HostSide", "InlinedCall", "faults", "hits", "is_fixed", "written_over"]

_RELEASING = frozenset({"free", "cudaFree", "realloc", "aligned_free", "_mm_free"})
State = Mapping[MappedObject, CopyPair]


class InlinedCall(Struct):
    """One call: the function, the values of its variables in the caller's terms, and what its names stand for."""

    function: Function
    values: dict[Symbol, Polynomial]
    objects: Objects
    visible: dict[str, Symbol]
    depth: int = 0


class HostSide(Struct):
    """The state of one walk, and what the host does to it. `state`: the objects that directives or constructs have met,
    None behind a return; `has`: the functions with directives, calls included; `resident`: variables that are on the
    device for good; `certain`: the statement at hand certainly runs; `jumps`, `returned`: the ways out of the loops,
    switches and functions that are under way."""

    facts: Facts
    has: frozenset[Symbol]
    resident: frozenset[str]
    state: dict[MappedObject, CopyPair] | None = field(default_factory=dict)
    words: Words = field(default_factory=Words)
    certain: bool = True
    entered: list[Symbol] = field(default_factory=list)
    jumps: list[Jumps] = field(default_factory=list)
    returned: list[list[Way]] = field(default_factory=list)

    def renew(self, place: MappedObject, span: Span) -> None:
        """A new object has no device copy; an old one of that name that has is lost."""
        assert self.state is not None
        old = self.state.pop(place, None)
        if old is not None and old.count and place.name not in self.resident:
            self.words.early(old.held or span, place.name, span, old.clause, sure=False)

    def begin_unset(self, frame: InlinedCall, stmt: Stmt) -> None:
        """Take in what memory a statement makes that has no values yet."""
        if self.state is None:
            return
        for symbol in made_unset(frame.function, stmt):
            for place in frame.objects.places(symbol):
                self.state[place] = CopyPair(host=frozenset({Stale("unset", symbol.name, stmt.span, None)}))

    def end_unset(self, frame: InlinedCall, node: Node) -> None:
        """What a part of the host's text may come to may have values from here on."""
        if not self.state:
            return
        for symbol in set(find_possibly_set(node, self.has)):
            for place in frame.objects.places(symbol) & self.state.keys():
                copies = self.state[place]
                self.state[place] = replace(copies, host=frozenset(s for s in copies.host if s.cause != "unset"))

    def touch_host(self, frame: InlinedCall, stmt: Stmt) -> None:
        """Do what a statement of the host does."""
        self.end_unset(frame, stmt)
        if not self.state:
            self.forget_written(frame, stmt, ())
            return
        self._released(frame, stmt)
        known = set(self.state)
        found = touched_by(
            self.facts, frame.function, stmt, frame.values, lambda s: bool(known & frame.objects.places(s))
        )
        for one in found:
            places = frame.objects.places(one.symbol) & known
            extent = one.extent if frame.objects.plain(one.symbol) else None
            for place in places:
                alone = len(frame.objects.places(one.symbol)) == 1
                self._host_access(frame, stmt, one, place, extent if alone else None, alone=alone)
        self.forget_written(frame, stmt, ())

    def _host_access(
        self, frame: InlinedCall, stmt: Stmt, one: Touched, place: MappedObject, extent: Extent | None, *, alone: bool
    ) -> None:
        assert self.state is not None
        copies = self.state[place]
        if copies.running is not None and (one.read or one.written):
            self.words.running(copies.running, one.symbol.name, stmt.span)
        if one.read:
            for stale in faults(copies.host):
                if hits(one, stale, extent):
                    sure = alone and self.surely_reads(frame, stmt, one, stale, extent)
                    self.words.host_reads(stale, one.symbol.name, stmt.span, copies, sure=sure)
        if one.written:
            covered = extent if one.covers and alone else None
            scalar = one.covers and alone and isinstance(one.symbol.type, Scalar)
            host = frozenset() if scalar else written_over(copies.host, extent, covered)
            device = copies.device
            if copies.count:
                sure = alone and self.surely_writes(frame, stmt, one)
                device |= {Stale("host", one.symbol.name, stmt.span, extent, sure=sure, inside=copies.part)}
            self.state[place] = replace(copies, host=host, device=device)

    def surely_reads(self, frame: InlinedCall, stmt: Stmt, one: Touched, stale: Stale, extent: Extent | None) -> bool:
        """Whether a statement certainly reads what is stale: one element of it where all that it may read is stale,
        else it reads all of its extent."""
        scalar = isinstance(one.symbol.type, Scalar)
        meets = stale.sure if scalar else stale.meets(extent)
        whole = not scalar and not stale.meets(extent, whole=False)
        return meets and self.certain and certainly_reads(self.facts, frame.function, stmt, one.symbol, whole=whole)

    def surely_writes(self, frame: InlinedCall, stmt: Stmt, one: Touched) -> bool:
        """Whether a statement certainly writes all of what it is said to write."""
        scalar = isinstance(one.symbol.type, Scalar)
        return self.certain and (
            certainly_writes(self.facts, frame.function, stmt, one.symbol) if scalar else one.covers
        )

    def _released(self, frame: InlinedCall, stmt: Stmt) -> None:
        for call in walk(stmt):
            if isinstance(call, Call) and isinstance(call.function, Name) and call.function.symbol.name in _RELEASING:
                for argument in call.arguments[:1]:
                    self._release(frame, argument, stmt)
        if stmt.span.text.lstrip().startswith("delete"):
            self._release(frame, stmt, stmt)

    def _release(self, frame: InlinedCall, node: Node, stmt: Stmt) -> None:
        assert self.state is not None
        for name in names(node):
            places = frame.objects.places(name.symbol)
            for place in places & self.state.keys():
                copies = self.state[place]
                if copies.count:
                    self.words.early(copies.held or stmt.span, name.symbol.name, stmt.span, copies.clause,
                                     sure=self.certain and len(places) == 1)  # fmt: skip
                self.state[place] = replace(copies, host=frozenset())

    def read_expressions(self, frame: InlinedCall, stmt: Stmt, expressions: tuple[Expr, ...]) -> None:
        """What a loop or branch around directives reads in its own head."""
        if not self.state:
            return
        for expr in expressions:
            for name in names(expr):
                for place in frame.objects.places(name.symbol) & self.state.keys():
                    copies = self.state[place]
                    for stale in faults(copies.host):
                        if isinstance(name.symbol.type, Scalar) or stale.extent is None or expr is not name:
                            self.words.host_reads(stale, name.symbol.name, expr.span, copies, sure=False)

    def touch_beside_calls(self, frame: InlinedCall, stmt: Stmt) -> None:
        """What a statement does itself on the host, where it calls functions with directives, which are followed."""
        self.end_unset(frame, stmt)
        reads = (node for node in walk(stmt) if isinstance(node, Expr) and _is_value(node))
        self.read_expressions(frame, stmt, tuple(reads))
        for node in walk(stmt):
            for name in names(node.target) if isinstance(node, Assign) and self.state else ():
                self._perhaps_written(frame, name.symbol, stmt.span)
            if isinstance(node, Call) and self.state and direct_call(node) not in self.has:
                self._call_beside(frame, node, stmt)

    def _call_beside(self, frame: InlinedCall, call: Call, stmt: Stmt) -> None:
        """What a function without directives does, which is called beside one that has some."""
        assert self.state is not None
        done = effects(self.facts.program, call, frame.function, self.facts.summaries)
        for symbol in sorted(done.element_reads | done.direct_reads, key=lambda symbol: symbol.key):
            for place in frame.objects.places(symbol) & self.state.keys():
                copies = self.state[place]
                for stale in faults(copies.host):
                    self.words.host_reads(stale, symbol.name, stmt.span, copies, sure=False)
        for symbol in done.element_writes | done.direct_writes:
            self._perhaps_written(frame, symbol, stmt.span)

    def _perhaps_written(self, frame: InlinedCall, symbol: Symbol, span: Span) -> None:
        assert self.state is not None
        for place in frame.objects.places(symbol) & self.state.keys():
            copies = self.state[place]
            if copies.count:
                late = Stale("host", symbol.name, span, None, sure=False)
                self.state[place] = replace(copies, device=copies.device | {late})

    # --- variables in bounds

    def forget_written(self, frame: InlinedCall, stmt: Stmt, parts: tuple[Expr, ...]) -> None:
        """Bounds that name a variable which is given another value say nothing any more."""
        for node in parts or (stmt,):
            done = effects(self.facts.program, node, frame.function, self.facts.summaries)
            for symbol in done.direct_writes:
                self.forget(symbol)

    def forget(self, symbol: Symbol) -> None:
        """Take in that a variable has another value from here on."""
        if self.state is None or is_fixed(symbol):
            return
        for place, copies in self.state.items():
            self.state[place] = replace(
                copies,
                part=_keep(copies.part, symbol),
                host=frozenset(_keep_stale(one, symbol) for one in copies.host),
                device=frozenset(_keep_stale(one, symbol) for one in copies.device),
            )


def is_fixed(symbol: Symbol) -> bool:
    """Whether a name has one value for good."""
    constant = isinstance(symbol.type, Scalar) and symbol.type.const
    return constant or symbol.storage in ("function", "enumerator")


def _is_value(expr: Expr) -> bool:
    """Whether an expression is an element, a member, or a variable that is a number."""
    return isinstance(expr, Index | Member) or (
        isinstance(expr.type, Scalar) and (isinstance(expr, Name) or (isinstance(expr, Unary) and expr.op == "*"))
    )


def hits(one: Touched, stale: Stale, extent: Extent | None) -> bool:
    """Whether an access may be to stale elements that matter."""
    if stale.unread or stale.cause == "unset":
        return False
    return isinstance(one.symbol.type, Scalar) or not stale.misses(extent)


def written_over(stale: frozenset[Stale], extent: Extent | None, covered: Extent | None) -> frozenset[Stale]:
    """Return what is still stale after a write of elements of `extent`; `covered`: certainly of all of these."""
    if covered is None:
        return frozenset(one.perhaps_without(extent) for one in stale)
    return frozenset(left for one in stale if (left := one.without(covered)) is not None)


def faults(stale: frozenset[Stale]) -> list[Stale]:
    """Return what a copy lacks that the other one has, in the order of the text."""
    missed = (one for one in stale if one.cause != "unset")
    return sorted(missed, key=lambda one: (one.span.start, one.cause))


def _keep(extent: Extent | None, symbol: Symbol) -> Extent | None:
    if extent is None:
        return None
    return None if any(symbol.key in name for name in extent.lower.atoms() | extent.upper.atoms()) else extent


def _keep_stale(stale: Stale, symbol: Symbol) -> Stale:
    extent, inside = _keep(stale.extent, symbol), _keep(stale.inside, symbol)
    written = tuple(part for part in stale.written if _keep(part, symbol) is not None)
    kept = (extent, inside, written) == (stale.extent, stale.inside, stale.written)
    return stale if kept else replace(stale, extent=extent, inside=inside, written=written)
