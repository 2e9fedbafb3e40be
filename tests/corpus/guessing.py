"""Launches of kernels that nobody described: memory is wherever it is touched, scalars are small numbers.

Each pointer argument leads into memory of one kind, another one for each seed: small whole numbers, or real ones.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.corpus.steering import Inputs, pointers
from warpsmith.simt.interpreter import interpret
from warpsmith.simt.launch import Dim, Launch, Outcome
from warpsmith.simt.memory import SHARED_WINDOW, Buffer, Memory
from warpsmith.simt.observer import Observer
from warpsmith.ssa.nodes import Function, Module, Query

__all__ = ["Anywhere", "guessed", "shape_of"]

PAGE = 4096
_SIZES = (1, 2, 3, 5, 8, 16, 31, 33, 50, 64, 100, 127, 200, 300)


@dataclass
class Anywhere(Memory):
    """Global memory without an end, in pages that are made where they are touched."""

    seed: int = 0
    words: Mapping[int, bytes] = field(default_factory=dict)
    pages: dict[int, Buffer] = field(default_factory=dict)

    def __init__(self, inputs: Inputs) -> None:
        super().__init__(checks=False)
        self.seed, self.words, self.pages = inputs.seed, inputs.words, {}

    def find(self, address: int, size: int, pieces: tuple[Buffer, ...]) -> tuple[Buffer, int]:
        """Return the page at an address; what shared and local memory own stays theirs."""
        if address >= SHARED_WINDOW or any(p.address <= address < p.end for p in self.buffers):
            return super().find(address, size, pieces)
        start = address // PAGE * PAGE
        if start not in self.pages:
            data = bytearray(self._content(start) + bytes(64))
            for at, word in self.words.items():
                if start <= at <= start + PAGE - len(word):
                    data[at - start : at - start + len(word)] = word
            self.pages[start] = Buffer("memory", "global", start, data, bytearray(b"\1" * len(data)))
        return self.pages[start], address - start

    def _content(self, start: int) -> bytes:
        kind = random.Random(f"{self.seed} {start >> 40}").choice(("small", "float", "double", "small"))
        chosen = random.Random(f"{self.seed} {start}")
        if kind == "small":
            return struct.pack(f"<{PAGE // 4}i", *(chosen.randint(0, 20) for _ in range(PAGE // 4)))
        if kind == "float":
            return struct.pack(
                f"<{PAGE // 4}f", *(chosen.uniform(-2, 2) * 10 ** chosen.randint(-3, 3) for _ in range(PAGE // 4))
            )
        return struct.pack(
            f"<{PAGE // 8}d", *(chosen.uniform(-2, 2) * 10 ** chosen.randint(-3, 3) for _ in range(PAGE // 8))
        )


def shape_of(function: Function, launched: Dim | None) -> Dim:
    """Return a block to run: the one that the host code launches where that is not too large."""
    if launched is not None and launched[0] * launched[1] * launched[2] <= 256:
        return launched
    if function.limits.exact_block is not None:
        return function.limits.exact_block
    rows = any(isinstance(i.detail, Query) and i.detail.register == "tid.y" for _, i in function.instructions())
    return (16, 4, 1) if rows else (64, 1, 1)


def guessed(
    module: Module, function: Function, block: Dim, inputs: Inputs, *, observer: Observer, steps: int
) -> Outcome:
    """Run a kernel on arguments that are made up, for so many steps at most."""
    chosen = random.Random(f"{function.name} {inputs.seed}")
    arguments: dict[str, bytes] = {}
    addresses = pointers(function)
    for number, parameter in enumerate(function.parameters):
        if parameter.bytes == 8 and parameter.name not in addresses:
            arguments[parameter.name] = struct.pack("<q", chosen.choice(_SIZES))
        elif parameter.bytes == 8:
            arguments[parameter.name] = struct.pack("<q", (number + 1) << 40)
        elif parameter.type is not None and parameter.type.kind == "float":
            arguments[parameter.name] = struct.pack("<f", chosen.uniform(-1, 2))
        elif parameter.bytes <= 4:
            arguments[parameter.name] = (chosen.choice(_SIZES) % 251).to_bytes(parameter.bytes, "little")
        else:
            words = (chosen.choice(_SIZES) for _ in range(-(-parameter.bytes // 4)))
            arguments[parameter.name] = b"".join(w.to_bytes(4, "little") for w in words)[: parameter.bytes]
    arguments = inputs.instead(arguments)
    # with one block, its threads get farther in so many steps
    grid = chosen.choice(((1, 1, 1), (1, 1, 1), (2, 1, 1), (2, 2, 1)))
    launch = Launch(grid, block, arguments, shared=16384, seed=inputs.seed, max_steps=steps)
    return interpret(module, function.name, launch, Anywhere(inputs), observer)
