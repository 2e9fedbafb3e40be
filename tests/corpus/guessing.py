"""Launches of kernels that nobody described: memory is wherever it is touched, scalars are small numbers.

A word gets its content when it is first read, by whom: an address where an address is made of it, a real number where
one is read, else a whole number. How the words of one array are made (small, rising, with some -1 …) is drawn for each
array and each seed; words that the inputs name are what these say. A run that is checked ends where threads race, or
read shared memory that nobody has written: what they find there may be anything.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from msgspec import field

from tests.corpus.addressing import Addressing, addressing
from tests.corpus.inputs import ANYTHING, Inputs
from warpsmith.simt.interpreter import interpret
from warpsmith.simt.launch import Dim, Launch, Outcome
from warpsmith.simt.memory import SHARED_WINDOW, AccessConflict, Buffer, Fault, LaunchMemory, RecordedAccess
from warpsmith.simt.observer import Observer
from warpsmith.ssa.nodes import Function, Instruction, Module, Param, Query, Space
from warpsmith.ssa.semantics.patterns import pattern_of
from warpsmith.ssa.types import Type

__all__ = ["ARRAYS", "KINDS", "Anywhere", "Guess", "array_of", "shape_of"]

PAGE: Final = 4096
ARRAY: Final = 40
"""Arrays lie 2**40 bytes apart: what argument number n points to is around (n + 1) << 40."""

_REACH: Final = 1 << 37
_POINTED: Final = 1 << 12
_MANY: Final = 12
_SIZES: Final = (1, 2, 3, 5, 8, 16, 31, 33, 50, 64, 100, 127, 128, 200, 256, 300)
_GRIDS: Final = ((1, 1, 1), (1, 1, 1), (2, 1, 1), (2, 2, 1), (64, 1, 1), (40, 24, 1), (1 << 16, 1, 1), (1 << 21, 1, 1))

ARRAYS: Final = (*range(1, 65), *range(_POINTED, _POINTED + _MANY))
"""Their numbers, as far as arguments and words of memory point to any."""

Maker = Callable[[int, int, int], float]
"""From a word's random bits, its number in the array and the array's random bits."""

_WHOLE: Final[Mapping[str, Maker]] = {
    "small": lambda h, n, a: h % 21,
    "few": lambda h, n, a: h % 3,
    "none": lambda h, n, a: 0,
    "rising": lambda h, n, a: n * (1 + a % 5) + h % (1 + a % 5),
    "order": lambda h, n, a: n ^ a % 64,
    "ends": lambda h, n, a: -1 if h % 4 == 0 else h % 21,
    "bytes": lambda h, n, a: h % 256,
    "wide": lambda h, n, a: h % 100_000,
}
_REAL: Final[Mapping[str, Maker]] = {
    "unit": lambda h, n, a: h / 2**63 - 1,
    "part": lambda h, n, a: h / 2**64,
    "scaled": lambda h, n, a: (h / 2**63 - 1) * 10 ** (h % 7 - 3),
    "whole": lambda h, n, a: h % 21 - 5,
    "few": lambda h, n, a: (0.0, 1.0, -1.0, 0.5)[h % 4],
    "none": lambda h, n, a: 0.0,
}
KINDS: Final = ("none", "few", *sorted(_WHOLE.keys() ^ _REAL.keys()))
_WHOLE_OFTEN: Final = ("small", "small", "small", "few", "rising", "order", "ends", "mixed", "mixed")
_REAL_OFTEN: Final = ("unit", "unit", "part", "scaled", "mixed", "mixed")


def _bits(*numbers: int) -> int:
    """Return 64 random bits that these numbers determine."""
    state = 0x9E3779B97F4A7C15
    for number in numbers:
        state = (state ^ number) * 0xBF58476D1CE4E5B9 & 0xFFFFFFFFFFFFFFFF
        state = (state ^ state >> 29) * 0x94D049BB133111EB & 0xFFFFFFFFFFFFFFFF
        state ^= state >> 32
    return state


class Anywhere(LaunchMemory):
    """Global memory in pages that are made where they are touched; `addressing` tells what loads are for."""

    seed: int = 0
    words: Mapping[int, bytes] = field(default_factory=dict)
    kinds: Mapping[int, str] = field(default_factory=dict)
    addressing: Addressing = field(default_factory=lambda: Addressing(frozenset(), frozenset()))
    pages: dict[int, Buffer] = field(default_factory=dict)

    def __init__(self, inputs: Inputs, addressing: Addressing, *, checks: bool) -> None:
        super().__init__(checks=checks)
        self.seed, self.words, self.kinds = inputs.seed, inputs.words, inputs.kinds
        self.addressing, self.pages = addressing, {}

    def allocate(self, name: str, data: bytes, *, known: bool = True, space: Space = "global") -> Buffer:
        """Return a variable of the module; one that is not initialized may hold what the host has put there."""
        given = any(data) or _bits(self.seed, len(self.buffers)) % 3 == 0
        return super().allocate(name, data, known=given, space=space)

    def conflict(self, found: AccessConflict) -> None:
        """End the run where one thread reads what another writes; what only written is may differ, but nobody sees."""
        super().conflict(found)
        if "load" in (found.first.kind, found.second.kind):
            raise Fault(ANYTHING)

    def find(self, address: int, size: int, pieces: tuple[Buffer, ...]) -> tuple[Buffer, int]:
        """Return the page at an address; what shared and local memory and variables own stays theirs."""
        if address >= SHARED_WINDOW or any(p.address <= address < p.end for p in self.buffers):
            return super().find(address, size, pieces)
        around = address + _REACH
        if around >> ARRAY == 0 or around % (1 << ARRAY) >= 2 * _REACH:
            raise Fault(f"{size} bytes at {address:#x}, where there is no memory", "bounds")
        start = address // PAGE * PAGE
        if start not in self.pages:
            self.pages[start] = self._page(start)
        return self.pages[start], address - start

    def _page(self, start: int) -> Buffer:
        page = Buffer("memory", "global", start, bytearray(PAGE + 64), bytearray(PAGE + 64))
        for at, word in self.words.items():
            if start <= at <= start + PAGE - len(word):
                page.data[at - start : at - start + len(word)] = word
                page.known[at - start : at - start + len(word)] = b"\1" * len(word)
        return page

    def read(self, buffer: Buffer, offset: int, size: int, access: RecordedAccess) -> int:
        """Return what is there; whoever comes first decides what it is."""
        if buffer.space in ("global", "constant") and not all(buffer.known[offset : offset + size]):
            word = self._word(buffer.address + offset, access.instruction)
            for at, byte in enumerate(word[:size], offset):
                if not buffer.known[at]:
                    buffer.data[at], buffer.known[at] = byte, 1
        if self.checks and buffer.space == "shared" and not all(buffer.known[offset : offset + size]):
            raise Fault(ANYTHING)
        buffer.known[offset : offset + size] = b"\1" * size
        return super().read(buffer, offset, size, access)

    def _word(self, address: int, reader: object) -> bytes:
        """Return the first content of a word, as its reader takes it."""
        assert isinstance(reader, Instruction)
        type = reader.results[0].type if reader.op == "load" else reader.operands[1].type
        array = array_of(address)
        at = address + _REACH & (1 << ARRAY) - 1
        bits = _bits(self.seed, address)
        if reader in self.addressing.loads:
            return _pointer(bits).to_bytes(type.bytes, "little")
        if reader in self.addressing.packed and _bits(self.seed, array, 2) & 1:
            return bits.to_bytes(8, "little")[: type.bytes]
        return _number(type, bits, (at - _REACH) // type.bytes, _bits(self.seed, array, 1), self.kinds.get(array, ""))


def _pointer(bits: int) -> int:
    """Return an address in one of a few arrays that no argument points to, at times none."""
    return 0 if bits % 8 == 0 else _POINTED + (bits >> 8) % _MANY << ARRAY | (bits >> 16) % 64 * 256


def array_of(address: int) -> int:
    """Return the number of the array that an address belongs to."""
    return (address + _REACH) >> ARRAY


def _number(type: Type, bits: int, place: int, array: int, kind: str) -> bytes:
    """Return a number of an array, of a kind or of one that is drawn."""
    makers, often = (_REAL, _REAL_OFTEN) if type.kind == "float" else (_WHOLE, _WHOLE_OFTEN)
    every = list(makers)
    if kind not in every:
        kind = often[array % len(often)] if array >> 32 & 7 else every[array % len(every)]
    if kind == "mixed":
        kind = every[(bits >> 40) % len(every)]
    made = makers[kind](bits, place, array >> 16)
    pattern = pattern_of(made, type) if type.kind == "float" else int(made)
    return (pattern % (1 << 8 * type.bytes)).to_bytes(type.bytes, "little")


def shape_of(function: Function, launched: Dim | None) -> Dim:
    """Return a block to run: the one that the host code launches where that is not too large."""
    if launched is not None and launched[0] * launched[1] * launched[2] <= 256:
        return launched
    if function.limits.exact_block is not None:
        return function.limits.exact_block
    rows = any(isinstance(i.detail, Query) and i.detail.register == "tid.y" for _, i in function.instructions())
    return (16, 4, 1) if rows else (64, 1, 1)


class Guess:
    """A kernel that is launched on what is made up, in blocks of one shape. `steps`: how many a run takes at most;
    `launched`: the grid that the host code launches, where that is known."""

    def __init__(self, module: Module, function: Function, block: Dim, launched: Dim | None, steps: int) -> None:
        self.module, self.function, self.block = module, function, block
        self.launched, self.steps = launched, steps
        self.addressing: Addressing = addressing(function, module.functions)
        self.read = {
            (i.detail.parameter, i.detail.offset): i.result.type
            for _, i in function.instructions()
            if isinstance(i.detail, Param)
        }

    def run(self, inputs: Inputs, observer: Observer, *, checks: bool) -> Outcome:
        """Run the kernel."""
        chosen = random.Random(f"{self.function.name} {inputs.seed}")
        arguments = inputs.instead(self._arguments(chosen))
        grid, blocks = inputs.grid, inputs.blocks
        if grid is None:
            grid = chosen.choice([*_GRIDS, *([self.launched] * 3 if self.launched else [])])
            blocks = _some(grid, chosen)
        # two threads get far in few steps
        steps = self.steps if inputs.lanes is None or len(inputs.lanes) > 2 else self.steps // 5
        launch = Launch(
            grid,
            self.block,
            arguments,
            shared=16384,
            seed=inputs.seed,
            max_steps=steps * inputs.patience,
            only=blocks,
            lanes=inputs.lanes,
            textures=partial(_texel, inputs.seed),
        )
        memory = Anywhere(inputs, self.addressing, checks=checks)
        return interpret(self.module, self.function.name, launch, memory, observer)

    def _arguments(self, chosen: random.Random) -> dict[str, bytes]:
        made: dict[str, bytes] = {p.name: bytes(p.bytes) for p in self.function.parameters}
        for number, ((name, offset), type) in enumerate(sorted(self.read.items(), key=lambda item: item[0])):
            if (name, offset) in self.addressing.parameters:
                word = (number + 1 << ARRAY).to_bytes(8, "little")
            else:
                word = _scalar(type, chosen)
            if name in made:
                made[name] = made[name][:offset] + word + made[name][offset + len(word) :]
        return made


def _texel(seed: int, name: str, operands: tuple[int, ...], type: Type) -> int:
    """Return what a texture has at a place: the same whoever asks."""
    return int.from_bytes(_scalar(type, random.Random(f"{seed} {name} {operands}")), "little")


def _scalar(type: Type, chosen: random.Random) -> bytes:
    if type.kind == "float":
        real = chosen.choice((chosen.uniform(-1, 2), chosen.random(), chosen.random(), 0.0, 1.0, 1e-3, 10.0, 100.0))
        return pattern_of(real, type).to_bytes(type.bytes, "little")
    whole = chosen.choice((*_SIZES, *_SIZES, 0, 1000, chosen.randrange(1 << 20)))
    return struct.pack("<Q", whole)[: type.bytes]


def _some(grid: Dim, chosen: random.Random) -> tuple[int, ...] | None:
    """Return the blocks of a grid that are run: all of a small one, two of others."""
    count = grid[0] * grid[1] * grid[2]
    if count <= 4:
        return None
    return tuple({chosen.choice((0, count - 1, chosen.randrange(count))), chosen.randrange(count)})
