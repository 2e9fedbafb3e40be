"""The referee's word on a port: the steps as C against C, then the port against what the steps made."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path, PurePosixPath

from msgspec.structs import replace

from warpsmith.base.findings import Finding
from warpsmith.base.source import Span
from warpsmith.emit.files import OutputFile
from warpsmith.emit.host.in_place import InPlace
from warpsmith.flows.porting.harness import harness_functions
from warpsmith.flows.porting.host_only import captured_alone, not_in_kernels
from warpsmith.flows.porting.plan import Written
from warpsmith.flows.porting.sources import (
    kernel_arguments,
    project_headers,
    sources_of,
    unit_arguments,
    with_own_folders,
)
from warpsmith.flows.porting.step_check import verify_steps, with_steps
from warpsmith.loops.prepared import Prepared
from warpsmith.offload.concurrency import find_reached
from warpsmith.offload.plan import Fragment
from warpsmith.poly.granted import grants
from warpsmith.run.referee.referee import verify
from warpsmith.run.verification import PortedRegion, Sources, Verification, VerifyOptions
from warpsmith.tree.named import find_named
from warpsmith.tree.nodes import Function, Node
from warpsmith.tree.program import Assumption, Program
from warpsmith.tree.types import Symbol
from warpsmith.tree.walk import walk

__all__ = ["find_doubted", "judge_port"]

_MACRO = ("-DWARPSMITH",)
_OF_ROWS = ("flatten", "row-starts")


def judge_port(prepared: Prepared, written: Written, options: VerifyOptions, root: str | None = None) -> Verification:
    """Build and run what steps made and the port, and the port in place below `root`; raises UsageError without a
    compiler."""
    verdict = _judge_built(prepared, written, options, root)
    doubts = tuple(find_doubted(prepared, written, verdict)) if verdict.status == "fail" else ()
    return replace(verdict, reasons=(*verdict.reasons, *doubts))


def find_doubted(prepared: Prepared, written: Written, verdict: Verification) -> Iterator[Finding]:
    """Yield what regions that failed rest on that the user, or a pragma of his, has asserted: it may not be true."""
    said = " ".join(reason.message for reason in verdict.reasons)
    parts = written.port.plan.fragments
    fragments = [f for f in parts if f"region {f.region} " in said or f"kernel {f.kernel.name}_kernel" in said]
    for one in dict.fromkeys(a for fragment in fragments for a in _find_asserted(prepared, fragment)):
        text = f"what the loop was ported on could not be proved, and is probably not true: {one.text}"
        help = ("--claims check believes no pragma that cannot be proved", *_same_values(verdict))
        yield Finding("VER027", "warning", text, one.span, help)


def _same_values(verdict: Verification) -> Iterator[str]:
    """Yield what the user may say of arrays, where threads only wrote one value wherever they wrote one element."""
    if all(race.one_value for race in verdict.races):
        for name in sorted({race.variable for race in verdict.races}):
            yield f"--assume 'same_value({name})': they wrote one value each time; do they always?"


def _find_asserted(prepared: Prepared, fragment: Fragment) -> Iterator[Assumption]:
    yield from (a for a in fragment.assumptions if a.kind == "granted" and a.span is None)
    for facts in prepared.facts.functions:
        if facts.function.symbol == fragment.function.symbol:
            mine = (loop for loop in facts.loops if loop.id in fragment.loops)
            yield from (c.granted for loop in mine for c in loop.claims if c.granted is not None)


def _judge_built(prepared: Prepared, written: Written, options: VerifyOptions, root: str | None) -> Verification:
    steps = verify_steps(prepared, options) if prepared.changes() else None
    if steps is not None and steps.status == "fail":
        return steps
    ported = written.port
    changed = {fragment.function.symbol for fragment in ported.plan.fragments}
    reference = sources_of(ported.reference, written.reference, captured=True)
    candidate = sources_of(ported.candidate, written.candidate, captured=True)
    candidate = replace(candidate, addressed=_find_addressed(prepared, written), regions=_regions(prepared, written))
    alone = captured_alone(ported.reference, partial(_not_in_kernels, ported.plan.fragments))
    candidate = replace(candidate, host_only=alone)
    verdict = verify(reference, candidate, options, harness_functions(prepared.original, changed))
    verdict = verdict if steps is None else with_steps(verdict, steps)
    if written.in_place is None or root is None or verdict.status not in ("pass", "undecided"):
        return verdict
    # What the user will build is judged as well: his own files with what is added to them.
    program = prepared.original.program
    before, after = _in_place(program, written.in_place, root, reordered_bits=candidate.reordered_bits)
    after = replace(after, rounding=max((row.rounding for row in verdict.live_out), default=0.0))
    placed = verify(before, after, options, harness_functions(prepared.original, changed))
    return with_steps(placed, verdict)


def _regions(prepared: Prepared, written: Written) -> tuple[PortedRegion, ...]:
    """Return the regions of a port as the referee is given them: those that no run can come to any more, since steps
    have written their function out wherever it was called, are none."""
    found: list[PortedRegion] = []
    gone = _find_called(prepared.original.program) - _find_called(prepared.program)
    for f in (f for f in written.port.plan.fragments if f.function.symbol not in gone):
        tests = tuple(a.text for a in f.assumptions if a.kind == "guarded")
        hosts = {p.host.name for p in f.kernel.parameters}
        same = tuple(name for name in sorted(hosts) if grants(prepared.facts.options.granted, "same_value", name))
        found.append(PortedRegion(f.region, f.kernel.name, f.kernel.span, tests, same))
    return tuple(found)


def _find_called(program: Program) -> frozenset[Symbol]:
    """Return the functions that a whole program may come to; none of a part of one."""
    functions = {f.symbol: f for _, f in program.functions()}
    named = {symbol: set(_find_named(f.body)) & functions.keys() for symbol, f in functions.items()}
    others = (item for unit in program.units for item in unit.items if not isinstance(item, Function))
    begun = {symbol for symbol in functions if symbol.name == "main"}
    return frozenset(find_reached(named, begun.union(*map(_find_named, others)))) if begun else frozenset()


def _find_named(top: Node) -> Iterator[Symbol]:
    return (symbol for part in walk(top) for symbol in find_named(part))


def _not_in_kernels(fragments: Sequence[Fragment], function: Function) -> set[Symbol]:
    mine = [f for f in fragments if f.function.symbol == function.symbol]
    return not_in_kernels(function, [statement for f in mine for statement in f.statements])


def _find_addressed(prepared: Prepared, written: Written) -> frozenset[str]:
    """Return the regions before which a test looks at where rows lie: those of separate allocations may be neighbors in
    one build and not in another."""
    rows = [a for a in prepared.applied if a.step.name in _OF_ROWS]
    return frozenset(
        f.region
        for f in written.port.plan.fragments
        if any(a.function == f.function.symbol and _meet(a.span, f.kernel.span) for a in rows)
    )


def _meet(one: Span, other: Span) -> bool:
    return one.file is other.file and one.start < other.end and other.start < one.end


def _in_place(program: Program, made: InPlace, root: str, *, reordered_bits: int) -> tuple[Sources, Sources]:
    """Return the user's files as they are, and with what a port in place adds, as a build for the GPU sees them."""
    paths = {unit: PurePosixPath(os.path.relpath(unit.file.path, root)).as_posix() for unit in program.units}
    given = {path: with_own_folders(unit_arguments(unit), root) for unit, path in paths.items()}
    headers = tuple(file for file in project_headers(program, root) if file.path not in given)
    before = (*(OutputFile(path, unit.file.text) for unit, path in paths.items()), *headers)
    included = frozenset(file.path for file in headers)
    new = {file.path: file for file in made.files}
    after = (*(new.get(file.path, file) for file in before), *(f for p, f in new.items() if p not in given))
    own = {path: (*arguments, *_MACRO) for path, arguments in given.items()}
    own |= kernel_arguments(after, own)
    folder = str(Path(program.units[0].file.path).parent)
    # That a wrong kernel is noticed was shown by the objects of the port.
    port = Sources(after, (), folder, reordered_bits=reordered_bits, own=own, shown=True, included=included)
    return Sources(before, (), folder, own=given, included=included), port
