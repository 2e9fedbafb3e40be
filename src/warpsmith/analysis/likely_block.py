"""The block that a kernel is taken to be launched with where nothing says it: a likely one that its own arrays allow.

    blockIdx.x * blockDim.x + threadIdx.x          256 threads in a row
    tile[threadIdx.y][threadIdx.x]                 32x8, since threadIdx.y is read
    out[blockIdx.x * 128 + threadIdx.x] = …        128: with 256 two blocks would write one element
    __shared__ float s[64]; s[threadIdx.x] = …     64: with 128 or more it would be out of bounds
    host code: n < 512 ? n : 512                   512, the largest that host code is known to give

A guess is never an error of the user's: what rests on it is conditional, and names it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Final

from msgspec.structs import replace

from warpsmith.analysis.rules.memory.shared import outside
from warpsmith.analysis.rules.origins import origin
from warpsmith.analysis.uniformity.facts import Dim, KernelFacts, LaunchShape, RaceFact
from warpsmith.ssa.nodes import Function, Instruction, Query

__all__ = ["examine_likely", "likely_blocks"]

_ROWS: Final[tuple[Dim, ...]] = tuple((threads, 1, 1) for threads in (256, 128, 64, 32, 16, 8))
_PLANES: Final[tuple[Dim, ...]] = ((32, 8, 1), (16, 16, 1), (32, 32, 1), (8, 8, 1), (4, 4, 1))
_SOLIDS: Final[tuple[Dim, ...]] = ((8, 8, 4), (8, 8, 8), (4, 4, 4))
_LARGE: Final = 5000
"""Instructions; a larger kernel is examined for the likeliest block alone."""
_FEW: Final = 64
"""Threads: two warps. Fewer hide most races, and are tried for bounds alone."""
_LOOKED_AT: Final = 1 << 16
"""Threads of a given block at most; a larger one, which no GPU starts, would need gigabytes to be looked at."""


def likely_blocks(function: Function) -> Iterator[Dim]:
    """Yield blocks for a kernel whose launch is not known, the likeliest first."""
    read = {
        i.detail.register for _, i in function.instructions() if isinstance(i.detail, Query) and not _is_called(i)
    }  # fmt: skip
    shapes = _SOLIDS if "tid.z" in read else _PLANES if "tid.y" in read else _ROWS
    most = function.limits.most_threads or 1024
    yield from (shape for shape in shapes if _threads(shape) <= most)


def _is_called(query: Instruction) -> bool:
    """Whether an index is read by a function of the language's own library: a rank in a group says no shape."""
    text = "" if query.span is None else query.span.text
    return query.span is None or ("(" in text and "get_" not in text)


def examine_likely(
    function: Function, shape: LaunchShape, examine: Callable[[LaunchShape], KernelFacts]
) -> KernelFacts:
    """Return the facts for the likely block that fits the kernel best: the first one with which no access is out of
    bounds and, of planes, no two threads race; where none fits, for the likeliest of those that come nearest."""
    shape = _without_giants(function, shape)
    if shape.block is not None or (function.limits.exact_block is not None and shape.too_large is None):
        return examine(shape)
    if shape.blocks:
        return examine(replace(shape, likely=max(shape.blocks, key=_threads)))
    best: tuple[tuple[int, int], KernelFacts] | None = None
    tried: list[KernelFacts] = []
    large = sum(1 for _ in function.instructions()) > _LARGE
    blocks = likely_blocks(function)
    for block in blocks:
        if best is not None and (large or (not best[0][0] and _threads(block) < _FEW)):
            break
        tried.append(examine(replace(shape, likely=block)))
        misfit = _misfit(tried[-1])
        if best is None or misfit < best[0]:
            best = misfit, tried[-1]
        if misfit == (0, 0):
            break
    if best is None:
        return examine(shape)
    if best[1].races and len(tried) == 1 and not large:
        tried += (examine(replace(shape, likely=block)) for block in islice(blocks, 1) if _threads(block) >= _FEW)
    return _doubt(best[1], [one for one in tried if one is not best[1] and _threads(one.block) >= _FEW])


def _doubt(facts: KernelFacts, others: Sequence[KernelFacts]) -> KernelFacts:
    """Return facts whose races are weak where another likely block has none of them: what races in one of two blocks is
    as likely a kernel that is launched in the other."""
    known = [{_in_text(race) for race in other.races if race.certainty != "heuristic"} for other in others]
    races = tuple(
        race if all(_in_text(race) in one for one in known) else replace(race, certainty="heuristic")
        for race in facts.races
    )
    return replace(facts, races=races)


def _in_text(race: RaceFact) -> object:
    return race.variable, race.reach, frozenset(str(side.access.span) for side in (race.first, race.second))


def _threads(block: Dim) -> int:
    return block[0] * block[1] * block[2]


def _misfit(facts: KernelFacts) -> tuple[int, int]:
    """Return how many accesses are out of bounds, and how many pairs race between blocks whose parts lie as far apart
    as a block is long, or where it is no row: a shorter row would hide a race that is there."""
    rows = [race for race in facts.races if race.reach == "block" and facts.block[1] > 1]
    blocks = [race for race in facts.races if race.reach == "grid" and _is_of_part(facts, race)]
    return len(outside(facts)), len(rows) + len(blocks)


def _is_of_part(facts: KernelFacts, race: RaceFact) -> bool:
    """Whether both sides of a race are elements of a part that the index of the block picks, and that of the thread."""
    made_of = origin(facts, *(side.access.instruction.operands[0] for side in (race.first, race.second)))
    return made_of.of_block and not made_of.loop and any(name.startswith("tid") for name in made_of.registers)


def _without_giants(function: Function, shape: LaunchShape) -> LaunchShape:
    """Return a launch whose blocks can be looked at: the one that is given or demanded is `too_large` where it is."""
    given = shape.block or function.limits.exact_block
    smaller = tuple(block for block in shape.blocks if _threads(block) <= _LOOKED_AT)
    if given is None or _threads(given) <= _LOOKED_AT:
        return replace(shape, blocks=smaller)
    return replace(shape, block=None, blocks=smaller, too_large=given)
