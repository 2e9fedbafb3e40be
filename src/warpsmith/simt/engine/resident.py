"""Blocks that are resident together: each has a room of its own, and goes on where it was when its turn comes again.

    block 0   ──► grid.sync() │                           ├──► …
    block 1                   │ ──► grid.sync() │         ├──► …       when all stand at the same barrier it opens
    block 2                                     │ ──► … ──┤

Room      frames of the warps and where they stand, shared and local memory with what is known of it, cells, logs; the
          tables of regions and sites, which say where these are. A row of words (words.py: ROOM) leads to all of it
Opening   what blocks did before is ordered with what they do then: cells of an earlier epoch of the grid say nothing

A barrier of the grid is for all threads that have not ended, and no block may have ended (interpreter.py); what is
wrong with one is the interpreter's to tell.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from warpsmith.simt.engine.compile import CompiledKernel
from warpsmith.simt.engine.instructions import len_of_site
from warpsmith.simt.engine.observers.races import GRID_BIT
from warpsmith.simt.engine.tables import LaunchTables, bytes_of_cells, whole_lines
from warpsmith.simt.engine.words import GIVES_WAY, ROOM, Array, LaunchWords, RegionWords, Stop
from warpsmith.simt.launch import Launch
from warpsmith.simt.layout import local_layout, shared_layout
from warpsmith.simt.memory import LaunchMemory
from warpsmith.ssa.nodes import Module

__all__ = ["MOST_BYTES", "Rooms", "bytes_of_rooms", "fits"]

MOST_BYTES: Final = 1 << 30
"""What the rooms of all blocks may take."""
_EPOCHS: Final = 1 << 32 - GRID_BIT
"""Epochs of the grid, modulo which they are kept."""


def fits(code: CompiledKernel, module: Module, launch: Launch, memory: LaunchMemory) -> bool:
    """Whether all blocks of a launch may be resident together."""
    few = launch.blocks < (1 << GRID_BIT) - 1
    return few and bytes_of_rooms(code, module, launch, memory) <= MOST_BYTES


def bytes_of_rooms(code: CompiledKernel, module: Module, launch: Launch, memory: LaunchMemory) -> int:
    """Return about how many bytes the rooms of all blocks take."""
    name, checks = code.function.name, code.checks
    shared, local = shared_layout(module, name, launch.shared, launch.parts), local_layout(module, name)
    warps = -(-launch.threads // launch.warp)
    copies = 1 + checks.uninitialized
    own = whole_lines(shared.size) * copies + whole_lines(local.size) * (warps * launch.warp + code.lanes) * copies
    if checks.races and shared.size:
        own += whole_lines(bytes_of_cells(code, shared.size))
    regions = len(memory.buffers) + len(shared.parts) + len(local.parts)
    words = regions * len(RegionWords) + len(code.sites) * len_of_site() + len(ROOM)
    return launch.blocks * (own + 8 * words + warps * (code.frame + code.log + 16))


class Rooms:
    """The rooms of all blocks of a launch: none has begun."""

    def __init__(self, tables: LaunchTables) -> None:
        self.tables, self.state, self.blocks = tables, tables.state, tables.residents
        self.rows = tables.zeros(self.blocks * (len(ROOM) + 1)).reshape(self.blocks, len(ROOM) + 1)
        self.waits = self.rows[:, len(ROOM)]
        self.state[LaunchWords.ROOMS], self.state[LaunchWords.GRID] = self.rows.ctypes.data, 0
        warps, frames = tables.warps, tables.code.frame * tables.warps
        self.give(LaunchWords.REGIONS, self.regions(), len(tables.rows) * len(RegionWords) * 8)
        self.give(LaunchWords.SITES, self.sites(), len(tables.code.sites) * len_of_site() * 8)
        self.give(LaunchWords.FRAMES, tables.bytes_at(frames * self.blocks), frames)
        self.status = np.ones(warps * self.blocks, "<i8")
        self.give(LaunchWords.STATUS, self.words(self.status), 8 * warps)
        self.give(LaunchWords.WARP_EPOCHS, self.words(np.zeros(warps * self.blocks, "<i8")), 8 * warps)
        logs = tables.code.log * warps
        self.state[LaunchWords.LOG_BYTES] = tables.code.log
        self.give(LaunchWords.LOGS, self.words(np.zeros(logs * self.blocks // 8, "<i8")), logs)
        self.give(LaunchWords.REDUCED, self.words(np.zeros(4 * self.blocks, "<i8")), 8 * 4)

    def give(self, word: LaunchWords, first: int, step: int) -> None:
        """Give each block an address, `step` behind the one of the block before it."""
        self.rows[:, ROOM.index(word)] = first + step * np.arange(self.blocks)

    def words(self, made: Array) -> int:
        """Return the address of words that are kept."""
        self.tables.kept.append(made)
        address: int = made.ctypes.data
        return address

    def regions(self) -> int:
        """Return the address of the tables of regions: what a block owns is somewhere else for each."""
        rows, numbers = self.tables.rows, np.arange(self.blocks, dtype="<u8")
        one = np.array([word % 2**64 for row in rows for word in row] or [0], "<u8")
        made = np.tile(one, (self.blocks, 1))
        for region, steps in enumerate(self.tables.steps):
            for word, step in steps.items():
                made[:, region * len(RegionWords) + word] += numbers * np.uint64(step)
        return self.words(made)

    def sites(self) -> int:
        """Return the address of the tables of sites: none has touched a region yet."""
        return self.words(np.tile(self.tables.sites(), (self.blocks, 1)))

    def open(self) -> bool:
        """Open the barrier of the grid at which all blocks wait; return whether blocks can go on. They cannot where all
        have ended; where only some wait there, or at another one, the launch stops. While a block can go on anyway,
        nothing opens."""
        if self.state[LaunchWords.LEAVE] or not self.waits.any():
            return False
        if np.any(self.waits == GIVES_WAY):
            return True
        others = np.flatnonzero(self.waits != self.waits[0])
        if len(others):
            self.stop(int(others[0]))
            return False
        self.status[self.status > 1] = 1
        self.rows[:, ROOM.index(LaunchWords.EPOCH)] += 1
        epoch = (int(self.state[LaunchWords.GRID]) >> GRID_BIT) + 1
        if epoch == _EPOCHS:
            for cells in self.tables.cells_of_all:
                cells[:] = 0
            epoch = 0
        self.state[LaunchWords.GRID] = epoch << GRID_BIT
        return True

    def stop(self, block: int) -> None:
        """Stop the launch: blocks do not meet."""
        state = self.state
        state[LaunchWords.STOP], state[LaunchWords.STOP_SITE] = Stop.BARRIER, 0
        state[LaunchWords.STOP_BLOCK], state[LaunchWords.LEAVE] = block, 1
        state[LaunchWords.STOP_THREAD] = state[LaunchWords.STOP_ADDRESS] = -1
