"""Random kernels of barriers, loops and guards, over shared and global memory, and whether runs of them race."""

from __future__ import annotations

import random
import struct
from functools import cache
from pathlib import Path

from msgspec import Struct

from tests.lower.harness import lowered
from warpsmith.analysis.kernel import examine
from warpsmith.analysis.uniformity.facts import KernelFacts, LaunchShape
from warpsmith.machine.devices import device
from warpsmith.simt.engine.engine import Checks, run
from warpsmith.simt.engine.words import Stop
from warpsmith.simt.launch import Dim, Launch
from warpsmith.simt.memory import LaunchMemory
from warpsmith.ssa.nodes import Module

__all__ = ["PhasedKernel", "facts_of", "is_racing", "phased_kernel", "phased_text"]

BLOCKS: tuple[Dim, ...] = ((32, 1, 1), (64, 1, 1), (16, 4, 1), (96, 1, 1))
GRID: Dim = (3, 1, 1)
SIZES = (1, 16, 33, 100)
WORDS = 4096

_OWN = ("t", "t", "t", "t + 1", "t ^ 1", "2 * t", "2 * t + 1", "t / 2", "t % 32", "count - 1 - t", "t * (t + 1) / 2")
_ALONE = ("0", "n % 64", "n", "t + n % 128", "{i}", "t + count * {i}", "count * {i} + count - 1 - t", "{i} + 8 * t")
_WIDE = ("g", "g", "g", "g + 1", "n - 1 - g", "t", "2 * g", "g * 4 + {i}", "blockIdx.x", "blockIdx.x * 32 + t", "n + g")
_TESTS = (
    "t < 16",
    "t < n",
    "g < n",
    "g < n / 2",
    "t == 0",
    "t % 2 == 0",
    "n > 3",
    "{i} == 1",
    "t > {i}",
    "blockIdx.x == 1",
)


class PhasedKernel(Struct, frozen=True):
    """A kernel, and the block it is launched with."""

    text: str
    module: Module
    block: Dim


class _Writer:
    """Writes one kernel."""

    def __init__(self, seed: int) -> None:
        self.chosen = random.Random(f"phased {seed}")
        self.lines: list[str] = []
        self.loops: list[str] = []
        self.orderly = self.chosen.choice((0.3, 0.8, 1.0, 1.0))
        self.own = self.chosen.choice((_OWN, _OWN, (*_OWN, *_ALONE)))

    def body(self, depth: int, count: int) -> None:
        """Write some statements."""
        for _ in range(count):
            self._statement(depth)
            if self.chosen.random() < self.orderly:
                self._line(self.chosen.choice(("__syncthreads();",) * 7 + ("__syncwarp();",)))

    def _statement(self, depth: int) -> None:
        if depth and self.chosen.random() < 0.35:
            self._loop(depth - 1)
        elif self.chosen.random() < 0.4:
            self._line(f"if ({self._of(_TESTS)}) {{ {self._access()} }}")
        else:
            self._line(self._access())

    def _loop(self, depth: int) -> None:
        name = f"i{len(self.lines)}"
        head = self.chosen.choice((
            f"for (int {name} = 0; {name} < 3; {name}++)",
            f"for (int {name} = 0; {name} < n % 5; {name}++)",
            f"for (int {name} = 8; {name} > 0; {name} >>= 1)",
            f"for (int {name} = 1; {name} < 32; {name} *= 2)",
            f"for (int {name} = n % 32; {name} > 0; {name} /= 2)",
        ))  # fmt: skip
        self.loops.append(name)
        self._line(f"{head} {{")
        self.body(depth, self.chosen.randint(1, 3))
        self._line("}")
        self.loops.pop()

    def _access(self) -> str:
        if self.chosen.random() < 0.7:
            name = self.chosen.choice(("s", "s", "r"))
            place = f"{name}[{self._of(self.own if self.chosen.random() < 0.4 else _OWN[:4])}]"
        else:
            place = f"{self.chosen.choice('ab')}[{self._of(_WIDE if self.chosen.random() < 0.3 else _WIDE[:2])}]"
        kind = self.chosen.random()
        if kind < 0.45:
            return f"v += {place};"
        return f"{place} = v;" if kind < 0.93 else f"atomicAdd(&{place}, 1);"

    def _of(self, texts: tuple[str, ...]) -> str:
        return self.chosen.choice(texts).format(i=self.loops[-1] if self.loops else "2")

    def _line(self, text: str) -> None:
        self.lines.append(f"    {text}")


def phased_text(seed: int) -> str:
    """Return the text of a kernel."""
    writer = _Writer(seed)
    writer.body(2, writer.chosen.randint(2, 5))
    return "\n".join((
        "__global__ void k(int *a, int *b, int *c, int n)", "{", "    __shared__ int s[6000], r[6000];",
        "    int count = blockDim.x * blockDim.y, t = threadIdx.y * blockDim.x + threadIdx.x;",
        "    int g = blockIdx.x * count + t, v = t;", *writer.lines, "    c[g] = v;", "}", "",
    ))  # fmt: skip


@cache
def phased_kernel(seed: int, folder: Path) -> PhasedKernel:
    """Return a kernel as code."""
    text = phased_text(seed)
    return PhasedKernel(text, lowered(text, folder, f"k{seed}.cu").module, BLOCKS[seed % len(BLOCKS)])


def facts_of(seed: int, folder: Path) -> KernelFacts:
    """Return what is known of a kernel, for its block and any grid."""
    made = phased_kernel(seed, folder)
    return examine(made.module, made.module.functions[0].name, LaunchShape(made.block), device("h100"))


@cache
def is_racing(seed: int, folder: Path) -> bool | None:
    """Return whether a run races, for some number; None where a run ends elsewhere first."""
    made = phased_kernel(seed, folder)
    complete = True
    for n in SIZES:
        memory = LaunchMemory(checks=True)
        arguments = {"n": struct.pack("<i", n)}
        for name in ("a", "b", "c"):
            start = memory.allocate(name, bytes(8 * WORDS)).address
            arguments[name] = struct.pack("<Q", start + 4 * WORDS // 2)
        launch = Launch(GRID, made.block, arguments, warp=32, seed=seed)
        done = run(made.module, made.module.functions[0].name, launch, memory, Checks(uninitialized=False, races=True))
        if done.stop is Stop.RACE:
            return True
        complete = complete and not done.why
    return False if complete else None
