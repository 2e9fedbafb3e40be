"""The team of threads of an OpenMP parallel region: what each of them runs, what they share, what one of them does.

    #pragma omp parallel private(i, mine)          every thread
    {
        mine = 0;                                  the same in each of them: once is enough
        #pragma omp for                            together, once
        for (i …) mine += a[i];
        #pragma omp critical                       each thread's part, combined: on one thread the part is the whole
        sum += mine;
    }

A function that shares work among the threads that call it, or calls one that does, is taken apart the same way: all
of the team's threads run its body, and its parameters and variables are each thread's own.

Invariant: every statement of a region, or of such a function, is in one of the lists of its Team.
Limits: tasks, sections; which thread asks is in thread_numbers.py, arrays with a part for each in numbered_parts.py.
"""

from __future__ import annotations

import functools

from msgspec import Struct, field
from msgspec.structs import replace as struct_replace

from warpsmith.base.source import Span
from warpsmith.base.verdict import Reason
from warpsmith.poly.claimed import ParallelRegion, marked_statements, regions_of
from warpsmith.poly.openmp.numbered_parts import find_numbered
from warpsmith.poly.openmp.thread_numbers import is_first_thread, thread_numbers
from warpsmith.tree.nodes import (
    Block,
    Call,
    Case,
    DeclStmt,
    ExprStmt,
    For,
    Function,
    If,
    Name,
    Node,
    Pragma,
    Stmt,
    Switch,
    While,
)
from warpsmith.tree.program import Program
from warpsmith.tree.text.directives import Directive
from warpsmith.tree.types import Array, Pointer, Symbol
from warpsmith.tree.walk import names, peel, walk

__all__ = [
    "NotOneThreadError",
    "Team",
    "every_thread_writes",
    "find_automatic",
    "orphan_in",
    "region_run",
    "sharing_functions",
    "team_of",
    "team_of_called",
]

_REGION_CLAUSES = frozenset(
    {"private", "firstprivate", "shared", "default", "reduction", "num_threads", "proc_bind", "if"}
)
_LOOP_CLAUSES = frozenset(
    {"private", "firstprivate", "lastprivate", "reduction", "nowait", "schedule", "collapse", "shared"}
)
_ONCE_CLAUSES = frozenset({"nowait", "copyprivate"})
_ONCE = frozenset({("single",), ("master",), ("masked",)})
_COMBINING = frozenset({"critical", "atomic"})
_INSIDE_LOOPS = frozenset({"simd", "critical", "atomic", "flush"})


class Team(Struct, frozen=True, eq=False):
    """A parallel region, taken apart. `own`: the variables of which each thread has its own (`listed`: those that are
    declared outside, `summed` among them those of a reduction clause). `shared_loops` are behind `omp for`, each with
    its pragma; `once`: what one of the threads runs; `combining`: what is under critical and atomic; `redundant`: what
    every thread runs, the parts that hold a pragma taken apart further. `pragmas`: all of the region's but its own;
    `numbers`: the variables that hold the number of their thread; `numbered`: the arrays that it is a subscript of;
    `sharing`: the functions that share work among their callers, and `calls`: of one of them, by all threads.
    `called`: the team runs the body of a function, with `region` around a call of it."""

    region: ParallelRegion
    own: frozenset[Symbol]
    listed: frozenset[Symbol]
    summed: frozenset[Symbol]
    shared_loops: list[tuple[Pragma, Stmt]] = field(default_factory=list)
    once: list[tuple[Pragma, Stmt]] = field(default_factory=list)
    combining: list[Stmt] = field(default_factory=list)
    redundant: list[Node] = field(default_factory=list)
    pragmas: list[Pragma] = field(default_factory=list)
    numbers: frozenset[Symbol] = frozenset()
    numbered: frozenset[Symbol] = frozenset()
    sharing: frozenset[Symbol] = frozenset()
    calls: list[Call] = field(default_factory=list)
    called: bool = False


class NotOneThreadError(Exception):
    """What stands in the way of one thread."""

    def __init__(self, text: str, span: Span, *help: str) -> None:
        super().__init__(text)
        self.reason = Reason("POR008", text, span, legal_if=help)


def region_run(function: Function, region: ParallelRegion) -> tuple[Stmt, ...]:
    """Return the region's pragma, its statement, and the pragmas between the two."""
    for part in walk(function.body):
        run = part.statements if isinstance(part, Block) else part.body if isinstance(part, Case) else ()
        first = next((k for k, stmt in enumerate(run) if stmt is region.pragma), None)
        if first is not None:
            last = next(k for k, stmt in enumerate(run) if stmt is region.body)
            return run[first : last + 1]
    raise ValueError("the region does not stand in its function")


def team_of(program: Program, function: Function, region: ParallelRegion) -> Team:
    """Return the region taken apart; raises where a construct has no meaning on one thread that is known."""
    directive = region.directive
    if directive.family != "omp" or directive.words != ("parallel",):
        raise NotOneThreadError(f"'{directive.title}' is no plain parallel region", region.pragma.span)
    _known_clauses(directive, _REGION_CLAUSES, region.pragma)
    inside = find_automatic(region.body)
    used = {n.symbol.name: n.symbol for n in names(region.body) if n.symbol not in inside}
    used |= {n.variable.name: n.variable for n in walk(region.body) if isinstance(n, For) and n.variable not in inside}
    opaque = (s for n in walk(region.body) for s in (*getattr(n, "reads", ()), *getattr(n, "writes", ())))
    used = {s.name: s for s in opaque if s not in inside} | used
    listed = frozenset(used[n] for n in directive.list_variables("private", "firstprivate") if n in used)
    summed = frozenset(used[n] for n in directive.list_variables("reduction") if n in used)
    team = Team(region, inside | listed, listed, summed, numbers=thread_numbers(region.body),
                numbered=find_numbered(region.body), sharing=_symbols(program, region.body))  # fmt: skip
    _take_apart(team, region_run(function, region)[1:])
    return team


def team_of_called(program: Program, function: Function, region: ParallelRegion) -> Team:
    """Return a function taken apart that shares work among the threads of `region`, which call it; raises as above."""
    own = find_automatic(function.body).union(p for p in function.parameters if not isinstance(p.type, Pointer | Array))
    sharing = _symbols(program, function.body)
    numbers = thread_numbers(function.body)
    body = struct_replace(region, body=function.body)
    team = Team(body, own, frozenset(), frozenset(), numbers=numbers, sharing=sharing, called=True)
    _take_apart(team, function.body.statements)
    return team


def sharing_functions(program: Program, body: Node) -> tuple[Function, ...]:
    """Return the functions that share work among the threads which run `body`: those that it leads to by calls, no
    other region between, and that have such pragmas, or call one that has them."""
    defined = {f.symbol: f for _, f in program.functions()}
    reached: dict[Symbol, frozenset[Symbol]] = {}
    pending = sorted(_find_called(body) & defined.keys(), key=lambda s: s.key)
    while pending:
        symbol = pending.pop()
        if symbol not in reached:
            reached[symbol] = _find_called(defined[symbol].body) & defined.keys()
            pending += sorted(reached[symbol], key=lambda s: s.key)
    found = {symbol for symbol in reached if orphan_in(defined[symbol]) is not None}
    while more := {symbol for symbol, called in reached.items() if symbol not in found and called & found}:
        found |= more
    return tuple(defined[symbol] for symbol in sorted(found, key=lambda s: s.key))


def orphan_in(function: Function) -> Pragma | None:
    """Return the first pragma of a function that speaks of the threads which call it."""
    inside = {id(part) for region in regions_of(function) for part in walk(region.body)}
    found = (part for part in walk(function.body) if isinstance(part, Pragma) and id(part) not in inside)
    return next(filter(_is_orphan, found), None)


def _is_orphan(pragma: Pragma) -> bool:
    directive = pragma.directive
    if directive is None or directive.family != "omp" or pragma.left_out:
        return False
    alone = ("simd", "critical", "atomic", "flush")
    return not directive.starts_threads and directive.words[:1] not in {(word,) for word in alone}


# asked for every region, and each time that a step is looked at
@functools.lru_cache(maxsize=1024)
def _find_called(body: Node) -> frozenset[Symbol]:
    """Return the functions that a body names outside the parallel regions in it."""
    inside: set[int] = set()
    for pragmas, stmt in marked_statements(body):
        if any(p.directive is not None and p.directive.starts_threads for p in pragmas):
            inside |= {id(n) for n in names(stmt)}
    return frozenset(n.symbol for n in names(body) if n.symbol.storage == "function" and id(n) not in inside)


def _symbols(program: Program, body: Node) -> frozenset[Symbol]:
    return frozenset(f.symbol for f in sharing_functions(program, body))


def _known_clauses(directive: Directive, known: frozenset[str], pragma: Pragma) -> None:
    odd = next((c.text for c in directive.clauses if c.name not in known), None)
    unknown = odd or next(iter(directive.unknown), None)
    if unknown is not None:
        raise NotOneThreadError(f"what '{unknown}' means for one thread alone is not known", pragma.span)


def _take_apart(team: Team, run: tuple[Stmt, ...]) -> None:
    """Sort the statements of `run`, which every thread reaches."""
    before: list[Pragma] = []
    for stmt in run:
        if not isinstance(stmt, Pragma):
            _sort(team, before, stmt)
            before = []
        elif stmt.directive is not None and stmt.directive.stands_alone:
            if stmt.directive.words not in (("barrier",), ("flush",)):
                raise NotOneThreadError(f"'{stmt.directive.title}' inside a parallel region", stmt.span)
            team.pragmas.append(stmt)
        elif stmt.directive is not None:
            before.append(stmt)


def _sort(team: Team, before: list[Pragma], stmt: Stmt) -> None:
    """Sort one statement that the pragmas `before` stand in front of."""
    working = [p for p in before if p.directive is not None and p.directive.words != ("simd",)]
    if not working and isinstance(stmt, If) and stmt.other is None and is_first_thread(stmt.condition, team.numbers):
        team.once.append((team.region.pragma, stmt.then))
        _plain_inside(stmt.then)
        return
    if not working:
        _redundant(team, stmt)
        return
    pragma, directive = working[0], working[0].directive
    words = directive.words if directive is not None else ()
    if directive is None or len(working) > 1 or directive.family != "omp":
        raise NotOneThreadError("several pragmas, or one of another kind, inside a parallel region", pragma.span)
    team.pragmas.append(pragma)
    if words in (("for",), ("for", "simd")):
        _known_clauses(directive, _LOOP_CLAUSES, pragma)
        team.shared_loops.append((pragma, stmt))
        _plain_inside(stmt)
    elif words in _ONCE:
        _known_clauses(directive, _ONCE_CLAUSES, pragma)
        team.once.append((pragma, stmt))
        _plain_inside(stmt)
    elif words[:1] and words[0] in _COMBINING and words[1:] in ((), ("update",)):
        team.combining.append(stmt)
    else:
        raise NotOneThreadError(f"'{directive.title}' inside a parallel region", pragma.span)


def _plain_inside(stmt: Stmt) -> None:
    """Refuse what may not stand inside what threads share or one of them runs."""
    for part in walk(stmt):
        directive = part.directive if isinstance(part, Pragma) else None
        if directive is not None and (
            directive.family != "omp" or directive.words[:1] not in {(w,) for w in _INSIDE_LOOPS}
        ):
            raise NotOneThreadError(f"'{directive.title}' inside what threads share", part.span)


def _redundant(team: Team, stmt: Stmt) -> None:
    """Take a statement apart as far as pragmas stand in it."""
    if not any(_is_apart(team, part) for part in walk(stmt)):
        team.redundant.append(stmt)
        return
    match stmt:
        case ExprStmt() if (call := _shared_call(team, stmt)) is not None:
            team.calls.append(call)
            team.redundant.extend(call.arguments)
        case Block():
            _take_apart(team, stmt.statements)
        case If():
            team.redundant.append(stmt.condition)
            _take_apart(team, (stmt.then,))
            _take_apart(team, (stmt.other,) if stmt.other is not None else ())
        case For():
            if stmt.variable not in team.own:
                every_thread_writes(stmt.variable, stmt.header)
            team.redundant.extend((stmt.lower, stmt.bound))
            _take_apart(team, (stmt.body,))
        case While():
            head = (stmt.init, stmt.condition, stmt.advance)
            team.redundant.extend(part for part in head if part is not None)
            _take_apart(team, (stmt.body,))
        case Switch():
            team.redundant.append(stmt.value)
            for case in stmt.cases:
                _take_apart(team, case.body)
        case _:
            raise NotOneThreadError("a pragma inside a statement that is not modelled", stmt.span)


def _shared_call(team: Team, stmt: Node) -> Call | None:
    """Return the call of a function that shares work, where a statement is that and nothing else."""
    call = peel(stmt.expr) if isinstance(stmt, ExprStmt) else None
    name = peel(call.function) if isinstance(call, Call) else None
    return call if isinstance(call, Call) and isinstance(name, Name) and name.symbol in team.sharing else None


def _is_apart(team: Team, part: Node) -> bool:
    return (isinstance(part, Pragma) and part.directive is not None) or _shared_call(team, part) is not None


def every_thread_writes(symbol: Symbol, span: Span) -> None:
    """Raise that all threads write a variable that they share."""
    text = f"every thread writes {symbol.name}, which they share"
    raise NotOneThreadError(text, span, f"private({symbol.name})", "omp single, master or critical around it")


def find_automatic(node: Node) -> frozenset[Symbol]:
    """Return the automatic variables declared below `node`."""
    found = {d.symbol for n in walk(node) if isinstance(n, DeclStmt) for d in n.declarations}
    found |= {n.variable for n in walk(node) if isinstance(n, For) and n.declares}
    return frozenset(s for s in found if s.storage == "local")
