"""A machine on which copies and kernels go on beside the host, in any order that events and streams allow.

Tasks of one stream run one behind the other; a copy that begins comes after all kernels that have been launched, and
kernels come after those copies that they wait for. When a task runs is drawn: at once, as late as may be, or anything
between. What a kernel must find is set down when it is launched; the memory is looked at when it runs.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from msgspec import Struct, field

from tests.offload.transfers.abstract_programs import Machine, Program, StaleError, random_program
from warpsmith.offload.fragments import OffloadRegion
from warpsmith.offload.plan import TransferScheme
from warpsmith.offload.transfers.transfers import UNPROVED, insert_copies
from warpsmith.tree.nodes import Copy, CopyWait, DeviceAlloc, DeviceFree, Launch, Node, Stmt
from warpsmith.tree.walk import walk

__all__ = ["OverlappingMachine", "begun", "overlapped", "two_objects"]


class _Task(Struct, eq=False):
    """Work of a stream: what must be done first, and what it does."""

    stream: str
    after: tuple[_Task, ...]
    run: Callable[[], None]
    done: bool = False


class OverlappingMachine(Machine):
    """`eagerness`: how probably a task that may run does so at each step of the host; `lazy`: the stream of those that
    run only where they must."""

    eagerness: float = 0.5
    lazy: str = ""
    tasks: list[_Task] = field(default_factory=list)
    under_way: dict[str, list[_Task]] = field(default_factory=dict)
    awaited: list[_Task] = field(default_factory=list)

    def execute(self, statements: tuple[Stmt, ...]) -> None:
        """Run once; raises StaleError. What nobody waits for runs at the very end."""
        self.tasks, self.under_way, self.awaited = [], {}, []
        Machine.execute(self, statements)
        self.finish(self.tasks)
        for name in self.program.live & set(self.program.objects):
            if self.host[name] != self.newest[name]:
                raise StaleError(f"{name} at the very end")

    def statement(self, stmt: Stmt) -> None:
        while self.rng.random() < self.eagerness and self.step():
            pass
        match stmt:
            case CopyWait():
                self.wait(stmt)
            case Copy(overlaps=True):
                self.begin(stmt)
            case Copy():
                # it waits for the kernels and what they would wait for, and the host for it
                self.finish([*self.awaited, *(task for task in self.tasks if task.stream == "kernels")])
                self.move(stmt)
            case _:
                Machine.statement(self, stmt)

    # --- tasks

    def step(self) -> bool:
        """Run one task of those that may."""
        ready = [task for task in self.tasks if task.stream != self.lazy and all(one.done for one in task.after)]
        if not ready:
            return False
        chosen = self.rng.choice(ready)
        self.tasks.remove(chosen)
        chosen.run()
        chosen.done = True
        return True

    def finish(self, wanted: Sequence[_Task]) -> None:
        """Run what `wanted` needs, and nothing else."""
        for task in wanted:
            self.finish([one for one in task.after if not one.done])
            if not task.done:
                self.tasks.remove(task)
                task.run()
                task.done = True

    def issue(self, stream: str, after: Sequence[_Task], run: Callable[[], None]) -> _Task:
        """Put a task behind those of its stream."""
        before = [task for task in self.tasks if task.stream == stream]
        made = _Task(stream, (*after, *before), run)
        self.tasks.append(made)
        return made

    # --- what the host does

    def launch(self, stmt: Launch) -> None:
        draft = next(d for d in self.offload_region.drafts if d.region == stmt.region)
        found: list[tuple[str, int]] = []
        made: list[tuple[str, int]] = []
        for use in draft.uses:
            name = use.symbol.name
            partial = use.written and (draft, use.symbol) not in self.offload_region.covers
            if use.read or partial:
                found.append((name, self.newest[name]))
            if use.written:
                self.newest[name] += 1
                made.append((name, self.newest[name]))

        def run() -> None:
            for name, version in found:
                if self.device.get(name) != version:
                    raise StaleError(f"{draft.region} uses {name}")
            self.device.update(made)

        self.issue("kernels", self.awaited, run)

    def move(self, stmt: Copy | DeviceAlloc | DeviceFree) -> None:
        if isinstance(stmt, Copy):
            Machine.move(self, stmt)
            return
        if isinstance(stmt, DeviceFree):
            name = self.name(stmt)
            self.issue("kernels", self.awaited, lambda: Machine.move(self, stmt))
            if name not in self.device:
                raise StaleError(f"{name} has no buffer")
            # the memory is another object's from now on
            if any(not task.done for task in self.under_way.get(name, [])):
                raise StaleError(f"{name} is freed while a copy is under way")
            self.finish([task for task in self.tasks if task.stream == "kernels"])
            return
        Machine.move(self, stmt)

    def begin(self, stmt: Copy) -> None:
        name = self.name(stmt)
        kernels = [*self.awaited, *(task for task in self.tasks if task.stream == "kernels")]
        stream = "in" if stmt.to_device else "out"
        made = self.issue(stream, kernels, lambda: Machine.move(self, stmt))
        self.under_way.setdefault(name, []).append(made)

    def wait(self, stmt: CopyWait) -> None:
        mine = self.under_way.get(self.name(stmt), [])
        if stmt.by_host:
            self.finish(mine)
        else:
            self.awaited += mine

    def name(self, stmt: Copy | CopyWait | DeviceFree) -> str:
        """Return the object that a statement is about."""
        return next(b.host.name for b in self.offload_region.buffers if b.symbol == stmt.buffer)


def two_objects(seed: int) -> tuple[Program, tuple[Stmt, ...]]:
    """Return a random program of two objects."""
    rng = random.Random(seed)
    while True:
        program, scope = random_program(rng)
        if len(program.objects) == 2:
            return program, scope


def overlapped(program: Program, *scope: Stmt, scheme: TransferScheme = "optimized") -> tuple[Stmt, ...]:
    """Return the scope with its copies, begun as early as may be."""
    launches = {
        d: (Launch(span=d.statements[0].span, kernel=d.region, arguments=(), region=d.region),) for d in program.drafts
    }
    region: OffloadRegion = program.offload_region(scope)
    made = insert_copies(program.function(scope), region, launches, program, scheme, overlap=program)
    assert not any(one.waits.startswith(UNPROVED) for one in made.transfers), made.transfers
    return made.statements


def begun(statements: Sequence[Node]) -> int:
    """Count the copies that begin and go on."""
    return sum(isinstance(part, Copy) and part.overlaps for stmt in statements for part in walk(stmt))
