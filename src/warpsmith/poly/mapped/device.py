"""What data directives and constructs on a device do to the copies that a walk keeps (walk.py).

map(to: a[0:n])      a device copy, right where the host's is
b[i] = …             in a construct: the host's copy is stale, the device's right where all of it is written
"""

from __future__ import annotations

from functools import partial

from msgspec.structs import replace

from warpsmith.base.source import Span
from warpsmith.poly.effects.effects import effects, find_captured
from warpsmith.poly.mapped.accessed import (
    Touched,
    certainly_touches,
    needs_old,
    touched_by,
    uses_elements_only,
    whole_extent,
)
from warpsmith.poly.mapped.clauses import MappedItem, construct_of, device_addresses, mappings, own_names, unread
from warpsmith.poly.mapped.copies import Cause, CopyPair, Stale, transferred
from warpsmith.poly.mapped.device_memory import DeviceMemory
from warpsmith.poly.mapped.extents import Extent, below, named_extent
from warpsmith.poly.mapped.host import InlinedCall, faults, hits, is_fixed, written_over
from warpsmith.poly.mapped.objects import MappedObject
from warpsmith.poly.mapped.unset import is_unset
from warpsmith.poly.mapped.values import size_named
from warpsmith.poly.mapped.ways import jumps_out
from warpsmith.tree.nodes import (
    For,
    Pragma,
    Stmt,
    Verbatim,
    VerbatimExpr,
)
from warpsmith.tree.text.directives import Directive
from warpsmith.tree.types import Pointer, Record, Scalar, Symbol
from warpsmith.tree.walk import names, walk

__all__ = ["DeviceSide"]

Entered = list[tuple[MappedItem, Symbol, MappedObject]]


class DeviceSide(DeviceMemory):
    """A walk's state, with what directives do to it."""

    # --- directives

    def standalone(self, frame: InlinedCall, pragma: Pragma, directive: Directive) -> None:
        """Do what a directive does that says nothing of the statement behind it."""
        if self.state is None:
            return
        kind = construct_of(directive)
        self._doubt(pragma, directive)
        if kind == "wait":
            for place, copies in self.state.items():
                self.state[place] = replace(copies, running=None)
            return
        for one in mappings(directive):
            symbol = self._find(frame, one.item.name)
            if symbol is None:
                self.words.doubt(pragma.span, one.item.name, f"what {one.clause.text} names is not known")
                continue
            for place in self._places(frame, symbol, one, pragma):
                if kind == "update":
                    self._update(frame, one, symbol, place, pragma)
                elif kind == "enter":
                    self._come(frame, one, symbol, place, pragma)
                else:
                    self._go(frame, one, symbol, place, pragma)
                if directive.has("nowait"):
                    self._run_on(place, pragma)

    def _doubt(self, pragma: Pragma, directive: Directive) -> None:
        for text in unread(directive):
            self.words.doubt(pragma.span, "", text)

    def _places(self, frame: InlinedCall, symbol: Symbol, one: MappedItem, pragma: Pragma) -> frozenset[MappedObject]:
        bare = isinstance(symbol.type, Pointer) and not one.item.section
        if bare and construct_of_pragma(pragma) not in ("update", "exit") and directive_family(pragma) == "omp":
            return frozenset()  # the pointer itself is mapped, not what it points to
        places = frame.objects.places(symbol)
        if len(places) != 1:
            self.words.doubt(
                pragma.span, symbol.name, f"what {symbol.name} points to in {one.clause.text} is not known"
            )
        return places

    def _extent(self, frame: InlinedCall, one: MappedItem, symbol: Symbol) -> Extent | None:
        if isinstance(symbol.type, Scalar | Record) or not frame.objects.plain(symbol):
            return None
        find = partial(size_named, self.facts, frame.function, frame.visible)
        return named_extent(one.item.section, symbol.type, frame.values, find)

    def _find(self, frame: InlinedCall, name: str) -> Symbol | None:
        """Return what a name stands for: what is declared in a way that is not modelled is found by its uses."""
        if name in frame.visible:
            return frame.visible[name]
        used = {n.symbol for n in names(frame.function.body) if n.symbol.name == name}
        return used.pop() if len(used) == 1 else None

    def enter(self, frame: InlinedCall, pragma: Pragma, directive: Directive) -> Entered:
        """Let the data of a construct come to the device; return what came."""
        self._doubt(pragma, directive)
        found: Entered = []
        for one in mappings(directive):
            symbol = self._find(frame, one.item.name)
            if symbol is None:
                self.words.doubt(pragma.span, one.item.name, f"what {one.clause.text} names is not known")
                continue
            for place in self._places(frame, symbol, one, pragma):
                self._come(frame, one, symbol, place, pragma)
                found.append((one, symbol, place))
        return found

    def leave_unread(self, frame: InlinedCall, entered: Entered, body: Stmt) -> None:
        """Of what comes without values, nothing is missed in a data region that reads only what it has written."""
        for _, symbol, place in entered:
            copies = self.state.get(place) if self.state is not None else None
            if copies is None or copies.count != 1 or not any(one.cause == "nothing" for one in copies.device):
                continue
            if self._is_only_name(frame, symbol, place, body) and not needs_old(
                self.facts, frame.function, body, symbol
            ):
                self._mark(place, unread=True)

    def _mark(self, place: MappedObject, *, unread: bool) -> None:
        assert self.state is not None
        copies = self.state[place]
        device = frozenset(replace(one, unread=unread and one.cause == "nothing") for one in copies.device)
        host = frozenset(replace(one, unread=False) for one in copies.host)
        self.state[place] = replace(copies, device=device, host=host)

    def _is_only_name(self, frame: InlinedCall, symbol: Symbol, place: MappedObject, body: Stmt) -> bool:
        """Whether a statement reaches an object by the elements of one variable alone, and does not jump out."""
        if frame.objects.places(symbol) != {place} or jumps_out(body) or not uses_elements_only(body, symbol):
            return False
        done = effects(self.facts.program, body, frame.function, self.facts.summaries)
        others = (done.element_reads | done.element_writes) - {symbol}
        return symbol not in done.direct_writes and not any(place in frame.objects.places(s) for s in others)

    def exit(
        self,
        frame: InlinedCall,
        pragma: Pragma,
        directive: Directive,
        entered: Entered,
    ) -> None:
        """Let them go again."""
        for one, symbol, place in reversed(entered):
            self._go(frame, one, symbol, place, pragma)
            if self.state is not None and place in self.state:
                self._mark(place, unread=False)

    def _come(self, frame: InlinedCall, one: MappedItem, symbol: Symbol, place: MappedObject, pragma: Pragma) -> None:
        if self.state is None:
            return
        if place.of_device:
            self.words.other_memory(pragma.span, symbol.name, device=True, sure=False)
        copies = self.state.get(place, CopyPair())
        extent = self._extent(frame, one, symbol)
        if copies.count:
            if one.to and one.always:
                copies = replace(copies, device=transferred(copies.host, copies.device, extent))
            if extent is not None and copies.part is not None and below(copies.part.upper, extent.upper):
                self.words.larger(pragma.span, symbol.name, one.clause.text, copies, sure=self.certain)
            self.state[place] = replace(copies, count=copies.count + 1)
            return
        if one.needed:
            self.words.absent(pragma.span, symbol.name, pragma.span, sure=self.certain)
        cause: Cause = "unset" if is_unset(copies.host) else "nothing"
        empty = Stale(cause, symbol.name, pragma.span, extent, sure=True)
        device = copies.host if one.to else frozenset({empty})
        self.state[place] = replace(
            copies, count=1, part=extent, held=pragma.span, clause=one.clause.text, device=device, before=copies.host
        )

    def _go(self, frame: InlinedCall, one: MappedItem, symbol: Symbol, place: MappedObject, pragma: Pragma) -> None:
        if self.state is None:
            return
        copies = self.state.get(place, CopyPair())
        if not copies.count:
            return
        count = 0 if one.gone else copies.count - 1
        host = copies.host
        if one.back and (count == 0 or one.always):
            scalar = isinstance(symbol.type, Scalar)
            # of a region inside of another one, its own part comes back
            part = copies.part if count == 0 or copies.part == self._extent(frame, one, symbol) else None
            earlier = copies.host if part is None else copies.before & copies.host
            host = copies.device if scalar else transferred(copies.device, earlier, part)
        copies = replace(copies, count=count, host=host)
        self.state[place] = copies if count else replace(copies, device=frozenset(), part=None)

    def _update(self, frame: InlinedCall, one: MappedItem, symbol: Symbol, place: MappedObject, pragma: Pragma) -> None:
        assert self.state is not None
        copies = self.state.get(place, CopyPair())
        if not copies.count:
            self.words.absent_update(pragma.span, symbol.name, one.clause.text)
            return
        scalar = isinstance(symbol.type, Scalar)
        extent = self._extent(frame, one, symbol)
        if one.to:
            device = copies.host if scalar else transferred(copies.host, copies.device, extent)
            self.state[place] = replace(copies, device=device)
        else:
            host = copies.device if scalar else transferred(copies.device, copies.host, extent)
            self.state[place] = replace(copies, host=host)

    def _run_on(self, place: MappedObject, pragma: Pragma) -> None:
        if self.state is not None and place in self.state:
            self.state[place] = replace(self.state[place], running=pragma.span)

    # --- the device

    def compute(self, frame: InlinedCall, pragma: Pragma, directive: Directive, stmt: Stmt) -> None:
        """Do what a construct on the device does."""
        entered = self.enter(frame, pragma, directive)
        assert self.state is not None
        unknown = self._find_unknown(frame, stmt)
        if unknown is not None:
            text = f"what the construct in line {stmt.span.line} does is not known: {unknown[1]}"
            self.words.doubt(unknown[0], "", text)
            self.exit(frame, pragma, directive, entered)
            return
        explicit = {symbol for _, symbol, _ in entered}
        inner = [p.directive for p in walk(stmt) if isinstance(p, Pragma) and p.directive is not None]
        lists = (directive, *inner)
        own = frozenset().union(*(own_names(d) for d in lists))
        own |= {n.variable.name for n in walk(stmt) if isinstance(n, For)}
        reduced = frozenset(name for d in lists for name in d.list_variables("reduction", "lastprivate"))
        found = touched_by(
            self.facts, frame.function, stmt, frame.values, lambda s: s.name not in own and not is_fixed(s)
        )
        used: set[MappedObject] = set()
        for one in found:
            used |= frame.objects.places(one.symbol)
            if isinstance(one.symbol.type, Scalar):
                self._scalar(frame, stmt, directive, one, explicit=explicit, reduced=reduced)
            else:
                self._array(frame, stmt, directive, pragma, one)
        self.exit(frame, pragma, directive, entered)
        self.forget_written(frame, stmt, ())
        for place in used if directive.has("nowait") else ():
            self._run_on(place, pragma)

    def _find_unknown(self, frame: InlinedCall, stmt: Stmt) -> tuple[Span, str] | None:
        """Return where a construct does what is not modelled, and why."""
        opaque = next((n for n in walk(stmt) if isinstance(n, Verbatim | VerbatimExpr)), None)
        if opaque is not None:
            return opaque.span, opaque.reason
        done = effects(self.facts.program, stmt, frame.function, self.facts.summaries)
        if done.calls_unknown:
            return done.span or stmt.span, done.reason
        captured = find_captured(self.facts.program, frame.function, stmt, self.facts.summaries)
        return (stmt.span, f"a lambda that it calls has captured {captured[0].name}") if captured else None

    def _scalar(
        self,
        frame: InlinedCall,
        stmt: Stmt,
        directive: Directive,
        one: Touched,
        *,
        explicit: set[Symbol],
        reduced: frozenset[str],
    ) -> None:
        assert self.state is not None
        symbol = one.symbol
        place = next(iter(frame.objects.places(symbol)))
        shared = symbol in explicit or "tofrom" in directive.argument("defaultmap") or symbol.name in self.resident
        shared |= symbol.name in reduced and place in self.state and self.state[place].count > 0
        if shared and place in self.state and self.state[place].count:
            self._device_access(frame, stmt, one, place, None, alone=True)
            return
        copies = self.state.get(place, CopyPair())
        for stale in faults(copies.host) if one.read else ():
            self.words.host_reads(stale, symbol.name, stmt.span, copies, sure=stale.sure and self.certain)
        if one.written and symbol.name not in reduced and not shared:
            lost = Stale("device", symbol.name, stmt.span, None, sure=self.surely_writes(frame, stmt, one))
            self.state[place] = replace(copies, host=copies.host | {lost})

    def _array(self, frame: InlinedCall, stmt: Stmt, directive: Directive, pragma: Pragma, one: Touched) -> None:
        assert self.state is not None
        symbol = one.symbol
        places = frame.objects.places(symbol)
        plain = frame.objects.plain(symbol)
        for place in places:
            alone = len(places) == 1
            copies = self.state.get(place, CopyPair())
            if copies.running is not None and not directive.has("depend"):
                self.words.running(copies.running, symbol.name, stmt.span)
            if not copies.count:
                if isinstance(symbol.type, Pointer):
                    if self._is_own_memory(frame, directive, symbol, place, pragma):
                        continue
                    self.words.absent(
                        stmt.span, symbol.name, pragma.span, sure=alone and self.certain and not place.given
                    )
                elif copies.host and one.read:
                    for stale in faults(copies.host):
                        self.words.host_reads(stale, symbol.name, stmt.span, copies, sure=False)
                continue
            extent = one.extent if plain and alone else None
            if extent is not None or plain:
                self._check_part(frame, stmt, one, copies, extent)
            self._device_access(frame, stmt, one, place, extent, alone=alone)

    def _is_own_memory(
        self, frame: InlinedCall, directive: Directive, symbol: Symbol, place: MappedObject, pragma: Pragma
    ) -> bool:
        """Whether a pointer leads to the device's own memory, as a clause says, or may."""
        named = symbol.name in device_addresses(directive)
        if named and (directive.has("nowait") or not self.is_default(frame, directive.argument("device").strip())):
            text = f"when, or where, the construct works on {symbol.name} is not known"
            self.words.doubt(pragma.span, symbol.name, text)
        if place.of_device and not named:
            text = f"{symbol.name} leads to the device's memory, and no clause of the construct says so"
            self.words.doubt(pragma.span, symbol.name, text)
        elif named and not (place.of_device or place.of_host):
            text = f"whether {symbol.name} leads to the device's memory is not known: no call that allocates it is seen"
            self.words.doubt(pragma.span, symbol.name, text)
        return place.of_device or (named and not place.of_host)

    def _check_part(
        self, frame: InlinedCall, stmt: Stmt, one: Touched, copies: CopyPair, extent: Extent | None
    ) -> None:
        symbol, within = one.symbol, one.within
        if symbol.name in self.resident:
            return
        whole = whole_extent(self.facts, frame.function, symbol, stmt, frame.values)
        if copies.part is None or (whole is not None and copies.part.holds(whole)):
            return
        if extent is None:
            self.words.assumed(copies, symbol.name, stmt.span)
        elif not copies.part.holds(extent) and (within is None or not copies.part.holds(within)):
            short = below(copies.part.upper, extent.upper) or below(extent.lower, copies.part.lower)
            sure = short and self.certain and certainly_touches(self.facts, frame.function, stmt, symbol)
            self.words.short(copies, symbol.name, stmt.span, extent, sure=sure)

    def _device_access(
        self, frame: InlinedCall, stmt: Stmt, one: Touched, place: MappedObject, extent: Extent | None, *, alone: bool
    ) -> None:
        assert self.state is not None
        copies = self.state[place]
        scalar = isinstance(one.symbol.type, Scalar)
        if one.exposed:
            for stale in faults(copies.device):
                if hits(one, stale, extent):
                    sure = alone and self.surely_reads(frame, stmt, one, stale, extent)
                    self.words.device_reads(stale, one.symbol.name, stmt.span, copies, sure=sure)
        if one.written:
            covered = extent if one.covers and alone else None
            device = written_over(copies.device, extent, covered)
            whole = covered is not None and copies.part is not None and covered.holds(copies.part)
            if whole or (scalar and not one.read):
                device = frozenset()
            sure = alone and self.surely_writes(frame, stmt, one)
            new = Stale("device", one.symbol.name, stmt.span, extent, sure=sure, inside=copies.part)
            self.state[place] = replace(copies, device=device, host=copies.host | {new})


def construct_of_pragma(pragma: Pragma) -> str:
    """Return what a pragma does with device data."""
    return construct_of(pragma.directive) if pragma.directive is not None else ""


def directive_family(pragma: Pragma) -> str:
    """Return whose directive it is."""
    return pragma.directive.family if pragma.directive is not None else ""
