"""What the threads of a region are told about themselves, where it makes no difference to what they leave behind.

    #pragma omp master                                   if (omp_get_thread_num() == 0)
    printf("%d threads\n", omp_get_num_threads());           b[0] = a[n - 1];           as under `master`

Invariant: a question is free only where one thread of a team prints its answer as it is, or where the answer decides
that the first thread does something; a thread that is alone is the first one. How many there are is the choice of the
run where the program does not make it: on one thread OpenMP prints 1 as well.
Arrays with a part for each thread are in numbered_parts.py.
Limits: an answer in a variable other than the thread's number.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from warpsmith.poly.pointers.accesses import direct_call
from warpsmith.tree.effects.effects import EffectsTable, FunctionEffects
from warpsmith.tree.nodes import Binary, Call, DeclStmt, Expr, ExprStmt, If, Literal, Name, Node, Stmt, Unary
from warpsmith.tree.types import Symbol
from warpsmith.tree.walk import names, peel, walk

__all__ = [
    "CHOOSES_COUNT",
    "TIMES",
    "asks_for_count",
    "find_free_questions",
    "is_first_thread",
    "is_number",
    "thread_numbers",
]

CHOOSES_COUNT: Final = frozenset({"omp_set_num_threads", "omp_set_dynamic"})
TIMES: Final = frozenset({"omp_get_wtime", "omp_get_wtick"})
"""Functions that tell the same to every thread."""

_NUMBER: Final = "omp_get_thread_num"
_COUNT: Final = "omp_get_num_threads"
_PRINTS: Final = "writes output"
_STREAMS: Final = frozenset({"stdout", "stderr"})


def thread_numbers(body: Node) -> frozenset[Symbol]:
    """Return the variables that a region's `body` declares with the number of their thread."""
    found = {
        d.symbol
        for part in walk(body)
        if isinstance(part, DeclStmt)
        for d in part.declarations
        if d.init is not None and _asks(d.init, _NUMBER) and d.symbol.storage == "local"
    }
    # any other use of one of them, a change too, is no free question; only opaque text names nothing
    return frozenset(found - {s for part in walk(body) for s in getattr(part, "writes", ())})


def is_first_thread(condition: Expr, numbers: frozenset[Symbol]) -> bool:
    """Whether a condition is that the thread's number is 0."""
    condition = peel(condition)
    if isinstance(condition, Unary) and condition.op == "!":
        return is_number(condition.operand, numbers)
    if not isinstance(condition, Binary) or condition.op != "==":
        return False
    sides = condition.left, condition.right
    return any(map(_is_zero, sides)) and any(is_number(side, numbers) for side in sides)


def find_free_questions(
    body: Node,
    once: Iterable[Stmt],
    numbers: frozenset[Symbol],
    table: EffectsTable,
    *,
    count_is_free: bool,
    parts: frozenset[int] = frozenset(),
) -> frozenset[int]:
    """Return the ids of the Names of the functions that a region's `body` may ask. `once`: the statements that one
    thread runs; `count_is_free`: nothing in the program says how many threads there are; `parts`: the ids of Names that
    ask for the number of the thread's part (numbered_parts.py)."""
    told = set(parts)
    told |= {id(n) for part in walk(body) if isinstance(part, If) for n in _first_thread_names(part, numbers)}
    for stmt in once:
        for shown in _find_shown(stmt, table):
            if is_number(shown, numbers) or (count_is_free and _asks(shown, _COUNT)):
                told |= {id(n) for n in names(shown)}
    misused = {n.symbol for n in names(body) if n.symbol in numbers and id(n) not in told}
    for part in walk(body):
        for d in part.declarations if isinstance(part, DeclStmt) else ():
            if d.symbol in numbers - misused and d.init is not None:
                told |= {id(n) for n in names(d.init)}
    return frozenset(told)


def _first_thread_names(branch: If, numbers: frozenset[Symbol]) -> Iterator[Name]:
    """Yield what the condition of a branch names, where it is that the first thread does something."""
    if branch.other is None and is_first_thread(branch.condition, numbers):
        yield from names(branch.condition)


def _find_shown(stmt: Stmt, table: EffectsTable) -> Iterator[Expr]:
    """Yield what calls print that are statements, and leave nothing else behind."""
    for part in walk(stmt):
        call = peel(part.expr) if isinstance(part, ExprStmt) else None
        called = direct_call(call) if isinstance(call, Call) else None
        known = table.of(called.name) if called is not None else None
        if isinstance(call, Call) and known is not None and known.reason == _PRINTS and _to_terminal(call, known):
            yield from call.arguments


def _to_terminal(call: Call, known: FunctionEffects) -> bool:
    """Whether a call that writes output writes nothing else: no memory, and no file that may be memory."""
    written = [call.arguments[k] for k in range(len(call.arguments)) if known.writes_argument(k)]
    streams = [peel(argument) for argument in written]
    return all(isinstance(s, Name) and s.symbol.name in _STREAMS for s in streams) and not known.exposed_writes


def _is_zero(expr: Expr) -> bool:
    expr = peel(expr)
    return isinstance(expr, Literal) and expr.value == 0


def is_number(expr: Expr, numbers: frozenset[Symbol]) -> bool:
    """Whether an expression is the number of the thread."""
    expr = peel(expr)
    return _asks(expr, _NUMBER) or (isinstance(expr, Name) and expr.symbol in numbers)


def asks_for_count(expr: Expr) -> bool:
    """Whether an expression is the number of threads."""
    return _asks(expr, _COUNT)


def _asks(expr: Expr, name: str) -> bool:
    expr = peel(expr)
    called = direct_call(expr) if isinstance(expr, Call) else None
    return called is not None and called.name == name
