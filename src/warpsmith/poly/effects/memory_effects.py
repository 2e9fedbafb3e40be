"""The memory effects of a node in terms of roots, noted access by access and call by call.

    scale(n, x + 4)      stores through its argument 1      noted: stores through x

Invariant: only ever more is noted; what is not known of a call is noted as everything that it may do.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping

from msgspec import Struct, field

from warpsmith.base.source import Span
from warpsmith.poly.effects.summary import Summary
from warpsmith.poly.pointers.accesses import Base, bases, is_pointer
from warpsmith.poly.pointers.pointers import UNKNOWN, Provenance, Root, is_persistent
from warpsmith.tree.effects.effects import FunctionEffects
from warpsmith.tree.nodes import Call, Function
from warpsmith.tree.types import Array, Pointer, Scalar, Symbol, element_type

__all__ = ["MemoryEffects", "callback", "defined_call", "library_call", "name_everything", "through"]


class MemoryEffects(Struct):
    """What a node does: variables read and written themselves, roots loaded and stored through, and the rest."""

    reads: set[Symbol] = field(default_factory=set)
    writes: set[Symbol] = field(default_factory=set)
    loads: set[Root] = field(default_factory=set)
    stores: set[Root] = field(default_factory=set)
    load_bases: set[Symbol] = field(default_factory=set)
    store_bases: set[Symbol] = field(default_factory=set)
    calls_unknown: bool = False
    io: bool = False
    asserts: bool = False
    allocates: bool = False
    reason: str = ""
    span: Span | None = None

    def blame(self, reason: str, span: Span | None) -> None:
        """Keep the first reason."""
        if not self.reason:
            self.reason, self.span = reason, span

    def join(self, summary: Summary) -> None:
        """Take in what a function does, but for the roots, which have other names here."""
        self.reads |= summary.reads
        self.writes |= summary.writes
        self.calls_unknown |= summary.calls_unknown
        self.io |= summary.io
        self.asserts |= summary.asserts
        self.allocates |= summary.allocates
        if summary.reason:
            self.blame(summary.reason, summary.span)


def through(base: Base, where: Provenance, roots: set[Root], named: set[Symbol]) -> None:
    """Note an access through an address."""
    roots |= where.of(base)
    if base.symbol is not None and (not base.address or isinstance(base.symbol.type, Array)):
        named.add(base.symbol)


def name_everything(symbol: Symbol, where: Provenance, own: set[Symbol], roots: set[Root], named: set[Symbol]) -> None:
    """Note that a construct which is not modelled may touch a variable and all that it leads to."""
    if symbol.storage in ("function", "enumerator"):
        return
    own.add(symbol)
    if isinstance(symbol.type, Pointer | Array):
        through(Base(symbol, address=isinstance(symbol.type, Array)), where, roots, named)
    if not isinstance(element_type(symbol.type), Scalar):
        roots.add(UNKNOWN)


def callback(
    summary: Summary, callee: Function, given: tuple[Base, ...], where: Provenance, done: MemoryEffects
) -> None:
    """Note what a function does that a library calls with pointers into `given`."""
    done.join(summary)
    for roots, into, named in (
        (summary.loads, done.loads, done.load_bases),
        (summary.stores, done.stores, done.store_bases),
    ):
        for root in roots:
            if root.kind == "entry" and root.symbol in callee.parameters:
                for base in given:
                    through(base, where, into, named)
            elif root.symbol is not None:
                through(Base(root.symbol, address=root.kind == "object"), where, into, named)
            else:
                into.add(UNKNOWN)


def library_call(library: FunctionEffects, call: Call, where: Provenance, done: MemoryEffects) -> None:
    """Note what a library function does with what it is given."""
    for index, argument in enumerate(call.arguments):
        if not is_pointer(argument):
            continue
        for base in bases(argument):
            if library.reads_argument(index):
                through(base, where, done.loads, done.load_bases)
            if library.writes_argument(index):
                through(base, where, done.stores, done.store_bases)
    if library.exposed_reads:
        done.loads.add(UNKNOWN)
    if library.exposed_writes:
        done.stores.add(UNKNOWN)
    done.io |= library.io
    done.asserts |= library.asserts
    done.allocates |= library.allocates
    if library.reason and (library.program or not library.asserts):
        done.blame(f"{library.name} {library.reason}", call.span)


def defined_call(
    summary: Summary, parameters: tuple[Symbol, ...], call: Call, where: Provenance, done: MemoryEffects
) -> None:
    """Note what a function of the program does, its roots in the terms of the call."""
    done.join(summary)
    for roots, into, named in (
        (summary.loads, done.loads, done.load_bases),
        (summary.stores, done.stores, done.store_bases),
    ):
        accessed = _sort_roots(roots)
        into |= accessed.objects
        named |= accessed.arrays
        _enter(accessed, where, into, named)
        for root in accessed.others:
            _translate(root, (parameters, call), where, into, named)


class _Accessed(Struct, frozen=True):
    """Roots by what they are in a caller's terms. `objects` are the same ones, `arrays` are those among them that are
    named by a base; `entered`: what variables that outlive calls (`holders`) pointed to on entry (`entries`); `others`
    are the rest."""

    objects: frozenset[Root]
    arrays: frozenset[Symbol]
    entered: Mapping[Symbol, Root]
    entries: frozenset[Root]
    holders: frozenset[Symbol]
    others: tuple[Root, ...]


@functools.lru_cache(maxsize=4096)
def _sort_roots(roots: frozenset[Root]) -> _Accessed:
    """Sort roots once for all calls: a large program has hundreds of objects and of pointers that outlive calls."""
    objects = {root: root.symbol for root in roots if root.kind == "object" and root.symbol is not None}
    arrays = frozenset(symbol for symbol in objects.values() if isinstance(symbol.type, Array))
    entered = {
        root.symbol: root
        for root in roots
        if root.kind == "entry" and root.symbol is not None and is_persistent(root.symbol)
    }
    others = tuple(root for root in roots if root not in objects and root.symbol not in entered)
    entries = frozenset(entered.values())
    return _Accessed(frozenset(objects), arrays, entered, entries, frozenset(entered), others)


def _enter(accessed: _Accessed, where: Provenance, roots: set[Root], named: set[Symbol]) -> None:
    """Note accesses through pointers that outlive calls: where the caller does not set one, it points to what it
    pointed to when the caller was entered."""
    named |= accessed.holders
    changed = accessed.holders & where.pointers
    roots |= accessed.entries - {accessed.entered[symbol] for symbol in changed}
    roots.update(*(where.roots[symbol] for symbol in changed))


def _translate(
    root: Root, site: tuple[tuple[Symbol, ...], Call], where: Provenance, roots: set[Root], named: set[Symbol]
) -> None:
    """Note an access of the callee, not of an object by its name, in the caller's terms."""
    parameters, call = site
    if root.kind == "entry" and root.symbol in parameters:
        index = parameters.index(root.symbol)
        argument = call.arguments[index] if index < len(call.arguments) else None
        for base in bases(argument) if argument is not None else (Base(None),):
            through(base, where, roots, named)
    elif root.kind == "entry" and root.symbol is not None:
        through(Base(root.symbol), where, roots, named)
    else:
        roots.add(UNKNOWN)
