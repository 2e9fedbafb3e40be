"""Whether every name still means its own variable, once statements stand elsewhere.

    int t = 1;                             for (i) { int t = 2; b[i] = t; a[i] = t; }
    for (i) { a[i] = t; int t = 2; b[i] = t; }          └ not the t that it was

Invariant: where `find_captured` answers None, C's scope rules bind every name of the function to the symbol that the
tree gives it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial

from warpsmith.base.verdict import Proved, Verdict
from warpsmith.loops.analysis.shape import does_not_fit
from warpsmith.loops.place import LoopContext
from warpsmith.loops.step import Step, rewrite_program
from warpsmith.tree.named import find_named
from warpsmith.tree.nodes import (
    Block,
    Case,
    DeclStmt,
    For,
    Function,
    Node,
    Stmt,
    While,
)
from warpsmith.tree.program import Program
from warpsmith.tree.types import Symbol
from warpsmith.tree.walk import children

__all__ = ["find_captured", "names_at_end", "names_hold"]

Scope = dict[str, Symbol]


def names_hold(step: Step, program: Program, address: str, verdict: Verdict) -> Verdict:
    """Return `verdict`, or why names would mean other variables once `step` is applied where it is Proved."""
    if not isinstance(verdict, Proved):
        return verdict
    place = LoopContext.of(program, address)
    after = rewrite_program(step, program)
    position = next(k for k, (_, f) in enumerate(program.functions()) if f is place.function)
    wrong = find_captured(list(after.functions())[position][1])
    if wrong is None:
        return verdict
    return does_not_fit(f"{wrong.name} would mean another variable: rename one of those called so", place.loop)


def find_captured(function: Function) -> Symbol | None:
    """Return a variable whose name means another one, or nothing, in some place of the function; None: all are well."""
    scope = {parameter.name: parameter for parameter in function.parameters}
    stack: list[tuple[Node, Scope]] = [(function.body, scope)]
    while stack:
        node, scope = stack.pop()
        for symbol in find_named(node):
            if not _means(symbol, scope):
                return symbol
        stack += _inside(node, scope)
    return None


def names_at_end(function: Function, stmt: Stmt) -> Callable[[Symbol], bool]:
    """Return whether a variable's name means it behind `stmt`, a statement of `function`, in the same block. Raises
    LookupError where the function has no such statement."""
    last = stmt.declarations[-1] if isinstance(stmt, DeclStmt) else stmt
    scope = {parameter.name: parameter for parameter in function.parameters}
    stack = list(_inside(function.body, scope))
    while stack:
        node, scope = stack.pop()
        if node is last:
            return partial(_means, scope=scope)
        stack += _inside(node, scope)
    raise LookupError(f"{function.symbol.name} has no such statement")


def _inside(node: Node, scope: Scope) -> Iterator[tuple[Node, Scope]]:
    """Yield the parts of a node with the names in scope there."""
    match node:
        case Block(statements=run) | Case(body=run):
            inner = dict(scope)
            for statement in run:
                if isinstance(statement, DeclStmt):
                    for declaration in statement.declarations:
                        inner[declaration.symbol.name] = declaration.symbol
                        yield declaration, dict(inner)
                else:
                    yield statement, dict(inner)
            if isinstance(node, Case):
                yield from ((label, scope) for label in node.labels if label is not None)
        case For(declares=declares, variable=variable):
            # The first value is read where the counter is declared, and must not name it anyway.
            inner = {**scope, variable.name: variable} if declares else scope
            yield from ((part, inner) for part in (node.lower, node.bound, node.body))
        case While(init=DeclStmt() as start):
            inner = {**scope, **{d.symbol.name: d.symbol for d in start.declarations}}
            yield from ((part, inner) for part in children(node))
        case _:
            yield from ((part, scope) for part in children(node))


def _means(symbol: Symbol, scope: Mapping[str, Symbol]) -> bool:
    found = scope.get(symbol.name)
    if symbol.storage in ("local", "static local", "parameter"):
        return found == symbol
    return found is None
