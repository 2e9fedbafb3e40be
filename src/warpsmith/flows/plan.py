"""A plan that the target can express: what CUDA refuses stays on the host, every other loop is served."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from warpsmith.base.errors import RefusedError
from warpsmith.base.findings import Finding
from warpsmith.base.source import Span
from warpsmith.base.verdict import Reason
from warpsmith.emit.cuda import emit_cuda, refused_kernels
from warpsmith.emit.files import OutputFile
from warpsmith.emit.in_place import InPlace, emit_in_place
from warpsmith.loops.prepared import Prepared
from warpsmith.offload.plan import Fragment, OffloadOptions, Port
from warpsmith.offload.port import plan_port
from warpsmith.poly.facts import statement_spans
from warpsmith.tree.program import Program
from warpsmith.tree.versioned import Inserted

__all__ = ["Written", "writable_port"]


@dataclass(frozen=True, slots=True)
class Written:
    """A port and its text; `reference` and `candidate` are that of the programs with captures. `in_place`: the text of
    the port inside the user's project. `whole`: nothing that was planned is left out because it cannot be written."""

    port: Port
    files: tuple[OutputFile, ...]
    reference: tuple[OutputFile, ...]
    candidate: tuple[OutputFile, ...]
    in_place: InPlace | None = None
    whole: bool = False


def writable_port(
    prepared: Prepared,
    options: OffloadOptions,
    *,
    single_file: bool = False,
    root: str | None = None,
    first: Written | None = None,
) -> Written:
    """Return the port of what steps have prepared, planned again without the fragments that cannot be written. `root`:
    the folder of the project inside which it shall be written as well. `first`: the answer to the same question
    without it.

    Raises RefusedError where the text of the program cannot be changed at all.
    """
    program, facts, user = prepared.program, prepared.facts, prepared.original.program
    refused: list[tuple[Fragment, Reason]] = []
    while True:
        if first is not None and first.whole and not refused:
            port = first.port
        else:
            port = plan_port(program, facts, options, facts.options, refused, prepared=prepared)
        more = tuple(_device_refusals(user, port))
        written = more or _written(user, port, root, single_file=single_file)
        if isinstance(written, Written):
            return replace(written, whole=not refused)
        refused += written


def _device_refusals(program: Program, port: Port) -> Iterator[tuple[Fragment, Reason]]:
    """Yield the fragments whose kernel is no CUDA."""
    found = refused_kernels(program, port.program)
    for fragment in port.plan.fragments:
        if fragment.kernel.name in found:
            yield fragment, _reason(found[fragment.kernel.name])


def _written(
    program: Program, port: Port, root: str | None, *, single_file: bool
) -> Written | tuple[tuple[Fragment, Reason], ...]:
    """Return the text of a port, or the fragments whose region cannot be replaced in the user's text."""
    try:
        return Written(
            port,
            emit_cuda(program, port.program, single_file=single_file),
            emit_cuda(program, port.reference),
            emit_cuda(program, port.candidate),
            None if root is None else _in_place(program, port, root),
        )
    except RefusedError as error:
        finding = error.findings[0]
        blamed = _at(port.plan.fragments, finding.span)
        if not blamed:
            raise
        return tuple((fragment, _reason(finding)) for fragment in blamed)


def _in_place(program: Program, port: Port, root: str) -> InPlace:
    beside = (new for new in port.inserted if not new.made)
    inserted = [Inserted(new.function, new.where, new.user or new.node, new.statements) for new in beside]
    return emit_in_place(program, port.program, port.versions, inserted, root)


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
