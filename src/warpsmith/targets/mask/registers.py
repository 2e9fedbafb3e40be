"""Values get registers.

    live before a line = (live behind it - what it writes) + what it reads       until nothing changes

A lane writes only while it is active, so what a lane needs later is safe from lanes that go another way: liveness follows
the way of one lane, not the order in which arms are executed. Two values that are live at once have two registers
(Chaitin, 1982), the lowest that are free in the order in which the values are written; a copy takes its source's where it
can. A value has a register of its own, `.x`, up to 256: words of one register wait for each other.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from warpsmith.targets.mask.code import CodeLine, Virtual

__all__ = ["assign_registers", "without_unused"]


def without_unused(lines: Sequence[CodeLine]) -> list[CodeLine]:
    """Return the lines without those that compute what nobody reads."""
    kept = list(lines)
    while True:
        behind = _live_behind(kept)
        used = [line.dest is None or line.dest in live for line, live in zip(kept, behind, strict=True)]
        if all(used):
            return kept
        kept = [line for line, one in zip(kept, used, strict=True) if one]


def assign_registers(lines: Sequence[CodeLine]) -> Mapping[Virtual, int]:
    """Return the number of each value's word."""
    behind = _live_behind(lines)
    apart: dict[Virtual, set[Virtual]] = defaultdict(set)
    for line, live in zip(lines, behind, strict=True):
        if line.dest is not None:
            # a copy may share the register of its source
            other = live - {line.dest} - (set(line.sources) if line.op == "mov" else set())
            for one in other:
                apart[line.dest].add(one)
                apart[one].add(line.dest)
    numbers: dict[Virtual, int] = {}
    for line in lines:
        if line.dest is not None and line.dest not in numbers:
            taken = {numbers[one] for one in apart[line.dest] if one in numbers}
            numbers[line.dest] = _free(line, numbers, taken)
    return numbers


def _free(line: CodeLine, numbers: Mapping[Virtual, int], taken: set[int]) -> int:
    source = line.sources[0] if line.op == "mov" else None
    if isinstance(source, Virtual) and source in numbers and numbers[source] not in taken:
        return numbers[source]
    return next(number for number in range(len(taken) + 1) if number not in taken)


def _live_behind(lines: Sequence[CodeLine]) -> list[frozenset[Virtual]]:
    """Return what is live behind each line."""
    places = {line.labels[0]: at for at, line in enumerate(lines) if not line.op}
    after = [_next(line, at, places) for at, line in enumerate(lines)]
    before: list[frozenset[Virtual]] = [frozenset()] * len(lines)
    behind = list(before)
    changed = True
    while changed:
        changed = False
        for at in range(len(lines) - 1, -1, -1):
            line = lines[at]
            live = frozenset[Virtual]().union(*(before[one] for one in after[at]))
            here = (live - {line.dest}) | {one for one in line.sources if isinstance(one, Virtual)}
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
