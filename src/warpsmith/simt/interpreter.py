"""The interpreter: one program counter a lane, every lane in turn. Slow, and the oracle of all that is faster.

A lane that waits at an exchange goes on when every lane that its mask names, and that has not ended, stands at the same
instruction; one that waits at a barrier, when as many threads wait there as it asks for. Exchanges without a mask, and
what asks who is active, go on when no lane of the warp can do anything else: lanes meet as late as they can.
Turns are short and seeded, so that a lane that spins for another does not keep it waiting for ever.

Blocks run in groups of 8, one group after the other. Where a group does not come to an end, its blocks may wait for
others: as many again join it, until all of them are there. At a barrier of the grid all are wanted at once.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol

from msgspec import Struct, field

from warpsmith.base.progress import Activity, Progress, ignore_progress
from warpsmith.simt.launch import KernelProblem, Launch, Outcome, ProblemKind
from warpsmith.simt.layout import local_layout, shared_layout
from warpsmith.simt.meeting.barriers import count_awaited, find_past, how_combined, number_of_barrier, only_arrives
from warpsmith.simt.meeting.collect import collect_given
from warpsmith.simt.meeting.exchange import exchange_lanes, mask_of
from warpsmith.simt.meeting.ordering import latest, learn, release, some_meet
from warpsmith.simt.meeting.waiting import is_grid_barrier
from warpsmith.simt.memory import Buffer, Fault, LaunchMemory, RecordedAccess, Where, allocate_shared
from warpsmith.simt.observer import Lane, Observer, Silent
from warpsmith.simt.thread import Code, LaunchedKernel, Thread
from warpsmith.ssa.nodes import Instruction, Module

__all__ = ["Step", "ThreadBlock", "Turns", "interpret", "list_few"]

TURN = 16
TOGETHER = 8
_PATIENCE = 250_000
"""Instructions of a group of blocks, none of which ends, before others join it."""


def interpret(
    module: Module,
    kernel: str,
    launch: Launch,
    memory: LaunchMemory,
    observer: Observer | None = None,
    *,
    turns: Turns | None = None,
    progress: Progress = ignore_progress,
    enough: Callable[[int], bool] | None = None,
) -> Outcome:
    """Run `kernel` of `module` to its end, on `memory`, whose buffers it changes; `progress` learns of every turn, and
    `turns` says who goes on in it (each lane by itself, in an order that the launch's seed gives). `enough`: whether
    what was seen within so many steps will do, asked after every turn of a block: the run is not complete then.

    Raises KeyError where there is no such kernel with code. What the kernel does wrong is in the outcome.
    """
    run = _Run(_prepare_kernel(module, kernel, launch, memory, observer or Silent()), turns or _Seeded(), progress)
    run.enough = enough
    run.go()
    unwritten = (_report_unwritten(*found) for found in memory.unwritten)
    overflows = (_overflow(*found) for found in run.kernel.overflows.items())
    return Outcome(run.complete, run.steps, (*run.problems, *unwritten, *overflows), tuple(memory.conflicts))


def _overflow(instruction: Instruction, lane: Lane) -> KernelProblem:
    message = f"a signed number of {instruction.result.type.bits} bits overflows, which has no meaning in C"
    return KernelProblem(message, instruction.span, lane.block, lane.thread, "overflow")


def _report_unwritten(where: Where, access: RecordedAccess) -> KernelProblem:
    name, offset, _ = where
    message = f"{name} is read at byte {offset} before anything was written there"
    span = getattr(access.instruction, "span", None)
    return KernelProblem(message, span, access.origin.block, access.origin.thread, "uninitialized", where)


def _prepare_kernel(
    module: Module, name: str, launch: Launch, memory: LaunchMemory, observer: Observer
) -> LaunchedKernel:
    codes = {function.name: Code.of(function) for function in module.functions if function.blocks}
    entry = codes[name]
    constants = allocate_shared(module, memory)
    shared, local = shared_layout(module, name, launch.shared, launch.parts), local_layout(module, name)
    places = {**constants, **local.starts, **shared.starts}
    memory.some_meet = some_meet(module)
    return LaunchedKernel(module, entry, launch, memory, codes, places, shared, local, observer)


class ThreadBlock(Struct):
    """The threads of one block of threads, and its warps; `absent`: lanes of each warp that are not run, as bits;
    `arrived`: threads that came to each barrier, and did not wait; `told`: what others learn of them there."""

    number: int
    threads: list[Thread]
    warps: list[list[Thread]]
    absent: Mapping[int, int]
    random: random.Random = field(default_factory=random.Random)
    arrived: Counter[int] = field(default_factory=Counter)
    told: dict[int, Mapping[int, int]] = field(default_factory=dict)

    @property
    def ended(self) -> bool:
        """Whether all its threads have ended."""
        return all(thread.ended for thread in self.threads)

    @property
    def awaited(self) -> int:
        """How many threads may still come to a barrier."""
        return sum(not thread.ended for thread in self.threads) + sum(map(int.bit_count, self.absent.values()))


Step = Callable[[Thread], bool]
"""Lets a thread execute one instruction; returns whether the run goes on."""


class Turns(Protocol):
    """Says which threads of a block go on, and how far, before those that wait for each other are looked at again."""

    def turn(self, block: ThreadBlock, step: Step) -> bool:
        """Let threads go on that neither wait nor have ended; return whether any could."""
        ...


class _Seeded:
    """Every thread by itself, in turns of a length and an order that the seed gives."""

    def turn(self, block: ThreadBlock, step: Step) -> bool:
        """Let every thread of a block do something."""
        moved = False
        order = list(block.threads)
        block.random.shuffle(order)
        for thread in order:
            for _ in range(block.random.randint(1, TURN)):
                if thread.ended or thread.waiting is not None:
                    break
                moved = True
                if not step(thread):
                    return True
        return moved


class _Run:
    """One launch on its way."""

    def __init__(self, kernel: LaunchedKernel, turns: Turns, progress: Progress) -> None:
        self.kernel = kernel
        self.turns = turns
        self.progress = progress
        self.steps = 0
        self.problems: list[KernelProblem] = []
        self.complete = False
        self.stopped = False
        self.enough: Callable[[int], bool] | None = None

    def go(self) -> None:
        """Run the blocks, a group at a time."""
        launch = self.kernel.launch
        numbers = list(range(launch.blocks) if launch.only is None else launch.only)
        random.Random(launch.seed).shuffle(numbers)
        pending = deque(numbers)
        while pending and not self.stopped:
            self._group(pending, len(numbers))
        self.complete = not self.stopped

    def _group(self, pending: deque[int], count: int) -> None:
        """Run the first blocks that are pending to their ends, with others where they wait for them."""
        start, blocks = count - len(pending), list[ThreadBlock]()
        self._join(blocks, pending, TOGETHER)
        ended, since = 0, self.steps
        while not self.stopped and not all(block.ended for block in blocks):
            self.progress(Activity("simulating", f"blocks, {self.steps:,} instructions", start, count))
            moved = [self._turn(block) for block in blocks if not block.ended]
            now = sum(block.ended for block in blocks)
            if now > ended:
                ended, since = now, self.steps
            elif self.steps - since > _PATIENCE:
                self._join(blocks, pending, len(blocks))
                since = self.steps
            if not any(moved) and not self.stopped and not self._grid_barrier(blocks, pending):
                self._report_stuck(blocks)

    def _join(self, blocks: list[ThreadBlock], pending: deque[int], count: int) -> None:
        """Begin with up to so many blocks more."""
        blocks += [self._block(pending.popleft()) for _ in range(min(count, len(pending)))]

    def _block(self, number: int) -> ThreadBlock:
        launch = self.kernel.launch
        shared = self.kernel.memory.piece(f"the shared memory of block {number}", "shared", self.kernel.shared)
        there = range(launch.threads) if launch.lanes is None else launch.lanes
        threads = [self._thread(number, thread, shared) for thread in there]
        warps: dict[int, list[Thread]] = defaultdict(list)
        for made in threads:
            warps[made.lane.warp].append(made)
        absent: dict[int, int] = defaultdict(int)
        for thread in set(range(launch.threads)).difference(there):
            absent[thread // launch.warp] |= 1 << thread % launch.warp
        return ThreadBlock(number, threads, [*warps.values()], absent, random.Random(f"{launch.seed} {number}"))

    def _thread(self, block: int, number: int, shared: Buffer) -> Thread:
        launch = self.kernel.launch
        index, at = _along(number, launch.block), _along(block, launch.grid)
        lane = Lane(block, number, number // launch.warp, number % launch.warp, index, at)
        local = self.kernel.memory.piece(f"the local memory of thread {number}", "local", self.kernel.local)
        thread = Thread(self.kernel, lane, shared, local)
        thread.start()
        return thread

    def _turn(self, block: ThreadBlock) -> bool:
        """Let threads of a block go on, and then those that wait for each other; return whether any could."""
        moved = self.turns.turn(block, self._step)
        self.stopped = self.stopped or (self.enough is not None and self.enough(self.steps))
        return self._meet(block, late=not moved) or moved

    def _step(self, thread: Thread) -> bool:
        self.steps += 1
        if self.steps > self.kernel.launch.max_steps:
            self._stop(f"it did not end within {self.kernel.launch.max_steps:,} steps", thread, "budget")
            return False
        try:
            thread.step()
        except Fault as fault:
            self._stop(str(fault), thread, fault.kind, fault.where)
        if thread.failed:
            self._stop("the kernel traps", thread, "trap")
        return not self.stopped

    def _stop(self, message: str, thread: Thread, kind: ProblemKind, where: Where | None = None) -> None:
        self.stopped = True
        self.problems.append(KernelProblem(message, thread.span, thread.lane.block, thread.lane.thread, kind, where))

    # --- lanes that wait for each other

    def _meet(self, block: ThreadBlock, *, late: bool) -> bool:
        """Let those go on that all wait for each other; return whether any did."""
        met = self._barriers(block)
        for warp in block.warps:
            for thread in warp:
                if thread.waiting is not None and thread.waiting.op not in ("barrier", "unmodeled"):
                    met = self._exchange(thread, warp, block, late=late) or met
        return met

    def _exchange(self, thread: Thread, warp: Sequence[Thread], block: ThreadBlock, *, late: bool) -> bool:
        instruction = thread.waiting
        assert instruction is not None
        absent = block.absent.get(thread.lane.warp, 0)
        here = {t.lane.lane: t for t in warp if t.waiting is instruction}
        mask = mask_of(instruction, thread.operands, self.kernel.launch.warp)
        if mask is None:
            idle = all(t.ended or t.waiting is not None for t in warp)
            if not (late and idle):
                return False
            lanes = here
        else:
            lanes = {
                lane: t for lane, t in here.items() if mask_of(instruction, t.operands, self.kernel.launch.warp) == mask
            }
            named = [t for t in warp if mask >> t.lane.lane & 1]
            if not mask >> thread.lane.lane & 1:
                message = f"lane {thread.lane.lane} is not in the mask {mask:#x} that it gives itself"
                self._stop(message, thread, "exchange")
                return False
            if mask & absent or any(not t.ended and t.lane.lane not in lanes for t in named):
                return False
            if any(t.ended for t in named):
                self._note(f"the mask {mask:#x} names lanes that have ended", thread, "exchange")
        given = exchange_lanes(instruction, {lane: t.operands for lane, t in lanes.items()})
        whole = not absent and len(lanes) == sum(not t.ended for t in warp)
        synchronized = instruction.op == "warp_barrier" and whole
        if instruction.op == "warp_barrier" and self.kernel.memory.some_meet:
            learn(list(lanes.values()), {})
        for lane, other in lanes.items():
            other.warp_epoch += synchronized
            other.finish(instruction, given[lane])
        return True

    def _note(self, message: str, thread: Thread, kind: ProblemKind) -> None:
        if not any(problem.message == message and problem.span == thread.span for problem in self.problems):
            self.problems.append(KernelProblem(message, thread.span, thread.lane.block, thread.lane.thread, kind))

    def _barriers(self, block: ThreadBlock) -> bool:
        """Open the barriers at which enough threads stand; return whether any thread goes on."""
        waiting = [t for t in block.threads if t.waiting is not None and t.waiting.op == "barrier"]
        by_number: dict[int, list[Thread]] = {}
        moved = False
        for thread in waiting:
            number, wanted = number_of_barrier(thread), count_awaited(thread)
            if not only_arrives(thread):
                by_number.setdefault(number, []).append(thread)
                continue
            assert thread.waiting is not None
            block.arrived[number] += 1
            block.told[number] = latest(block.told.get(number, {}), release(thread))
            thread.finish(thread.waiting, ())
            moved = True
            if block.arrived[number] == wanted:
                block.arrived[number] = 0
                block.told.pop(number, None)
        for number, threads in by_number.items():
            wanted = count_awaited(threads[0]) or block.awaited
            if len(threads) + block.arrived[number] >= wanted:
                block.arrived[number] = 0
                self._open(threads, block, block.told.pop(number, {}))
                moved = True
        return moved

    def _open(self, threads: list[Thread], block: ThreadBlock, told: Mapping[int, int]) -> None:
        places = {id(thread.waiting) for thread in threads}
        # who has ended came to a barrier of all, not to one of so many
        whole = len(threads) == (len(block.threads) if count_awaited(threads[0]) else block.awaited)
        if len(places) > 1:
            self._note("threads of one block meet at different barriers", threads[0], "barrier")
        if not count_awaited(threads[0]) and next(find_past(block.threads, threads[0]), None) is not None:
            self._note("threads of one block go past a barrier at which others wait", threads[0], "barrier")
        if not whole:
            learn(threads, told)
        brought = {thread.lane.thread: thread.operands[-1] for thread in threads if how_combined(thread)}
        results: dict[str, Mapping[int, int]] = {}
        for thread in threads:
            instruction = thread.waiting
            assert instruction is not None
            how = how_combined(thread)
            thread.epoch += whole
            if how and how not in results:
                results[how] = collect_given(how, instruction.operands[-1].type, brought)
            thread.finish(instruction, (results[how][thread.lane.thread],) if how else ())

    def _grid_barrier(self, blocks: list[ThreadBlock], pending: deque[int]) -> bool:
        """Let blocks go on that all wait at a barrier of the grid, when all blocks are there; return whether they do,
        or blocks have joined."""
        alive = [thread for block in blocks for thread in block.threads if not thread.ended]
        if not all(thread.waiting is not None and is_grid_barrier(thread.waiting) for thread in alive):
            return False
        if pending:
            self._join(blocks, pending, len(pending))
            return True
        if len(blocks) < self.kernel.launch.blocks or any(block.ended or block.absent for block in blocks):
            return False
        if len({id(thread.waiting) for thread in alive}) > 1:
            self._note("threads meet at different barriers of the grid", alive[0], "barrier")
        for block in blocks:
            first = next(thread for thread in block.threads if not thread.ended)
            if next(find_past(block.threads, first), None) is not None:
                self._note("threads of one block go past a barrier at which others wait", first, "barrier")
        for thread in alive:
            assert thread.waiting is not None
            thread.epoch += 1
            thread.grid_epoch += 1
            thread.finish(thread.waiting, ())
        return True

    def _report_stuck(self, blocks: Iterable[ThreadBlock]) -> None:
        for block in blocks:
            thread = next((t for t in block.threads if not t.ended), None)
            if thread is not None:
                waits = sorted(t.lane.thread for t in block.threads if t.waiting is not None)
                grid = thread.waiting is not None and is_grid_barrier(thread.waiting)
                partial = block.absent or (grid and self.kernel.launch.only is not None)
                kind: ProblemKind = "budget" if partial else "barrier"
                how = "for others" if partial else "for ever"
                self._stop(f"threads {list_few(waits)} of block {block.number} wait {how}", thread, kind)
                return


def list_few(numbers: Sequence[int]) -> str:
    """Return numbers as text, of many the first ones."""
    shown = ", ".join(map(str, numbers[:6]))
    return f"{shown} and {len(numbers) - 6} more" if len(numbers) > 6 else shown


def _along(number: int, sizes: tuple[int, int, int]) -> tuple[int, int, int]:
    x, y, _ = sizes
    return number % x, number // x % y, number // (x * y)
