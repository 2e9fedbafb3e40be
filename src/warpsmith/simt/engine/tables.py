"""The tables of one launch, as arrays of numpy that stay where they are while machine code reads them.

Buffers stay where Python has them; what a block owns (shared memory, local memory of its threads) is made once and
cleared for each block. Of blocks that are resident together each has its own, one behind the other (resident.py).
"""

from __future__ import annotations

import ctypes
from typing import Final

import numpy as np
from msgspec import Struct

from warpsmith.simt.engine.compile import CompiledKernel
from warpsmith.simt.engine.host.answers import Answers
from warpsmith.simt.engine.instructions import len_of_site
from warpsmith.simt.engine.observers.lost import LOG_WORDS
from warpsmith.simt.engine.observers.races import CELL
from warpsmith.simt.engine.reading.written import written_memory
from warpsmith.simt.engine.words import Array, LaunchWords, RegionWords, RequestWords, SiteWords, Stop
from warpsmith.simt.engine.writing.blocks import COUNTERS
from warpsmith.simt.engine.writing.calls import number_functions
from warpsmith.simt.launch import Launch
from warpsmith.simt.layout import MemoryLayout, MemoryPart, local_layout, shared_layout
from warpsmith.simt.memory import LOCAL_WINDOW, SHARED_WINDOW, Buffer, LaunchMemory
from warpsmith.simt.thread import DEEPEST
from warpsmith.ssa.nodes import Module, Space

__all__ = ["LaunchTables", "Place", "bytes_of_cells", "whole_lines"]

_MOST_LOCAL: Final = 1 << 28
"""Bytes of local memory of all levels of calls, of which only those count that are used."""


class Place(Struct, frozen=True):
    """A region, as people call it: `address` is its first byte in its own space."""

    space: Space
    address: int


class LaunchTables:
    """All that a launch needs; `state` is what machine code gets. `cells_of_all`: the words of the cells of each buffer
    that all blocks share. `steps`: for each region what its words have more in the next block that is resident.
    `guess`: buffers that are likely to be only read have no cells, and a write to one stops the launch."""

    def __init__(
        self,
        code: CompiledKernel,
        module: Module,
        launch: Launch,
        memory: LaunchMemory,
        *,
        places: dict[str, int],
        state: Array,
        guess: bool = False,
    ) -> None:
        self.code, self.launch, self.state = code, launch, state
        self.kept: list[object] = []
        self.places: list[Place] = []
        self.rows: list[list[int]] = []
        self.steps: list[dict[RegionWords, int]] = []
        self.residents = launch.blocks if code.checks.resident else 1
        self.cleared: list[int] = []
        self.cells_of_all: list[Array] = []
        self.arrays: dict[str, int] = {}
        self.warps = -(-launch.threads // launch.warp)
        self.padded = self.warps * launch.warp + code.lanes
        self.full, self.partial = (self.zeros(COUNTERS * len(code.segments)) for _ in range(2))
        self.lost = self.zeros(len(code.blocks))
        name = code.function.name
        self.own = [name for one in number_functions(code.function, code.callees) for name in one.arrays]
        self.written = self.find_written(places) if guess and code.checks.races else None
        shared, local = shared_layout(module, name, launch.shared, launch.parts), local_layout(module, name)
        for buffer in memory.buffers:
            self.global_region(buffer)
        self.shared_regions(shared.parts, shared.size)
        self.local_regions(local)
        starts = {**places, **local.starts, **shared.starts}
        self.requests = self.zeros(len(code.sites) * max(1, len(self.rows)) * len(RequestWords))
        self.fill(starts)
        if memory.trace is not None:
            state[LaunchWords.TRACE] = _address(memory.trace.words)
        if code.ops.asked:
            answers = Answers(code.ops.asked, code.lanes, launch, state)
            state[LaunchWords.ASK] = answers.address
            self.kept.append(answers)

    # --- arrays

    def zeros(self, words: int, dtype: str = "<i8") -> Array:
        """Return an array of zeros that is kept."""
        made = np.zeros(max(1, words), dtype)
        self.kept.append(made)
        return made

    def bytes_at(self, count: int) -> int:
        """Return the address of `count` new bytes, zero, at a multiple of 64."""
        made = self.zeros(count + 64, "u1")
        return -(-_address(made) // 64) * 64

    def own_bytes(self, count: int) -> int:
        """Return the address of `count` new bytes of a block, which are zero when it starts; behind them are those of
        the next block that is resident."""
        if not count:
            return 0
        made = self.bytes_at(whole_lines(count) * self.residents)
        self.clear(made, count)
        return made

    # --- regions

    def region(self, place: Place, words: dict[RegionWords, int], steps: dict[RegionWords, int] | None = None) -> None:
        """Take note of a region."""
        self.steps.append(steps or {})
        row = [words.get(word, 0) for word in RegionWords]
        row[RegionWords.NUMBER] = len(self.rows)
        self.rows.append(row)
        self.places.append(place)

    def cells(self, size: int) -> int:
        """Return the first of the cells of `size` bytes; 0 where no races are looked for."""
        return self.bytes_at(bytes_of_cells(self.code, size)) if self.code.checks.races and size else 0

    def global_region(self, buffer: Buffer) -> None:
        """Take note of a buffer that all threads share."""
        size = len(buffer.data)
        if not size:
            return
        data, known = (_in_place(held, self.kept) for held in (buffer.data, buffer.known))
        watched = self.code.checks.uninitialized and not all(buffer.known)
        constant = Stop.CONSTANT if buffer.space == "constant" else Stop.NONE
        if not constant and self.written is not None and not self.is_written(buffer):
            constant = Stop.WRITTEN
        cells = 0 if constant else self.cells(size)
        if cells:
            self.cells_of_all.append(_words_at(cells, bytes_of_cells(self.code, size) // 8))
        self.region(
            Place(buffer.space, buffer.address),
            {
                RegionWords.LOW: buffer.address,
                RegionWords.LENGTH: size,
                RegionWords.DELTA: data - buffer.address,
                RegionWords.KNOWN: known - buffer.address if watched else 0,
                RegionWords.CELLS: cells,
                RegionWords.CONSTANT: constant,
            },
        )

    def find_written(self, places: dict[str, int]) -> frozenset[int] | None:
        """Return the addresses that writes are likely to start from, None where that cannot be told."""
        written = written_memory(self.code.function)
        return None if written.anywhere or self.code.callees else written.addresses(self.launch, places)

    def is_written(self, buffer: Buffer) -> bool:
        """Whether writes are likely to hit a buffer."""
        assert self.written is not None
        return any(buffer.address <= address <= buffer.end for address in self.written)

    def shared_regions(self, parts: tuple[MemoryPart, ...], size: int) -> None:
        """Take note of the variables in the shared memory of a block."""
        if not size:
            return
        checks, many = self.code.checks, bytes_of_cells(self.code, size)
        data, known = self.own_bytes(size), self.own_bytes(size * checks.uninitialized)
        cells = self.own_bytes(many * checks.races)
        line = whole_lines(size)
        steps = {RegionWords.DELTA: line, RegionWords.KNOWN: line, RegionWords.CELLS: whole_lines(many)}
        for part in parts:
            words = {
                RegionWords.LOW: SHARED_WINDOW + part.start,
                RegionWords.LENGTH: part.end - part.start,
                RegionWords.DELTA: data - SHARED_WINDOW,
                RegionWords.KNOWN: known - SHARED_WINDOW if known else 0,
                RegionWords.CELLS: cells + part.start // self.code.granule * CELL if cells else 0,
            }
            self.region(Place("shared", part.start), words, {word: steps[word] for word in steps if words[word]})

    def local_regions(self, layout: MemoryLayout) -> None:
        """Take note of the variables in the local memory of a thread: those of the first level. Others are regions
        while a call has them (writing/calls.py), and there is memory for so many levels."""
        if not layout.size:
            return
        stride = whole_lines(layout.size)
        level = stride * self.padded
        levels = max(1, min(DEEPEST, _MOST_LOCAL // level)) if layout.stride else 1
        data, known = self.levels_at(level, levels), self.levels_at(level * self.code.checks.uninitialized, levels)
        self.state[LaunchWords.STRIDE], self.state[LaunchWords.LEVEL_BYTES] = layout.stride, level
        self.state[LaunchWords.MOST_LEVELS] = levels
        for part in layout.parts:
            self.arrays[part.name] = len(self.rows)
            words = {
                RegionWords.LOW: LOCAL_WINDOW + part.start,
                RegionWords.LENGTH: part.end - part.start,
                RegionWords.DELTA: data - LOCAL_WINDOW,
                RegionWords.STRIDE: stride,
                RegionWords.KNOWN: known - LOCAL_WINDOW if known else 0,
            }
            steps = {word: level for word in (RegionWords.DELTA, RegionWords.KNOWN) if words[word]}
            self.region(Place("local", part.start), words, steps)

    def levels_at(self, level: int, levels: int) -> int:
        """Return the address of `level` new bytes of a block, zero when it starts, and as many for each level more:
        only blocks that run one after the other have such (engine/support.py)."""
        if levels == 1 or not level:
            return self.own_bytes(level)
        made = self.bytes_at(level * levels)
        self.clear(made, level)
        return made

    def clear(self, address: int, size: int) -> None:
        """Have bytes cleared for each block."""
        if address:
            self.cleared += [address, size]

    # --- the record of the launch

    def fill(self, starts: dict[str, int]) -> None:
        """Set the words of the state."""
        launch, ops = self.launch, self.code.ops
        named = self.array([starts[name] for name in ops.places])
        logs = self.warps if self.code.frame else 1
        words = {
            LaunchWords.BUDGET: launch.max_steps,
            LaunchWords.REGIONS: _address(self.regions()),
            LaunchWords.LEVELS: _address(self.zeros(len(self.code.callees))),
            LaunchWords.ARRAYS: _address(self.array([self.arrays[name] for name in self.own])),
            LaunchWords.REGION_COUNT: len(self.rows),
            LaunchWords.SITES: _address(self.sites()),
            LaunchWords.PARAMETERS: _address(self.parameters()),
            LaunchWords.INDICES: _address(self.indices()),
            LaunchWords.PADDED: self.padded,
            LaunchWords.THREADS: launch.threads,
            LaunchWords.WARPS: self.warps,
            LaunchWords.FULL: _address(self.full),
            LaunchWords.PARTIAL: _address(self.partial),
            LaunchWords.FRAMES: self.bytes_at(self.code.frame * self.warps),
            LaunchWords.FRAME_BYTES: self.code.frame,
            LaunchWords.STATUS: _address(self.zeros(self.warps)),
            LaunchWords.WARP_EPOCHS: _address(self.zeros(self.warps)),
            LaunchWords.LOGS: _address(self.zeros(LOG_WORDS * logs)),
            LaunchWords.LOG_BYTES: LOG_WORDS * 8 if self.code.frame else 0,
            LaunchWords.LOST: _address(self.lost),
            LaunchWords.CLEARED: _address(self.array(self.cleared)),
            LaunchWords.CLEARED_COUNT: len(self.cleared) // 2,
            LaunchWords.REDUCED: _address(self.zeros(4)),
            LaunchWords.PLACES: _address(named),
            LaunchWords.BYTES: launch.shared,
            LaunchWords.WIDTH: launch.warp,
        }
        for word, number in words.items():
            self.state[word] = number
        for at, number in enumerate((*launch.block, *launch.grid)):
            self.state[LaunchWords.NTID_X + at] = number

    def regions(self) -> Array:
        """Return the regions, with places for those of the arrays that calls have."""
        room = DEEPEST * len(self.own) * len(RegionWords)
        return self.array([*(word for row in self.rows for word in row), *([0] * room)])

    def array(self, numbers: list[int]) -> Array:
        """Return numbers as words that are kept."""
        made = np.array([number % 2**64 for number in numbers] or [0], "<u8")
        self.kept.append(made)
        return made

    def sites(self) -> Array:
        """Return the sites: none has touched a region yet."""
        made, row = self.zeros(len(self.code.sites) * len_of_site()), len(self.rows) * len(RequestWords) * 8
        for number, instruction in enumerate(self.code.sites):
            at = number * len_of_site()
            made[at + SiteWords.SIZE] = self.code.sizes[instruction]
            made[at + SiteWords.SUMS] = _address(self.requests) + number * row
        return made

    def parameters(self) -> Array:
        """Return the arguments, each at its place."""
        offsets, given = self.code.ops.offsets, self.launch.arguments
        size = max((offsets[name] + len(given.get(name, b"")) for name in offsets), default=0)
        made = self.zeros(size, "u1")
        for name, at in offsets.items():
            data = given.get(name, b"")
            made[at : at + len(data)] = np.frombuffer(data, "u1")
        return made

    def indices(self) -> Array:
        """Return tid.x, .y and .z of each thread."""
        threads, (x, y, _) = np.arange(self.padded), self.launch.block
        made = np.concatenate([threads % x, threads // x % y, threads // (x * y)]).astype("<i4")
        self.kept.append(made)
        return made


def whole_lines(count: int) -> int:
    """Return how many bytes whole lines of 64 have that hold `count`."""
    return -(-count // 64) * 64


def bytes_of_cells(code: CompiledKernel, size: int) -> int:
    """Return how many bytes the cells have of `size` bytes of memory."""
    return (size // code.granule + 1) * CELL


def _words_at(address: int, count: int) -> Array:
    """Return the words that are at an address, as long as somebody else keeps them."""
    return np.ctypeslib.as_array((ctypes.c_int64 * count).from_address(address))


def _address(array: Array) -> int:
    address: int = array.ctypes.data
    return address


def _in_place(held: bytearray, kept: list[object]) -> int:
    """Return where a bytearray has its bytes; while it is kept it cannot be resized."""
    view = (ctypes.c_char * len(held)).from_buffer(held)
    kept.append(view)
    return ctypes.addressof(view)
