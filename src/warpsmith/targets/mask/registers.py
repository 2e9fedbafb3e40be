"""Values get registers.

    live before a line = (live behind it - what it writes) + what it reads, if what it writes is live      until nothing
                                                                                                           changes

A lane writes only while it is active, so what a lane needs later is safe from lanes that go another way: liveness
follows the way of one lane, not the order in which arms are executed. Two values that are live at once have two
registers (Chaitin, 1982), the lowest that are free in the order in which the values are written; a copy takes its
source's where it can. A value has a register of its own, `.x`, up to 256: words of one register wait for each other.

Sets of values are numbers: bit n is for value n.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from warpsmith.targets.mask.code import CodeLine, Virtual, Word

__all__ = ["assign_registers", "without_unused"]


def without_unused(lines: Sequence[CodeLine]) -> list[CodeLine]:
    """Return the lines without those that compute what nobody reads."""
    behind = _live_behind(lines)
    return [line for line, live in zip(lines, behind, strict=True) if line.dest is None or live & _bits([line.dest])]


def assign_registers(lines: Sequence[CodeLine]) -> Mapping[Virtual, int]:
    """Return the number of each value's word."""
    apart: dict[int, int] = defaultdict(int)
    for line, live in zip(lines, _live_behind(lines), strict=True):
        if line.dest is not None:
            # a copy may share the register of its source
            apart[line.dest.number] |= live & ~_bits([line.dest, *(line.sources if line.op == "mov" else ())])
    for one, others in list(apart.items()):
        for other in _numbers(others):
            apart[other] |= 1 << one
    registers: dict[int, int] = {}
    for line in lines:
        if line.dest is not None and line.dest.number not in registers:
            taken = {registers[one] for one in _numbers(apart[line.dest.number]) if one in registers}
            registers[line.dest.number] = _free(line, registers, taken)
    return {Virtual(one): register for one, register in registers.items()}


def _free(line: CodeLine, registers: Mapping[int, int], taken: set[int]) -> int:
    source = line.sources[0] if line.op == "mov" else None
    if isinstance(source, Virtual) and registers.get(source.number, -1) not in {-1, *taken}:
        return registers[source.number]
    return next(number for number in range(len(taken) + 1) if number not in taken)


def _bits(words: Iterable[Word]) -> int:
    made = 0
    for word in words:
        if isinstance(word, Virtual):
            made |= 1 << word.number
    return made


def _numbers(bits: int) -> Iterable[int]:
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest


def _live_behind(lines: Sequence[CodeLine]) -> list[int]:
    """Return what is live behind each line."""
    places = {line.labels[0]: at for at, line in enumerate(lines) if not line.op}
    after = [_next(line, at, places) for at, line in enumerate(lines)]
    reads = [_bits(line.sources) for line in lines]
    writes = [0 if line.dest is None else _bits([line.dest]) for line in lines]
    before, behind = [0] * len(lines), [0] * len(lines)
    changed = True
    while changed:
        changed = False
        for at in range(len(lines) - 1, -1, -1):
            live = 0
            for one in after[at]:
                live |= before[one]
            wanted = not writes[at] or live & writes[at]
            here = live & ~writes[at] | (reads[at] if wanted else 0)
            changed |= here != before[at]
            behind[at], before[at] = live, here
    return behind


def _next(line: CodeLine, at: int, places: Mapping[str, int]) -> tuple[int, ...]:
    """Return where a lane goes on."""
    match line.op:
        case "ret":
            return ()
        case "jmp":
            return (places[line.labels[0]],)
        case "pop_mask":
            return (places[line.joins],)
        case "mask_nz":
            return (at + 1, places[line.joins])
        case "br_push":
            return (at + 1, places[line.labels[0]])
        case _:
            return (at + 1,)
