"""What is likely to be a mistake in a program of IL that can be run all the same, and what a reader should know."""

from __future__ import annotations

from collections.abc import Iterator

from warpsmith.base.findings import Finding
from warpsmith.base.source import Span
from warpsmith.front.il.check import operands_of
from warpsmith.front.il.live import find_unwritten, relevant_components
from warpsmith.front.il.nodes import IlInstruction, IlProgram

__all__ = ["find_defects"]


def find_defects(program: IlProgram) -> tuple[Finding, ...]:
    """Return warnings and notes, each with its place, in the order of the text."""
    found = [*_unwritten(program), *_coordinates(program), *_negated(program), *_unused(program), *_outputs(program)]
    return tuple(sorted(found, key=lambda one: one.span.start if one.span else 0))


def _unwritten(program: IlProgram) -> Iterator[Finding]:
    relevant = relevant_components(program)
    seen: set[tuple[int, int]] = set()
    for read in find_unwritten(program):
        key = (id(read.instruction), read.component[0])
        if key in seen:
            continue
        seen.add(key)
        number, letter = read.component
        place = _place(read.instruction, read.source)
        if read.component in relevant:
            message = f"r{number}.{letter} is read and may not have been written: what is stored may depend on it"
            yield Finding("ILT002", "warning", message, place, (f"write r{number}.{letter} before",))
        else:
            message = f"r{number}.{letter} is read and never written; nothing depends on it"
            masks = f"{read.instruction.op.name} r{number}.xy__, r{number}.xy00"
            yield Finding("ILT002", "note", message, place, (f"name only what is needed: {masks}",))


def _place(one: IlInstruction, source: int) -> Span | None:
    at = source + (one.destination is not None)
    return one.places[at] if at < len(one.places) else one.span


def _coordinates(program: IlProgram) -> Iterator[Finding]:
    for one in program.instructions:
        if one.op.form not in ("sample", "load") or program.resources[one.resource].axes < 2:
            continue
        if one.sources[0].swizzle[1] in "01":
            message = f"resource {one.resource} has two axes and is read in one row only: its place along y is constant"
            helps = (f"declare it _type(1d,unnorm), or give both: {one.sources[0].swizzle[0]}y00",)
            yield Finding("ILT002", "warning", message, _place(one, 0), helps)


def _negated(program: IlProgram) -> Iterator[Finding]:
    for one in program.instructions:
        for number, source in enumerate(one.sources):
            if source.negated and one.op.reads == "integer":
                name = one.op.name
                message = f"_neg of an integer is 0 - x: {name} has it subtracted, as hardware negates floats only"
                yield Finding("ILT002", "note", message, _place(one, number), ("subtract, or use inegate",))


def _unused(program: IlProgram) -> Iterator[Finding]:
    used = {(register.kind, register.number) for one in program.instructions for register, _, _ in operands_of(one)}
    fetched = {one.resource for one in program.instructions if one.op.form in ("sample", "load")}
    for literal in program.literals.values():
        if ("l", literal.number) not in used:
            yield Finding("ILT002", "note", f"l{literal.number} is declared and not used", literal.span)
    for resource in program.resources.values():
        if resource.number not in fetched:
            yield Finding("ILT002", "note", f"resource {resource.number} is declared and not read", resource.span)


def _outputs(program: IlProgram) -> Iterator[Finding]:
    written = {
        one.destination.register.number
        for one in program.instructions
        if one.destination is not None and one.destination.register.kind == "o"
    }
    for output in program.outputs.values():
        if output.number not in written:
            message = f"o{output.number} is declared and never written"
            yield Finding("ILT002", "warning", message, output.span, (f"write it: mov o{output.number}, r0",))
