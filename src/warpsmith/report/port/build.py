"""From what a flow found to a report's entries."""

from __future__ import annotations

from msgspec.structs import replace

from warpsmith.base.source import Span
from warpsmith.base.verdict import Reason
from warpsmith.loops.prepared import Prepared
from warpsmith.offload.plan import Fragment, Plan
from warpsmith.poly.facts import FunctionFacts, LoopFacts
from warpsmith.report.model import KernelEntry, LoopEntry
from warpsmith.report.port.after_steps import BEST_FIRST, LoopWord, loop_word, unplanned_reasons
from warpsmith.report.port.called import find_called_by_kernels
from warpsmith.report.port.served import Served
from warpsmith.report.port.staying import Staying
from warpsmith.report.survey.model import PORTABLE
from warpsmith.tree.nodes import NOT_MADE, Binary, Expr, For, Literal, While
from warpsmith.tree.printing.printer import print_expr
from warpsmith.tree.program import Kernel
from warpsmith.tree.types import LONG_LONG

__all__ = ["kernel_entries", "loop_entries"]


def loop_entries(prepared: Prepared, plan: Plan | None) -> tuple[LoopEntry, ...]:
    """Return one entry for every loop of the user's program, in source order."""
    served = Served.of(prepared, plan)
    staying = None if plan is None else Staying.of(prepared, served, plan)
    called = find_called_by_kernels(prepared, plan)
    entries: dict[Span, LoopEntry] = {}
    made = frozenset(f.loop.span for o in prepared.original.functions if not _is_listed(o) for f in o.loops)
    for function in prepared.original.functions:
        if _is_listed(function) and all(loop.loop.span in made for loop in function.loops):
            continue  # a template of which this file has no instance, and another one has
        for loop in function.loops:
            word = loop_word(prepared, served, loop)
            own = unplanned_reasons(prepared, loop, word) if plan is None else word.reasons
            kernel = served.kernel(loop.loop)
            stays = staying.refused.get(loop.id) if staying else None
            caller = called.get(function.function.symbol) if kernel is None else None
            if caller is not None:
                stays = _called(caller, loop)
            elif staying and stays is None and kernel is None and (word.category in PORTABLE or not own):
                stays = staying.reason(function, loop)
            reasons = own if stays is None else (_without_hints(stays), *own)
            inside = any(f is not None for f in (kernel, caller, served.holder_of_statements(loop.loop)))
            entry = _loop_entry(loop, replace(word, reasons=reasons), kernel, inside)
            # A function of a header stands in every unit that includes it, and one of a template for every instance:
            # the loop is what the worst of them is.
            known = entries.get(loop.loop.span)
            if known is None or BEST_FIRST.index(entry.category) > BEST_FIRST.index(known.category):
                entries[loop.loop.span] = entry
    return tuple(entries.values())


def _called(caller: Fragment, loop: LoopFacts) -> Reason:
    """Return where a loop runs whose function only kernels call."""
    text = f"it runs in {caller.kernel.name}: only kernels call {loop.function.symbol.name}"
    return Reason("POR002", text, loop.loop.header)


def _without_hints(reason: Reason) -> Reason:
    """Return what a plan says of a loop; what would help is said elsewhere, but for what only costs."""
    return reason if reason.rule == "POR009" else replace(reason, legal_if=())


def _is_listed(function: FunctionFacts) -> bool:
    """Whether a function only lists the loops of a template's text, of which nothing is known without types."""
    listed = all(isinstance(f.loop, While) and f.loop.reason == NOT_MADE for f in function.loops)
    return bool(function.loops) and listed


def _loop_entry(facts: LoopFacts, word: LoopWord, fragment: Fragment | None, inside: bool) -> LoopEntry:
    loop = facts.loop
    variable = loop.variable.name if isinstance(loop, For) else ""
    assumptions = fragment.assumptions if fragment is not None else word.assumptions
    return LoopEntry(
        id=facts.id,
        span=loop.header,
        function=facts.function.symbol.name,
        variable=variable,
        label=f"for {variable}" if isinstance(loop, For) else loop.form,
        depth=facts.depth + 1,
        category=word.category,
        ported=fragment is not None,
        kernel=None if fragment is None else fragment.kernel.name,
        assumptions=tuple(dict.fromkeys((a.text, a.kind) for a in assumptions)),
        reasons=word.reasons,
        steps=word.steps,
        holds_at=fragment.holds_at if fragment is not None else {},
        statements_ported=inside,
    )


def kernel_entries(plan: Plan | None) -> tuple[KernelEntry, ...]:
    """Return one entry for every kernel of the plan."""
    return tuple(_kernel_entry(fragment) for fragment in (plan.fragments if plan else ()))


def _kernel_entry(fragment: Fragment) -> KernelEntry:
    kernel = fragment.kernel
    return KernelEntry(
        name=kernel.name,
        span=kernel.span,
        loops=fragment.loops,
        grid=_grid(kernel),
        block=kernel.block,
        mapping=fragment.mapping,
        model=fragment.model,
        tiles=fragment.tiles,
        halos=fragment.halos,
        iterations=fragment.iterations,
        constants=fragment.constants,
        elements=kernel.elements,
        few=kernel.few,
        shared=fragment.shared,
        shared_by="block" if kernel.sharing is not None and kernel.sharing.column else "warp",
    )


def _grid(kernel: Kernel) -> tuple[str, str, str]:
    """Return the number of blocks along x, y and z as the launcher computes it."""
    counts: dict[str, Expr] = {
        mapped.axis: count for mapped, (_, count) in zip(kernel.mapped, kernel.launch, strict=True)
    }
    x, y, z = (_blocks(counts.get(axis), size) for axis, size in zip("xyz", kernel.covered, strict=True))
    return x, y, z


def _blocks(count: Expr | None, size: int) -> str:
    if count is None:
        return "1"
    if size == 1:
        return print_expr(count)
    last = Literal(span=count.span, type=LONG_LONG, text=str(size - 1), value=size - 1)
    whole = Literal(span=count.span, type=LONG_LONG, text=str(size), value=size)
    padded = Binary(span=count.span, type=LONG_LONG, op="+", left=count, right=last)
    return print_expr(Binary(span=count.span, type=LONG_LONG, op="/", left=padded, right=whole))
