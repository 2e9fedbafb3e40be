"""What a program computes, as a graph of operations on single numbers.

    value      ::= Operation | Fetched | ConstantWord | NumberWord | PlaceWord
    Operation  = name operands clamp      one slot of a bundle: slots.py of machine/vliw says which
    Fetched    = fetch component          a component of what a Fetch brought
    PlaceWord  = component register       what is in registers when a thread begins
    Operand    = value negate absolute    modifiers of floats, which cost nothing

Invariant: equal operations on equal operands are one node (Values sees to that), so that nothing is computed twice, and
copies are no operations. What no export needs is not in `SlotGraph.operations`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from msgspec import Struct, field

__all__ = [
    "COMPONENTS",
    "ConstantWord",
    "Export",
    "Fetch",
    "Fetched",
    "NumberWord",
    "Operand",
    "Operation",
    "PlaceWord",
    "SlotGraph",
    "Value",
    "Values",
    "ViewStore",
    "operations_below",
]  # fmt: skip

COMPONENTS: Final = "xyzw"


class NumberWord(Struct, frozen=True):
    """A number that stands in the code."""

    bits: int


class ConstantWord(Struct, frozen=True):
    """A component of an element of a constant buffer."""

    buffer: int
    element: int
    component: str


class PlaceWord(Struct, frozen=True):
    """A component of the place of the thread, which is in register 0 when it begins; of a compute shader that in its
    group is in register 0, that of the group in register 1."""

    component: str
    register: int = 0


class Operation(Struct, frozen=True, eq=False):
    """One operation; `clamp`: its result is cut to [0, 1]."""

    name: str
    operands: tuple[Operand, ...]
    clamp: bool = False
    number: int = 0


class Fetch(Struct, frozen=True, eq=False):
    """A fetch from a resource at coordinates; `whole`: these are whole numbers; `view`: it is a view, and the
    coordinate a byte."""

    resource: int
    sampler: int
    whole: bool
    coordinates: tuple[Value, ...]
    number: int = 0
    view: bool = False


class Fetched(Struct, frozen=True, eq=False):
    """A component of what was fetched."""

    fetch: Fetch
    component: str


Value = Operation | Fetched | ConstantWord | NumberWord | PlaceWord


class Operand(Struct, frozen=True):
    """A value as an operation reads it."""

    value: Value
    negate: bool = False
    absolute: bool = False


class Export(Struct, frozen=True):
    """What is written to output `number`: a value for each component, None where nothing is."""

    number: int
    values: tuple[Value | None, Value | None, Value | None, Value | None]


class ViewStore(Struct, frozen=True):
    """Words that go to a view, from word `address` on."""

    view: int
    address: Value
    values: tuple[Value | None, Value | None, Value | None, Value | None]


class SlotGraph(Struct, frozen=True):
    """All that a program needs, in an order in which operands come first."""

    operations: tuple[Operation, ...]
    fetches: tuple[Fetch, ...]
    exports: tuple[Export, ...]
    stores: tuple[ViewStore, ...] = ()


Key = tuple[object, ...]


class Values(Struct):
    """Makes values, each once."""

    made: dict[Key, Operation | Fetch | Fetched] = field(default_factory=dict)
    count: int = 0

    def operation(self, name: str, operands: Iterable[Operand | Value], *, clamp: bool = False) -> Operation:
        """Return the operation; the one that there is already, if there is."""
        given = tuple(one if isinstance(one, Operand) else Operand(one) for one in operands)
        key = (name, clamp, *((_key(one.value), one.negate, one.absolute) for one in given))
        found = self.made.get(key)
        if not isinstance(found, Operation):
            found = self.made[key] = Operation(name, given, clamp, self._number())
        return found

    def fetch(
        self, resource: int, sampler: int, coordinates: tuple[Value, ...], *, whole: bool, view: bool = False
    ) -> Fetch:
        """Return the fetch."""
        key = ("fetch", resource, sampler, whole, view, *map(_key, coordinates))
        found = self.made.get(key)
        if not isinstance(found, Fetch):
            found = self.made[key] = Fetch(resource, sampler, whole, coordinates, self._number(), view)
        return found

    def fetched(self, fetch: Fetch, component: str) -> Fetched:
        """Return a component of what a fetch brings."""
        key = ("fetched", fetch.number, component)
        found = self.made.get(key)
        if not isinstance(found, Fetched):
            found = self.made[key] = Fetched(fetch, component)
        return found

    def _number(self) -> int:
        self.count += 1
        return self.count


def _key(value: Value) -> object:
    match value:
        case Operation():
            return value.number
        case Fetched():
            return (value.fetch.number, value.component)
        case ConstantWord() | NumberWord() | PlaceWord():
            return value


def operations_below(exports: Iterable[Export], stores: Iterable[ViewStore] = ()) -> SlotGraph:
    """Return the graph of what some exports and stores need."""
    kept, stored = tuple(exports), tuple(stores)
    operations: dict[Operation, None] = {}
    fetches: dict[Fetch, None] = {}
    pending: list[Value | Operation | Fetch] = [value for one in kept for value in one.values if value is not None]
    pending += [value for one in stored for value in (one.address, *one.values) if value is not None]
    seen: set[int] = set()
    while pending:
        node = pending.pop()
        if isinstance(node, Fetched):
            node = node.fetch
        if not isinstance(node, Operation | Fetch) or node.number in seen:
            continue
        seen.add(node.number)
        if isinstance(node, Operation):
            operations[node] = None
        else:
            fetches[node] = None
        pending += list(_operands(node))
    ordered = sorted(operations, key=lambda one: one.number)
    return SlotGraph(tuple(ordered), tuple(sorted(fetches, key=lambda one: one.number)), kept, stored)


def _operands(node: Operation | Fetch) -> Iterator[Value]:
    if isinstance(node, Fetch):
        yield from node.coordinates
    else:
        yield from (operand.value for operand in node.operands)
