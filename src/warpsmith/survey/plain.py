"""The messages between the processes of a survey, as plain lists; tree/plain.py has those of symbols and types."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import cast

from warpsmith.base.findings import Finding, Severity
from warpsmith.front.c.counted.writes import Store, Writes
from warpsmith.loops.search.effort import FunctionEffort, LoopEffort
from warpsmith.loops.search.traffic import ArrayTraffic
from warpsmith.poly.effects.outside import Outside, decode_function
from warpsmith.tree.plain import Plain, decode_symbol, decode_type, encode_symbol, encode_type
from warpsmith.tree.types import Symbol

__all__ = [
    "decode_effort",
    "decode_finding",
    "decode_outside",
    "decode_writes",
    "encode_effort",
    "encode_finding",
    "encode_writes",
]


def encode_writes(writes: Writes) -> Plain:
    """Return what may be written as a list; what is opaque only explains, and stays behind."""
    stores = sorted(
        ([None if s.root is None else encode_symbol(s.root), s.indirect, encode_type(s.type)] for s in writes.stores),
        key=repr,
    )
    return [_symbols(writes.variables), cast(Plain, stores), _symbols(writes.calls), writes.unknown]


def decode_writes(plain: Plain) -> Writes:
    """Return what such a list says; raises ValueError where it is none of ours."""
    match plain:
        case [list(variables), list(stores), list(calls), bool(unknown)]:
            return Writes(
                frozenset(map(decode_symbol, variables)),
                frozenset(map(_store, stores)),
                frozenset(map(decode_symbol, calls)),
                unknown,
            )
        case _:
            raise ValueError("not writes of ours")


def _store(plain: Plain) -> Store:
    match plain:
        case [root, bool(indirect), type]:
            return Store(None if root is None else decode_symbol(root), indirect, decode_type(type))
        case _:
            raise ValueError("not a store of ours")


def _symbols(symbols: Iterable[Symbol]) -> Plain:
    return [encode_symbol(s) for s in sorted(symbols, key=lambda s: s.key)]


def decode_outside(plain: Plain) -> Outside:
    """Return what is known of other files."""
    fields = cast(Mapping[str, Plain], plain)
    functions = [decode_function(f) for f in cast(list[Plain], fields["functions"])]
    return Outside(
        {f.symbol: f for f in functions},
        frozenset(map(decode_symbol, cast(list[Plain], fields["shared"]))),
        frozenset(map(decode_symbol, cast(list[Plain], fields["taken"]))),
        frozenset(cast(list[str], fields["mentioned"])),
        bool(fields["closed"]),
    )


def encode_effort(effort: FunctionEffort) -> Plain:
    """Return how much work a function is, as a list."""
    inner: list[Plain] = [
        [e.around, e.trips, e.counted, e.operations, list(e.calls), _list_touched(e)] for e in effort.loops
    ]
    return [effort.key, effort.operations, list(effort.calls), inner]


def decode_effort(plain: Plain, *, memory: bool = True) -> FunctionEffort:
    """Return what such a list says, without the `memory` that is touched where nobody asks for it; raises ValueError
    where it is none of ours."""
    match plain:
        case [str(key), int(operations), list(calls), list(inner)]:
            return FunctionEffort(key, operations, _texts(calls), tuple([_loop(loop, memory=memory) for loop in inner]))
        case _:
            raise ValueError("not an effort of ours")


def _texts(plain: list[Plain]) -> tuple[str, ...]:
    return tuple(map(str, plain)) if plain else ()


def _loop(plain: Plain, *, memory: bool) -> LoopEffort:
    match plain:
        case [int(around), (int() | None) as trips, bool(counted), int(operations), list(calls), list(touched)]:
            known = tuple(map(_memory, touched)) if memory else ()
            return LoopEffort(around, trips, counted, operations, _texts(calls), known)
        case _:
            raise ValueError("not an effort of ours")


def _list_touched(effort: LoopEffort) -> Plain:
    return [[t.array, t.bytes, t.read, t.written, list(t.moved)] for t in effort.touched]


def _memory(plain: Plain) -> ArrayTraffic:
    match plain:
        case [str(array), int(size), bool(read), bool(written), list(moved)]:
            return ArrayTraffic(array, size, read, written, tuple(int(str(number)) for number in moved))
        case _:
            raise ValueError("not a reference of ours")


def encode_finding(finding: Finding) -> Plain:
    """Return a finding as a list; its place as text, in the message."""
    place = "" if finding.span is None else f"{finding.span}: "
    return [finding.rule, finding.severity, place + finding.message, list(finding.help)]


def decode_finding(plain: Plain) -> Finding:
    """Return the finding of a list."""
    rule, severity, message, helps = cast(list[Plain], plain)
    return Finding(str(rule), cast(Severity, severity), str(message), None, tuple(map(str, cast(list[Plain], helps))))
