"""Loops that go over a part for each thread of a team, and the variables that tell how many there are.

    int all = omp_get_num_threads();              a thread's own
    #pragma omp single
    count = omp_get_num_threads();                of all threads: kept_counts.py
    for (t = 0; t < all; t++) …                   over as many parts as the team has threads

Invariant: a bound is found to be the number of threads only where it is that of the team that runs the region, in
every run: what is shared was set before, in the same run of statements, and by nothing else.
Limits: a shared number is set in one place, at the outermost level of a block that also holds the loop.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from warpsmith.poly.analyze import Facts
from warpsmith.poly.claimed import ParallelRegion, marked_statements
from warpsmith.poly.openmp.concurrency.barriers import find_unordered
from warpsmith.poly.openmp.thread_counts import constant_of, is_variable
from warpsmith.poly.openmp.thread_numbers import asks_for_count, is_first_thread, thread_numbers
from warpsmith.tree.nodes import (
    Assign,
    Binary,
    Block,
    DeclStmt,
    Expr,
    ExprStmt,
    For,
    Function,
    If,
    Loop,
    Name,
    Node,
    Stmt,
    Unary,
    VarDecl,
    While,
)
from warpsmith.tree.types import Symbol
from warpsmith.tree.walk import loops, names, peel, root_symbol, walk

__all__ = ["PartLoop", "count_variables", "find_part_loops", "is_count", "once_in"]


class PartLoop(Struct, frozen=True):
    """`for (variable = 0; variable < bound; variable++)`; `declares`: the loop declares its variable."""

    loop: Loop
    variable: Symbol
    bound: Expr
    declares: bool


def find_part_loops(node: Node) -> Iterator[PartLoop]:
    """Yield the loops below a node that count from 0, one by one, whatever their bounds are."""
    for loop, _ in loops(node):
        found = _counted(loop) if isinstance(loop, For) else _called(loop)
        if found is not None:
            yield found


def _counted(loop: For) -> PartLoop | None:
    whole = constant_of(loop.lower) == 0 and loop.step == 1 and loop.relation == "<"
    return PartLoop(loop, loop.variable, loop.bound, loop.declares) if whole else None


def _called(loop: While) -> PartLoop | None:
    """Return a loop that is no counted one as its bound is a call."""
    condition, advance = peel(loop.condition) if loop.condition else None, peel(loop.advance) if loop.advance else None
    if loop.form != "for" or not isinstance(condition, Binary) or condition.op != "<":
        return None
    variable, declares = _started(loop.init)
    if variable is None or not is_variable(condition.left, variable):
        return None
    if not isinstance(advance, Unary) or "++" not in advance.op or not is_variable(advance.operand, variable):
        return None
    return PartLoop(loop, variable, condition.right, declares)


def _started(init: Stmt | None) -> tuple[Symbol | None, bool]:
    """Return the variable that a loop sets to 0 at first, and whether it declares it."""
    if isinstance(init, DeclStmt) and len(init.declarations) == 1:
        one = init.declarations[0]
        return (one.symbol if one.init is not None and constant_of(one.init) == 0 else None), True
    expr = peel(init.expr) if isinstance(init, ExprStmt) else None
    target = peel(expr.target) if isinstance(expr, Assign) and expr.op == "=" else None
    if isinstance(expr, Assign) and isinstance(target, Name) and constant_of(expr.value) == 0:
        return target.symbol, False
    return None, False


def count_variables(body: Node) -> frozenset[Symbol]:
    """Return the variables that a region's `body` declares with its number of threads."""
    declared = (d for part in walk(body) if isinstance(part, DeclStmt) for d in part.declarations)
    found = {d.symbol for d in declared if d.init is not None and asks_for_count(d.init)}
    return frozenset(s for s in found if s.storage == "local")


def is_count(facts: Facts, function: Function, region: ParallelRegion, one: PartLoop) -> bool:
    """Whether the bound of a loop, in a region or behind it, is the region's number of threads."""
    bound = peel(one.bound)
    inside = any(part is one.loop for part in walk(region.body))
    if inside and (asks_for_count(bound) or (isinstance(bound, Name) and bound.symbol in count_variables(region.body))):
        return True
    if not isinstance(bound, Name) or bound.symbol.storage not in ("local", "static"):
        return False
    return _is_told(facts, function, region, bound.symbol, one.loop)


_ONCE = (("single",), ("master",), ("masked",))


def once_in(region: ParallelRegion) -> Iterator[tuple[Stmt, Stmt]]:
    """Yield the statements of a region of which one thread runs all, or what the first thread is asked to do, with what
    that is."""
    numbers = thread_numbers(region.body)
    for pragmas, stmt in marked_statements(region.body):
        if any(p.directive is not None and p.directive.words[:1] in _ONCE for p in pragmas):
            yield stmt, stmt
    for part in walk(region.body):
        if isinstance(part, If) and part.other is None and is_first_thread(part.condition, numbers):
            yield part, part.then


def _is_told(facts: Facts, function: Function, region: ParallelRegion, symbol: Symbol, loop: Loop) -> bool:
    """Whether one thread of the region has set a variable to their number before all of them come to `loop`."""
    written = [part for part in walk(function.body) if _sets(part, symbol)]
    tells = [part for part in written if isinstance(part, Assign)]
    others = [
        f for _, f in facts.program.functions() if f is not function and any(_sets(p, symbol) for p in walk(f.body))
    ]
    own = symbol.name in region.directive.list_variables("private", "firstprivate", "reduction")
    own |= any(isinstance(part, VarDecl) and part.symbol == symbol for part in walk(region.body))
    if len(tells) != 1 or others or own or symbol in facts.summaries.address_taken:
        return False
    if not all(part is tells[0] or isinstance(part, VarDecl) for part in written):
        return False
    if tells[0].op != "=" or not asks_for_count(tells[0].value):
        return False
    once = next((s for s, done in once_in(region) if _always_runs(done, tells[0])), None)
    if once is None or not _follows(function.body, once, loop):
        return False
    run = region.body.statements if isinstance(region.body, Block) else (region.body,)
    set_there = {id(n) for n in names(once) if n.symbol == symbol}
    kinds = {id(n): "set" if id(n) in set_there else "read" for n in names(region.body) if n.symbol == symbol}
    return find_unordered(run, kinds) is None


def _always_runs(once: Stmt, tell: Assign) -> bool:
    """Whether a statement does `tell` in any case, whatever else it does."""
    pending = [once]
    while pending:
        stmt = pending.pop()
        if isinstance(stmt, ExprStmt) and peel(stmt.expr) is tell:
            return True
        pending += stmt.statements if isinstance(stmt, Block) else ()
    return False


def _follows(body: Node, once: Stmt, loop: Loop) -> bool:
    """Whether a loop comes behind a statement, in the same block or in one inside a later statement of it. A region's
    block counts as part of the one that it stands in."""
    for block in (part for part in walk(body) if isinstance(part, Block)):
        at = next((k for k, stmt in enumerate(block.statements) if _is_or_starts(stmt, once)), None)
        if at is not None and any(part is loop for stmt in block.statements[at + 1 :] for part in walk(stmt)):
            return True
    return False


def _is_or_starts(stmt: Stmt, once: Stmt) -> bool:
    """Whether a statement is `once`, or a block of which it is one."""
    if stmt is once:
        return True
    return isinstance(stmt, Block) and any(_is_or_starts(one, once) for one in stmt.statements)


def _sets(part: Node, symbol: Symbol) -> bool:
    if isinstance(part, Assign):
        return root_symbol(part.target) == symbol
    if isinstance(part, Unary):
        return ("++" in part.op or "--" in part.op or part.op == "&") and root_symbol(part.operand) == symbol
    if isinstance(part, VarDecl):
        return part.symbol == symbol
    if isinstance(part, For):
        return part.variable == symbol
    return symbol in getattr(part, "writes", ())
