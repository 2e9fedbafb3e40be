"""Values that must lie in one register: coordinates of a fetch, components of an output.

    SAMPLE R2, R1.xyxx      both coordinates are components of R1
    EXP_DONE: PIX0, R3.x___ so are the components of an output

Of what goes to a view no component may change its place, and the address is x.

Each group is a register of its own; which component each of its values has is fixed before there are slots, as an
operation in slot y writes component y. A value that is in another group, or comes from elsewhere, is copied.
Coordinates that are all of the thread's place, or of one fetch, are in a register already.
"""

from __future__ import annotations

from msgspec import Struct, field

from warpsmith.targets.r600.operations import (
    COMPONENTS,
    Fetch,
    Fetched,
    NumberWord,
    Operand,
    Operation,
    PlaceWord,
    SlotGraph,
    Value,
    Values,
    ViewStore,
)

__all__ = ["Gathered", "Home", "RegisterGroups", "StoredGroups", "gather"]

Home = int | Fetch | None
"""The register of values: a group's number, that of a fetch, or (None) one that is there when a thread begins."""
_SPECIAL = {0: "0", 0x3F800000: "1"}


class Gathered(Struct, frozen=True):
    """Values of one register: for each a component, 0, 1 or _ where nothing is meant; `values`: with copies in place of
    those that could not lie there."""

    home: Home
    swizzle: str
    values: tuple[Value | None, ...]


class StoredGroups(Struct, frozen=True):
    """What is gathered for a store: its address, and its words."""

    store: ViewStore
    address: Gathered
    words: Gathered


class RegisterGroups(Struct, frozen=True):
    """What is gathered for each fetch, each output and each store; operations, copies among them; `pins`: group and
    component that an operation is bound to."""

    operations: tuple[Operation, ...]
    fetches: dict[Fetch, Gathered]
    exports: dict[int, Gathered]
    pins: dict[Operation, tuple[int, str]]
    stores: tuple[StoredGroups, ...] = ()


class _Gather(Struct):
    values: Values
    pins: dict[Operation, tuple[int, str]] = field(default_factory=dict)
    count: int = 0

    def gather(self, values: tuple[Value | None, ...]) -> Gathered:
        """Return where values lie."""
        there = self._already(values)
        if there is not None:
            return there
        group = self.count
        self.count += 1
        bound: dict[str, tuple[Value, Operation]] = {}
        swizzle, kept = "", list(values)
        for at, value in enumerate(values):
            if value is None:
                swizzle += "_"
                continue
            if isinstance(value, NumberWord) and value.bits in _SPECIAL:
                swizzle += _SPECIAL[value.bits]
                continue
            known = next((letter for letter, (one, _) in bound.items() if one == value), None)
            if known is None:
                known = next(letter for letter in COMPONENTS[at:] + COMPONENTS[:at] if letter not in bound)
                bound[known] = value, self._bind(value, group, known)
            kept[at] = bound[known][1]
            swizzle += known
        return Gathered(group, swizzle, tuple(kept))

    def place(self, values: tuple[Value | None, ...]) -> Gathered:
        """Return where values lie that have each its own component."""
        group = self.count
        self.count += 1
        kept: list[Value | None] = []
        for letter, value in zip(COMPONENTS, values, strict=False):
            kept.append(None if value is None else self._bind(value, group, letter))
        swizzle = "".join("_" if one is None else letter for letter, one in zip(COMPONENTS, kept, strict=False))
        return Gathered(group, swizzle, tuple(kept))

    def _already(self, values: tuple[Value | None, ...]) -> Gathered | None:
        """Return the register that all values are in already; None where there is none."""
        homes: set[object] = set()
        swizzle = ""
        for value in values:
            match value:
                case None:
                    swizzle += "_"
                case NumberWord(bits) if bits in _SPECIAL:
                    swizzle += _SPECIAL[bits]
                case PlaceWord(component, register):
                    homes.add(register)
                    swizzle += component
                case Fetched(fetch, component):
                    homes.add(fetch)
                    swizzle += component
                case _:
                    return None
        if len(homes) > 1:
            return None
        (home,) = homes or {0}
        return Gathered(home if isinstance(home, Fetch) else None, swizzle, values)

    def _bind(self, value: Value, group: int, component: str) -> Operation:
        """Return the operation that writes a value to a component of a group: its own, or a copy."""
        if isinstance(value, Operation) and value not in self.pins:
            self.pins[value] = (group, component)
            return value
        number = self.values.count = self.values.count + 1
        copy = Operation("MOV", (Operand(value),), number=number)
        self.pins[copy] = (group, component)
        return copy


def gather(graph: SlotGraph, values: Values) -> RegisterGroups:
    """Return the groups of a graph, outputs first: what several want is copied for the fetches."""
    work = _Gather(values)
    exports = {one.number: work.gather(one.values) for one in graph.exports}
    stores = tuple(StoredGroups(one, work.place((one.address,)), work.place(one.values)) for one in graph.stores)
    fetches = {fetch: work.gather(fetch.coordinates) for fetch in graph.fetches}
    operations = tuple(sorted({*graph.operations, *work.pins}, key=lambda one: one.number))
    return RegisterGroups(operations, fetches, exports, work.pins, stores)
