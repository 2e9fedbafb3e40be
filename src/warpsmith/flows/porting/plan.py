"""A plan that the target can express: what CUDA refuses stays on the host, every other loop is served."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from warpsmith.base.errors import RefusedError
from warpsmith.base.findings import Finding
from warpsmith.base.source import Span
from warpsmith.base.verdict import Reason
from warpsmith.emit.files import OutputFile
from warpsmith.emit.host.cuda import emit_cuda, refused_kernels
from warpsmith.loops.prepared import Prepared
from warpsmith.offload.concurrency import find_reached
from warpsmith.offload.plan import Fragment, OffloadOptions, Port
from warpsmith.offload.port import plan_port
from warpsmith.offload.regions.placed import place_versions
from warpsmith.poly.claimed import regions_of
from warpsmith.poly.facts import statement_spans
from warpsmith.poly.openmp.team import sharing_functions
from warpsmith.tree.in_place.versioned import InsertedText, InsertionError
from warpsmith.tree.nodes import Function, Pragma
from warpsmith.tree.printing.dead import with_dead_text
from warpsmith.tree.program import Program
from warpsmith.tree.shared import is_own, restore_shared, shared_functions
from warpsmith.tree.specializations import can_specialize
from warpsmith.tree.types import Symbol
from warpsmith.tree.walk import names, walk

if TYPE_CHECKING:
    from warpsmith.emit.host.in_place import InPlace

__all__ = ["Written", "writable_port"]


class Written(Struct, frozen=True):
    """A port and its text; `reference` and `candidate` are that of the programs with captures, where they are compared.
    `in_place`: the text of the port inside the user's project. `refused`: what is not planned because it cannot be
    written. `shared`: some of it stands in text that functions share, and so only in the text in place."""

    port: Port
    files: tuple[OutputFile, ...]
    reference: tuple[OutputFile, ...]
    candidate: tuple[OutputFile, ...]
    in_place: InPlace | None = None
    refused: tuple[tuple[Fragment, Reason], ...] = ()
    shared: bool = False


class _Closed(Struct, frozen=True):
    """A function beside whose kernels nothing can be added to the user's text, so that no data are held there."""

    function: Function
    reason: Reason


def writable_port(
    prepared: Prepared,
    options: OffloadOptions,
    *,
    single_file: bool = False,
    root: str | None = None,
    first: Written | None = None,
    refused: Sequence[tuple[Fragment, Reason]] = (),
    compared: bool = True,
) -> Written:
    """Return the port of what steps have prepared, planned again without the fragments that cannot be written. `root`:
    the folder of the project inside which it shall be written, so that text in its headers can change as well. `first`:
    the answer to the same question; then the text in place is wanted too. `refused`: what is known to be unwritable.
    `compared`: the port will be compared with the original, so that it must be writable with captures as well.

    Raises RefusedError where the text of the program cannot be changed at all.
    """
    program, facts, user = prepared.program, prepared.facts, prepared.original.program
    left_out = [*refused] if first is None else [*first.refused]
    closed: dict[Function, Reason] = {}
    port, known = (None, None) if first is None else (first.port, first)
    while True:
        more: tuple[tuple[Fragment, Reason], ...] = ()
        if port is None:
            port = plan_port(program, facts, options, facts.options, left_out, prepared=prepared, closed=closed)
            more = (*_device_refusals(user, port), *_shared_refusals(user, program, port, root))
        place = None if first is None else root
        written = more or _write_port(user, port, place, known, closed, single_file=single_file, compared=compared)
        if isinstance(written, Written):
            break
        if isinstance(written, _Closed):
            closed[written.function] = written.reason
        else:
            left_out += written
        port = known = None
    shared = any(_is_shared(user, f) for f in port.plan.fragments)
    if shared and first is not None:
        # Apart from the project's own files nothing may change: the program is compared without what headers have.
        own = writable_port(prepared, options, single_file=single_file, refused=left_out, compared=compared)
        written = replace(written, files=own.files, reference=own.reference, candidate=own.candidate)
    return replace(written, refused=tuple(left_out), shared=shared)


def _shared_refusals(
    program: Program, prepared: Program, port: Port, root: str | None
) -> Iterator[tuple[Fragment, Reason]]:
    """Yield the fragments in text that their functions share, but for those to which text can be added in place, in the
    first of the files that have them."""
    fragments = [f for f in port.plan.fragments if _is_shared(program, f)]
    if not fragments:
        return
    texts = shared_functions(program, root) if root is not None else program.functions()
    open_ones = {f.symbol for u, f in texts if root is not None or can_specialize(u, f)}
    units = {f.symbol: (u, f) for u, f in program.functions()}
    first = {f.symbol: f for _, f in reversed([*prepared.functions()])}
    for fragment in fragments:
        symbol = fragment.function.symbol
        if symbol in open_ones and first[symbol] is not fragment.function:
            text = f"{symbol.label or symbol.name} is ported in another file that includes it"
            yield fragment, Reason("POR008", text, fragment.function.span)
        elif symbol not in open_ones:
            unit, function = units[symbol]
            text = f"{symbol.name} is defined in a header, which is not rewritten"
            if unit.has_text(function.span.file):
                text = f"{symbol.label or symbol.name} shares its text with what its template makes of other types"
            yield fragment, Reason("POR008", text, function.span)


def _is_shared(program: Program, fragment: Fragment) -> bool:
    """Whether a fragment's function has its text in no file alone; one that a step has made has none of the user's."""
    written = [is_own(u, f) for u, f in program.functions() if f.symbol == fragment.function.symbol]
    return bool(written) and not any(written)


def _device_refusals(program: Program, port: Port) -> Iterator[tuple[Fragment, Reason]]:
    """Yield the fragments whose kernel is no CUDA."""
    found = refused_kernels(program, port.program)
    for fragment in port.plan.fragments:
        if fragment.kernel.name in found:
            yield fragment, _reason(found[fragment.kernel.name])


def _write_port(
    program: Program,
    port: Port,
    root: str | None,
    known: Written | None,
    closed: Mapping[Function, Reason],
    *,
    single_file: bool,
    compared: bool,
) -> Written | _Closed | tuple[tuple[Fragment, Reason], ...]:
    """Return the text of a port, or the fragments whose region cannot be replaced in the user's text, or the function
    beside whose kernels nothing can be added, which is not one of those `closed` before; `known`: all of it but the
    text in place."""
    try:
        if known is not None:
            return replace(known, in_place=None if root is None else _in_place(program, port, root))
        return Written(
            port,
            emit_cuda(program, restore_shared(program, port.program), single_file=single_file),
            emit_cuda(program, with_dead_text(restore_shared(program, port.reference), program)) if compared else (),
            emit_cuda(program, restore_shared(program, port.candidate)) if compared else (),
            None if root is None else _in_place(program, port, root),
        )
    except InsertionError as error:
        return _Closed(error.function, _reason(error.findings[0]))
    except RefusedError as error:
        blamed = _find_blamed(port, error.findings[0], closed)
        if not blamed:
            raise
        return blamed


def _find_blamed(
    port: Port, finding: Finding, closed: Mapping[Function, Reason]
) -> _Closed | tuple[tuple[Fragment, Reason], ...]:
    """Return what a refusal is about: the fragments that it touches, else the function in which something is added
    there, else the fragments of the function, else all."""
    place, fragments = finding.span, port.plan.fragments
    at = [f for f in fragments if place is not None and _meet(statement_spans(f.statements), place)]
    around = [new.function for new in port.inserted if place is not None and _meet(new.function.span, place)]
    if not at and around and around[0] not in closed:
        return _Closed(around[0], _reason(finding))
    at = at or [f for f in fragments if place is not None and _meet(f.function.span, place)] or [*fragments]
    return tuple((fragment, _reason(finding)) for fragment in at)


def _in_place(program: Program, port: Port, root: str) -> InPlace:
    # loaded where a project is ported
    from warpsmith.emit.host.in_place import emit_in_place

    beside = (new for new in port.inserted if not new.made)
    inserted = [InsertedText(new.function, new.where, new.user or new.node, new.statements) for new in beside]
    holders = frozenset(fragment.function.symbol for fragment in port.plan.fragments)
    alone = _find_alone(program, port.program, holders) if holders else []
    placed = place_versions(program, port.versions, inserted, alone)
    return emit_in_place(program, port.program, port.versions, inserted, root, placed=placed)


def _find_alone(program: Program, ported: Program, holders: frozenset[Symbol]) -> list[Pragma]:
    """Return the pragmas of the regions that one thread runs in a port, and whose threads call functions with kernels
    in them, the `holders`, or ones that share work: there may be no kernel in the region itself."""
    called = {f.symbol: {n.symbol for n in names(f.body)} for _, f in program.functions()}
    after = {f.symbol: {part.span for part in walk(f.body) if isinstance(part, Pragma)} for _, f in ported.functions()}
    return [
        region.pragma
        for _, function in program.functions()
        for region in regions_of(function)
        if region.pragma.span not in after[function.symbol]
        and (
            sharing_functions(program, region.body)
            or find_reached(called, {n.symbol for n in names(region.body)}) & holders
        )
    ]


def _meet(one: Span, other: Span) -> bool:
    return one.file is other.file and one.start < other.end and other.start < one.end


def _reason(finding: Finding) -> Reason:
    return Reason(finding.rule, finding.message, finding.span, legal_if=finding.help)
