"""Calls of the module's own functions become their bodies, innermost first.

    a:  … x            a: … jump f.entry
        y = call f(x)     f.entry: … (its `param` is x) … jump back          the block knows through which call it came
        … y            back: y = phi …

What stays a call: one of a function that is not here, that calls itself through others, that takes parameters apart, or
that would make the caller too large.
"""

from __future__ import annotations

from msgspec.structs import replace

from warpsmith.base.findings import Finding
from warpsmith.base.source import Span
from warpsmith.ssa.digraph import parts
from warpsmith.ssa.nodes import Callee, Function, Instruction, Jump, Module, Operand, Param, Return, Symbol, Undefined
from warpsmith.ssa.passes.prune import prune_unused
from warpsmith.ssa.passes.rebuild import Change, Rebuild, rebuild_function

__all__ = ["LARGEST", "inline_calls"]

LARGEST = 60_000
"""A function does not grow beyond so many instructions."""


def inline_calls(module: Module, *changes: Change) -> tuple[Module, tuple[Finding, ...]]:
    """Return the module with calls replaced by bodies, and a finding for each function that calls itself.

    `changes` are applied to all code on the way, as by `rebuild_function`.
    """
    calls = _calls(module)
    names = {function.name: function for function in module.functions}
    bottom_up = [sorted(part) for part in parts(calls, calls)]
    circular = {name for part in bottom_up for name in part if len(part) > 1 or name in calls[name]}
    ordered = [name for part in bottom_up for name in part]
    ready: dict[str, Function] = {}
    for name in ordered:
        if name in names and names[name].blocks:
            names[name] = _with_bodies(names[name], ready, changes)
            if name not in circular and _is_plain(names[name]):
                ready[name] = names[name]
    findings = tuple(_recursion(names[name], circular) for name in ordered if name in circular and name in names)
    return replace(module, functions=tuple(names[f.name] for f in module.functions)), findings


def _calls(module: Module) -> dict[str, list[str]]:
    """Return which functions each function calls; those that are not here call nothing."""
    calls: dict[str, list[str]] = {function.name: [] for function in module.functions}
    for function in module.functions:
        for _, i in function.instructions():
            if i.op == "call" and isinstance(i.detail, Callee):
                calls[function.name].append(i.detail.name)
                calls.setdefault(i.detail.name, [])
    return calls


def _recursion(function: Function, circular: set[str]) -> Finding:
    spans = (
        i.span for _, i in function.instructions()
        if i.op == "call" and isinstance(i.detail, Callee) and i.detail.name in circular
    )  # fmt: skip
    message = f"{function.name} calls itself: what such calls give is unknown to an analysis; a run follows them"
    return Finding("INP006", "warning", message, next(spans, function.span))


def _is_plain(function: Function) -> bool:
    """Whether a function reads each parameter whole, so that a value can stand in its place."""
    whole = {p.name: p for p in function.parameters}
    for _, i in function.instructions():
        if isinstance(i.detail, Param):
            given = whole.get(i.detail.parameter)
            if given is None or i.detail.offset or len(i.results) != 1 or given.bytes != i.result.type.bytes:
                return False
    return True


def _size(function: Function) -> int:
    return sum(len(block.instructions) for block in function.blocks)


def _with_bodies(function: Function, ready: dict[str, Function], changes: tuple[Change, ...]) -> Function:
    used: dict[str, Symbol] = {symbol.name: symbol for symbol in function.symbols}
    total = _size(function)

    def change(work: Rebuild, i: Instruction) -> tuple[Operand, ...] | None:
        nonlocal total
        if i.op != "call" or not isinstance(i.detail, Callee):
            return None
        callee = ready.get(i.detail.name)
        if callee is None or not _fits(callee, i) or total + _size(callee) > LARGEST:
            return None
        total += _size(callee)
        used.update((symbol.name, symbol) for symbol in callee.symbols)
        return _body(work, callee, i)

    made = prune_unused(rebuild_function(function, change, *changes), reads=True)
    return replace(made, symbols=tuple(used.values()))


def _fits(callee: Function, call: Instruction) -> bool:
    """Whether a call gives as many values, and takes as many, of the sizes that the function has."""
    sizes = [parameter.bytes for parameter in callee.parameters]
    given = [operand.type.bytes for operand in call.operands]
    return sizes == given and tuple(value.type for value in call.results) == callee.results


def _body(work: Rebuild, callee: Function, call: Instruction) -> tuple[Operand, ...]:
    """Write the body of `callee`, and go on behind it; return what it returned."""
    builder, outer = work.builder, work.builder.calls
    after = builder.fresh("back")
    keys = [("returned", value) for value in call.results]

    def leave(terminator: Return) -> Jump:
        for key, operand in zip(keys, terminator.operands, strict=True):
            builder.write(key, work.operand(operand))
        return Jump(after, terminator.span)

    given = {p.name: operand for p, operand in zip(callee.parameters, call.operands, strict=True)}
    before = work.changes
    work.changes = (_argument(given), *before[1:])
    builder.calls = (*outer, *_context(callee, call))
    around, work.around = work.around, call.span if callee.span is None else None
    work.inside(callee, leave)
    work.changes, work.around = before, around
    builder.seal(after)
    work.enter(after, outer)
    if not builder.leads_to(after):
        return tuple(Undefined(value.type) for value in call.results)
    return tuple(builder.read(key, value.type) for key, value in zip(keys, call.results, strict=True))


def _context(callee: Function, call: Instruction) -> tuple[Span, ...]:
    """Return the line of a call; a function that is nobody's text (span None) is a part of the line that calls it."""
    return () if callee.span is None or call.span is None else (call.span,)


def _argument(given: dict[str, Operand]) -> Change:
    """Return the change that puts arguments in place of parameters."""

    def change(work: Rebuild, i: Instruction) -> tuple[Operand, ...] | None:
        if not isinstance(i.detail, Param):
            return None
        operand = given[i.detail.parameter]
        if operand.type == i.result.type:
            return (operand,)
        return (work.builder.emit("bitcast", (operand,), i.result.type),)

    return change
