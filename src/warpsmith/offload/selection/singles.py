"""Host statements between the kernels of a loop that one GPU thread runs, so that data need not come back.

    for (k …)
        piv = A[k*N+k];      would bring A to the host in every iteration: one thread runs it, piv becomes a cell
        for (i …) …          kernel, reads the cell piv

Invariant: moving a run to the device changes no value: it names only scalars and arrays, jumps nowhere, does no I/O,
and no scalar that it writes is read on the host inside the loop (nor by a launch's range).
Limits: no loops inside a run; a run must touch an array that a kernel of the same loop uses, and stand in a loop that
runs a kernel too (else the launches would outnumber the copies).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from warpsmith.offload.fragments import Draft, HostUse, OffloadRequest
from warpsmith.offload.selection.uses import Accessed, find_accessed, is_in_register, obstacle
from warpsmith.tree.nodes import (
    Assign,
    Block,
    Break,
    Continue,
    DeclStmt,
    Expr,
    ExprStmt,
    For,
    If,
    Name,
    Node,
    Return,
    Stmt,
    Switch,
    While,
)
from warpsmith.tree.types import Array, Pointer, Scalar, Symbol
from warpsmith.tree.walk import children, names, walk

__all__ = ["with_singles"]


class _Run(Struct, frozen=True):
    """Consecutive statements of one block that one thread may run."""

    statements: tuple[Stmt, ...]
    accessed: Accessed
    moved: frozenset[Symbol]


def with_singles(request: OffloadRequest, nests: Sequence[Draft], excluded: frozenset[int]) -> tuple[Draft, ...]:
    """Return `nests` and the single-thread fragments of the loops around them, in source order. Where data come back
    after each kernel, nothing is won by the latter, and there are none.

    `excluded`: identities of statements that may start no run.
    """
    runs: list[_Run] = [] if request.options.data == "per-call" else _find_runs(request, nests, excluded)
    drafts = [*nests, *(_draft(request, run) for run in runs)]
    written = {u.symbol for d in drafts for u in d.uses if u.kind == "cell"}
    moved = frozenset(s for run in runs for s in run.moved)
    return tuple(sorted((_make_cells(d, written, moved) for d in drafts), key=lambda d: d.statements[0].span.start))


def _find_runs(request: OffloadRequest, nests: Sequence[Draft], excluded: frozenset[int]) -> list[_Run]:
    """Return the runs of statements between kernels that would bring data back to the host."""
    taken = {id(s) for draft in nests for s in draft.statements} | excluded
    runs: list[_Run] = []
    for loop in _host_loops(request.facts.function.body, taken):
        inside = [d for d in nests if _below(loop, d.statements[-1])]
        if inside:
            runs += _runs(request, loop, inside, nests, taken)
            taken |= {id(s) for run in runs for s in run.statements}
    return runs


def _make_cells(draft: Draft, cells: set[Symbol], moved: frozenset[Symbol]) -> Draft:
    """Return the draft with every scalar that some fragment writes turned into a cell, but for those that it only reads
    and the host needs for its launch."""
    needed = _ranging(draft)
    uses = tuple(
        replace(u, kind="cell", device_only=u.symbol in moved)
        if u.symbol in cells and (u.written or u.symbol not in needed)
        else u
        for u in draft.uses
    )
    return replace(draft, uses=uses)


def _ranging(draft: Draft) -> set[Symbol]:
    """Return what the range of a launch is computed from."""
    ranges = [e for f in draft.loops if isinstance(f.loop, For) for e in (f.loop.lower, f.loop.bound)]
    return {n.symbol for e in ranges for n in names(e)}


def _host_loops(node: Node, taken: set[int]) -> Iterator[For | While]:
    """Yield the outermost loops that stay on the host."""
    pending = [node]
    while pending:
        current = pending.pop()
        if id(current) in taken:
            continue
        if isinstance(current, For | While):
            yield current
            continue
        pending += reversed(list(children(current)))


def _below(node: Node, wanted: Node) -> bool:
    return any(part is wanted for part in walk(node))


def _runs(
    request: OffloadRequest, loop: For | While, inside: Sequence[Draft], nests: Sequence[Draft], taken: set[int]
) -> list[_Run]:
    arrays = {u.symbol for d in inside for u in d.uses if u.kind == "buffer"}
    candidates: list[_Run] = []
    for block in _blocks(loop.body, taken, inside):
        candidates += _of_block(request, block, arrays, taken)
    while True:
        kept = [run for run in candidates if not _is_needed_on_host(request, loop, run, candidates, nests)]
        if len(kept) == len(candidates):
            return _outermost(kept)
        candidates = kept


def _outermost(runs: Sequence[_Run]) -> list[_Run]:
    """Leave out the runs inside another run: the arms of an `if` that moves as a whole."""
    inner = {id(part) for run in runs for s in run.statements for part in walk(s) if part is not s}
    return [run for run in runs if id(run.statements[0]) not in inner]


def _blocks(node: Node, taken: set[int], nests: Sequence[Draft]) -> Iterator[Sequence[Stmt]]:
    """Yield the statement lists below `node` that run on the host, and not more often than some kernel does."""
    if id(node) in taken:
        return
    match node:
        case Block(statements=statements):
            yield statements
            for statement in statements:
                yield from _blocks(statement, taken, nests)
        case If(then=then, other=other):
            for arm in (then, other):
                if arm is not None:
                    yield from _arm(arm, taken, nests)
        case For(body=body) | While(body=body):
            if any(_below(node, d.statements[-1]) for d in nests):
                yield from _arm(body, taken, nests)
        case _:
            return


def _arm(body: Stmt, taken: set[int], nests: Sequence[Draft]) -> Iterator[Sequence[Stmt]]:
    if not isinstance(body, Block):
        yield (body,)
    yield from _blocks(body, taken, nests)


def _of_block(
    request: OffloadRequest, statements: Sequence[Stmt], arrays: set[Symbol], taken: set[int]
) -> Iterator[_Run]:
    """Yield the longest runs of movable statements, each of which touches an array of the loop's kernels."""
    run: list[Stmt] = []
    for statement in [*statements, None]:
        if statement is not None and id(statement) not in taken and _movable(request, statement, arrays):
            run.append(statement)
            continue
        if run:
            yield _run(request, tuple(run))
        run = []


def _run(request: OffloadRequest, statements: tuple[Stmt, ...]) -> _Run:
    declared = {d.symbol for s in statements if isinstance(s, DeclStmt) for d in s.declarations}
    return _Run(statements, find_accessed(request, statements), frozenset(declared))


def _movable(request: OffloadRequest, statement: Stmt, arrays: set[Symbol]) -> bool:
    allowed = Block | If | ExprStmt | DeclStmt
    for part in walk(statement):
        if isinstance(part, Break | Continue | Return | Switch | For | While):
            return False
        if not isinstance(part, allowed) and isinstance(part, Stmt):
            return False
    if isinstance(statement, DeclStmt) and (statement.types or not _movable_declaration(statement)):
        return False
    if _reaches_a_loop(request, statement):
        return False
    found = find_accessed(request, (statement,))
    if not (found.element_reads | found.element_writes) & arrays:
        return False
    if any(isinstance(s.type, Pointer | Array) and s in found.written for s in found.outside):
        return False
    if not all(isinstance(s.type, Scalar | Pointer | Array) for s in found.outside):
        return False
    if any(is_in_register(s) for s in found.written):
        return False
    return obstacle(request, (statement,)) is None


def _reaches_a_loop(request: OffloadRequest, statement: Stmt) -> bool:
    """Whether a function that the statement calls, directly or not, holds a loop: one thread is not made for that, and
    the function's own regions would vanish from the host."""
    bodies = {f.symbol: f.body for _, f in request.program.functions()}
    pending: list[Node] = [statement]
    while pending:
        for part in walk(pending.pop()):
            if isinstance(part, For | While):
                return True
            if isinstance(part, Name) and part.symbol in bodies:
                pending.append(bodies.pop(part.symbol))
    return False


def _movable_declaration(statement: DeclStmt) -> bool:
    return all(
        isinstance(d.symbol.type, Scalar) and d.init is not None and d.symbol.storage == "local"
        for d in statement.declarations
    )


def _is_needed_on_host(
    request: OffloadRequest, loop: For | While, run: _Run, runs: Sequence[_Run], nests: Sequence[Draft]
) -> bool:
    """Whether the host (or a launch's range) reads, inside the loop, a scalar that the run would write."""
    scalars = {s for s in run.accessed.outside if s in run.accessed.written} | run.moved
    if not scalars:
        return False
    scope: Node = request.facts.function.body
    device = {id(s) for r in runs for s in r.statements} | {id(s) for d in nests for s in d.statements}
    for draft in nests:
        finals = [n.symbol for s in draft.finals for n in names(s)]
        if scalars & (_ranging(draft) | set(finals) | set(draft.locals)):
            return True
    if _host_names(loop, device) & scalars:
        return True
    return bool(run.moved & _host_names(scope, device))


def _host_names(node: Node, device: set[int]) -> set[Symbol]:
    """Return what the statements below `node` that stay on the host name."""
    found: set[Symbol] = set()
    pending = [node]
    while pending:
        current = pending.pop()
        if id(current) in device:
            continue
        if isinstance(current, Name):
            found.add(current.symbol)
        elif isinstance(current, For):
            found.add(current.variable)
        pending += children(current)
    return found


def _draft(request: OffloadRequest, run: _Run) -> Draft:
    first = run.statements[0]
    outside = run.accessed.uses(frozenset())
    uses = [replace(u, covers=u.written and _is_assigned_first(run.statements, u.symbol)) for u in outside]
    uses += [
        HostUse(s, "cell", False, True, covers=True, device_only=True) for s in sorted(run.moved, key=lambda s: s.key)
    ]
    return Draft(
        region=f"{request.facts.function.symbol.name}:{first.span.line}",
        kind="single",
        statements=run.statements,
        loops=(),
        uses=tuple(uses),
        locals=(),
        finals=(),
        assumptions=(),
    )


def _is_assigned_first(statements: Sequence[Stmt], symbol: Symbol) -> bool:
    """Whether some statement of the run, run in every case, assigns the whole scalar."""
    return any(isinstance(statement, ExprStmt) and _assigns(statement.expr, symbol) for statement in statements)


def _assigns(expr: Expr, symbol: Symbol) -> bool:
    return isinstance(expr, Assign) and isinstance(expr.target, Name) and expr.target.symbol == symbol
