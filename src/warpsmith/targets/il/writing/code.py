"""Instructions of AMD IL while they are written. Every value has a register of its own, of which it is component x.

    literal k    word k of `numbers`, as lk.x until all are packed, four to a register
    constant k   word k of the launch, as cb0[k].x until those are packed that are read
    memory       an operation on the same words within a block is written once

Invariant: `finish` changes names only: it leaves out what nobody reads, numbers registers in the order of the text, and
packs literals.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from warpsmith.base.source import Span
from warpsmith.front.il.nodes import WHOLE, IlDestination, IlIndex, IlInstruction, IlLiteral, IlRegister, IlSource
from warpsmith.front.il.ops import IL_OPS

__all__ = ["FALSE", "TRUE", "Finished", "IlCode", "Word", "component", "launch_word"]

Word = IlSource | int
"""What an instruction reads: one component, in all places of its swizzle, or a number."""
TRUE: Final = 0xFFFFFFFF
FALSE: Final = 0
_FOLDED: Final[Mapping[str, Callable[[int, int], int]]] = {
    "iadd": lambda a, b: a + b, "imul": lambda a, b: a * b, "iand": lambda a, b: a & b, "ior": lambda a, b: a | b,
    "ixor": lambda a, b: a ^ b, "ishl": lambda a, b: a << (b & 31),
}  # fmt: skip
_NEUTRAL: Final = {"iadd": 0, "ior": 0, "ixor": 0, "ishl": 0, "ishr": 0, "ushr": 0, "imul": 1, "iand": TRUE}
"""What changes nothing as the second operand."""
_BITS: Final = 32
_EITHER: Final = ("iadd", "ior", "ixor", "imul", "iand")


def component(register: IlRegister, letter: str = "x") -> IlSource:
    """Return a component of a register as a word."""
    return IlSource(register, letter * 4)


def launch_word(number: int) -> IlSource:
    """Return word `number` of the launch."""
    return component(IlRegister("cb", 0, IlIndex(number)))


class Finished(Struct, frozen=True):
    """A program with its last names; `words`: the numbers of those of the launch that are read."""

    literals: tuple[IlLiteral, ...]
    lines: tuple[IlInstruction, ...]
    words: tuple[int, ...]


class IlCode:
    """What was written so far; `span`: the user's line that it is of; `amounts`: words that are less than 32."""

    def __init__(self) -> None:
        self.lines: list[IlInstruction] = []
        self.numbers: list[int] = []
        self.span: Span | None = None
        self.amounts: set[Word] = set()
        self._registers = 0
        self._made: dict[tuple[object, ...], IlSource] = {}

    def register(self) -> IlRegister:
        """Return a register that nothing uses."""
        self._registers += 1
        return IlRegister("r", self._registers - 1)

    def forget(self) -> None:
        """Begin a block: what was computed before may not be there, or be something else."""
        self._made.clear()

    def put(self, name: str, target: IlDestination | None, *sources: Word, resource: int = 0, zero: str = "") -> None:
        """Write an instruction."""
        given = tuple(map(self._source, sources))
        self.lines.append(IlInstruction(IL_OPS[name], target, given, zero=zero, resource=resource, span=self.span))

    def compute(self, name: str, *sources: Word, zero: str = "") -> Word:
        """Write an operation and return its result; of numbers at once where that is simple."""
        folded = self._fold(name, sources)
        if folded is not None:
            return folded
        key = (name, *sources)
        if key not in self._made:
            target = self.register()
            self.put(name, IlDestination(target, "x___"), *sources, zero=zero)
            self._made[key] = component(target)
            if name == "iand" and any(isinstance(one, int) and one < _BITS for one in sources):
                self.amounts.add(component(target))
        return self._made[key]

    def _fold(self, name: str, sources: tuple[Word, ...]) -> Word | None:
        if len(sources) != 2 or name not in _NEUTRAL:
            return None
        one, other = sources
        if isinstance(one, int) and isinstance(other, int) and name in _FOLDED:
            return _FOLDED[name](one, other) & TRUE
        if other == _NEUTRAL[name]:
            return one
        return other if one == _NEUTRAL[name] and name in _EITHER else None

    def move(self, target: IlRegister, source: Word) -> None:
        """Write a word to a register, which other words may be as well."""
        if source != component(target):
            self.put("mov", IlDestination(target, "x___"), source)
            self.forget()

    def element(self, first: Word, at: int) -> IlRegister:
        """Return element `first` + `at` of the array x0."""
        if isinstance(first, int):
            return IlRegister("x", 0, IlIndex(first + at))
        if first.register.kind != "r" or first.swizzle[0] != "x":
            register = self.register()
            self.put("mov", IlDestination(register, "x___"), first)
            first = component(register)
        return IlRegister("x", 0, IlIndex(at, first.register.number))

    def _source(self, word: Word) -> IlSource:
        if isinstance(word, IlSource):
            return word
        word &= TRUE
        if word not in self.numbers:
            self.numbers.append(word)
        return component(IlRegister("l", self.numbers.index(word)))

    def finish(self) -> Finished:
        """Return the program with its last names."""
        lines = _without_unused(self.lines)
        read = [source.register for line in lines for source in line.sources]
        used = list(dict.fromkeys(one.number for one in read if one.kind == "l"))
        asked = sorted({one.index.offset for one in read if one.kind == "cb" and one.index is not None})
        words = [self.numbers[number] for number in used]
        words += [0] * (-len(words) % 4)
        rows = ((at // 4, words[at : at + 4]) for at in range(0, len(words), 4))
        literals = tuple(IlLiteral(number, (x, y, z, w)) for number, (x, y, z, w) in rows)
        names: dict[IlSource, IlSource] = {}
        for at, number in enumerate(used):
            names[component(IlRegister("l", number))] = component(IlRegister("l", at // 4), WHOLE[at % 4])
        for at, number in enumerate(asked):
            names[launch_word(number)] = component(IlRegister("cb", 0, IlIndex(at // 4)), WHOLE[at % 4])
        registers = {number: at for at, number in enumerate(dict.fromkeys(_written(lines)))}
        return Finished(literals, tuple(_renamed(line, registers, names) for line in lines), tuple(asked))


def _written(lines: Iterable[IlInstruction]) -> Iterable[int]:
    for line in lines:
        if line.destination is not None and line.destination.register.kind == "r":
            yield line.destination.register.number


def _renamed(line: IlInstruction, registers: Mapping[int, int], names: Mapping[IlSource, IlSource]) -> IlInstruction:
    def number(of: int) -> int:
        # what no path writes is 0 all the same
        return registers.get(of, len(registers))

    def last(register: IlRegister) -> IlRegister:
        index = register.index
        if index is not None and index.register is not None:
            return replace(register, index=replace(index, register=number(index.register)))
        return IlRegister("r", number(register.number)) if register.kind == "r" else register

    target = line.destination
    if target is not None:
        target = replace(target, register=last(target.register))
    sources = (names.get(one, replace(one, register=last(one.register))) for one in line.sources)
    return replace(line, destination=target, sources=tuple(sources))


def _without_unused(lines: Sequence[IlInstruction]) -> list[IlInstruction]:
    """Return the lines that something depends on which is stored, or decides where control goes."""
    makers: dict[int, list[IlInstruction]] = {}
    for line in lines:
        for number in _written([line]):
            makers.setdefault(number, []).append(line)
    pending = [line for line in lines if line.op.acts or _keeps(line)]
    kept = {id(line) for line in pending}
    seen: set[int] = set()
    while pending:
        line = pending.pop()
        for number in set(_read(line)) - seen:
            seen.add(number)
            new = [one for one in makers.get(number, ()) if id(one) not in kept]
            kept |= {id(one) for one in new}
            pending += new
    return [line for line in lines if id(line) in kept]


def _keeps(line: IlInstruction) -> bool:
    """Whether a line writes an array of registers, or an output."""
    return line.destination is not None and line.destination.register.kind in ("x", "o")


def _read(line: IlInstruction) -> Iterable[int]:
    """Yield the registers that a line reads, as numbers or as indices."""
    named = [source.register for source in line.sources]
    yield from (one.number for one in named if one.kind == "r")
    named += [line.destination.register] if line.destination is not None else []
    for one in named:
        if one.index is not None and one.index.register is not None:
            yield one.index.register
