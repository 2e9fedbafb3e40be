"""Where the copies of one object stand: data flow over the places of a scope.

State of an object on a path:  synced (both copies valid) · host (host copy newer, a copy to the device is owed)
                               · device (device copy newer, a copy to the host is owed)

Invariant of the result: on every path a host use meets synced or host, a device use meets synced or device, a copy to
the device never meets device, and a copy to the host never meets host: no use is stale, no copy destroys newer data.

    if (c) { host writes x }  →  host ──┐
    else   { kernel writes x } → device ┴→ a copy after the join would be right on one path and destroy on the other:
                                           one of the two is paid in its arm, before the join

A copy is owed until it must be paid: copies sink past everything that does not need them, out of branches and loops.
In front of a loop that needs a copy and does not make it stale again it is paid at once (hoisting). Where paths meet
that owe copies in opposite directions, the side that costs less (ten times as much per loop around) pays. At the end
equal copies of both arms of a branch move in front of it where that saves one, and copies that nobody needs vanish.

A write that may leave a part unwritten counts as a use, too: the rest of the section must be there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from warpsmith.offload.flow import Flow
from warpsmith.offload.plan import TransferScheme

__all__ = ["Access", "Direction", "Insertion", "PlacementError", "arrange"]

Direction = Literal["to device", "to host"]
Insertion = tuple[int, Direction]

_SYNCED, _HOST, _DEVICE = 1, 2, 4
_BOTH = _HOST | _DEVICE
_OWED: dict[Direction, int] = {"to device": _HOST, "to host": _DEVICE}
_DIRECTIONS: tuple[Direction, Direction] = ("to device", "to host")


class PlacementError(RuntimeError):
    """No valid placement was found: a mistake of ours."""


@dataclass(frozen=True, slots=True)
class Access:
    """What one point does with the object. A write without a use certainly writes all of the section."""

    host_use: bool = False
    host_write: bool = False
    device_use: bool = False
    device_write: bool = False

    def needs(self, direction: Direction) -> bool:
        """Whether the point uses the side that a copy in `direction` brings up to date."""
        return self.device_use if direction == "to device" else self.host_use


NOTHING = Access()


def arrange(flow: Flow, accesses: tuple[Access, ...], scheme: TransferScheme) -> frozenset[Insertion]:
    """Return the copies of one object: (point, direction), each point a slot. `accesses` has one entry a point.

    At the scope's entry the device copy is garbage. At one slot a copy to the host stands before one to the device.
    """
    problem = _Problem(flow, accesses)
    copies = problem.resolved(problem.start(scheme), hoist=scheme == "optimized")
    return problem.tidied(copies) if scheme == "optimized" else copies


class _Problem:
    """The data flow problem of one object over one scope. It never changes once it is made."""

    def __init__(self, flow: Flow, accesses: tuple[Access, ...]) -> None:
        self.flow = flow
        self.accesses = accesses
        self.preds = tuple(tuple(point.preds) for point in flow.points)
        self.served = tuple((_HOST if a.device_use else 0) | (_DEVICE if a.host_use else 0) for a in accesses)
        self.written = tuple(_HOST if a.host_write else _DEVICE if a.device_write else 0 for a in accesses)
        everywhere = (0, len(flow.points))
        self.device_later = self.exposed("to device", everywhere)
        self.host_later = self.exposed("to host", everywhere)

    def exposed(self, direction: Direction, within: tuple[int, int]) -> tuple[bool, ...]:
        """Return for each point whether a path from it, inside `within`, meets a use that `direction` serves before
        the object is written."""
        low, high = within
        result = [False] * len(self.flow.points)
        pending = list(range(low, high))
        while pending:
            number = pending.pop()
            access = self.accesses[number]
            if access.needs(direction):
                value = True
            elif access.host_write or access.device_write:
                value = False
            else:
                value = any(result[s] for s in self.flow.points[number].succs if low <= s < high)
            if value and not result[number]:
                result[number] = True
                pending += [p for p in self.flow.points[number].preds if low <= p < high]
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

    def resolved(self, copies: frozenset[Insertion], hoist: bool) -> frozenset[Insertion]:
        """Return `copies` with those added that the invariant still asks for."""
        for _ in range(4 * len(self.flow.points) + 4):
            before, after = self.states(copies)
            more = self.conflict(copies, before, after) or (self.hoisted(copies, before, after) if hoist else None)
            more = more or self.demanded(before, after)
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
        """Return how often a point runs, in guesses: ten times a loop."""
        return int(10 ** min(self.flow.points[number].depth, 9))

    def hoisted(self, copies: frozenset[Insertion], before: list[int], after: list[int]) -> frozenset[Insertion] | None:
        """Return a copy to pay in front of a loop that needs it and does not owe it again at its back edges."""
        for span in self.flow.loops:
            for direction in _DIRECTIONS:
                owed, new = _OWED[direction], (span.entry, direction)
                if not before[span.head] & owed or not after[span.entry] & owed or after[span.entry] & _BOTH == _BOTH:
                    continue
                if not self.exposed(direction, (span.head, span.end))[span.head]:
                    continue
                if not self.states(copies | {new})[0][span.head] & owed:
                    return frozenset({new})
        return None

    def demanded(self, before: list[int], after: list[int]) -> frozenset[Insertion] | None:
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
        """Return the copies that a scheme places without thought; `resolved` adds what is missing."""
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

    # --- tidying

    def tidied(self, copies: frozenset[Insertion]) -> frozenset[Insertion]:
        """Return the copies without those that nobody needs, equal ones of two arms merged in front of the branch."""
        copies = self.pruned(copies)
        for arms in self.flow.branches:
            for direction in _DIRECTIONS:
                inner = {(arms.then, direction), (arms.other, direction)}
                if not inner & copies:
                    continue
                merged = (copies - inner) | {(arms.before, direction)}
                if self.valid(merged) and self.cost(self.pruned(merged)) < self.cost(copies):
                    copies = self.pruned(merged)
        return copies

    def pruned(self, copies: frozenset[Insertion]) -> frozenset[Insertion]:
        """Return the copies without those that the invariant does not need, the most expensive tried first."""
        for copy in sorted(copies, key=lambda c: (-self.weight(c[0]), c)):
            if self.valid(copies - {copy}):
                copies -= {copy}
        return copies
