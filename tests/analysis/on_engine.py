"""What is said of random kernels, against runs of many warps as machine code: thousands of times the lanes that the
interpreter runs. Machine code shows sums and not who did what, so less is compared, over many more launches.

    uniformity   a branch that is called uniform in a warp never diverges
    sectors      sectors, bank conflicts and lanes of all requests of an access are within what is said of each
    races        where all pairs of shared accesses are decided and none races, none is seen to
"""

from __future__ import annotations

import random
import struct
from collections import Counter
from collections.abc import Iterator

from msgspec import Struct, field
from msgspec.structs import replace

from tests.analysis.accesses import memory_module, phased_module
from tests.analysis.kernels import random_module
from tests.analysis.runs import gpu
from warpsmith.analysis.kernel import examine
from warpsmith.analysis.uniformity.facts import AccessFact, LaunchShape
from warpsmith.simt.engine.engine import Checks, Run, run, why_refused
from warpsmith.simt.engine.words import Stop
from warpsmith.simt.launch import Dim, Launch
from warpsmith.simt.memory import LaunchMemory
from warpsmith.ssa.nodes import Instruction, Memory, Module, Parameter
from warpsmith.ssa.types import I32

__all__ = ["Met", "wrong_accesses", "wrong_branches", "wrong_races"]

SHAPES: tuple[tuple[Dim, int], ...] = (
    ((64, 1, 1), 32),
    ((16, 4, 1), 16),
    ((8, 8, 2), 32),
    ((96, 1, 1), 32),
    ((4, 4, 4), 4),
    ((256, 1, 1), 64),
)
GRID: Dim = (64, 1, 1)
LAUNCHES = 4
STEPS = 4_000_000
BYTES = 1 << 22
"""Of global memory, to both sides of where `p` points to."""


class Met(Struct):
    """What was compared: by kind, how often; `lanes`: instructions of lanes that ran."""

    counts: Counter[str] = field(default_factory=Counter)

    def note(self, made: Run) -> None:
        """Take note of a launch."""
        self.counts["launches"] += 1
        self.counts["lane instructions"] += made.counts.totals.lane_instructions
        self.counts[f"stopped: {made.why}".split(" by thread")[0] if made.why else "ended"] += 1


def wrong_branches(seed: int, met: Met) -> Iterator[str]:
    """Yield the branches of a random kernel that are called uniform in a warp, and diverge."""
    module = _declared(random_module(seed, structured=seed % 3 != 0))
    chosen = random.Random(f"branches {seed}")
    block, warp = SHAPES[seed % len(SHAPES)]
    facts = examine(module, "k", LaunchShape(block, None), gpu(warp))
    for _ in range(LAUNCHES):
        arguments = {"n": struct.pack("<i", chosen.choice((5, 0, 1, 2, 7, 33, chosen.randrange(1 << 31))))}
        made = _run(module, Launch(GRID, block, arguments, warp=warp, max_steps=STEPS), LaunchMemory(checks=False))
        if made is None:
            met.counts["not taken"] += 1
            return
        met.note(made)
        for code, count in made.counts.blocks.items():
            if count.divergences and code.name not in facts.warp_level.branches:
                yield f"{seed}: the branch of {code.name} is called uniform, and diverged {count.divergences} times"
            met.counts["uniform branches"] += bool(count.visits and code.name not in facts.warp_level.branches)


def _declared(module: Module) -> Module:
    """Return a module whose kernel says which parameter it has."""
    (function,) = module.functions
    return replace(module, functions=(replace(function, parameters=(Parameter("n", 4, 4, I32),)),))


def _run(module: Module, launch: Launch, memory: LaunchMemory) -> Run | None:
    """Run a kernel as machine code; None where that does not take it."""
    (function,) = module.functions
    if why_refused(module, function, launch):
        return None
    return run(module, "k", launch, memory, Checks(uninitialized=False, races=memory.checks))


# --- accesses


def wrong_accesses(seed: int, met: Met) -> Iterator[str]:
    """Yield what is said of the accesses of a random kernel, and is not so."""
    module = phased_module(seed) if seed % 2 else memory_module(seed, barriers=seed % 4 == 0)
    chosen = random.Random(f"accesses {seed}")
    block, warp = SHAPES[seed % len(SHAPES)]
    facts = examine(module, "k", LaunchShape(block, GRID if seed % 2 else None), gpu(warp))
    for _ in range(LAUNCHES):
        n, m, moved = chosen.choice((1, 4, 7, 16, 40)), chosen.choice((2, 3, 8)), chosen.choice((0, 0, 4, 20, 64))
        memory = LaunchMemory(checks=False)
        start = memory.allocate("p", bytes(2 * BYTES)).address
        base = -(-(start + BYTES) // 256) * 256 + moved
        arguments = {"n": struct.pack("<i", n), "m": struct.pack("<i", m), "p": struct.pack("<q", base)}
        launch = Launch(GRID, block, arguments, warp=warp, max_steps=STEPS)
        made = _run(module, launch, memory)
        if made is None:
            met.counts["not taken"] += 1
            return
        met.note(made)
        for fact in facts.accesses:
            # where lanes are out of bounds, numbers overflowed: the last request is of such lanes as well
            wild = made.stopped.access is fact.instruction
            if fact.certainty != "heuristic" and not wild and _holds(fact.assumptions, {"n": n, "m": m}):
                yield from (f"{seed}: {text}" for text in _beyond(fact, made, launch, base, met))


def _holds(assumptions: tuple[str, ...], numbers: dict[str, int]) -> bool:
    """Whether what is assumed is so; numbers do not overflow, since memory is small."""
    for text in assumptions:
        name, _, least = text.partition(" >= ")
        known = name in numbers and least.lstrip("-").isdigit() and numbers[name] >= int(least)
        if not known and "overflow" not in text:
            return False
    return True


def wrong_races(seed: int, met: Met) -> Iterator[str]:
    """Yield where a random kernel races in shared memory, and is said not to. It stores nothing in global memory, where
    all its blocks would race."""
    module = _without_global_stores(phased_module(seed) if seed % 2 else memory_module(seed, barriers=True))
    chosen = random.Random(f"races {seed}")
    block, warp = SHAPES[seed % len(SHAPES)]
    facts = examine(module, "k", LaunchShape(block, GRID), gpu(warp))
    for _ in range(LAUNCHES):
        numbers = {"n": chosen.choice((1, 4, 7, 16, 40)), "m": chosen.choice((2, 3, 8))}
        memory = LaunchMemory(checks=True)
        start = memory.allocate("p", bytes(2 * BYTES)).address
        arguments = {name: struct.pack("<i", number) for name, number in numbers.items()}
        arguments["p"] = struct.pack("<q", start + BYTES)
        made = _run(module, Launch(GRID, block, arguments, warp=warp, max_steps=STEPS), memory)
        if made is None:
            met.counts["not taken"] += 1
            return
        met.note(made)
        free = facts.races_complete and not facts.races and _holds(facts.races_assumptions, numbers)
        met.counts["free"] += free and not made.why
        if free and made.stop is Stop.RACE:
            yield f"{seed}: a race in shared memory, where none is said to be"


def _without_global_stores(module: Module) -> Module:
    (function,) = module.functions
    blocks = (
        replace(block, instructions=tuple(i for i in block.instructions if not _stores(i))) for block in function.blocks
    )
    return replace(module, functions=(replace(function, blocks=tuple(blocks)),))


def _stores(i: Instruction) -> bool:
    return not i.results and isinstance(i.detail, Memory) and i.detail.space != "shared"


def _beyond(fact: AccessFact, made: Run, launch: Launch, base: int, met: Met) -> Iterator[str]:
    """Yield which sums are beyond what is said of each request."""
    for row in made.counts.requests:
        if row.place is not fact.instruction:
            continue
        whole = not made.why and row.lanes == row.requests * launch.warp
        counts = [("sectors", fact.sectors, row.sectors), ("ways", fact.bank_ways, row.conflicts + row.requests)]
        if base % 256 == 0:
            counts.append(("aligned", fact.sectors_aligned, row.sectors))
        for name, count, measured in counts:
            counted = count is not None and (name != "sectors" or fact.space in ("global", "local"))
            if count is None or not counted or (name == "ways") != (row.space == "shared"):
                continue
            met.counts[name] += row.requests
            if measured > count.most * row.requests or (whole and measured < count.least * row.requests):
                yield f"{name} {count}, measured {measured} in {row.requests}: {fact.kind} {fact.index}"
        if row.lanes > row.requests * fact.lanes:
            yield f"more than {fact.lanes} lanes: {fact.kind} {fact.index}"
        full = launch.threads % launch.warp == 0 and not made.why
        if fact.active == "all" and full and row.lanes != row.requests * launch.warp:
            yield f"all lanes: {fact.kind} {fact.index}"
