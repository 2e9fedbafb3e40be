"""Whether one thread alone does what the team of an OpenMP parallel region does.

    #pragma omp parallel private(i, mine)          every thread
    {
        mine = 0;                                  the same in each of them: once is enough
        #pragma omp for                            together, once
        for (i …) mine += a[i];
        #pragma omp critical                       each thread's part, combined: on one thread the part is the whole
        sum += mine;
        step(sum);                                 shares a loop of its own among them: its body is one of the team's
    }

Invariant: where nothing stands in the way, the region run by one thread, its pragmas left out, is one of the runs that
OpenMP allows, and what it leaves behind is what every other run of a correct program leaves behind.

A thread's own variable must hold the same in all threads wherever what all of them do reads it: not after a loop that
they share, nor after a statement that one of them runs, wrote it. The exception is a part that is combined later: it
starts as what changes nothing, only shared loops add to it, and nothing but the combination reads it.

Functions that share work among their callers (`omp for` outside of any region of theirs) go with all the regions that
lead to them: what such a pragma shares among one thread's callees would be shared by another team's otherwise.
Limits: threadprivate variables; functions that share work are called as statements, by callers that are all known.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping

from msgspec import Struct

from warpsmith.base.source import Span
from warpsmith.base.verdict import Proved, Reason
from warpsmith.poly.analyze import Facts
from warpsmith.poly.claimed import ParallelRegion, regions_of, threadprivate
from warpsmith.poly.dependences.scalars import classify_scalars
from warpsmith.poly.effects.effects import Effects, effects
from warpsmith.poly.effects.outside import outside_of
from warpsmith.poly.legality.privacy import private_in, read_after
from warpsmith.poly.legality.unread import is_unread
from warpsmith.poly.openmp.concurrency.kept_counts import find_kept_counts
from warpsmith.poly.openmp.concurrency.own_memory import (
    check_own_memory,
    find_own_memory,
    hands_nothing_own,
    is_of_own_memory,
)
from warpsmith.poly.openmp.concurrency.own_sums import check_own_sums, is_own_sum
from warpsmith.poly.openmp.concurrency.part_loops import count_variables
from warpsmith.poly.openmp.numbered_parts import NumberedParts, find_parts
from warpsmith.poly.openmp.team import (
    NotOneThreadError,
    Team,
    every_thread_writes,
    find_automatic,
    orphan_in,
    sharing_functions,
    team_of,
    team_of_called,
)
from warpsmith.poly.openmp.team_parts import NEUTRAL, TeamUpdate, parts_in, starts_of
from warpsmith.poly.openmp.thread_numbers import CHOOSES_COUNT, TIMES, find_free_questions
from warpsmith.tree.nodes import (
    Call,
    DeclStmt,
    Empty,
    Expr,
    ExprStmt,
    For,
    Function,
    Loop,
    Node,
    Pragma,
    Return,
    Stmt,
    Top,
    Verbatim,
    While,
)
from warpsmith.tree.program import Program
from warpsmith.tree.types import Array, Symbol
from warpsmith.tree.walk import names, peel, rebuild, walk

__all__ = ["in_the_way", "teams"]


def in_the_way(facts: Facts, function: Function, region: ParallelRegion) -> Reason | None:
    """Return why one thread may not run the region alone, and the others that go with it, or None."""
    try:
        for holder, team in teams(facts.program, function, region):
            if team.called:
                _has_known_callers(facts.program, holder, region)
            elif team.sharing and team.region.directive.has("if"):
                raise NotOneThreadError("a condition says whether there are threads", team.region.pragma.span)
            _Check(facts, holder, team).run()
    except NotOneThreadError as found:
        return found.reason
    return None


def teams(program: Program, function: Function, region: ParallelRegion) -> list[tuple[Function, Team]]:
    """Return what one thread must run alone together: the region, the functions that share work among its threads, and
    the other regions that lead to these, each with its function. Raises where one cannot be taken apart."""
    regions = [(function, region)]
    functions = {f.symbol: f for f in sharing_functions(program, region.body)}
    others = [(f, r) for _, f in program.functions() for r in regions_of(f)] if functions else []
    more = True
    while more:
        known = {id(r.pragma) for _, r in regions}
        reached = ((f, r, sharing_functions(program, r.body)) for f, r in others if id(r.pragma) not in known)
        added = [(f, r, shared) for f, r, shared in reached if any(one.symbol in functions for one in shared)]
        regions += [(f, r) for f, r, _ in added]
        functions.update((one.symbol, one) for _, _, shared in added for one in shared)
        more = bool(added)
    found = [(f, team_of(program, f, r)) for f, r in regions]
    return [*found, *((f, team_of_called(program, f, region)) for f in functions.values())]


def _has_known_callers(program: Program, function: Function, region: ParallelRegion) -> None:
    """Refuse a function that code which is not at hand may call, on threads of its own."""
    symbol = function.symbol
    whole = any(f.symbol.name == "main" for _, f in program.functions())
    closed = whole if program.outside is None else outside_of(program).closed
    named = f"{symbol.name} shares work among the threads of the region in line {region.pragma.span.line}"
    if not function.static and not closed:
        raise NotOneThreadError(f"{named}, and other files may call it", symbol.span or function.span)
    tops = (item for unit in program.units for item in (*unit.items, *unit.functions))
    other = next((found[symbol] for found in map(_find_passed, tops) if symbol in found), None)
    if other is not None:
        raise NotOneThreadError(f"{named}, and its address is taken", other)


# asked for every function that shares work; steps change few functions of a program
@functools.lru_cache(maxsize=4096)
def _find_passed(top: Top) -> Mapping[Symbol, Span]:
    """Return the functions that are named without being called there, each with a place."""
    called = {id(peel(part.function)) for part in walk(top) if isinstance(part, Call)}
    named = (n for n in names(top) if n.symbol.storage == "function" and id(n) not in called)
    return {n.symbol: n.span for n in named}


def _parts(facts: Facts, function: Function, region: ParallelRegion) -> NumberedParts:
    question = ("numbered parts", function, region.body)
    return facts.summaries.remember(question, lambda: find_parts(facts, function, region))


class _Check(Struct, frozen=True):
    """The rules, one a method; each raises at the first thing that stands in the way."""

    facts: Facts
    function: Function
    team: Team

    def run(self) -> None:
        self.asks_for_no_thread()
        hands_nothing_own(self.facts, self.function, self.team)
        self.keeps_own_variables_inside()
        parts = parts_in(self.team.combining)
        if parts is None:
            raise NotOneThreadError(
                "what critical or atomic keeps apart is not each thread's part, combined", self.team.combining[0].span
            )
        sums = [part for part in parts if is_own_sum(part)]
        if sums:
            check_own_sums(self.facts, self.function, self.team, sums)
        for part in parts:
            if part not in sums:
                self.combines(part)
        self.repeats_nothing()
        check_own_memory(self.facts, self.function, self.team, self.own_memory)
        self.reads_no_sum()
        for pragma, loop in self.team.shared_loops:
            self.shares(pragma, loop, {part.local: "" if part in sums else part.op for part in parts})
        for pragma, stmt in self.team.once:
            self.runs_once(pragma, stmt)

    def effects(self, node: Node) -> Effects:
        return effects(self.facts.program, node, self.function, self.facts.summaries)

    def asks_for_no_thread(self) -> None:
        """Nothing in the region asks which thread runs it, keeps data of its own for each, or leaves it."""
        for part in walk(self.team.region.body):
            leaves = isinstance(part, Return) and not self.team.called
            if leaves or (isinstance(part, Verbatim) and part.control):
                raise NotOneThreadError("a jump out of a parallel region", part.span)
        own = threadprivate(self.facts.program)
        free = self.find_free_questions()
        shared = {id(peel(call.function)) for call in self.team.calls}
        for node, _ in self.find_reached(passed=self.team.sharing):
            for name in names(node):
                symbol = name.symbol
                if symbol in self.team.sharing and id(name) not in shared:
                    self.shares_work(symbol)
                if id(name) in free:
                    continue
                if symbol.name.startswith("omp_") and symbol.storage == "function" and symbol.name not in TIMES:
                    why = "" if self.team.called else _parts(self.facts, self.function, self.team.region).why
                    told = f"{symbol.name} tells how many threads there are, or which"
                    raise NotOneThreadError(f"{told}: {why}" if why else told, name.span)
                if symbol in own:
                    raise NotOneThreadError(f"each thread has a {symbol.name} of its own (threadprivate)", name.span)

    def shares_work(self, symbol: Symbol) -> None:
        """A function that shares work is called by all threads, in a statement of its own."""
        functions = sharing_functions(self.facts.program, self.team.region.body)
        orphans = ((f, orphan_in(f)) for f in sorted(functions, key=lambda f: f.symbol != symbol))
        holder, pragma = next((f, p) for f, p in orphans if p is not None)
        title = pragma.directive.title if pragma.directive is not None else pragma.text
        text = (
            f"'{title}' in {holder.symbol.name} (line {pragma.span.line}) shares work among the threads of the region "
            f"in line {self.team.region.pragma.span.line}, which calls it inside another statement"
        )
        raise NotOneThreadError(text, pragma.span)

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
        parts |= {id(n) for stmt in find_kept_counts(team) for n in names(stmt)}
        told = find_free_questions(
            team.region.body, once, team.numbers, program.effects, count_is_free=not chosen, parts=parts
        )
        return told | self.find_free_counts(told)

    def find_free_counts(self, told: frozenset[int]) -> frozenset[int]:
        """Return the ids of Names that ask for the number of threads where a variable is declared with it, and only
        what is `told` names that."""
        body, counts = self.team.region.body, self.counts
        misused = {n.symbol for n in names(body) if n.symbol in counts and id(n) not in told} if counts else set()
        declared = (d for p in walk(body) if isinstance(p, DeclStmt) for d in p.declarations) if counts else ()
        free = (d.init for d in declared if d.symbol in counts - misused and d.init is not None)
        return frozenset(id(n) for init in free for n in names(init))

    @property
    def counts(self) -> frozenset[Symbol]:
        """The variables that each thread declares with the number of threads; they are no function's that is shared."""
        return frozenset() if self.team.called else count_variables(self.team.region.body)

    def find_called(self, body: Node) -> frozenset[Symbol]:
        """Return the functions that `body` may call."""
        return frozenset(h.symbol for _, h in self.find_reached(body) if h is not None)

    def find_reached(
        self, body: Node | None = None, passed: frozenset[Symbol] = frozenset()
    ) -> Iterator[tuple[Node, Function | None]]:
        """Yield the region (or `body`) and the bodies of all functions that it may call, those `passed` left out."""
        defined = {f.symbol: f for _, f in self.facts.program.functions()}
        pending: list[tuple[Node, Function | None]] = [(body or self.team.region.body, None)]
        seen: set[Symbol] = set()
        while pending:
            node, holder = pending.pop()
            yield node, holder
            called = {n.symbol for n in names(node) if n.symbol in defined} - seen - passed
            seen |= called
            pending += [(defined[s].body, defined[s]) for s in sorted(called, key=lambda s: s.key)]

    def keeps_own_variables_inside(self) -> None:
        """What a thread's own variable holds is gone after the region: nothing may read what one thread leaves."""
        if not self.team.listed:
            return
        body = self.team.region.body
        done = self.effects(body)
        live = self.facts.liveness(self.function).after[body]
        for symbol in sorted(self.team.listed & done.writes, key=lambda s: s.key):
            if symbol.storage not in ("local", "parameter"):
                raise NotOneThreadError(
                    f"{symbol.name} is private here and known everywhere", self.team.region.pragma.span
                )
            if symbol in live and (symbol in done.direct_writes or isinstance(symbol.type, Array)):
                text = f"{symbol.name} is private to the threads, and read after the region, where it has its old value"
                raise NotOneThreadError(
                    text, self.team.region.pragma.span, f"another variable in place of {symbol.name}"
                )

    def repeats_nothing(self) -> None:
        """What every thread does changes nothing but its own variables."""
        for node in self.team.redundant:
            told = self.team.numbers | self.counts if isinstance(node, DeclStmt) else frozenset[Symbol]()
            if isinstance(node, DeclStmt) and all(d.symbol in told or d.init is None for d in node.declarations):
                continue
            done = self.effects(self.without_parts(node))
            allocates = done.allocates and not is_of_own_memory(node, self.own_memory)
            shared = sorted(done.writes - self.team.own, key=lambda s: s.key)
            shared = [symbol for symbol in shared if not is_unread(self.facts.program, symbol)]
            if done.io or done.asserts or done.calls_unknown or allocates:
                why = done.reason or "a call with effects"
                raise NotOneThreadError(
                    f"every thread does this ({why}): it would happen once only", done.span or node.span,
                    "omp single or master around it",
                )  # fmt: skip
            if shared:
                every_thread_writes(shared[0], node.span)

    @property
    def own_memory(self) -> Mapping[Symbol, Node]:
        question = ("own memory", self.function, self.team.region.body)
        return self.facts.summaries.remember(question, lambda: find_own_memory(self.facts, self.function, self.team))

    def without_parts(self, node: Node) -> Node:
        """Return what every thread runs without what it does to its part of an array, and without loops over all
        parts, but for what these do for each."""
        parts = NumberedParts() if self.team.called else _parts(self.facts, self.function, self.team.region)
        cleared = {id(stmt) for stmt in parts.cleared}
        sums = {id(one.loop): one for one in parts.sums}
        if not (cleared or sums) or isinstance(node, Expr):
            return node
        shared = next((s for s in sums.values() if not s.declares and s.variable not in self.team.own), None)
        if shared is not None:
            every_thread_writes(shared.variable, shared.loop.header)

        def change(part: Node) -> Node:
            if isinstance(part, ExprStmt) and id(part) in cleared:
                return Empty(span=part.span)
            return part.body if isinstance(part, For | While) and id(part) in sums else part

        return rebuild(node, change)

    def reads_no_sum(self) -> None:
        """A variable of the region's reduction is a part of the sum until the region ends."""
        inside = {id(n) for _, loop in self.team.shared_loops for n in walk(loop)}
        for name in names(self.team.region.body):
            if name.symbol in self.team.summed and id(name) not in inside:
                text = f"{name.symbol.name} is each thread's part of a reduction here, and no shared loop adds to it"
                raise NotOneThreadError(text, name.span)

    def combines(self, part: TeamUpdate) -> None:
        """A part starts as nothing, and only shared loops and its combination know it."""
        body, local = self.team.region.body, part.local
        if local not in self.team.own or isinstance(local.type, Array) or part.target in self.team.own:
            raise NotOneThreadError(
                f"every thread adds {local.name}, of which there is no part in each of them", part.span
            )
        starts = starts_of(body, local)
        wanted = NEUTRAL.get(part.op)
        if not starts or (wanted is not None and any(value != wanted for _, value in starts)):
            text = f"{local.name}, which every thread adds, does not start as a number that changes nothing"
            raise NotOneThreadError(text, part.span, f"{local.name} = {wanted if wanted is not None else 'a number'}")
        known = {id(n) for node, _ in starts for n in walk(node)}
        known |= {id(n) for _, loop in self.team.shared_loops for n in walk(loop)}
        known |= {id(n) for stmt in self.team.combining for n in walk(stmt)}
        for name in names(body):
            if name.symbol == local and id(name) not in known:
                raise NotOneThreadError(f"{local.name} is each thread's part, and used as if it were all", name.span)

    def shares(self, pragma: Pragma, loop: Stmt, parts: dict[Symbol, str]) -> None:
        """What iterations write of a thread's own variables is not read after the loop, or is a part."""
        if not isinstance(loop, For | While):
            raise NotOneThreadError("what stands behind 'omp for' is no loop", loop.span)
        facts, function = self.facts, self.function
        live = facts.liveness(function).after[loop]
        done = self.effects(loop)
        listed = self.find_listed(pragma, loop, "private", "firstprivate")
        own = (self.team.own | listed) - find_automatic(loop)
        roles = classify_scalars(facts.program, function, loop, facts.liveness(function), facts.summaries)
        sums = {r.variable: r.op for r in roles.reductions}
        for symbol in sorted(own & done.writes, key=lambda s: s.key):
            if parts.get(symbol) == "":
                continue  # see own_sums.py
            if symbol in self.own_memory or isinstance(symbol.type, Array):
                if self.is_read_behind(loop, symbol) or not self.starts_afresh(loop, symbol):
                    self.differs(symbol, loop)
            elif symbol in parts:
                if sums.get(symbol) != parts[symbol]:
                    text = f"{symbol.name} is combined by {parts[symbol]}, and the loop does not update it in that way"
                    raise NotOneThreadError(text, loop.header)
            elif symbol in done.direct_writes and symbol in live:
                self.differs(symbol, loop)

    def find_listed(self, pragma: Pragma, loop: Loop, *clauses: str) -> frozenset[Symbol]:
        wanted = pragma.directive.list_variables(*clauses) if pragma.directive is not None else ()
        return frozenset(n.symbol for n in names(loop) if n.symbol.name in wanted)

    def starts_afresh(self, loop: Loop, symbol: Symbol) -> bool:
        return isinstance(loop, For) and isinstance(private_in(self.facts, self.function, loop, symbol), Proved)

    def is_read_behind(self, loop: Loop, symbol: Symbol) -> bool:
        """Whether what the loop leaves in an array may be read; of blocks, see own_memory.py."""
        if symbol in self.own_memory:
            return symbol in self.effects(loop).direct_writes
        return read_after(self.facts, self.function, loop, symbol)

    def differs(self, symbol: Symbol, stmt: Stmt) -> None:
        text = f"{symbol.name} holds something else in each thread after line {stmt.span.line}, and is read there"
        raise NotOneThreadError(text, stmt.header if isinstance(stmt, For) else stmt.span)

    def runs_once(self, pragma: Pragma, stmt: Stmt) -> None:
        """What one thread writes of its own variables is not read by the others."""
        live = self.facts.liveness(self.function).after[stmt]
        given = pragma.directive.list_variables("copyprivate") if pragma.directive is not None else ()
        done = self.effects(stmt)
        for symbol in sorted((self.team.own - find_automatic(stmt)) & done.writes, key=lambda s: s.key):
            own_object = symbol in done.direct_writes or isinstance(symbol.type, Array)
            if own_object and symbol in live and symbol.name not in given:
                self.differs(symbol, stmt)
