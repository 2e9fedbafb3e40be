"""A plan that the target can express: what CUDA refuses stays on the host, every other loop is served."""

from __future__ import annotations

from collections.abc import Iterator

from warpsmith.base.errors import RefusedError
from warpsmith.base.findings import Finding
from warpsmith.base.source import Span
from warpsmith.base.verdict import Reason
from warpsmith.emit.cuda import emit_cuda, refused_kernels
from warpsmith.loops.prepared import Prepared
from warpsmith.offload.plan import Fragment, OffloadOptions, Port
from warpsmith.offload.port import plan_port
from warpsmith.poly.facts import statement_spans
from warpsmith.tree.program import Program

__all__ = ["writable_port"]


def writable_port(prepared: Prepared, options: OffloadOptions) -> Port:
    """Return the port of what steps have prepared, planned again without the fragments that cannot be written.

    Raises RefusedError where the text of the program cannot be changed at all.
    """
    program, facts, user = prepared.program, prepared.facts, prepared.original.program
    refused: list[tuple[Fragment, Reason]] = []
    while True:
        port = plan_port(program, facts, options, facts.options, refused, prepared=prepared)
        more = tuple(_device_refusals(user, port)) or tuple(_host_refusals(user, port))
        if not more:
            return port
        refused += more


def _device_refusals(program: Program, port: Port) -> Iterator[tuple[Fragment, Reason]]:
    """Yield the fragments whose kernel is no CUDA."""
    found = refused_kernels(program, port.program)
    for fragment in port.plan.fragments:
        if fragment.kernel.name in found:
            yield fragment, _reason(found[fragment.kernel.name])


def _host_refusals(program: Program, port: Port) -> Iterator[tuple[Fragment, Reason]]:
    """Yield the fragments whose region cannot be replaced in the user's text."""
    try:
        emit_cuda(program, port.program)
        emit_cuda(port.reference, port.reference)
        emit_cuda(port.reference, port.candidate)
    except RefusedError as error:
        finding = error.findings[0]
        blamed = _at(port.plan.fragments, finding.span)
        if not blamed:
            raise
        for fragment in blamed:
            yield fragment, _reason(finding)


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
