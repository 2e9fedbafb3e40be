"""A program with control flow, run by run: how many bundles each has that is executed from its first line to its last.

    iadd r1 …                 a segment: bundles of what is read elsewhere, or stored
    if_logicalnz r1.x         its test is one more operation of the segment in front of it
        lds_load_id(1) …      ends a segment, as do fences and atomic operations: what they cost is not in the figures
        uav_raw_load_id …     begins one where the segment has stored already
    endif

Invariant: a segment's bundles compute all that other lines read of it. What it reads of others is in registers. Bundles
of a program are not the sum: how often a segment runs is not known.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from warpsmith.front.il.check import places_read
from warpsmith.front.il.live import needed_of, relevant_components
from warpsmith.front.il.nodes import WHOLE, IlInstruction, IlProgram
from warpsmith.front.il.ops import CONDITIONAL, FLOW
from warpsmith.machine.vliw.slots import Generation
from warpsmith.targets.r600.arithmetic import R600
from warpsmith.targets.r600.division import Expansion
from warpsmith.targets.r600.expand import IlWalk
from warpsmith.targets.r600.groups import gather
from warpsmith.targets.r600.operations import Export, Operand, Operation, PlaceWord, Value, Values, operations_below
from warpsmith.targets.r600.schedule import schedule

__all__ = ["IlSegment", "count_segments"]

_APART: Final = ("lds_load", "lds_store", "atomic", "fence")
Component = tuple[int, str]


class IlSegment(Struct, frozen=True):
    """Lines of the text, from the first to the last one; their bundles (`bound`: there are no fewer), and fetches."""

    first: int
    last: int
    bundles: int
    bound: int
    fetches: int


def count_segments(
    program: IlProgram, generation: Generation, expansion: Expansion = "one-sided"
) -> tuple[IlSegment, ...]:
    """Return the segments of a program in order; raises RefusedError where an instruction is not counted."""
    if generation == "cayman" and expansion in ("one-sided", "plain"):
        expansion = "two-sided"
    made = []
    for run, test in _runs(program):
        found = _count(program, run, test, generation, expansion)
        if found is not None:
            made.append(found)
    return tuple(made)


def _runs(program: IlProgram) -> Iterator[tuple[list[int], IlInstruction | None]]:
    """Yield the numbers of instructions that are executed together, and the test that ends them."""
    run: list[int] = []
    stored = False
    for number, one in enumerate(program.instructions):
        form = one.op.form
        if form in FLOW or form in _APART or (form == "uav_load" and stored):
            yield run, one if form in CONDITIONAL else None
            run, stored = [], False
        if form not in FLOW and form not in _APART:
            run.append(number)
            stored = stored or form == "uav_store"
    yield run, None


def _count(
    program: IlProgram, run: list[int], test: IlInstruction | None, generation: Generation, expansion: Expansion
) -> IlSegment | None:
    values = Values()
    walk = IlWalk(program, R600(values, generation, expansion), entered=True)
    for number in run:
        walk.step(program.instructions[number])
    roots = list(_kept(program, run, walk, values))
    if test is not None:
        roots.append(values.operation("PRED_SETNE_INT", (walk.condition(test),)))
    exports = [Export(at, (root, None, None, None)) for at, root in enumerate(roots)]
    graph = replace(operations_below(exports, walk.stores), exports=())
    spans = [program.instructions[number].span for number in run] + ([test.span] if test is not None else [])
    lines = [span.line for span in spans if span is not None] or [0]
    if not graph.operations and not graph.fetches and not graph.stores:
        return None
    planned = schedule(gather(graph, values), generation)
    return IlSegment(min(lines), max(lines), len(planned.bundles), planned.bound, len(graph.fetches))


def _kept(program: IlProgram, run: list[int], walk: IlWalk, values: Values) -> Iterator[Value]:
    """Yield what lines elsewhere read of a segment: each in a register of its own, so that copies count."""
    taken: set[int] = set()
    for component in sorted(_read_elsewhere(program, run)):
        number, letter = component
        value = walk.components.get(("r", number, letter))
        if value is None or value == PlaceWord(letter, IlWalk.FIRST + number):
            continue
        if isinstance(value, Operation) and value.number not in taken:
            taken.add(value.number)
            yield value
        else:
            # a copy of its own: the same value may be in several registers
            values.count += 1
            yield Operation("MOV", (Operand(value),), number=values.count)


def _read_elsewhere(program: IlProgram, run: list[int]) -> set[Component]:
    """Return the components of r that lines outside of a segment read, or lines of it before they are written there."""
    found: set[Component] = set()
    relevant = relevant_components(program)
    written: set[Component] = set()
    inside = set(run)
    for number, one in enumerate(program.instructions):
        wanted = needed_of(one, relevant)
        for source in one.sources if wanted else ():
            read = {(source.register.number, letter) for letter in places_read(one, source, wanted) if letter in WHOLE}
            if source.register.kind == "r":
                found |= read - written if number in inside else read
        target = one.destination
        if number in inside and target is not None and target.register.kind == "r":
            written |= {(target.register.number, letter) for letter in target.mask if letter in WHOLE}
    return found
