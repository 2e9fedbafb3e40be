"""The common part of the steps that give statements new schedules: the statements that move, the verdict, the new text.

for (k …) {
    A[k][k] = sqrt(A[k][k]);         statement 0: statements without loops, each on its own
    for (i …)
        A[i][k] /= A[k][k];          statement 1
}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from warpsmith.base.identity import Identity
from warpsmith.base.verdict import Proved, Refuted, Unknown, Verdict
from warpsmith.loops.analysis.shape import does_not_fit, find_marked
from warpsmith.loops.fresh import Fresh
from warpsmith.loops.place import with_run
from warpsmith.poly.analyze import Facts
from warpsmith.poly.facts import PolyOptions
from warpsmith.poly.legality.legality import keeps_order
from warpsmith.poly.legality.schedules import Schedule
from warpsmith.poly.schedule.code_generation import CodeGenerationError, generate_code
from warpsmith.tree.nodes import Block, DeclStmt, Empty, For, Function, If, Pragma, Stmt, While
from warpsmith.tree.program import Program
from warpsmith.tree.types import Symbol, is_integer
from warpsmith.tree.walk import names, walk

__all__ = ["counters_of", "judge_schedules", "names_of", "reorder_statements", "statements_of"]

Run = tuple[Stmt, ...]


def statements_of(run: Sequence[Stmt]) -> tuple[Stmt, ...]:
    """Return the statements of `run` that move, in the text's order: those without loops, each on its own; a block
    with declarations moves as a whole."""
    return tuple(statement for stmt in run for statement in _statements(stmt))


def _statements(stmt: Stmt) -> tuple[Stmt, ...]:
    match stmt:
        case For(body=body):
            return _statements(body)
        case Block(statements=inside) if not any(_declares(s) for s in inside):
            return statements_of(inside)
        case If(then=then, other=other) if any(isinstance(part, For | While) for part in walk(stmt)):
            return (*_statements(then), *(() if other is None else _statements(other)))
        case Empty() | Pragma():
            return ()
        case DeclStmt() if not _declares(stmt):
            return ()
        case _:
            return (stmt,)


def _declares(stmt: Stmt) -> bool:
    """Whether a statement declares variables and gives them values."""
    return isinstance(stmt, DeclStmt) and any(d.init is not None for d in stmt.declarations)


def counters_of(run: Sequence[Stmt], statement: Stmt) -> tuple[For, ...]:
    """Return the counted loops of `run` around a statement, outermost first."""
    found: list[For] = []
    pending = list(run)
    while pending:
        stmt = pending.pop()
        if stmt is not statement and any(part is statement for part in walk(stmt)):
            pending = list(_inside(stmt))
            if isinstance(stmt, For):
                found.append(stmt)
    return tuple(found)


def _inside(stmt: Stmt) -> tuple[Stmt, ...]:
    match stmt:
        case For(body=body) | While(body=body):
            return (body,)
        case Block(statements=inside):
            return inside
        case If(then=then, other=other):
            return (then,) if other is None else (then, other)
        case _:
            return ()


def names_of(run: Sequence[Stmt], statement: Stmt) -> Mapping[str, Symbol]:
    """Return the variables that a statement's schedule may name: its counters (outermost first), then other
    integers."""
    found = {loop.variable.name: loop.variable for loop in counters_of(run, statement)}
    for part in (statement, *(side for loop in counters_of(run, statement) for side in (loop.lower, loop.bound))):
        for name in names(part):
            if is_integer(name.symbol.type):
                found.setdefault(name.symbol.name, name.symbol)
    return found


def judge_schedules(
    program: Program, facts: Facts, function: Function, run: Run, schedules: Mapping[Stmt, Schedule]
) -> Verdict:
    """Say whether the statements of `run` may run at `schedules`, and can be written so; from the memo of `facts` where
    the same was asked before: an order that was found is judged again when the step is checked."""
    question = (judge_schedules, Identity(program), function, run, tuple(schedules.items()))
    known = facts.orders.get(question)
    if not isinstance(known, Proved | Refuted | Unknown):
        known = facts.orders[question] = _judge_anew(program, facts, function, run, schedules)
    return known


def _judge_anew(
    program: Program, facts: Facts, function: Function, run: Run, schedules: Mapping[Stmt, Schedule]
) -> Verdict:
    for stmt in run:
        pragma = find_marked(function, stmt) if isinstance(stmt, For) else None
        if pragma is not None:
            return does_not_fit("a pragma tells the compiler about this loop", pragma, "remove the pragma")
    verdict = keeps_order(facts, function, run, schedules)
    if not isinstance(verdict, Proved):
        return verdict
    options = PolyOptions(guards=facts.options.guards, max_operations=facts.options.max_operations)
    try:
        generated = generate_code(
            Facts(program, options, facts.summaries), function, run, schedules, Fresh.of(program).variable
        )
    except CodeGenerationError as error:
        return does_not_fit(str(error), run[0])
    return Proved(tuple(dict.fromkeys((*verdict.assumptions, *generated.assumptions))))


def reorder_statements(program: Program, function: Function, run: Run, schedules: Mapping[Stmt, Schedule]) -> Program:
    """Return the program with the statements of `run` at `schedules`; only where `judge_schedules` is Proved."""
    facts = Facts.about(program, PolyOptions())
    try:
        generated = generate_code(facts, function, run, schedules, Fresh.of(program).variable)
    except CodeGenerationError as error:
        raise ValueError(str(error)) from error
    return with_run(program, function, run, generated.statements)
