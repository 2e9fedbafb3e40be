"""One thread in place of a parallel region's many: see Unthread.

Invariant: what is left out are pragmas of the region itself; every statement stays, in its order. A loop keeps a
`parallel for` of its own where that says of its variables what the region said.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import ClassVar, Final

from msgspec import Struct

from warpsmith.base.verdict import Proved, Unknown, Verdict
from warpsmith.loops.analysis.shape import does_not_fit
from warpsmith.loops.place import LoopContext, with_run
from warpsmith.poly.analyze import Facts
from warpsmith.poly.claimed import ParallelRegion, regions_of
from warpsmith.poly.dependences.scalars import classify_scalars
from warpsmith.poly.effects.effects import effects
from warpsmith.poly.facts import PolyOptions
from warpsmith.poly.legality.privacy import private_in
from warpsmith.poly.openmp.concurrency.kept_counts import clauses_of_count, find_kept_counts
from warpsmith.poly.openmp.concurrency.one_loop import loop_in_the_way, shared_loop
from warpsmith.poly.openmp.concurrency.one_thread import in_the_way, teams
from warpsmith.poly.openmp.concurrency.own_memory import find_own_memory
from warpsmith.poly.openmp.concurrency.part_loops import PartLoop, count_variables
from warpsmith.poly.openmp.numbered_parts import find_parts
from warpsmith.poly.openmp.team import Team, region_run, sharing_functions
from warpsmith.poly.openmp.thread_numbers import is_number
from warpsmith.tree.named import find_named
from warpsmith.tree.nodes import (
    Assign,
    Block,
    Case,
    DeclStmt,
    ExprStmt,
    For,
    Function,
    Index,
    Literal,
    Name,
    Node,
    Pragma,
    Stmt,
    Unary,
    replace,
)
from warpsmith.tree.program import Program
from warpsmith.tree.text.directives import Clause, Directive, ListItem
from warpsmith.tree.types import INT, Array, Symbol
from warpsmith.tree.walk import names, peel, rebuild, root_symbol, walk

__all__ = ["Unthread", "region_around"]

_DROPPED: Final = frozenset({"nowait"})


class Unthread(Struct, frozen=True):
    """Let one thread run the parallel region around a loop: the region's pragma goes, and with it what shares work
    among the threads. Each shared loop is a `parallel for` of its own then, where its variables allow that.

    Legal where one thread does what all of them did: what every thread does again changes only its own variables, no
    value that differs between the threads is read behind the loop that made it, and what critical sections add up, or
    loops over an array with a part for each thread (`part[omp_get_thread_num()]`), are the threads' parts of one sum
    (OpenMP 5.2, 5.1.1; the region split at its worksharing constructs). Functions that share work among the threads
    that call them go with it, and so do all other regions that lead to these. A loop that is a `parallel for` itself
    loses that pragma: then loops in it can be kernels.

    Step: loop=f/i

    Before:
        void f(int n, double *a, double *b)
        {
            double h;
        #pragma omp parallel private(h)
            {
                h = 1.0 / n;
        #pragma omp for nowait
                for (int i = 0; i < n; i++)
                    a[i] = i * h;
        #pragma omp barrier
        #pragma omp single
                b[0] = a[n - 1];
            }
        }

    After:
        void f(int n, double *a, double *b)
        {
            double h;
            {
                h = 1.0 / n;
        #pragma omp parallel for
                for (int i = 0; i < n; i++)
                    a[i] = i * h;
                b[0] = a[n - 1];
            }
        }
    """

    name: ClassVar[str] = "unthread"

    loop: str

    def check(self, program: Program, facts: Facts) -> Verdict:
        """Say whether one thread does what the region's threads do."""
        place = LoopContext.of(program, self.loop)
        found = _region(program, place)
        if found is None:
            return does_not_fit("the loop stands in no parallel region", place.loop)
        function, region = found
        why = (loop_in_the_way if _is_loop(region) else in_the_way)(facts, function, region)
        return Proved() if why is None else Unknown((why,))

    def apply(self, program: Program) -> Program:
        """Return the program with the statements of the region alone, and of what goes with it."""
        found = _region(program, LoopContext.of(program, self.loop))
        assert found is not None, "checked"
        function, region = found
        if _is_loop(region):
            run = region_run(function, region)
            return with_run(program, function, run, run[1:])
        facts = Facts.about(program, PolyOptions())
        changes = [(f.symbol, *_change(facts, f, team)) for f, team in teams(program, *found)]
        for symbol, run, alone in changes:
            function = next(f for _, f in program.functions() if f.symbol == symbol)
            program = with_run(program, function, run, alone) if alone != run else program
        return program


_Run = tuple[Stmt, ...]


def _is_loop(region: ParallelRegion) -> bool:
    """Whether the threads have nothing but a loop to share."""
    return region.directive.words != ("parallel",)


def _region(program: Program, place: LoopContext) -> tuple[Function, ParallelRegion] | None:
    """Return the region around a loop, or that it is by itself, or the first one that leads to the loop's function,
    which shares work among its threads, with the region's function."""
    around = region_around(place.function, place.loop) or shared_loop(place.function, place.loop)
    if around is not None:
        return place.function, around
    plain = ((f, r) for _, f in program.functions() for r in regions_of(f) if r.directive.words == ("parallel",))
    return next(((f, r) for f, r in plain if place.function in sharing_functions(program, r.body)), None)


def _change(facts: Facts, function: Function, team: Team) -> tuple[_Run, _Run]:
    """Return the statements of a team, and what one thread runs in place of them."""
    kept: dict[int, Pragma | None] = {id(pragma): None for pragma in team.pragmas}
    atomic: dict[int, Stmt] = {}
    for pragma, loop in team.shared_loops:
        own = kept[id(pragma)] = _own_pragma(facts, function, team, pragma, loop)
        if own is not None:
            atomic[id(loop)] = _with_atomic_parts(loop, team)
    if team.called:
        run = function.body.statements
        return run, _drop_pragmas(run, kept, atomic) if kept else run
    run = region_run(function, team.region)
    alone = tuple(_with_first_parts(stmt, team) for stmt in _drop_pragmas(run[1:], kept, atomic))
    alone = _with_kept_counts(_with_one_part(alone, find_parts(facts, function, team.region).sums), team)
    return run, _drop_unused_numbers(alone, team)


def _with_one_part(run: _Run, sums: Sequence[PartLoop]) -> _Run:
    """Return `run` with the first part alone where loops go over all parts."""
    found = {id(one.loop): one for one in sums}

    def change(node: Node) -> Node:
        one = found.get(id(node))
        return node if one is None else rebuild(one.loop.body, lambda part: first(part, one.variable))

    def first(part: Node, variable: Symbol) -> Node:
        mine = isinstance(part, Name) and part.symbol == variable
        return Literal(span=part.span, type=INT, text="0", value=0) if mine else part

    return tuple(rebuild(stmt, change) for stmt in run) if found else run


def _with_kept_counts(run: _Run, team: Team) -> _Run:
    """Return `run` with a region of its own for each statement that stores the number of threads."""
    kept = {id(stmt) for stmt in find_kept_counts(team)}
    counts = clauses_of_count(team) or ()
    made: set[int] = set()

    def ask(stmt: Stmt) -> Block:
        text = " ".join(["#pragma omp parallel", *(clause.text for clause in counts)])
        region = Pragma(span=stmt.span, text=text, directive=Directive("omp", ("parallel",), counts))
        master = Pragma(span=stmt.span, text="#pragma omp master", directive=Directive("omp", ("master",), ()))
        alone = Block(span=stmt.span, statements=(region, Block(span=stmt.span, statements=(master, stmt))))
        made.add(id(alone))
        return alone

    def change(node: Node) -> Node:
        if isinstance(node, ExprStmt) and id(node) in kept:
            return ask(node)
        if isinstance(node, Block) and any(id(s) in made for s in node.statements):
            inner = (s.statements if isinstance(s, Block) and id(s) in made else (s,) for s in node.statements)
            return replace(node, statements=tuple(itertools.chain.from_iterable(inner)))
        return node

    return tuple(rebuild(stmt, change) for stmt in run) if kept else run


def region_around(function: Function, loop: Node) -> ParallelRegion | None:
    """Return the outermost plain parallel region that holds `loop`."""
    for region in regions_of(function):
        if region.directive.words == ("parallel",) and any(part is loop for part in walk(region.body)):
            return region
    return None


def _drop_pragmas(
    run: tuple[Stmt, ...], kept: dict[int, Pragma | None], rewritten: dict[int, Stmt]
) -> tuple[Stmt, ...]:
    """Return `run` with what `kept` has in place of its pragmas, and `rewritten` in place of its loops."""

    def list_statements(statements: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        found = (kept.get(id(s), s) if isinstance(s, Pragma) else rewritten.get(id(s), s) for s in statements)
        return tuple(new for new in found if new is not None)

    def change(node: Node) -> Node:
        match node:
            case Block(statements=statements) if any(id(s) in kept for s in statements):
                return replace(node, statements=list_statements(statements))
            case Case(body=statements) if any(id(s) in kept for s in statements):
                return replace(node, body=list_statements(statements))
            case _:
                return node

    return tuple(stmt if isinstance(stmt, Pragma) else rebuild(stmt, change) for stmt in list_statements(run))


def _with_first_parts(stmt: Stmt, team: Team) -> Stmt:
    """Return a statement with the first part in place of the part of the thread, which is the first one."""
    if not any(n.symbol in team.numbered for n in names(stmt)):
        return stmt

    def change(node: Node) -> Node:
        mine = isinstance(node, Index) and root_symbol(node) in team.numbered and is_number(node.index, team.numbers)
        if not mine or not isinstance(node, Index) or isinstance(peel(node.base), Index):
            return node
        return replace(node, index=Literal(span=node.index.span, type=INT, text="0", value=0))

    return rebuild(stmt, change)


def _drop_unused_numbers(run: tuple[Stmt, ...], team: Team) -> tuple[Stmt, ...]:
    """Return `run` without the declarations of thread numbers that nothing names any more."""
    named = {symbol for stmt in run for part in walk(stmt) for symbol in find_named(part)}
    told = team.numbers | count_variables(team.region.body)

    def is_unused(stmt: Stmt) -> bool:
        return isinstance(stmt, DeclStmt) and all(d.symbol in told - named for d in stmt.declarations)

    def change(node: Node) -> Node:
        if not isinstance(node, Block) or not any(map(is_unused, node.statements)):
            return node
        return replace(node, statements=tuple(stmt for stmt in node.statements if not is_unused(stmt)))

    return tuple(rebuild(stmt, change) for stmt in run)


def _with_atomic_parts(loop: Stmt, team: Team) -> Stmt:
    """Return a loop that adds to parts by atomic updates: the part is the same one for all of its threads."""

    def change(node: Node) -> Node:
        expr = peel(node.expr) if isinstance(node, ExprStmt) else None
        target = expr.target if isinstance(expr, Assign) else expr.operand if isinstance(expr, Unary) else None
        if not isinstance(node, ExprStmt) or target is None or root_symbol(target) not in team.numbered:
            return node
        pragma = Pragma(span=node.span, text="#pragma omp atomic", directive=Directive("omp", ("atomic",), ()))
        return Block(span=node.span, statements=(pragma, node))

    return rebuild(loop, change) if team.numbered else loop


def _own_pragma(facts: Facts, function: Function, team: Team, pragma: Pragma, loop: Stmt) -> Pragma | None:
    """Return `parallel for` for a loop that the region's threads share, or None where it would say something else."""
    directive = pragma.directive
    if (
        directive is None
        or not isinstance(loop, For)
        or any(c.name == "private" and not c.variables for c in directive.clauses)
    ):
        return None
    private = _private(facts, function, team, directive, loop)
    if private is None:
        return None
    clauses = [clause for clause in directive.clauses if clause.name not in _DROPPED]
    clauses += _sums(team, directive, loop)
    if private:
        listed = tuple(ListItem(symbol.name) for symbol in private)
        clauses.append(Clause("private", f"private({', '.join(v.name for v in listed)})", listed))
    words = ("parallel", *directive.words)
    text = " ".join(["#pragma omp", *words, *(clause.text for clause in clauses)])
    return replace(pragma, text=text, directive=Directive("omp", words, tuple(clauses)))


def _private(
    facts: Facts, function: Function, team: Team, directive: Directive, loop: For
) -> tuple[Symbol, ...] | None:
    """Return the threads' own variables that every iteration has for itself; None where iterations share one."""
    done = effects(facts.program, loop, function, facts.summaries)
    roles = classify_scalars(facts.program, function, loop, facts.liveness(function), facts.summaries)
    live = facts.liveness(function).after[loop]
    named = directive.list_variables("private", "firstprivate", "lastprivate", "reduction", "linear")
    blocks = find_own_memory(facts, function, team) if not team.called else {}
    if any(symbol in done.element_writes for symbol in blocks):
        return None
    found: list[Symbol] = []
    for symbol in sorted(team.own & done.writes, key=lambda s: s.key):
        if symbol == loop.variable or symbol.name in named:
            continue
        if isinstance(symbol.type, Array):
            if not isinstance(private_in(facts, function, loop, symbol), Proved):
                return None
            found.append(symbol)
        elif symbol in done.direct_writes:
            if symbol not in roles.private or symbol in live:
                return None
            found.append(symbol)
    return tuple(found)


def _sums(team: Team, directive: Directive, loop: For) -> list[Clause]:
    """Return the region's reduction clauses for what the loop uses of them."""
    used = {n.symbol.name for n in names(loop)} - set(directive.list_variables("reduction"))
    found: list[Clause] = []
    for clause in team.region.directive.clauses:
        listed = tuple(v for v in clause.variables if v.name in used)
        if clause.name == "reduction" and listed:
            text = f"reduction({clause.operator}: {', '.join(v.name + v.section for v in listed)})"
            found.append(Clause("reduction", text, listed, clause.operator))
    return found
