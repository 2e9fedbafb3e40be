"""The comments in the files of examples/kernels that say how they run and what is expected of them.

    // run: KERNEL grid X[,Y[,Z]] block X[,Y[,Z]] [shared BYTES] PARAMETER=VALUE …     a launch that makes sense
    code //~ uniform                            the branches of this line, for a warp and for a block
    code //~ warp uniform, block divergent      each by itself
    code //~ uniform (missed)                   so it is, but the analysis does not find that out
    code //~ MEM001                             a rule, or the family of one, that has something to say of this line

VALUE is `i32*64` (a buffer of 64), `i32*64:0..9` (numbers from a range), `i32*64:steps0..5` (a running sum of such),
`i32*64:up` (0 1 2 …); for a scalar, `33|64|7`: one of them, another one each time.
"""

from __future__ import annotations

import random
import re
import struct
from collections.abc import Iterator

from msgspec import Struct

from warpsmith.simt.launch import Dim

__all__ = ["Mark", "Run", "marks", "runs"]

_FORMATS = {"i32": "<i", "f32": "<f", "u8": "<B", "i64": "<q", "f64": "<d"}
_LEVELS = ("warp", "block")


class Run(Struct, frozen=True):
    """A launch, its arguments as they are written."""

    kernel: str
    grid: Dim
    block: Dim
    shared: int
    arguments: dict[str, str]

    def buffer(self, name: str, chosen: random.Random) -> bytes | None:
        """Return what a buffer holds at first; None for a scalar."""
        type, star, rest = self.arguments[name].partition("*")
        if not star:
            return None
        count, _, content = rest.partition(":")
        numbers = list(_numbers(type, int(count), content, chosen))
        return b"".join(struct.pack(_FORMATS[type], number) for number in numbers)

    def scalar(self, name: str, bytes: int, seed: int) -> bytes:
        """Return the bytes of a scalar argument."""
        choices = self.arguments[name].split("|")
        text = choices[seed % len(choices)]
        if "." in text or (name in _FLOATS):
            return struct.pack("<f", float(text))
        return int(text).to_bytes(bytes, "little", signed=True)

    def number(self, name: str, seed: int) -> int | None:
        """Return a scalar argument as a whole number, None where it is none."""
        choices = self.arguments.get(name, "*").split("|")
        text = choices[seed % len(choices)]
        return int(text) if re.fullmatch(r"-?\d+", text) else None


_FLOATS = ("cut",)


def _numbers(type: str, count: int, content: str, chosen: random.Random) -> Iterator[float]:
    if content == "up":
        yield from range(count)
        return
    steps = content.startswith("steps")
    default = "-1..1" if type.startswith("f") else "0..100"
    low, _, high = content.removeprefix("steps").partition("..") if content else default.partition("..")
    total = 0
    for _ in range(count):
        if steps:
            yield total
            total += chosen.randint(int(low), int(high))
        elif type.startswith("f"):
            yield chosen.uniform(float(low), float(high))
        else:
            yield chosen.randint(int(low), int(high))


class Mark(Struct, frozen=True):
    """What a line says of itself: `levels` of its branches, or a `rule`."""

    line: int
    levels: dict[str, str]
    rule: str
    missed: bool = False


def runs(text: str) -> Iterator[Run]:
    """Yield the launches that a file names."""
    for found in re.finditer(r"^// run: (\S+) (.*)$", text, re.M):
        words = found[2].split()
        sizes = {words[at]: words[at + 1] for at in range(len(words) - 1) if words[at] in ("grid", "block", "shared")}
        given = dict(word.split("=", 1) for word in words if "=" in word)
        yield Run(found[1], _dim(sizes["grid"]), _dim(sizes["block"]), int(sizes.get("shared", "0")), given)


def _dim(text: str) -> Dim:
    x, y, z = (*map(int, text.split(",")), 1, 1)[:3]
    return x, y, z


def marks(text: str) -> Iterator[Mark]:
    """Yield what the lines of a file say of themselves."""
    for number, line in enumerate(text.splitlines(), 1):
        for words in line.partition("//~")[2].split(","):
            missed = "(missed)" in words
            said = words.replace("(missed)", "").split()
            if not said:
                continue
            if said[-1] in ("uniform", "divergent"):
                levels = [said[0]] if said[0] in _LEVELS else _LEVELS
                yield Mark(number, dict.fromkeys(levels, said[-1]), "", missed)
            else:
                yield Mark(number, {}, said[0])
