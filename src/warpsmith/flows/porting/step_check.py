"""The referee's first question after steps: does the rewritten C program still do what the user's program does?

original ── capture after each run that the steps changed ──┐
                                                            ├── built, run, compared
prepared ── capture after what took its place ──────────────┘
"""

from __future__ import annotations

import msgspec.structs

from warpsmith.emit.host.cuda import emit_cuda
from warpsmith.flows.porting.harness import harness_functions
from warpsmith.flows.porting.host_only import captured_alone, not_in_steps
from warpsmith.flows.porting.sources import sources_of
from warpsmith.loops.analysis.scopes import names_at_end
from warpsmith.loops.changed.changes import Run, changed_runs
from warpsmith.loops.fresh import declared_symbols
from warpsmith.loops.place import with_run
from warpsmith.loops.prepared import Prepared, pairs
from warpsmith.poly.analyze import Facts
from warpsmith.poly.facts import statement_spans
from warpsmith.poly.regions.sections import known_extent, sections
from warpsmith.run.referee.referee import verify
from warpsmith.run.verification import Status, Verification, VerifyOptions, joint_tolerance
from warpsmith.tree.nodes import CaptureStmt, Expr, Function, Literal, Pragma, Stmt
from warpsmith.tree.printing.dead import with_dead_text
from warpsmith.tree.program import Program
from warpsmith.tree.shared import restore_shared
from warpsmith.tree.types import INT, Pointer, Scalar, Symbol
from warpsmith.tree.walk import loops, names, walk, written_symbols

__all__ = ["verify_steps"]


def verify_steps(prepared: Prepared, options: VerifyOptions) -> Verification:
    """Compare the user's program with what steps made of it, as C on the host; raises UsageError without a compiler."""
    facts = prepared.original
    # what headers have is judged with the project's own files: its text is not written anew
    rewritten = restore_shared(facts.program, prepared.guard_changes())
    reference, candidate = _capture_runs(facts, rewritten)
    changed = {function.symbol: (function, new) for function, new in pairs(facts.program, rewritten)}
    untouched = captured_alone(reference, lambda function: not_in_steps(*changed[function.symbol]))
    made = sources_of(candidate, emit_cuda(facts.program, candidate), captured=True)
    return verify(
        sources_of(reference, emit_cuda(facts.program, with_dead_text(reference, facts.program)), captured=True),
        msgspec.structs.replace(made, host_only=untouched),
        options,
        harness_functions(facts, set(changed)),
    )


def with_steps(port: Verification, steps: Verification) -> Verification:
    """Return the referee's word on a port, with what it found of the steps before it."""
    return msgspec.structs.replace(
        port,
        status=min(port.status, steps.status, key=_WORST_FIRST.index),
        tolerance=joint_tolerance(port.tolerance, steps.tolerance),
        live_out=(*steps.live_out, *port.live_out),
        output_equal=port.output_equal and steps.output_equal,
        reasons=tuple(dict.fromkeys((*steps.reasons, *port.reasons))),
    )


_WORST_FIRST: tuple[Status, ...] = ("fail", "skipped", "undecided", "pass")


def _capture_runs(facts: Facts, prepared: Program) -> tuple[Program, Program]:
    """Return both programs with the same captures after every changed run."""
    reference, candidate = facts.program, prepared
    later = Facts.about(prepared, facts.options)
    inside: list[tuple[Symbol, Run, Run, tuple[CaptureStmt, ...]]] = []
    whole = any(f.symbol.name == "main" for _, f in facts.program.functions())
    for function, new in pairs(facts.program, prepared):
        if whole and _calls(facts.program, function) and not _calls(prepared, new):
            continue  # all of its calls are written out: what it does is recorded there
        for old_run, new_run in ((_whole(a), _whole(b)) for a, b in changed_runs(function, new)):
            # What nothing reads any more need not have its old value: a counter that an expression took the place of.
            read = later.liveness(new).after[new_run[-1]] if new_run else frozenset()
            recorded = _captures(facts, function, old_run, read) if old_run and new_run else ()
            # What the rewritten run no longer sets has another meaning there until the loops around it are done.
            dropped = _find_written(old_run) - _find_written(new_run)
            if any(capture.symbol in dropped for capture in recorded):
                around = _outermost(function, old_run[0]), _outermost(new, new_run[0])
                if around[0] is not None and around[1] is not None:
                    read = later.liveness(new).after[around[1]]
                    final = _captures(facts, function, (around[0],), read)
                    final = tuple(capture for capture in final if capture.symbol in dropped)
                    reference = _append_captures(reference, function.symbol, (around[0],), final)
                    candidate = _append_captures(candidate, function.symbol, (around[1],), final)
                    recorded = tuple(capture for capture in recorded if capture.symbol not in dropped)
            if recorded:
                inside.append((function.symbol, old_run, new_run, recorded))
    for symbol, old_run, new_run, recorded in inside:
        reference = _append_captures(reference, symbol, old_run, recorded)
        candidate = _append_captures(candidate, symbol, new_run, recorded)
    return reference, candidate


def _whole(run: Run) -> Run:
    """Return a run without the pragmas at its end: they stand with what follows it."""
    end = len(run)
    while end and isinstance(run[end - 1], Pragma):
        end -= 1
    return run[:end]


def _calls(program: Program, function: Function) -> bool:
    """Whether another function of a program names this one."""
    others = (f for _, f in program.functions() if f.symbol != function.symbol)
    return any(n.symbol == function.symbol for f in others for n in names(f.body))


def _find_written(run: Run) -> set[Symbol]:
    return {s for stmt in run for s in written_symbols(stmt) if isinstance(s.type, Scalar)}


def _outermost(function: Function, stmt: Stmt) -> Stmt | None:
    """Return the outermost loop around `stmt`."""
    return next((loop for loop, around in loops(function.body) if not around and _is_below(loop, stmt)), None)


def _is_below(loop: Stmt, stmt: Stmt) -> bool:
    return loop is not stmt and any(part is stmt for part in walk(loop))


def _append_captures(program: Program, symbol: Symbol, run: Run, captures: tuple[CaptureStmt, ...]) -> Program:
    """Return the program with captures behind a run of the function; others may share its text."""
    holder = next(f for _, f in program.functions() if f.symbol == symbol and _holds(f, run[0]))
    return with_run(program, holder, run, (*run, *captures))


def _holds(function: Function, stmt: Stmt) -> bool:
    spans = function.span, stmt.span
    return spans[0].file is spans[1].file and spans[0].start <= spans[1].start < spans[0].end


def _captures(facts: Facts, function: Function, run: Run, read: frozenset[Symbol]) -> tuple[CaptureStmt, ...]:
    """Return captures of what `run` writes and somebody may read afterwards, also in the rewritten program (`read`)."""
    span = statement_spans(run)
    region = f"{function.symbol.name}:{span.line}"
    live = facts.liveness(function).after[run[-1]] & read
    # What is declared inside is not in scope behind the run, even where its address keeps it alive.
    inside = {symbol for stmt in run for symbol in declared_symbols(stmt)}
    in_scope = names_at_end(function, run[-1])
    made: list[CaptureStmt] = []
    found = sections(facts.program, function, run, run, facts.options, summaries=facts.summaries)
    zero, one = _number(0, run[0]), _number(1, run[0])
    for section in found.sections:
        pointed = isinstance(section.symbol.type, Pointer)
        if not section.written or section.symbol in inside or not (pointed or section.symbol in live):
            continue
        if not in_scope(section.symbol) or not _can_name(function, section.symbol):
            # its block has ended, or not begun; or a called function of another file writes it, or might: its own
            # regions record it
            continue
        extent = None if pointed else known_extent(facts.program, function, section.symbol, run[0])
        made.append(
            CaptureStmt(
                span=span, region=region, symbol=section.symbol, element=section.element, lower=section.lower,
                upper=section.upper, extent=extent, buffer=None,
            )
        )  # fmt: skip
    scalars = _find_written(run) & (live - inside)
    for symbol in sorted(filter(in_scope, scalars), key=lambda s: s.key):
        made.append(
            CaptureStmt(
                span=span, region=region, symbol=symbol, element=symbol.type, lower=zero, upper=one, extent=one,
                buffer=None,
            )
        )  # fmt: skip
    return tuple(made)


def _can_name(function: Function, symbol: Symbol) -> bool:
    """Whether the text of `function` can name a variable: it does so, or the file has it above as its own."""
    if any(name.symbol == symbol for name in names(function.body)):
        return True
    place, own = symbol.span, function.span
    above = place is not None and place.file is own.file and place.start < own.start
    return above and symbol.storage in ("global", "static")


def _number(value: int, at: Stmt) -> Expr:
    return Literal(span=at.span, type=INT, text=str(value), value=value)
