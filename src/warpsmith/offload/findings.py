"""The findings of the plan: loops that stay on the host, copies that dominate, results that depend on an order."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from warpsmith.base.findings import Finding, Note
from warpsmith.base.source import Span
from warpsmith.base.verdict import Proved, Reason, Refuted, Unknown
from warpsmith.offload.decisions import Decided
from warpsmith.offload.fragments import Draft, OffloadRegion
from warpsmith.offload.memory.rows import is_table
from warpsmith.offload.plan import Fragment, OffloadOptions, Plan, Transfer
from warpsmith.offload.values.reductions import order_notes
from warpsmith.poly.facts import FunctionFacts, LoopFacts, statement_spans
from warpsmith.tree.nodes import For, Loop, Node, While
from warpsmith.tree.program import Program
from warpsmith.tree.types import Symbol
from warpsmith.tree.walk import loops, walk

__all__ = ["cut_findings", "decided_findings", "order_findings", "refused_findings", "transfer_findings"]


def refused_findings(functions: Iterable[FunctionFacts], plan: Plan, options: OffloadOptions) -> Iterator[Finding]:
    """Yield an error for every loop that was asked for when neither it nor any loop inside it became a kernel.

    Loops of a marked region are asked for together: it is enough that something of the region was ported.
    """
    ported = {loop for fragment in plan.fragments for s in fragment.statements for loop, _ in loops(s)}
    if not options.demanded and plan.fragments:
        return
    texts = {loop.span for loop in ported}
    refused = {refusal.loop: refusal.reason for refusal in plan.refusals}
    for function in functions:
        for facts in function.loops:
            # a step may have written the text a second time, or loops of its own; a header's may be in several files
            made = facts.loop.span in texts or facts.loop.span.start == facts.loop.span.end
            if made or not _is_asked(facts.loop, options):
                continue
            if not any(loop in ported for loop, _ in loops(facts.loop)):
                yield _refusal(facts, refused.get(facts.id) or _why(facts))


def _is_asked(loop: Loop, options: OffloadOptions) -> bool:
    return options.selected is not None and any(loop is wanted for wanted in options.selected)


def _why(facts: LoopFacts) -> Reason:
    if facts.category in ("reduction", "scan") and isinstance(facts.combined, Unknown) and facts.combined.reasons:
        return facts.combined.reasons[0]
    match facts.verdict:
        case Refuted(reasons) | Unknown(reasons) if reasons:
            return reasons[0]
        case Refuted() | Unknown() | Proved():
            return facts.reasons[0] if facts.reasons else Reason("POR008", "nothing in it could be ported")


def _refusal(facts: LoopFacts, reason: Reason) -> Finding:
    related: tuple[Note, ...] = ()
    # what a reason by itself says would help was not tried
    help: tuple[str, ...] = ()
    if reason.dependence is not None:
        d = reason.dependence
        related = (Note(d.source, f"{d.kind} dependence: first this"), Note(d.sink, "then this"))
        help = (f"for example: {d.witness}",)
    return Finding(
        rule=reason.rule,
        severity="error",
        message=f"{facts.id} was asked for and stays on the host: {reason.text}",
        span=facts.loop.header,
        help=help,
        related=related,
        certainty="conditional" if reason.assumptions else "proven",
        assumptions=reason.assumptions,
    )


def transfer_findings(offload_regions: Iterable[OffloadRegion], transfers: Sequence[Transfer]) -> Iterator[Finding]:
    """Yield POR009 for every offload region whose kernels do about as much work as their data have elements: one pass
    over the arrays, no loop on the host around the kernels, no reuse inside a thread, and a copy for every kernel."""
    for offload_region in offload_regions:
        nests = [d for d in offload_region.drafts if d.kind == "nest"]
        arrays = [f"'{b.host.name}'" for b in offload_region.buffers if not b.cell and not is_table(b)]
        if not nests or not arrays or any(_is_repeated(offload_region, nest) or _heavy(nest) for nest in nests):
            continue
        if len(nests) > 1 and len(nests) > sum(_is_of(transfer, offload_region) for transfer in transfers):
            continue
        what = "the loop itself" if len(nests) == 1 else "the loops themselves"
        yield Finding(
            rule="POR009",
            severity="warning",
            message=f"copying {', '.join(arrays)} may take longer than {what}: each element is used about once",
            span=nests[0].loops[0].loop.header,
            help=("port the code around it too, so that the data stay on the device",),
            certainty="heuristic",
        )


def _is_of(transfer: Transfer, offload_region: OffloadRegion) -> bool:
    """Whether an array of the offload region is copied for one of its kernels."""
    scope = statement_spans(offload_region.scope)
    arrays = {b.host.name for b in offload_region.buffers if not b.cell}
    inside = scope.file is transfer.cause.file and scope.start <= transfer.cause.start < scope.end
    return inside and transfer.variable in arrays


def cut_findings(program: Program, cut: Collection[Symbol]) -> Iterator[Finding]:
    """Yield POR005 for every function of whose loops not all was worked out that may help: steps, or where their data
    may stay."""
    for _, function in program.functions():
        name = function.symbol.name
        if function.symbol in cut:
            yield Finding(
                rule="POR005",
                severity="note",
                message=f"the plan of {name} is simpler than it might be: to work out all steps, or where all data may "
                "stay, is more than the work budget of one function, or --timeout, allows",
                span=function.symbol.span,
                help=(f"give parts of {name} functions of their own, or name the loops that matter (--loop)",),
                certainty="heuristic",
            )


def order_findings(offload_regions: Iterable[OffloadRegion], fragments: Iterable[Fragment]) -> Iterator[Finding]:
    """Yield POR007 for every reduction whose result may depend on the order in which its parts are combined."""
    for offload_region in offload_regions:
        for draft in offload_region.drafts:
            notes = [*order_notes(draft.accumulators), *(draft.scan.order_notes if draft.scan is not None else ())]
            yield from _order_finding([note for note in notes if note], draft.loops[0].loop.header if notes else None)
    for fragment in fragments:
        yield from _order_finding(fragment.notes, fragment.kernel.mapped[0].loop.header if fragment.notes else None)


def _order_finding(notes: Sequence[str], span: Span | None) -> Iterator[Finding]:
    if notes:
        helps = ("--precise-fp keeps the order of the original",)
        yield Finding(rule="POR007", severity="note", message="; ".join(notes), span=span, help=helps)


def _is_repeated(offload_region: OffloadRegion, draft: Draft) -> bool:
    """Whether a loop of the scope runs the fragment more than once."""
    own = {id(part) for s in draft.statements for part in walk(s)}
    return any(
        isinstance(part, For | While) and id(part) not in own and _holds(part, draft)
        for s in offload_region.scope
        for part in walk(s)
    )


def _holds(node: Node, draft: Draft) -> bool:
    return any(part is draft.statements[-1] for part in walk(node))


def _heavy(draft: Draft) -> bool:
    """Whether a thread loops itself."""
    heads = {id(f.loop) for f in draft.loops}
    return any(id(loop) not in heads for s in draft.statements for loop, _ in loops(s))


def decided_findings(program: Program, functions: Iterable[FunctionFacts], plan: Plan) -> Iterator[Finding]:
    """Yield an error for every loop that a step made a kernel and that the plan leaves on the host."""
    ported = {loop for fragment in plan.fragments for s in fragment.statements for loop, _ in loops(s)}
    refused = {refusal.loop: refusal.reason for refusal in plan.refusals}
    for function in functions:
        decided = Decided.of(program, function.function)
        for facts in function.loops:
            if decided.of_loop(facts.loop) is not None and facts.loop not in ported:
                yield _refusal(facts, refused.get(facts.id) or _why(facts))
