"""Kernels of CUDA whose blocks, or warps, wait for each other in loops; and how they are compared: who waits how long
differs from machine to machine, what is computed does not."""

from __future__ import annotations

from msgspec.structs import replace

from tests.simt.engine.agree import ALL, Case, Differs
from tests.simt.engine.cooperative import grid_case
from warpsmith.simt.engine.engine import Checks, Run, run
from warpsmith.simt.engine.reading.spinning import spinning_loops
from warpsmith.simt.engine.words import Stop
from warpsmith.simt.interpreter import interpret
from warpsmith.simt.launch import Launch
from warpsmith.simt.memory import LaunchMemory
from warpsmith.simt.tally import Tally, block_counts, totals
from warpsmith.ssa.graph import Graph

__all__ = ["KERNELS", "UNORDERED", "agree_spinning", "ran", "spin_case"]

UNCHECKED = Checks(races=False)

KERNELS = {
    "a barrier of the grid by hand": """
        __shared__ int s[256];
        s[t] = i;
        for (int round = 0; round < n; round++) {
            __syncthreads();
            if (t == 0) {
                atomicAdd(&out[size], 1);
                while (atomicAdd(&out[size], 0) < (round + 1) * gridDim.x) ;
            }
            __syncthreads();
            s[t] += s[(t + round) % blockDim.x] * 0 + round;
        }
        out[i] = s[t];""",
    "a chain from the last block to the first": """
        if (t == 0) { while (blockIdx.x + 1 < gridDim.x && atomicAdd(&out[size + blockIdx.x + 1], 0) == 0) ; }
        __syncthreads();
        out[i] = i * n;
        __syncthreads();
        if (t == 0) atomicAdd(&out[size + blockIdx.x], 1);""",
    "all lanes wait": """
        atomicAdd(&out[size + blockIdx.x], 1);
        while (atomicAdd(&out[size + (blockIdx.x + 1) % gridDim.x], 0) < blockDim.x) ;
        out[i] = i - n;""",
    "a scan that looks back at later blocks": """
        int b = gridDim.x - 1 - blockIdx.x;
        __shared__ int before;
        if (t == 0) {
            atomicAdd(&out[size + b], b * 2 + 1);
            int sum = 0;
            for (int other = b - 1; other >= 0; other--) {
                int seen = 0;
                do { seen = atomicAdd(&out[size + other], 0); } while (seen == 0);
                sum += seen;
            }
            before = sum;
        }
        __syncthreads();
        out[i] = before + n;""",
    "lanes that wait for other blocks, each for its own": """
        if (t >= 32 && t - 32 < gridDim.x) { while (atomicAdd(&out[size + t - 32], 0) == 0) ; }
        if (t == 0) atomicAdd(&out[size + blockIdx.x], 1);
        out[i] = t + n;""",
    "warps of one block": """
        __shared__ int flag[8];
        if (t < 8) flag[t] = 0;
        __syncthreads();
        int w = t / 32, last = blockDim.x / 32 - 1;
        if (t % 32 == 0 && w < last) { while (atomicAdd(&flag[w + 1], 0) == 0) ; }
        __syncwarp();
        out[i] = w * n;
        if (t % 32 == 0) atomicAdd(&flag[w], 1);""",
    "a barrier of the grid behind loops that wait": """
        if (t == 0) { atomicAdd(&out[size], 1); while (atomicAdd(&out[size], 0) < gridDim.x) ; }
        a[i] += n;
        grid.sync();
        out[i] = a[size - 1 - i];
        if (t == 32) { atomicAdd(&out[size + 1], 1); while (atomicAdd(&out[size + 1], 0) < gridDim.x) ; }
        grid.sync();
        out[i] += a[i];""",
}  # fmt: skip
"""Right, and whoever goes first all give the same; `out` has room for `size` numbers more, all 0."""

UNORDERED = {
    "a flag that is stored": """
        volatile int *flag = out + size;
        if (t == 0) { while (blockIdx.x + 1 < gridDim.x && flag[blockIdx.x + 1] == 0) ; }
        __syncthreads();
        out[i] = blockIdx.x + 1 < gridDim.x ? out[i + blockDim.x] + 1 : n;
        __threadfence();
        __syncthreads();
        if (t == 0) flag[blockIdx.x] = 1;""",
    "a ticket for each block": """
        volatile int *sum = out + size + 2;
        if (t == 0) {
            int mine = atomicAdd(&out[size], 1);
            while (atomicAdd(&out[size + 1], 0) != mine) ;
            *sum = *sum + i;
            __threadfence();
            atomicAdd(&out[size + 1], 1);
        }
        out[i] = n;""",
    "a lock that a block holds": """
        if (t == 0) {
            while (atomicCAS(&out[size], 0, 1) != 0) ;
            volatile int *sum = out + size + 2;
            *sum += i;
            __threadfence();
            atomicExch(&out[size], 0);
        }
        out[i] = n;""",
}  # fmt: skip
"""Right as well, but nothing that is looked at orders their accesses: who looks for races finds some."""


def spin_case(body: str, *, blocks: int = 3, threads: int = 64, warp: int = 32, n: int = 3) -> Case:
    """Return the case of a kernel."""
    made = grid_case(body, blocks=blocks, threads=threads, warp=warp, n=n)
    return replace(made, arrays={**made.arrays, "out": (bytes(8 * blocks * threads), True)})


def ran(case: Case, checks: Checks, max_steps: int = 20_000_000) -> tuple[Run, LaunchMemory, Launch]:
    """Run a kernel as machine code."""
    memory, launch = case.placed(checks=checks.races)
    launch = replace(launch, max_steps=max_steps)
    return run(case.module, case.name, launch, memory, checks), memory, launch


def agree_spinning(case: Case, checks: Checks = ALL) -> str:
    """Run a kernel twice; return why machine code stopped. Raises Differs where results do, or what was counted outside
    the loops that wait, or where slots are charged to no branch."""
    made, memory, launch = ran(case, checks)
    other, _ = case.placed(checks=checks.races)
    tally = Tally()
    outcome = interpret(case.module, case.name, launch, other, tally)
    right = outcome.complete and not outcome.problems and not (checks.races and outcome.conflicts)
    if made.why and not (right and made.stop is not Stop.BUDGET):
        return made.why
    if made.why or not right:
        raise Differs(f"{made.why} is not what the interpreter finds: {outcome.problems} {outcome.conflicts}")
    _compare(case, made, tally)
    for one, two in zip(memory.buffers, other.buffers, strict=True):
        if one.data != two.data:
            raise Differs(f"{one.name} differs")
    if checks.lost and sum(made.counts.totals.lost.values()) + totals(tally, launch.warp).other != _lost(made):
        raise Differs(f"{_lost(made)} slots are lost, and charged {made.counts.totals.lost}")
    return ""


def _lost(made: Run) -> int:
    return sum(count.lost for count in made.counts.blocks.values())


def _compare(case: Case, made: Run, tally: Tally) -> None:
    """Compare what was counted outside the loops that wait; what is lost is what is not used."""
    function = case.module.function(case.name)
    assert function is not None
    waiting = set(spinning_loops(function))
    graph = Graph.of(function)
    for block, count in block_counts(tally).items():
        around = {cycle.header for cycle in graph.cycles_around(block.name)}
        own = made.counts.blocks[block]
        if not around & waiting and (own.visits, own.lanes) != (count.visits, count.lanes):
            raise Differs(f"{block.name}: {own} is not {count}")
    sums = made.counts.totals
    if _lost(made) != sums.issued_slots - sums.unfilled - sums.lane_instructions:
        raise Differs(f"{_lost(made)} slots of blocks are lost of {sums}")
