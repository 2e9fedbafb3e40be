"""Values of a schedule get registers.

    a value lives from when it is written to when it is last read; two that live at once do not share a component
    bundle b reads at 4b + 1 and writes at 4b + 2: what is read last in a bundle makes room in that bundle
    fetches before bundle b read and write at 4b

Invariant: an operation in slot x, y, z or w writes that component; one in t, or one that takes several slots, any.
Groups are one register (groups.py). Register 0 has the place of the thread at the start, register 1 that of its group.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Final

from msgspec import Struct, field

from warpsmith.machine.vliw.slots import Generation, width_of
from warpsmith.targets.r600.code import (
    AluBundle,
    AluClause,
    AluLine,
    AluSource,
    ExportLine,
    Gpr,
    Kc,
    Number,
    R600Code,
    StoreLine,
    TexClause,
    TexLine,
)
from warpsmith.targets.r600.groups import Gathered, RegisterGroups
from warpsmith.targets.r600.operations import (
    COMPONENTS,
    ConstantWord,
    Fetch,
    Fetched,
    NumberWord,
    Operand,
    Operation,
    PlaceWord,
    Value,
)
from warpsmith.targets.r600.schedule import Schedule

__all__ = ["allocate"]

_START: Final = -1
Living = Operation | tuple[Fetch, str] | PlaceWord
"""What has a component: a value, a component of a fetch, a component of the thread's place."""


def allocate(groups: RegisterGroups, made: Schedule, generation: Generation) -> R600Code:
    """Return the program of a schedule."""
    work = _Allocation(groups, made, generation)
    work.live()
    work.place()
    return R600Code(tuple(work.clauses()), tuple(work.exports()))


class _Life(Struct):
    written: int
    read: int


class _Allocation(Struct):
    groups: RegisterGroups
    made: Schedule
    generation: Generation
    lives: dict[Living, _Life] = field(default_factory=dict)
    slots: dict[Operation, str] = field(default_factory=dict)
    places: dict[Living, Gpr] = field(default_factory=dict)
    taken: dict[Gpr, list[_Life]] = field(default_factory=dict)

    # --- how long values live

    def live(self) -> None:
        """Find out when each value is written and last read."""
        for fetch, before in self.made.fetched.items():
            for letter in self._components(fetch):
                self.lives[(fetch, letter)] = _Life(4 * before, 4 * before)
        for number, bundle in enumerate(self.made.bundles):
            for slot, one in bundle.slots.items():
                self.slots[one] = slot
                self.lives[one] = _Life(4 * number + 2, 4 * number + 2)
        for value, at in self._reads():
            key = _living(value)
            if key is None:
                continue
            if isinstance(key, PlaceWord):
                self.lives.setdefault(key, _Life(_START, _START))
            self.lives[key].read = max(self.lives[key].read, at)

    def _components(self, fetch: Fetch) -> str:
        """Return the components of a fetch that anybody reads."""
        read = {v.component for v, _ in self._reads() if isinstance(v, Fetched) and v.fetch is fetch}
        return "".join(letter for letter in COMPONENTS if letter in read)

    def _reads(self) -> Iterator[tuple[Value, int]]:
        for fetch, before in self.made.fetched.items():
            yield from ((value, 4 * before) for value in self.groups.fetches[fetch].values if value is not None)
        for number, bundle in enumerate(self.made.bundles):
            for one in bundle.slots.values():
                yield from ((operand.value, 4 * number + 1) for operand in one.operands)
        end = 4 * len(self.made.bundles) + 3
        stored = [part for one in self.groups.stores for part in (one.address, one.words)]
        for gathered in (*self.groups.exports.values(), *stored):
            yield from ((value, end) for value in gathered.values if value is not None)

    # --- where they are

    def place(self) -> None:
        """Give each value a component: the place of the thread, groups, fetches, and then what is left."""
        for one in [key for key in self.lives if isinstance(key, PlaceWord)]:
            self._put([(one, one.component)], only=one.register)
        members: dict[int, list[tuple[Living, str]]] = {}
        for pinned, (group, letter) in self.groups.pins.items():
            members.setdefault(group, []).append((pinned, letter))
        for several in members.values():
            self._put(several)
        for fetch in self.made.fetched:
            self._put([((fetch, letter), letter) for letter in self._components(fetch)])
        for operation, slot in self.slots.items():
            if operation in self.places:
                continue
            free = slot == "t" or width_of(operation.name, self.generation) > 1
            self._put_one(operation, COMPONENTS if free else slot)

    def _put(self, several: list[tuple[Living, str]], only: int | None = None) -> None:
        """Put values into components of one register."""
        for register in count() if only is None else (only,):
            wanted = [(one, Gpr(register, letter)) for one, letter in several]
            if all(self._is_free(gpr, self.lives[one]) for one, gpr in wanted):
                for one, gpr in wanted:
                    self._take(one, gpr)
                return

    def _put_one(self, one: Operation, letters: str) -> None:
        for register in count():
            for letter in letters:
                if self._is_free(Gpr(register, letter), self.lives[one]):
                    self._take(one, Gpr(register, letter))
                    return

    def _is_free(self, gpr: Gpr, life: _Life) -> bool:
        return all(one.read < life.written or life.read < one.written for one in self.taken.get(gpr, ()))

    def _take(self, one: Living, gpr: Gpr) -> None:
        self.places[one] = gpr
        self.taken.setdefault(gpr, []).append(self.lives[one])

    # --- the program

    def clauses(self) -> Iterator[AluClause | TexClause]:
        """Yield the clauses in order."""
        fetches: dict[int, list[Fetch]] = {}
        for fetch, before in self.made.fetched.items():
            fetches.setdefault(before, []).append(fetch)
        bundles: list[AluBundle] = []
        for number in range(len(self.made.bundles) + 1):
            if number in fetches:
                if bundles:
                    yield AluClause(tuple(bundles))
                    bundles = []
                yield from self._tex_clauses(fetches[number])
            if number < len(self.made.bundles):
                bundles.append(AluBundle(tuple(self._lines(number))))
        if bundles:
            yield AluClause(tuple(bundles))

    def _tex_clauses(self, fetches: list[Fetch]) -> Iterator[TexClause]:
        """Yield fetches that do not wait for each other together."""
        now: list[Fetch] = []
        for fetch in fetches:
            if any(isinstance(v, Fetched) and v.fetch in now for v in self.groups.fetches[fetch].values):
                yield TexClause(tuple(map(self._tex, now)))
                now = []
            now.append(fetch)
        yield TexClause(tuple(map(self._tex, now)))

    def _tex(self, fetch: Fetch) -> TexLine:
        letters = self._components(fetch)
        register = self.places[(fetch, letters[0])].register
        mask = "".join(letter if letter in letters else "_" for letter in COMPONENTS)
        source, swizzle = self._gathered(self.groups.fetches[fetch])
        name = "VFETCH" if fetch.view else "LD" if fetch.whole else "SAMPLE"
        return TexLine(name, register, mask, source, f"{swizzle:_<4}", fetch.resource, fetch.sampler)

    def _gathered(self, gathered: Gathered) -> tuple[int, str]:
        keys = [_living(value) for value in gathered.values if value is not None]
        registers = [self.places[key].register for key in keys if key is not None]
        return registers[0] if registers else 0, gathered.swizzle

    def _lines(self, number: int) -> Iterator[AluLine]:
        for slot, one in self.made.bundles[number].slots.items():
            sources = tuple(self._source(operand) for operand in one.operands)
            yield AluLine(slot, one.name, self.places[one], sources, one.clamp)

    def _source(self, operand: Operand) -> AluSource:
        place: Gpr | Kc | Number
        match operand.value:
            case ConstantWord(buffer, element, component):
                place = Kc(buffer, element, component)
            case NumberWord(bits):
                place = Number(bits)
            case value:
                key = _living(value)
                assert key is not None
                place = self.places[key]
        return AluSource(place, operand.negate, operand.absolute)

    def exports(self) -> Iterator[ExportLine | StoreLine]:
        """Yield what is written."""
        for number, gathered in self.groups.exports.items():
            yield ExportLine(number, *self._gathered(gathered))
        for one in self.groups.stores:
            address, (register, mask) = self._gathered(one.address)[0], self._gathered(one.words)
            yield StoreLine(one.store.view, address, register, mask)


def _living(value: Value) -> Living | None:
    match value:
        case Operation():
            return value
        case Fetched(fetch, component):
            return fetch, component
        case PlaceWord():
            return value
        case ConstantWord() | NumberWord():
            return None
