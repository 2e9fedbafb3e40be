"""A plan that the target can express: what CUDA refuses stays on the host, every other loop is served."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from warpsmith.base.errors import RefusedError
from warpsmith.base.findings import Finding
from warpsmith.base.source import Span
from warpsmith.base.verdict import Reason
from warpsmith.emit.cuda import emit_cuda, refused_kernels
from warpsmith.emit.files import OutputFile
from warpsmith.loops.prepared import Prepared
from warpsmith.offload.plan import Fragment, OffloadOptions, Port
from warpsmith.offload.port import plan_port
from warpsmith.poly.facts import statement_spans
from warpsmith.tree.program import Program

__all__ = ["Written", "writable_port"]


@dataclass(frozen=True, slots=True)
class Written:
    """A port and its text; `reference` and `candidate` are that of the programs with captures."""

    port: Port
    files: tuple[OutputFile, ...]
    reference: tuple[OutputFile, ...]
    candidate: tuple[OutputFile, ...]


def writable_port(prepared: Prepared, options: OffloadOptions, *, single_file: bool = False) -> Written:
    """Return the port of what steps have prepared, planned again without the fragments that cannot be written.

    Raises RefusedError where the text of the program cannot be changed at all.
    """
    program, facts, user = prepared.program, prepared.facts, prepared.original.program
    refused: list[tuple[Fragment, Reason]] = []
    while True:
        port = plan_port(program, facts, options, facts.options, refused, prepared=prepared)
        more = tuple(_device_refusals(user, port))
        written = more or _written(user, port, single_file=single_file)
        if isinstance(written, Written):
            return written
        refused += written


def _device_refusals(program: Program, port: Port) -> Iterator[tuple[Fragment, Reason]]:
    """Yield the fragments whose kernel is no CUDA."""
    found = refused_kernels(program, port.program)
    for fragment in port.plan.fragments:
        if fragment.kernel.name in found:
            yield fragment, _reason(found[fragment.kernel.name])


def _written(program: Program, port: Port, *, single_file: bool) -> Written | tuple[tuple[Fragment, Reason], ...]:
    """Return the text of a port, or the fragments whose region cannot be replaced in the user's text."""
    try:
        return Written(
            port,
            emit_cuda(program, port.program, single_file=single_file),
            emit_cuda(program, port.reference),
            emit_cuda(program, port.candidate),
        )
    except RefusedError as error:
        finding = error.findings[0]
        blamed = _at(port.plan.fragments, finding.span)
        if not blamed:
            raise
        return tuple((fragment, _reason(finding)) for fragment in blamed)


def _at(fragments: tuple[Fragment, ...], place: Span | None) -> list[Fragment]:
    """Return the fragments that a refusal at `place` is about: what it touches, else its function, else all."""
    if place is None:
        return list(fragments)
    inside = [f for f in fragments if _meet(statement_spans(f.statements), place)]
    return inside or [f for f in fragments if _meet(f.function.span, place)] or list(fragments)


def _meet(one: Span, other: Span) -> bool:
    return one.file is other.file and one.start < other.end and other.start < one.end


def _reason(finding: Finding) -> Reason:
    return Reason(finding.rule, finding.message, finding.span, legal_if=finding.help)
