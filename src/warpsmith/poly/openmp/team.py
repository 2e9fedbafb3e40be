"""The team of threads of an OpenMP parallel region, and whether one thread alone does the same.

    #pragma omp parallel private(i, mine)          every thread
    {
        mine = 0;                                  the same in each of them: once is enough
        #pragma omp for                            together, once
        for (i …) mine += a[i];
        #pragma omp critical                       each thread's part, combined: on one thread the part is the whole
        sum += mine;
    }

Invariant: where nothing stands in the way, the region run by one thread, its pragmas left out, is one of the runs that
OpenMP allows, and what it leaves behind is what every other run of a correct program leaves behind.

A thread's own variable must hold the same in all threads wherever what all of them do reads it: not after a loop that
they share, nor after a statement that one of them runs, wrote it. The exception is a part that is combined later: it
starts as what changes nothing, only shared loops add to it, and nothing but the combination reads it.
What asks which thread it is, or how many there are, is in thread_numbers.py.
Arrays with a part for each thread are in numbered_parts.py.
Limits: tasks, sections, threadprivate variables, calls that share a loop of their own.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct, field

from warpsmith.base.source import Span
from warpsmith.base.verdict import Proved, Reason
from warpsmith.poly.analyze import Facts
from warpsmith.poly.claimed import ParallelRegion, regions_of, threadprivate
from warpsmith.poly.dependences.scalars import classify_scalars
from warpsmith.poly.effects.effects import Effects, effects
from warpsmith.poly.legality.privacy import private_in, read_after
from warpsmith.poly.legality.unread import is_unread
from warpsmith.poly.openmp.numbered_parts import NumberedParts, find_numbered, find_parts
from warpsmith.poly.openmp.team_parts import NEUTRAL, TeamUpdate, parts_in, starts_of
from warpsmith.poly.openmp.thread_numbers import CHOOSES_COUNT, find_free_questions, is_first_thread, thread_numbers
from warpsmith.tree.nodes import (
    Block,
    Case,
    DeclStmt,
    For,
    Function,
    If,
    Loop,
    Node,
    Pragma,
    Return,
    Stmt,
    Switch,
    Verbatim,
    While,
)
from warpsmith.tree.text.directives import Directive
from warpsmith.tree.types import Array, Symbol
from warpsmith.tree.walk import names, walk

__all__ = ["Team", "in_the_way", "region_run", "team_of"]

_REGION_CLAUSES = frozenset(
    {"private", "firstprivate", "shared", "default", "reduction", "num_threads", "proc_bind", "if"}
)
_LOOP_CLAUSES = frozenset(
    {"private", "firstprivate", "lastprivate", "reduction", "nowait", "schedule", "collapse", "shared"}
)
_ONCE_CLAUSES = frozenset({"nowait", "copyprivate"})
_ONCE = frozenset({("single",), ("master",), ("masked",)})
_COMBINING = frozenset({"critical", "atomic"})
_TIMES = frozenset({"omp_get_wtime", "omp_get_wtick"})
_INSIDE_LOOPS = frozenset({"simd", "critical", "atomic", "flush"})


class Team(Struct, frozen=True, eq=False):
    """A parallel region, taken apart. `own`: the variables of which each thread has its own (`listed`: those that are
    declared outside, `summed` among them those of a reduction clause). `shared_loops` are behind `omp for`, each with
    its pragma; `once`: what one of the threads runs; `combining`: what is under critical and atomic; `redundant`: what
    every thread runs, the parts that hold a pragma taken apart further. `pragmas`: all of the region's but its own;
    `numbers`: the variables that hold the number of their thread; `numbered`: the arrays that it is a subscript of."""

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


class _NotOneThreadError(Exception):
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


def in_the_way(facts: Facts, function: Function, region: ParallelRegion) -> Reason | None:
    """Return why one thread may not run the region alone, or None."""
    try:
        team = team_of(function, region)
        _Check(facts, function, team).run()
    except _NotOneThreadError as found:
        return found.reason
    return None


def _parts(facts: Facts, function: Function, region: ParallelRegion) -> NumberedParts:
    question = ("numbered parts", function, region.body)
    return facts.summaries.remember(question, lambda: find_parts(facts, function, region))


def team_of(function: Function, region: ParallelRegion) -> Team:
    """Return the region taken apart; raises where a construct has no meaning on one thread that is known."""
    directive = region.directive
    if directive.family != "omp" or directive.words != ("parallel",):
        raise _NotOneThreadError(f"'{directive.title}' is no plain parallel region", region.pragma.span)
    _known_clauses(directive, _REGION_CLAUSES, region.pragma)
    inside = _find_declared(region.body)
    used = {n.symbol.name: n.symbol for n in names(region.body) if n.symbol not in inside}
    used |= {n.variable.name: n.variable for n in walk(region.body) if isinstance(n, For) and n.variable not in inside}
    opaque = (s for n in walk(region.body) for s in (*getattr(n, "reads", ()), *getattr(n, "writes", ())))
    used = {s.name: s for s in opaque if s not in inside} | used
    listed = frozenset(used[n] for n in directive.list_variables("private", "firstprivate") if n in used)
    summed = frozenset(used[n] for n in directive.list_variables("reduction") if n in used)
    team = Team(region, inside | listed, listed, summed, numbers=thread_numbers(region.body),
                numbered=find_numbered(region.body))  # fmt: skip
    _take_apart(team, region_run(function, region)[1:])
    return team


def _known_clauses(directive: Directive, known: frozenset[str], pragma: Pragma) -> None:
    odd = next((c.text for c in directive.clauses if c.name not in known), None)
    unknown = odd or next(iter(directive.unknown), None)
    if unknown is not None:
        raise _NotOneThreadError(f"what '{unknown}' means for one thread alone is not known", pragma.span)


def _take_apart(team: Team, run: tuple[Stmt, ...]) -> None:
    """Sort the statements of `run`, which every thread reaches."""
    before: list[Pragma] = []
    for stmt in run:
        if not isinstance(stmt, Pragma):
            _sort(team, before, stmt)
            before = []
        elif stmt.directive is not None and stmt.directive.stands_alone:
            if stmt.directive.words not in (("barrier",), ("flush",)):
                raise _NotOneThreadError(f"'{stmt.directive.title}' inside a parallel region", stmt.span)
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
        raise _NotOneThreadError("several pragmas, or one of another kind, inside a parallel region", pragma.span)
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
        raise _NotOneThreadError(f"'{directive.title}' inside a parallel region", pragma.span)


def _plain_inside(stmt: Stmt) -> None:
    """Refuse what may not stand inside what threads share or one of them runs."""
    for part in walk(stmt):
        directive = part.directive if isinstance(part, Pragma) else None
        if directive is not None and (
            directive.family != "omp" or directive.words[:1] not in {(w,) for w in _INSIDE_LOOPS}
        ):
            raise _NotOneThreadError(f"'{directive.title}' inside what threads share", part.span)


def _redundant(team: Team, stmt: Stmt) -> None:
    """Take a statement apart as far as pragmas stand in it."""
    if not any(isinstance(part, Pragma) and part.directive is not None for part in walk(stmt)):
        team.redundant.append(stmt)
        return
    match stmt:
        case Block():
            _take_apart(team, stmt.statements)
        case If():
            team.redundant.append(stmt.condition)
            _take_apart(team, (stmt.then,))
            _take_apart(team, (stmt.other,) if stmt.other is not None else ())
        case For():
            if stmt.variable not in team.own:
                _every_thread_writes(stmt.variable, stmt.header)
            team.redundant.extend((stmt.lower, stmt.bound))
            _take_apart(team, (stmt.body,))
        case While(form="while"):
            team.redundant.extend(part for part in (stmt.condition,) if part is not None)
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
            raise _NotOneThreadError("a pragma inside a statement that is not modelled", stmt.span)


def _every_thread_writes(symbol: Symbol, span: Span) -> None:
    text = f"every thread writes {symbol.name}, which they share"
    raise _NotOneThreadError(text, span, f"private({symbol.name})", "omp single, master or critical around it")


def _find_declared(node: Node) -> frozenset[Symbol]:
    """Return the automatic variables declared below `node`."""
    found = {d.symbol for n in walk(node) if isinstance(n, DeclStmt) for d in n.declarations}
    found |= {n.variable for n in walk(node) if isinstance(n, For) and n.declares}
    return frozenset(s for s in found if s.storage == "local")


class _Check(Struct, frozen=True):
    """The rules, one a method; each raises at the first thing that stands in the way."""

    facts: Facts
    function: Function
    team: Team

    def run(self) -> None:
        self.asks_for_no_thread()
        self.keeps_own_variables_inside()
        parts = parts_in(self.team.combining)
        if parts is None:
            raise _NotOneThreadError(
                "what critical or atomic keeps apart is not each thread's part, combined", self.team.combining[0].span
            )
        for part in parts:
            self.combines(part)
        self.repeats_nothing()
        self.reads_no_sum()
        for pragma, loop in self.team.shared_loops:
            self.shares(pragma, loop, {part.local: part.op for part in parts})
        for pragma, stmt in self.team.once:
            self.runs_once(pragma, stmt)

    def effects(self, node: Node) -> Effects:
        return effects(self.facts.program, node, self.function, self.facts.summaries)

    def asks_for_no_thread(self) -> None:
        """Nothing in the region asks which thread runs it, keeps data of its own for each, or leaves it."""
        for part in walk(self.team.region.body):
            if isinstance(part, Return) or (isinstance(part, Verbatim) and part.control):
                raise _NotOneThreadError("a jump out of a parallel region", part.span)
        own = threadprivate(self.facts.program)
        free = self.find_free_questions()
        for node, holder in self.find_reached():
            for name in names(node):
                symbol = name.symbol
                if id(name) in free:
                    continue
                if symbol.name.startswith("omp_") and symbol.storage == "function" and symbol.name not in _TIMES:
                    why = _parts(self.facts, self.function, self.team.region).why
                    told = f"{symbol.name} tells how many threads there are, or which"
                    raise _NotOneThreadError(f"{told}: {why}" if why else told, name.span)
                if symbol in own:
                    raise _NotOneThreadError(f"each thread has a {symbol.name} of its own (threadprivate)", name.span)
            pragma = next((p for p in walk(node) if isinstance(p, Pragma) and _orphan(p)), None) if holder else None
            if pragma is not None and holder is not None and pragma.directive is not None:
                text = (
                    f"'{pragma.directive.title}' in {holder.symbol.name} (line {pragma.span.line}) shares work "
                    f"among the threads of the region in line {self.team.region.pragma.span.line}, which calls it"
                )
                raise _NotOneThreadError(text, pragma.span)

    def find_free_questions(self) -> frozenset[int]:
        """Return the ids of the Names of functions whose answers make no difference."""
        program, team = self.facts.program, self.team
        mine = self.function.symbol
        if any(mine in self.find_called(r.body) for _, f in program.functions() for r in regions_of(f)):
            return frozenset()  # threads of a team around this one may run it: the answers are that team's
        chosen = any(n.symbol.name in CHOOSES_COUNT for _, f in program.functions() for n in names(f.body))
        chosen |= any(clause.name == "num_threads" for clause in team.region.directive.clauses)
        once = [stmt for _, stmt in team.once]
        parts = _parts(self.facts, self.function, team.region).free
        return find_free_questions(
            team.region.body, once, team.numbers, program.effects, count_is_free=not chosen, parts=parts
        )

    def find_called(self, body: Node) -> frozenset[Symbol]:
        """Return the functions that `body` may call."""
        return frozenset(h.symbol for _, h in self.find_reached(body) if h is not None)

    def find_reached(self, body: Node | None = None) -> Iterator[tuple[Node, Function | None]]:
        """Yield the region (or `body`) and the bodies of all functions that it may call."""
        defined = {f.symbol: f for _, f in self.facts.program.functions()}
        pending: list[tuple[Node, Function | None]] = [(body or self.team.region.body, None)]
        seen: set[Symbol] = set()
        while pending:
            node, holder = pending.pop()
            yield node, holder
            called = {n.symbol for n in names(node) if n.symbol in defined} - seen
            seen |= called
            pending += [(defined[s].body, defined[s]) for s in sorted(called, key=lambda s: s.key)]

    def keeps_own_variables_inside(self) -> None:
        """What a thread's own variable holds is gone after the region: nothing may read what one thread leaves."""
        body = self.team.region.body
        done = self.effects(body)
        live = self.facts.liveness(self.function).after[body]
        for symbol in sorted(self.team.listed & done.writes, key=lambda s: s.key):
            if symbol.storage not in ("local", "parameter"):
                raise _NotOneThreadError(
                    f"{symbol.name} is private here and known everywhere", self.team.region.pragma.span
                )
            if symbol in live and (symbol in done.direct_writes or isinstance(symbol.type, Array)):
                text = f"{symbol.name} is private to the threads, and read after the region, where it has its old value"
                raise _NotOneThreadError(
                    text, self.team.region.pragma.span, f"another variable in place of {symbol.name}"
                )

    def repeats_nothing(self) -> None:
        """What every thread does changes nothing but its own variables."""
        for node in self.team.redundant:
            if isinstance(node, DeclStmt) and all(d.symbol in self.team.numbers for d in node.declarations):
                continue
            done = self.effects(node)
            shared = sorted(done.writes - self.team.own, key=lambda s: s.key)
            shared = [symbol for symbol in shared if not is_unread(self.facts.program, symbol)]
            if done.io or done.calls_unknown or done.allocates:
                why = done.reason or "a call with effects"
                raise _NotOneThreadError(
                    f"every thread does this ({why}): it would happen once only", done.span or node.span,
                    "omp single or master around it",
                )  # fmt: skip
            if shared:
                _every_thread_writes(shared[0], node.span)

    def reads_no_sum(self) -> None:
        """A variable of the region's reduction is a part of the sum until the region ends."""
        inside = {id(n) for _, loop in self.team.shared_loops for n in walk(loop)}
        for name in names(self.team.region.body):
            if name.symbol in self.team.summed and id(name) not in inside:
                text = f"{name.symbol.name} is each thread's part of a reduction here, and no shared loop adds to it"
                raise _NotOneThreadError(text, name.span)

    def combines(self, part: TeamUpdate) -> None:
        """A part starts as nothing, and only shared loops and its combination know it."""
        body, local = self.team.region.body, part.local
        if local not in self.team.own or isinstance(local.type, Array) or part.target in self.team.own:
            raise _NotOneThreadError(
                f"every thread adds {local.name}, of which there is no part in each of them", part.span
            )
        starts = starts_of(body, local)
        wanted = NEUTRAL.get(part.op)
        if not starts or (wanted is not None and any(value != wanted for _, value in starts)):
            text = f"{local.name}, which every thread adds, does not start as a number that changes nothing"
            raise _NotOneThreadError(text, part.span, f"{local.name} = {wanted if wanted is not None else 'a number'}")
        known = {id(n) for node, _ in starts for n in walk(node)}
        known |= {id(n) for _, loop in self.team.shared_loops for n in walk(loop)}
        known |= {id(n) for stmt in self.team.combining for n in walk(stmt)}
        for name in names(body):
            if name.symbol == local and id(name) not in known:
                raise _NotOneThreadError(f"{local.name} is each thread's part, and used as if it were all", name.span)

    def shares(self, pragma: Pragma, loop: Stmt, parts: dict[Symbol, str]) -> None:
        """What iterations write of a thread's own variables is not read after the loop, or is a part."""
        if not isinstance(loop, For | While):
            raise _NotOneThreadError("what stands behind 'omp for' is no loop", loop.span)
        facts, function = self.facts, self.function
        live = facts.liveness(function).after[loop]
        done = self.effects(loop)
        listed = self.find_listed(pragma, loop, "private", "firstprivate")
        own = (self.team.own | listed) - _find_declared(loop)
        roles = classify_scalars(facts.program, function, loop, facts.liveness(function), facts.summaries)
        sums = {r.variable: r.op for r in roles.reductions}
        for symbol in sorted(own & done.writes, key=lambda s: s.key):
            if isinstance(symbol.type, Array):
                if read_after(facts, function, loop, symbol) or not self.starts_afresh(loop, symbol):
                    self.differs(symbol, loop)
            elif symbol in parts:
                if sums.get(symbol) != parts[symbol]:
                    text = f"{symbol.name} is combined by {parts[symbol]}, and the loop does not update it in that way"
                    raise _NotOneThreadError(text, loop.header)
            elif symbol in done.direct_writes and symbol in live:
                self.differs(symbol, loop)

    def find_listed(self, pragma: Pragma, loop: Loop, *clauses: str) -> frozenset[Symbol]:
        wanted = pragma.directive.list_variables(*clauses) if pragma.directive is not None else ()
        return frozenset(n.symbol for n in names(loop) if n.symbol.name in wanted)

    def starts_afresh(self, loop: Loop, symbol: Symbol) -> bool:
        return isinstance(loop, For) and isinstance(private_in(self.facts, self.function, loop, symbol), Proved)

    def differs(self, symbol: Symbol, stmt: Stmt) -> None:
        text = f"{symbol.name} holds something else in each thread after line {stmt.span.line}, and is read there"
        raise _NotOneThreadError(text, stmt.header if isinstance(stmt, For) else stmt.span)

    def runs_once(self, pragma: Pragma, stmt: Stmt) -> None:
        """What one thread writes of its own variables is not read by the others."""
        live = self.facts.liveness(self.function).after[stmt]
        given = pragma.directive.list_variables("copyprivate") if pragma.directive is not None else ()
        done = self.effects(stmt)
        for symbol in sorted((self.team.own - _find_declared(stmt)) & done.writes, key=lambda s: s.key):
            own_object = symbol in done.direct_writes or isinstance(symbol.type, Array)
            if own_object and symbol in live and symbol.name not in given:
                self.differs(symbol, stmt)


def _orphan(pragma: Pragma) -> bool:
    """Whether a pragma of a function speaks of the threads that call it."""
    directive = pragma.directive
    if directive is None or directive.family != "omp":
        return False
    return not directive.starts_threads and directive.words[:1] not in (
        ("simd",),
        ("critical",),
        ("atomic",),
        ("flush",),
    )
