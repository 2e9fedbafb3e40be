"""Which components of which registers what a program writes depends on, and which are written before they are read.

Invariant: what is not `relevant` changes no output, no store and no branch, whatever it holds. Limits: one set for the
whole program, so that a register that is used twice is relevant where either use is.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from warpsmith.front.il.check import places_read
from warpsmith.front.il.nodes import WHOLE, IlInstruction, IlProgram, IlRegister, IlSource
from warpsmith.front.il.ops import CONDITIONAL

__all__ = ["Component", "UnwrittenRead", "channels_of", "find_unwritten", "needed_of", "relevant_components"]

Component = tuple[int, str]
"""Number of a register r, and a letter."""


class UnwrittenRead(Struct, frozen=True):
    """Source `source` of an instruction reads `component` where nothing may have been written there."""

    instruction: IlInstruction
    source: int
    component: Component


def relevant_components(program: IlProgram) -> frozenset[Component]:
    """Return the components of registers r that an output, a store or a branch depends on."""
    relevant: set[Component] = set()
    before = -1
    while before != len(relevant):
        before = len(relevant)
        for one in reversed(program.instructions):
            wanted = needed_of(one, relevant)
            if wanted:
                relevant.update(_read(one, wanted))
            relevant.update(_indices(one, used=bool(wanted)))
    return frozenset(relevant)


def needed_of(one: IlInstruction, relevant: set[Component] | frozenset[Component]) -> str:
    """Return the components of its result that matter; of a condition, and of what has no result, "x"."""
    if one.op.form in CONDITIONAL or one.op.form == "lds_store":
        return "x"
    destination = one.destination
    if destination is None:
        return ""
    if destination.register.kind != "r" or one.op.form == "atomic":
        return destination.computed
    number = destination.register.number
    return "".join(letter for letter in destination.computed if (number, letter) in relevant)


def _read(one: IlInstruction, wanted: str) -> Iterator[Component]:
    for source in one.sources:
        for letter in places_read(one, source, wanted):
            if source.register.kind == "r" and letter in WHOLE:
                yield source.register.number, letter


def _indices(one: IlInstruction, *, used: bool) -> Iterator[Component]:
    registers = [source.register for source in one.sources] if used else []
    if one.destination is not None:
        registers.append(one.destination.register)
    yield from (found for register in registers for found in _index(register))


def _index(register: IlRegister) -> Iterator[Component]:
    if register.index is not None and register.index.register is not None:
        yield register.index.register, register.index.component


def channels_of(program: IlProgram) -> dict[str, int]:
    """Return how many numbers an element of each output (o0) and each resource (t0) has, as far as they are used: 1, 2
    or 4."""
    relevant = relevant_components(program)
    highest = {f"o{number}": 0 for number in program.outputs} | {f"t{number}": 0 for number in program.resources}
    for one in program.instructions:
        if one.destination is not None and one.destination.register.kind == "o":
            name = f"o{one.destination.register.number}"
            last = max(at for at, letter in enumerate(one.destination.mask) if letter != "_")
            highest[name] = max(highest[name], last)
        if one.op.form in ("sample", "load"):
            for letter in needed_of(one, relevant):
                highest[f"t{one.resource}"] = max(highest[f"t{one.resource}"], WHOLE.index(letter))
    return {name: (1, 2, 4, 4)[last] for name, last in highest.items()}


# --- what is written before it is read


def find_unwritten(program: IlProgram) -> tuple[UnwrittenRead, ...]:
    """Return the reads of components of r that a path reaches on which nothing was written to them."""
    walk = _Written()
    for one in program.instructions:
        walk.step(one)
    return tuple(walk.found)


class _Written:
    """What is surely written, on the way through a program; None where control does not come."""

    def __init__(self) -> None:
        self.now: set[Component] | None = set()
        self.opened: list[_Level] = []
        self.found: list[UnwrittenRead] = []

    def step(self, one: IlInstruction) -> None:
        """Go past one instruction."""
        for number, source in enumerate(one.sources):
            self._source(one, number, source)
        self._turn(one)
        if one.destination is not None and one.destination.register.kind == "r" and self.now is not None:
            mask = one.destination.mask
            self.now.update(
                (one.destination.register.number, WHOLE[at]) for at, letter in enumerate(mask) if letter != "_"
            )

    def _turn(self, one: IlInstruction) -> None:
        """Follow control flow."""
        match one.op.form:
            case "if" | "loop":
                self.opened.append(_Level(one.op.form == "loop", self._copy()))
            case "else":
                level = self.opened[-1]
                self.now, level.other = level.other, self._copy()
            case "endif":
                self.now = _join(self.now, self.opened.pop().other)
            case "endloop":
                self.now = self.opened.pop().left
            case "break" | "break_if":
                level = next(level for level in reversed(self.opened) if level.loop)
                level.left = _join(level.left, self._copy())
                self.now = None if one.op.form == "break" else self.now
            case "continue":
                self.now = None
            case _:
                pass

    def _source(self, one: IlInstruction, number: int, source: IlSource) -> None:
        if self.now is None:
            return
        letters = places_read(one, source) if source.register.kind == "r" else ""
        read = [(source.register.number, letter) for letter in letters if letter in WHOLE]
        for component in dict.fromkeys((*read, *_index(source.register))):
            if component not in self.now:
                self.found.append(UnwrittenRead(one, number, component))

    def _copy(self) -> set[Component] | None:
        return None if self.now is None else set(self.now)


class _Level(Struct):
    """An if or a loop that is open: what is written at its other arm, or where it is left."""

    loop: bool
    other: set[Component] | None
    left: set[Component] | None = None


def _join(one: set[Component] | None, other: set[Component] | None) -> set[Component] | None:
    if one is None or other is None:
        return other if one is None else one
    return one & other
