"""Where the copies of one object stand: data flow over the places of a scope.

State of an object on a path:  synced (both copies valid) · host (host copy newer, a copy to the device is owed)
                               · device (device copy newer, a copy to the host is owed)

Invariant of the result: on every path a host use meets synced or host, a device use meets synced or device, a copy to
the device never meets device, and a copy to the host never meets host: no use is stale, no copy destroys newer data.

    if (c) { host writes x }  →  host ──┐
    else   { kernel writes x } → device ┴→ a copy after the join would be right on one path and destroy on the other:
                                           one of the two is paid in its arm, before the join

The optimized placement is the cheapest one there is: a minimum cut. At each point it chooses what is surely valid, the
host copy h, the device copy d, or both; one of them where the object is still used. A use needs its side valid, a write
makes the other side invalid, and what is valid at a point was valid on every path into it. A copy to the device stands
where d becomes valid, at a slot, and costs how often the slot runs: ten times as much for each loop around it, half for
each condition. With h on one side of the cut and d on the other all of these are edges (MC-PRE: Cai, Xue, Optimal and
Efficient Speculation-based Partial Redundancy Elimination, 2003). So no other placement costs less, in these guesses
of how often code runs; of equal ones that with the fewest copies in the text, as late as may be, is taken.

The other schemes start from copies around kernels, or around what the host does, and add what is missing: a copy is
owed until it must be paid, and where paths meet that owe copies in opposite directions, the side that costs less pays.

A write that may leave a part unwritten counts as a use, too: the rest of the section must be there.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from typing import Literal

from msgspec import Struct

from warpsmith.offload.plan import TransferScheme
from warpsmith.offload.transfers.flow import Flow
from warpsmith.offload.transfers.min_cut import MinCut

__all__ = ["Direction", "FlowProblem", "Insertion", "PlacementError", "PointAccess", "arrange"]

Direction = Literal["to device", "to host"]
Insertion = tuple[int, Direction]
Side = Literal["host", "device"]
Node = tuple[Side, int, str]

_SYNCED, _HOST, _DEVICE = 1, 2, 4
_BOTH = _HOST | _DEVICE
_OWED: dict[Direction, int] = {"to device": _HOST, "to host": _DEVICE}
_DIRECTIONS: tuple[Direction, Direction] = ("to device", "to host")
_SIDES: tuple[Side, Side] = ("host", "device")


class PlacementError(RuntimeError):
    """No valid placement was found: a mistake of ours."""


class PointAccess(Struct, frozen=True):
    """What one point does with the object. A write without a use certainly writes all of the section."""

    host_use: bool = False
    host_write: bool = False
    device_use: bool = False
    device_write: bool = False

    def needs(self, direction: Direction) -> bool:
        """Whether the point uses the side that a copy in `direction` brings up to date."""
        return self.device_use if direction == "to device" else self.host_use


NOTHING = PointAccess()


def arrange(flow: Flow, accesses: tuple[PointAccess, ...], scheme: TransferScheme) -> frozenset[Insertion]:
    """Return the copies of one object: (point, direction), each point a slot. `accesses` has one entry a point.

    At the scope's entry the device copy is garbage. At one slot a copy to the host stands before one to the device.
    """
    problem = FlowProblem(flow, accesses)
    return problem.cheapest() if scheme == "optimized" else problem.resolve_copies(problem.start(scheme))


class FlowProblem:
    """The data flow problem of one object over one scope. It never changes once it is made."""

    def __init__(self, flow: Flow, accesses: tuple[PointAccess, ...]) -> None:
        self.flow = flow
        self.accesses = accesses
        self.preds = tuple(tuple(point.preds) for point in flow.points)
        self.served = tuple((_HOST if a.device_use else 0) | (_DEVICE if a.host_use else 0) for a in accesses)
        self.written = tuple(_HOST if a.host_write else _DEVICE if a.device_write else 0 for a in accesses)
        self.most_conditions = max(point.conditions for point in flow.points)
        self.device_later = self.find_exposed("to device")
        self.host_later = self.find_exposed("to host")

    def find_exposed(self, direction: Direction) -> tuple[bool, ...]:
        """Return for each point whether a path from it meets a use that `direction` serves before the object is
        written."""
        result = [False] * len(self.flow.points)
        pending = list(range(len(self.flow.points)))
        while pending:
            number = pending.pop()
            access = self.accesses[number]
            if access.needs(direction):
                value = True
            elif access.host_write or access.device_write:
                value = False
            else:
                value = any(result[s] for s in self.flow.points[number].succs)
            if value and not result[number]:
                result[number] = True
                pending += self.flow.points[number].preds
        return tuple(result)

    # --- forward states

    def states(self, copies: Iterable[Insertion]) -> tuple[list[int], list[int]]:
        """Return the sets of states before and after each point. A use counts as served: what it is owed is paid."""
        paid = list(self.served)
        for number, direction in copies:
            paid[number] |= _OWED[direction]
        before, after = [0] * len(paid), [0] * len(paid)
        before[0] = _HOST
        changed = True
        while changed:
            changed = False
            for number, preds in enumerate(self.preds):
                states = before[number]
                for pred in preds:
                    states |= after[pred]
                before[number] = states
                if states & paid[number]:
                    states = (states & ~paid[number]) | _SYNCED
                new = self.written[number] if states and self.written[number] else states
                if new != after[number]:
                    after[number] = new
                    changed = True
        return before, after

    # --- finding the copies

    def resolve_copies(self, copies: frozenset[Insertion]) -> frozenset[Insertion]:
        """Return `copies` with those added that the invariant still asks for."""
        for _ in range(4 * len(self.flow.points) + 4):
            before, after = self.states(copies)
            more = self.conflict(copies, before, after) or self.find_demanded(before, after)
            if more is None:
                if not self.valid(copies):
                    raise PlacementError("the copies of an object cannot be placed")
                return copies
            copies |= more
        raise PlacementError("placing the copies of an object does not end")

    def conflict(
        self, copies: frozenset[Insertion], before: list[int], after: list[int]
    ) -> frozenset[Insertion] | None:
        """Return what settles the first meeting of paths that owe opposite copies, if any matters."""
        for number, states in enumerate(before):
            if states & _BOTH != _BOTH or not (self.device_later[number] or self.host_later[number]):
                continue
            options = [o for o in self.settlements(number, after) if not o <= copies]
            if options:
                return min(options, key=lambda option: self.cost(copies | option))
        return None

    def settlements(self, number: int, after: list[int]) -> Iterator[frozenset[Insertion]]:
        """Yield the ways to make the paths into a point agree: one direction pays at each of its entries."""
        preds = [p for p in self.flow.points[number].preds if after[p] & _BOTH != _BOTH]
        for direction in _DIRECTIONS:
            payers = [p for p in preds if after[p] & _OWED[direction]]
            if payers and all(self.flow.points[p].kind == "slot" for p in payers):
                yield frozenset((p, direction) for p in payers)

    def cost(self, copies: frozenset[Insertion]) -> tuple[int, int]:
        """Return what the copies cost, with those that uses will still ask for and the meetings not yet settled."""
        before, after = self.states(copies)
        total = sum(self.weight(number) for number, _ in copies)
        owed = 0
        for number, access in enumerate(self.accesses):
            for direction in _DIRECTIONS:
                if access.needs(direction) and before[number] & _OWED[direction]:
                    owed += sum(self.weight(p) for p in self.flow.points[number].preds if after[p] & _OWED[direction])
            if before[number] & _BOTH == _BOTH and (self.device_later[number] or self.host_later[number]):
                owed += self.weight(number)
        return total + owed, len(copies)

    def weight(self, number: int) -> int:
        """Return how often a point runs, in guesses: ten times a loop, half as often as a condition is reached."""
        point = self.flow.points[number]
        return int(10 ** min(point.depth, 9)) << (self.most_conditions - point.conditions)

    def find_demanded(self, before: list[int], after: list[int]) -> frozenset[Insertion] | None:
        """Return the copies that the first unserved use asks for."""
        for number, access in enumerate(self.accesses):
            for direction in _DIRECTIONS:
                if not access.needs(direction) or not before[number] & _OWED[direction]:
                    continue
                payers = [p for p in self.flow.points[number].preds if after[p] & _OWED[direction]]
                if any(self.flow.points[p].kind != "slot" for p in payers):
                    raise PlacementError("a use has no place in front of it")
                return frozenset((p, direction) for p in payers)
        return None

    def valid(self, copies: frozenset[Insertion]) -> bool:
        """Whether the invariant holds with exactly these copies."""
        before, _ = self.states(copies)
        if any(states & stale for states, stale in zip(before, self.served, strict=True)):
            return False
        for number, direction in copies:
            other: Direction = "to host" if direction == "to device" else "to device"
            settled = direction == "to device" and (number, other) in copies
            if before[number] & _OWED[other] and not settled:
                return False
        return True

    # --- schemes

    def start(self, scheme: TransferScheme) -> frozenset[Insertion]:
        """Return the copies that a scheme places without thought; `resolve_copies` adds what is missing."""
        copies: set[Insertion] = set()
        if scheme in ("host", "mixed") and self.device_later[0]:
            copies.add((0, "to device"))
        for number, access in enumerate(self.accesses):
            if scheme == "fragment" and access.device_use:
                copies.update((p, "to device") for p in self.flow.points[number].preds)
            if scheme in ("fragment", "mixed") and access.device_write:
                copies.update((s, "to host") for s in self.slots_after(number))
            if scheme in ("host", "mixed") and access.host_write:
                copies.update((s, "to device") for s in self.slots_after(number) if self.device_later[s])
        return frozenset(copies)

    def slots_after(self, number: int) -> frozenset[int]:
        """Return the first slots that control reaches after a point."""
        found: set[int] = set()
        seen: set[int] = set()
        pending = list(self.flow.points[number].succs)
        while pending:
            current = pending.pop()
            if current in seen:
                continue
            seen.add(current)
            if self.flow.points[current].kind == "slot":
                found.add(current)
            elif self.accesses[current] == NOTHING:
                pending += self.flow.points[current].succs
        return frozenset(found)

    # --- the cheapest placement

    def cheapest(self) -> frozenset[Insertion]:
        """Return the copies that cost least. A node (side, number, where) of the graph is on the source's side where
        the host copy is valid, and where the device copy is not, before or after a point."""
        graph = MinCut()
        for number, point in enumerate(self.flow.points):
            for side in _SIDES:
                self.add_point(graph, side, number)
            for where, used in (("before", self.is_used_at(number)), ("after", any(map(self.is_used_at, point.succs)))):
                if used:
                    graph.add(("device", number, where), ("host", number, where))
        chosen = graph.source_side()
        if chosen is None:
            raise PlacementError("the copies of an object cannot be placed")
        copies: set[Insertion] = set()
        for number, point in enumerate(self.flow.points):
            if point.kind == "slot" and (paid := _paid_copy(chosen, number)) is not None:
                copies.add((number, paid))
        found = frozenset(copies)
        if not self.valid(found):
            raise PlacementError("the copies of an object cannot be placed")
        return found

    def is_used_at(self, number: int) -> bool:
        """Whether the object as it is before a point is used, by either side."""
        return self.device_later[number] or self.host_later[number]

    def add_point(self, graph: MinCut, side: Side, number: int) -> None:
        """Add what one point says of one side: where it is used, where it gets invalid, where a copy may stand."""
        point, access = self.flow.points[number], self.accesses[number]
        before, after = (side, number, "before"), (side, number, "after")
        uses, other_writes = access.device_use, access.host_write
        if side == "host":
            uses, other_writes = access.host_use, access.device_write
        if uses:
            _require(graph, before, valid=True)
        if number == 0 and side == "device":
            _require(graph, before, valid=False)
        for pred in point.preds:
            _imply(graph, before, (side, pred, "after"))
        if other_writes:
            _require(graph, after, valid=False)
        elif not (access.host_write or access.device_write):
            _imply(graph, after, before, self.price(number) if point.kind == "slot" else None)

    def price(self, number: int) -> int:
        """Return what a copy at a slot costs: first how often it runs, then one copy more, then how early it stands."""
        count = len(self.flow.points)
        return self.weight(number) * (4 * count * count + 1) + 2 * count - number


def _require(graph: MinCut, node: Node, *, valid: bool) -> None:
    """Fix whether a side is valid somewhere."""
    if valid == (node[0] == "host"):
        graph.add(graph.source, node)
    else:
        graph.add(node, graph.sink)


def _imply(graph: MinCut, one: Node, other: Node, price: int | None = None) -> None:
    """Demand that a side is valid at `other` if it is at `one`, or else that the price is paid."""
    if one[0] == "host":
        graph.add(one, other, price)
    else:
        graph.add(other, one, price)


def _paid_copy(chosen: frozenset[Hashable], number: int) -> Direction | None:
    """Return the copy that a slot pays for; it never pays for both, as one side is valid before it."""
    if ("host", number, "before") not in chosen and ("host", number, "after") in chosen:
        return "to host"
    if ("device", number, "before") in chosen and ("device", number, "after") not in chosen:
        return "to device"
    return None
