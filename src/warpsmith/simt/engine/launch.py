"""One launch of a compiled kernel: it runs, and its counters are read.

It runs apart (apart.py): Ctrl-C and time limits reach another thread, which sets State.LEAVE. Every loop of the kernel
looks at it, so counters are whole whenever the machine code returns. Blocks run a few at a time, so that it can be
reported how far it is.

Several threads take turns at the blocks; each has tables of its own, and all have the same buffers. What they counted
is added, so it does not depend on who ran what. Cells of one thread do not show what blocks of another touch: that is
looked at when all is over (observers/merged.py). Blocks that wait for each other are resident together (resident.py),
and have one thread: each gets as far as it can, again and again."""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Final

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from warpsmith.base.progress import Activity, Progress
from warpsmith.simt.counters import BlockCount
from warpsmith.simt.engine.compile import CompiledKernel
from warpsmith.simt.engine.counts import EngineCounts, RequestSum
from warpsmith.simt.engine.host.together import work_together
from warpsmith.simt.engine.instructions import len_of_site
from warpsmith.simt.engine.observers.merged import race_between
from warpsmith.simt.engine.resident import Rooms, fits
from warpsmith.simt.engine.stopped import Stopped
from warpsmith.simt.engine.tables import LaunchTables
from warpsmith.simt.engine.words import Array, LaunchWords, RequestWords, Stop, new_state
from warpsmith.simt.engine.writing.blocks import COUNTERS
from warpsmith.simt.launch import Launch
from warpsmith.simt.memory import LaunchMemory, allocate_shared
from warpsmith.simt.tally import Totals
from warpsmith.ssa.nodes import Instruction, Memory, Module, Space

__all__ = ["Ended", "Workers", "run_launch"]

_Entry = Callable[[int, int, int], None]
_CHUNK = 1 << 16
"""Threads that run before it is reported how far the launch is, at least a block."""
_BRIEF: Final = 0.02
"""Seconds that blocks take at least which are run before it is looked how far the launch is, if there are so many."""
_FASTER: Final = 0.33
"""How much of its time better code spares."""
_COST: Final = 0.1
_COST_OF_EACH: Final = 0.002
"""Seconds that it takes to compile a kernel well, and more for each of its instructions."""
_SHARES: Final = 8
"""Into how many parts the blocks of each thread of this computer are cut, so that all end at about the same time."""


class Workers(Struct, frozen=True):
    """The threads of a launch: a record for each, as new_state makes it, and the bytes of their stacks. `progress` is
    told how far they are."""

    states: tuple[Array, ...]
    stack: int
    progress: Progress

    @classmethod
    def of(cls, count: int, stack: int, progress: Progress) -> Workers:
        """Return `count` threads."""
        return cls(tuple(new_state() for _ in range(count)), stack, progress)

    def leave(self) -> None:
        """Ask all threads to return."""
        for state in self.states:
            state[LaunchWords.LEAVE] = 1


class Ended(Struct, frozen=True):
    """How a launch ended: why it was stopped, where; what was counted so far."""

    stopped: Stopped
    counts: EngineCounts


def run_launch(
    code: CompiledKernel,
    module: Module,
    launch: Launch,
    memory: LaunchMemory,
    workers: Workers,
    *,
    guess: bool = False,
    patience: int = 0,
    better: Callable[[], CompiledKernel] | None = None,
) -> Ended:
    """Run a compiled kernel on `memory`, whose buffers it changes. `guess`: which of them it writes; where that is
    wrong, it ends with Stop.WRITTEN. `patience`: how many instructions of lanes a block may take before the launch ends
    with Stop.WAITS, 0 for as many as are left. `better` compiles the same kernel, with the same tables, for launches
    that take long."""
    places = allocate_shared(module, memory)
    if code.checks.resident and not fits(code, module, launch, memory):
        return Ended(Stopped(Stop.ROOM, 0, -1), EngineCounts({}, Totals(), (), 0))
    run = _Run(code, launch, workers, better, patience)
    run.tables = [
        LaunchTables(code, module, launch, memory, places=places, state=state, guess=guess)
        for state in workers.states[: run.most_threads]
    ]
    run.go()
    first, *others = run.tables
    for other in others:
        for own, more in zip(_sums(first), _sums(other), strict=True):
            own += more
        first.state[LaunchWords.WAITING] = max(first.state[LaunchWords.WAITING], other.state[LaunchWords.WAITING])
    counts = _counts(first)
    stopped = _find_stop(run.tables, counts.totals.lane_instructions > launch.max_steps)
    if stopped.why is Stop.BUDGET and run.impatient:
        stopped = replace(stopped, why=Stop.WAITS)
    return Ended(stopped, counts)


class _Run:
    """A launch on its way. It keeps all that machine code has addresses of, in its text and in the words of the states:
    the code, by `enter`; tables, buffers and answers, by `tables`."""

    def __init__(
        self,
        code: CompiledKernel,
        launch: Launch,
        workers: Workers,
        better: Callable[[], CompiledKernel] | None = None,
        patience: int = 0,
    ) -> None:
        self.code, self.launch, self.workers, self.better = code, launch, workers, better
        self.patience, self.impatient = patience, False
        self.tables: list[LaunchTables] = []
        self.enter = _entry(code)
        self.sizes = np.array([segment.count for segment in code.segments])
        self.most = max(1, _CHUNK // launch.threads)
        if len(workers.states) > 1:
            self.most = min(self.most, max(1, launch.blocks // (_SHARES * len(workers.states))))
        # few at first: it is soon known how long they take
        self.step = self.most if better is None and not patience else 1
        self.following, self.spent = 0, 0.0
        self.lock = threading.Lock()

    @property
    def most_threads(self) -> int:
        """Return for how many threads there are blocks."""
        return -(-self.launch.blocks // self.most)

    def go(self) -> None:
        """Run all blocks, or as far as nothing is wrong."""
        if self.code.checks.resident:
            self.go_together(Rooms(self.tables[0]))
        elif len(self.tables) == 1:
            self.share(0)
        else:
            work_together(len(self.tables), self.share, self.workers.leave, stack=self.workers.stack)

    def go_together(self, rooms: Rooms) -> None:
        """Run blocks that wait for each other, from one barrier of the grid to the next."""
        self.share(0)
        while rooms.open():
            self.following = 0
            self.share(0)

    def share(self, number: int) -> None:
        """Run blocks that nobody has run, until there are none."""
        state, began = self.tables[number].state, time.thread_time()
        while (taken := self.take())[0] < self.launch.blocks:
            first, count = taken
            if self.patience:
                self.limit(state)
            before = time.thread_time()
            self.enter(state.ctypes.data, first, min(first + count, self.launch.blocks))
            after = time.thread_time()
            if state[LaunchWords.LEAVE] or self.steps() > self.launch.max_steps:
                self.workers.leave()
                return
            if after - before < _BRIEF:
                self.step = min(2 * self.step, self.most)
            self.spent += after - before
            self.improve(self.spent if self.code.checks.resident else after - began)

    def limit(self, state: Array) -> None:
        """Let the next blocks take as many instructions as those before them, twice, and as many as one may: they are
        no more than twice as many."""
        taken = self.steps()
        left, most = self.launch.max_steps - taken, self.patience + 2 * taken
        state[LaunchWords.BUDGET] = min(left, most)
        self.impatient = most < left or (self.impatient and len(self.tables) > 1)

    def improve(self, spent: float) -> None:
        """Go on with better code where what is left is worth it, as it seems: a thread has `spent` so many seconds."""
        with self.lock:
            left = spent * (self.launch.blocks - self.following) / self.following * len(self.tables)
            if self.code.checks.resident:
                # nobody knows how many barriers of the grid are to come: as long again as so far
                left = spent
            if left * _FASTER < _COST + _COST_OF_EACH * int(self.sizes.sum()):
                return
            better, self.better = self.better, None
        if better is not None:
            self.enter = _entry(better())

    def take(self) -> tuple[int, int]:
        """Return the first of the next blocks, and how many they are; report how far it is."""
        with self.lock:
            first, count = self.following, self.step
            self.following += count
            if first < self.launch.blocks:
                done = sum(int(one[1::COUNTERS].sum()) for one in self.counted())
                self.workers.progress(
                    Activity("simulating", f"blocks, {done:,} visits of lanes", first, self.launch.blocks)
                )
        return first, count

    def counted(self) -> Iterator[Array]:
        """Yield the counters of blocks, of all threads."""
        for tables in self.tables:
            yield from (tables.full, tables.partial)

    def steps(self) -> int:
        """Return how many instructions lanes have executed; of other threads what they have noted."""
        return sum(int(one[1::COUNTERS] @ self.sizes) for one in self.counted())


def _entry(code: CompiledKernel) -> _Entry:
    """Return what runs blocks; it keeps the machine code."""
    return code.linked.function(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)


def _sums(tables: LaunchTables) -> tuple[Array, ...]:
    """Return what is counted of a launch."""
    return tables.full, tables.partial, tables.lost, tables.requests


def _find_stop(threads: Sequence[LaunchTables], spent: bool) -> Stopped:
    """Return where a launch stopped; `spent`: it took more steps than it may."""
    causes = [stopped for one in threads if (stopped := _stop_of(one)) is not None]
    if causes:
        return min(causes, key=lambda stopped: (stopped.why is not Stop.WRITTEN, stopped.block))
    if any(map(race_between, zip(*(one.cells_of_all for one in threads), strict=True))):
        return Stopped(Stop.RACE, 0, -1)
    if spent:
        return Stopped(Stop.BUDGET, 0, 0)
    left = any(one.state[LaunchWords.LEAVE] for one in threads)
    return Stopped(Stop.INTERRUPTED if left else Stop.NONE, 0, 0)


def _stop_of(tables: LaunchTables) -> Stopped | None:
    """Return where one thread found a cause to stop."""
    code, words = tables.code, [int(word) for word in tables.state]
    why = Stop(words[LaunchWords.STOP])
    if why is Stop.NONE:
        return None
    found = Stopped(why, words[LaunchWords.STOP_BLOCK], words[LaunchWords.STOP_THREAD])
    if words[LaunchWords.STOP_SITE]:
        number = (words[LaunchWords.STOP_SITE] - words[LaunchWords.SITES]) // (8 * len_of_site())
        access = code.sites[number]
        return replace(found, access=access, address=words[LaunchWords.STOP_ADDRESS] % 2**64, size=code.sizes[access])
    blocks, at = code.blocks, words[LaunchWords.STOP_ADDRESS]
    if found.why is Stop.DEPTH:
        return replace(found, access=code.ops.calls[at])
    return replace(found, at=blocks[at]) if 0 <= at < len(blocks) else found


def _counts(tables: LaunchTables) -> EngineCounts:
    """Return what was counted."""
    launch = tables.launch
    width = launch.warp
    rest = launch.threads % width
    totals, rows = Totals(), {block: [0, 0, 0, 0] for block in tables.code.blocks}
    for number, segment in enumerate(tables.code.segments):
        size, at = segment.count, COUNTERS * number
        whole, part = ([int(n) for n in counters[at : at + COUNTERS]] for counters in (tables.full, tables.partial))
        visits, lanes, divergences = (one + other for one, other in zip(whole, part, strict=True))
        totals.warp_instructions += visits * size
        totals.lane_instructions += lanes * size
        totals.issued_slots += visits * size * width
        totals.unfilled += part[0] * size * (width - rest)
        begins = segment.start == 0
        lost = (whole[0] * width + part[0] * rest - lanes) * size
        for column, more in enumerate((visits * begins, lanes * begins, divergences, lost)):
            rows[segment.block][column] += more
    for number, block in enumerate(tables.code.blocks):
        if tables.lost[number]:
            totals.lost[block.terminator] = int(tables.lost[number])
    blocks = {block: BlockCount(*row) for block, row in rows.items()}
    waiting = int(tables.state[LaunchWords.WAITING])
    return EngineCounts(blocks, totals, tuple(_requests(tables)), waiting)


def _requests(tables: LaunchTables) -> Iterator[RequestSum]:
    """Yield the sums of the requests of each site to each region."""
    count = len(tables.code.sites) * len(tables.rows)
    rows = tables.requests[: count * len(RequestWords)].reshape(count, len(RequestWords))
    for number, row in enumerate(rows):
        if row[RequestWords.REQUESTS]:
            site, region = divmod(number, len(tables.rows))
            place = tables.places[region]
            access = tables.code.sites[site]
            yield RequestSum(access, _space_of(access, place.space), place.address, *(int(n) for n in row))


def _space_of(access: Instruction, where: Space) -> Space:
    """Return the space that an access goes through: the one that it names, whatever lies there (an array that OpenCL
    calls constant is a buffer); where it names none, that of the memory, as its address says it."""
    detail = access.detail
    if isinstance(detail, Memory) and detail.space != "generic":
        return detail.space
    return where if where in ("shared", "local") else "global"
