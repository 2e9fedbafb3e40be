"""Memory that others may write while a loop runs: other threads, and calls that finish later.

    MPI_Irecv(u, n, …, &r);           from here on, u may change
    for (…) v[i] = w[i];              fine: it does not write u
    for (…) u[i] = 0;                 refused: a copy back of u could undo what arrives meanwhile
    MPI_Wait(&r, &status);            u is there

Invariant: a loop passes only if on no path to it a call that finishes later, on memory that the loop may write, is
without its end. An end counts if it is given the same request, and stands as a statement of its own in a list of
statements around the call, behind it; a call that has none is open where its function returns, and any loop there and
in functions called meanwhile that writes memory is refused.
"""

from __future__ import annotations

from collections.abc import Iterator

from warpsmith.base.verdict import Reason
from warpsmith.poly.effects.library import mentions
from warpsmith.poly.effects.origin import Origin
from warpsmith.poly.effects.summaries import Summaries
from warpsmith.poly.pointers.accesses import bases, direct_call, is_pointer
from warpsmith.poly.pointers.pointers import UNKNOWN, Root
from warpsmith.tree.nodes import Block, Call, Expr, ExprStmt, For, Function, Loop, Name, Node, Stmt, Unary, While
from warpsmith.tree.types import Array, Symbol
from warpsmith.tree.walk import children, names, peel, root_symbol, same, walk

__all__ = ["find_asynchronous_writes"]

_ANY = frozenset({UNKNOWN})
_Started = tuple[Call, frozenset[Root]]


def find_asynchronous_writes(origin: Origin, loop: Loop) -> Reason | None:
    """Return what may write memory while `loop` runs, None where nothing does."""
    known = origin.summaries
    threads, late = known.remember("meanwhile", lambda: _starters(known))
    if threads:
        text = f"the program starts threads ({threads}): another one may change memory meanwhile"
        return Reason("POR006", text, loop.header, legal_if=("port the program without its threads",))
    done = known.memory_effects(loop, origin.function) if late else None
    if done is None or not done.stores:
        return None
    where = known.provenance(origin.function)
    for call, roots in _open_at(known, origin.function, loop):
        if where.meet(roots, frozenset(done.stores)):
            name = direct_call(call)
            called = name.name if name is not None else "a call"
            text = f"what {called} receives may still arrive while the loop runs, into memory that it may write"
            remedy = "wait before the loop (MPI_Wait), or receive into another array"
            return Reason("POR006", text, call.span, legal_if=(remedy,))
    if not any(late in mentions(function) for function in known.definitions.values()):
        text = f"another file receives with {late}: it may still arrive while the loop runs"
        return Reason("POR006", text, loop.header, legal_if=("give the other file as well",))
    return None


def _starters(known: Summaries) -> tuple[str, str]:
    """Return a function of the program's libraries that starts threads, and one that finishes later ("": none)."""
    defined = {symbol.name for symbol in known.definitions}
    entries = [(name, known.program.effects.of(name)) for name in sorted(known.find_mentioned()) if name not in defined]
    threads = next((name for name, entry in entries if entry is not None and entry.threads), "")
    return threads, next((name for name, entry in entries if entry is not None and entry.later), "")


def _open_at(known: Summaries, function: Function, loop: Loop) -> Iterator[_Started]:
    """Yield the calls that may not have finished when `loop`, of `function`, runs."""
    for holder in known.definitions.values():
        for started in _starts(known, holder):
            for stmt in _during(known, holder, started[0]):
                if holder is function and any(n is loop for n in walk(stmt)):
                    yield started
                elif _may_call(known, stmt, function):
                    yield started[0], _ANY


def _starts(known: Summaries, function: Function) -> list[_Started]:
    """Return the calls in a function after which memory may change until another call."""
    return known.remember(("starts", function), lambda: _find_starts(known, function, frozenset({function})))


def _find_starts(known: Summaries, function: Function, seen: frozenset[Function]) -> list[_Started]:
    found: list[_Started] = []
    where = known.provenance(function)
    for call in (n for n in walk(function.body) if isinstance(n, Call)):
        entry, name = known.library(call), direct_call(call)
        if entry is not None and entry.later:
            given = [a for i, a in enumerate(call.arguments) if min(i, entry.count) in entry.later and is_pointer(a)]
            found.append((call, frozenset(root for a in given for base in bases(a) for root in where.of(base))))
        callee = known.definitions.get(name) if name is not None else None
        if callee is not None and callee not in seen:
            inner = _find_starts(known, callee, seen | {callee})
            if any(not _ends(known, callee, started[0]) for started in inner):
                found.append((call, _ANY))
    return found


def _ends(known: Summaries, function: Function, call: Call) -> bool:
    """Whether what `call` started has finished when the function returns."""
    return _ways(known, function.body, call)[1]


def _during(known: Summaries, function: Function, call: Call) -> list[Stmt]:
    """Return the statements of a function that may run before what `call` started has finished."""
    return _ways(known, function.body, call)[0]


def _ways(known: Summaries, node: Node, call: Call) -> tuple[list[Stmt], bool]:
    """Return what may run meanwhile inside `node`, which contains `call`, and whether it has finished behind `node`."""
    inside = next((child for child in children(node) if any(n is call for n in walk(child))), None)
    if inside is None:
        return [], False
    during, finished = _ways(known, inside, call)
    if finished:
        return during, True
    if isinstance(node, Block):
        place = next(i for i, stmt in enumerate(node.statements) if stmt is inside)
        for stmt in node.statements[place + 1 :]:
            if _completes(known, stmt, call):
                return during, True
            during = [*during, stmt]
        return during, False
    if isinstance(node, For | While):
        return [*during, node.body], False
    return during, False


def _completes(known: Summaries, stmt: Stmt, started: Call) -> bool:
    """Whether a statement certainly waits for what `started` has begun: a call as a statement of its own (or its result
    assigned) that is given the same request, or the array of it."""
    calls = [n for n in walk(stmt) if isinstance(n, Call)] if isinstance(stmt, ExprStmt) else []
    entry = known.library(calls[0]) if len(calls) == 1 else None
    if entry is None:
        return False
    one = [calls[0].arguments[number] for number in entry.completes]
    every = [_bare(calls[0].arguments[number]) for number in entry.completes_all]
    given = started.arguments
    if any(same(mine, theirs) and _is_fixed(mine) for mine in one for theirs in given):
        return True
    return any(mine is not None and mine is root_symbol(_target(theirs)) for mine in every for theirs in given)


def _is_fixed(request: Expr) -> bool:
    """Whether an expression names the same request wherever it stands: `&r`, `&r[2]`, but not `&r[k]`."""
    inner = peel(request)
    if isinstance(inner, Unary) and inner.op == "&" and isinstance(peel(inner.operand), Name):
        return True
    return all(isinstance(n.symbol.type, Array) for n in names(request))


def _bare(argument: Expr) -> Symbol | None:
    inner = peel(argument)
    return inner.symbol if isinstance(inner, Name) and isinstance(inner.symbol.type, Array) else None


def _target(argument: Expr) -> Expr:
    """Return r of `&r` and `&r[k]`."""
    inner = peel(argument)
    return inner.operand if isinstance(inner, Unary) and inner.op == "&" else inner


def _may_call(known: Summaries, stmt: Stmt, function: Function) -> bool:
    """Whether a statement may lead to a call of `function`."""
    seen: set[Function] = set()
    pending: list[Node] = [stmt]
    while pending:
        for call in (n for n in walk(pending.pop()) if isinstance(n, Call)):
            name = direct_call(call)
            callee = known.definitions.get(name) if name is not None else None
            if callee is function:
                return True
            if callee is not None and callee not in seen:
                seen.add(callee)
                pending.append(callee.body)
    return False
