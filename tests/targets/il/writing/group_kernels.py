"""Random kernels whose threads share memory: what `tests/targets/mask/random_kernels.py` has, and between its parts
barriers, tiles of the block, atomic sums in shared and in global memory; and each has an array of its own."""

from __future__ import annotations

import random
import struct

from tests.simt.engine.agree import Case
from tests.simt.engine.kernels import OWN, SLOTS, TABLE, VARIABLES
from tests.targets.mask.random_kernels import _Exported
from warpsmith.simt.launch import Launch
from warpsmith.ssa.builder import constant
from warpsmith.ssa.nodes import Function, Memory, Module, Param, Parameter, Query, Return, Symbol
from warpsmith.ssa.types import I32, I64

__all__ = ["group_case"]

_LAUNCHES = (((8, 1, 1), (2, 1, 1)), ((6, 1, 1), (1, 1, 1)), ((4, 2, 1), (2, 1, 1)), ((3, 2, 2), (1, 2, 1)))


def group_case(seed: int) -> Case:
    """Return such a kernel, with its launch."""
    chosen = random.Random(seed)
    block, grid = chosen.choice(_LAUNCHES)
    threads = block[0] * block[1] * block[2]
    whole = threads * grid[0] * grid[1]
    module = _Grouped(chosen, 64, threads).module()
    numbers = (chosen.choice((0, 1, 2, 3, 5, 40, chosen.getrandbits(32))) for _ in range(TABLE))
    arrays = {
        "table": (struct.pack(f"<{TABLE}I", *numbers), True),
        "out": (bytes(whole * len(VARIABLES) * 4), True),
        "own": (bytes(whole * OWN * 4), True),
        "sums": (bytes(SLOTS * 4), True),
    }
    arguments = {"n": struct.pack("<i", chosen.choice((0, 1, 3, 7, 40)))}
    return Case(module, "k", Launch(grid, block, arguments, seed=seed, max_steps=100_000), arrays)


class _Grouped(_Exported):
    def module(self) -> Module:
        b = self.b
        self.reckless = False
        self.thread = self.linear("tid", "ntid")
        self.block = self.linear("ctaid", "nctaid")
        self.whole = b.emit("add", (b.emit("mul", (self.block, constant(I32, self.threads)), I32), self.thread), I32)
        n = b.emit("param", (), I32, Param("n"))
        lane = b.emit("query", (), I32, Query("tid.x"))
        for name, value in zip(VARIABLES, (self.thread, self.whole, n, lane), strict=True):
            b.write(name, value)
        for number in range(OWN):
            self.store("local", self.mine(constant(I32, number)), self.any())
        for _ in range(self.chosen.randint(1, 3)):
            self.statements(2, [])
            self.keep(self.chosen.choice(VARIABLES))
            self.chosen.choice((self.tile, self.more, self.add_up))(self.chosen.choice(VARIABLES))
        for number, name in enumerate(VARIABLES):
            at = self.place("out", self.whole, len(VARIABLES), constant(I32, number))
            self.store("global", at, b.read(name, I32))
        b.end(Return())
        pointers = [Parameter(name, 8, 8, I64) for name in ("table", "out", "own", "sums")]
        symbols = (
            Symbol("tile", "shared", I32, self.threads, 4),
            Symbol("more", "shared", I32, SLOTS, 4),
            Symbol("mine", "local", I32, OWN, 4),
        )
        return Module((Function("k", True, (*pointers, Parameter("n", 4, 4, I32)), (), b.finish(), symbols),))

    def keep(self, name: str) -> None:
        """Write to the array of the thread, and read from it."""
        self.store("local", self.mine(self.any()), self.any())
        self.b.write(name, self.load("local", self.mine(self.any())))

    def add_up(self, name: str) -> None:
        """Change a number of all threads at once; what was there is not asked for, as it hangs on their order."""
        index = self.b.emit("and", (self.b.read(name, I32), constant(I32, SLOTS - 1)), I32)
        self.b.emit_many(self.atomic, (self.place("sums", index), self.any()), (), Memory("global", 0, 4))
