"""Arrays and structs of which each thread of a team has its own, added up in it, and then added to what all share.

    int mine[64];                                 one in each thread
    for (k = 0; k < 64; k++) mine[k] = 0;         all start as zero
    #pragma omp for
    for (i …) mine[key[i]]++;                     a thread adds to its own
    for (k = 1; k < 64; k++)
        mine[k] += mine[k - 1];                   the same in each: sums of elements
    #pragma omp critical
    for (k = 0; k < 64; k++) all[k] += mine[k];   the sum of all threads' elements is added

Invariant: let S be the sum of the threads' own arrays, element by element. Each statement that names them changes S in
a way that depends on S alone, whatever number of threads runs it: all of them set an element to zero, or add one of its
elements to another; a loop that they share adds to an element of one of them. What is added to the shared array is S.
On one thread the array is S. Numbers have one type on the way, so that sums lose nothing.
An element that is read was set to zero before: by a statement in front of all others, in each thread.

Limits: sums only; subscripts of what is combined are variables and numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from warpsmith.poly.analyze import Facts
from warpsmith.poly.effects.effects import effects
from warpsmith.poly.isl.bound_values import constant
from warpsmith.poly.openmp.concurrency.additions import additions_of, cleared_in, is_plain, is_sum_of, is_zero, place_of
from warpsmith.poly.openmp.concurrency.barriers import find_unordered
from warpsmith.poly.openmp.team import NotOneThreadError, Team
from warpsmith.poly.openmp.team_parts import TeamUpdate
from warpsmith.poly.openmp.thread_counts import constant_of, is_variable
from warpsmith.tree.nodes import (
    Block,
    Break,
    Continue,
    DeclStmt,
    Expr,
    ExprStmt,
    For,
    Function,
    Name,
    Node,
    Return,
    Stmt,
)
from warpsmith.tree.types import Array, Record, Scalar, Symbol, Type
from warpsmith.tree.walk import names, peel, same, walk

__all__ = ["check_own_sums", "is_own_sum"]

_LEAVES = (Break, Continue, Return)


class _Use(Struct, frozen=True):
    """An element that a statement names, inside the loops `around`."""

    place: Expr
    around: tuple[For, ...]

    @property
    def members(self) -> tuple[str, ...]:
        found = place_of(self.place)
        return found[2] if found is not None else ()

    @property
    def subscripts(self) -> tuple[Expr, ...]:
        found = place_of(self.place)
        return found[1] if found is not None else ()


class _Clear(Struct, frozen=True):
    """What a statement of a run sets to zero: the whole variable (a Name), or elements; `stmt` stands in the run."""

    use: _Use
    stmt: Stmt


def is_own_sum(part: TeamUpdate) -> bool:
    """Whether what is combined is an array or a struct, or is added to elements: a matter of check_own_sums."""
    return part.places is not None


def check_own_sums(facts: Facts, function: Function, team: Team, parts: Sequence[TeamUpdate]) -> None:
    """Raise where the combinations `parts` of a team may leave something that depends on its number of threads."""
    own = frozenset(p.local for p in parts if p.local in team.own and isinstance(p.local.type, Array | Record))
    check = _Check(facts, function, team, own)
    for part in parts:
        check.combines(part)
    check.reads_no_total(parts)
    for local in sorted(check.locals, key=lambda s: s.key):
        check.adds_up(local, [p for p in parts if p.local == local])


class _Check(Struct, frozen=True):
    """The rules; each raises at the first thing that stands in the way. `locals`: what threads have of their own."""

    facts: Facts
    function: Function
    team: Team
    locals: frozenset[Symbol]

    @property
    def body(self) -> Stmt:
        return self.team.region.body

    # --- what is combined

    def combines(self, part: TeamUpdate) -> None:
        """Elements of a thread's own are added to those of something that all share; which ones is fixed."""
        assert part.places is not None, "of parts named by place"
        target, value = part.places
        if part.local not in self.locals:
            text = f"every thread adds {part.local.name}, of which there is no part in each of them"
            raise NotOneThreadError(text, part.span)
        if part.target in self.team.own | self.team.numbered | self.locals:
            text = f"every thread adds to {part.target.name}, of which each has its own"
            raise NotOneThreadError(text, part.span)
        if not is_sum_of(value.type, target.type):
            text = f"{part.target.name} may take more than a part of {part.local.name} holds: sums of parts differ"
            raise NotOneThreadError(text, part.span)
        counters = {loop.variable for loop in part.around}
        shared = next((loop for loop in part.around if loop.variable not in self.team.own), None)
        if shared is not None:
            raise NotOneThreadError(f"threads share {shared.variable.name}, which each of them sets", shared.header)
        used = [e for place in part.places for e in (place_of(place) or ((), ()))[1]]
        used += [e for loop in part.around for e in (loop.lower, loop.bound)]
        if not all(self.is_fixed(expr, counters) for expr in used):
            text = f"which elements of {part.target.name} a thread adds to may depend on what others added"
            raise NotOneThreadError(text, part.span)

    def is_fixed(self, expr: Expr, counters: set[Symbol]) -> bool:
        """Whether an expression is made of numbers, counters, and variables that no combination changes."""
        if not is_plain(expr):
            return False
        free = {n.symbol for n in names(expr)} - counters - self.team.own
        changed = self.facts.summaries.address_taken.union(
            *(effects(self.facts.program, s, self.function, self.facts.summaries).writes for s in self.team.combining)
        )
        return all(isinstance(s.type, Scalar) and (s.value is not None or s not in changed) for s in free)

    def reads_no_total(self, parts: Sequence[TeamUpdate]) -> None:
        """Nothing reads what threads add to while they do; their own parts are named by additions alone."""
        added = {id(n) for p in parts for place in p.places or () for n in names(place)}
        totals = {p.target for p in parts}
        inside = {id(n) for stmt in self.team.combining for n in names(stmt)}
        kinds: dict[int, str] = {}
        for name in names(self.body):
            if name.symbol in totals:
                kinds[id(name)] = "added" if id(name) in added else "used"
                if id(name) in inside and id(name) not in added:
                    text = f"{name.symbol.name} is used while threads add to it"
                    raise NotOneThreadError(text, name.span)
        run = self.body.statements if isinstance(self.body, Block) else (self.body,)
        met = find_unordered(run, kinds, again=self.team.called)
        if met is not None:
            text = f"{met.symbol.name} is used in line {met.span.line} where other threads may still add to it"
            raise NotOneThreadError(text, met.span, "omp barrier before it")

    # --- what threads have of their own

    def adds_up(self, local: Symbol, parts: Sequence[TeamUpdate]) -> None:
        """Every use of a thread's own is one that the head of this file names."""
        span = parts[0].span
        if local not in self.team.own or local.storage != "local" or local in self.facts.summaries.address_taken:
            raise NotOneThreadError(f"every thread adds {local.name}, of which there is no part in each of them", span)
        reads = [_Use(p.places[1], p.around) for p in parts if p.places is not None]
        clears = list(self.find_clears(local))
        known = {id(n) for one in clears for n in names(one.use.place)}
        known |= {id(n) for use in reads for n in names(use.place)}
        for node in self.team.redundant:
            for stmt, around in _simple(node):
                for target, value in self.find_linear(stmt, local):
                    reads += [_Use(target, around), _Use(value, around)]
                    known |= {id(n) for place in (target, value) for n in names(place) if n.symbol == local}
                    known |= {id(n) for n in _repeated(stmt, target, local)}
        for _, loop in self.team.shared_loops:
            known |= {id(n) for stmt, _ in _simple(loop) for n in self.find_added(stmt, local)}
        other = next((n for n in names(self.body) if n.symbol == local and id(n) not in known), None)
        if other is not None:
            text = f"{local.name} is each thread's part, and used in line {other.span.line} as if it were all"
            raise NotOneThreadError(text, other.span)
        self.starts_as_zero(local, clears, reads)

    def find_linear(self, stmt: Stmt, local: Symbol) -> Iterator[tuple[Expr, Expr]]:
        """Yield the pairs of elements of which a statement that every thread runs adds one to the other."""
        found = additions_of(stmt) or ()
        for one in found:
            pair = (place_of(one.target), place_of(one.value) if one.value is not None else None)
            if one.value is None or any(p is None or p[0].symbol != local for p in pair):
                return
            used = [e for p in pair if p is not None for e in p[1]]
            if not all(map(is_plain, used)) or one.target.type != one.value.type or self.names_local(*used):
                return
            if not is_sum_of(one.value.type, one.target.type):
                return
        yield from ((one.target, one.value) for one in found if one.value is not None)

    def find_added(self, stmt: Stmt, local: Symbol) -> Iterator[Name]:
        """Yield the Names of a thread's own to which a statement of a shared loop adds what they do not tell."""
        for one in additions_of(stmt) or ():
            place = place_of(one.target)
            if place is None or place[0].symbol != local or not isinstance(one.target.type, Scalar):
                continue
            given = [*place[1], *([one.value] if one.value is not None else [])]
            real = one.value is not None and _is_real(one.value.type) and not _is_real(one.target.type)
            if one.target.type.kind in ("float", "signed", "unsigned") and not real and not self.names_local(*given):
                yield from (n for n in names(one.target) if n.symbol == local)
                if one.value is not None:
                    # `s.re = s.re + x` names the element twice
                    yield from _repeated(stmt, one.target, local)

    def names_local(self, *exprs: Expr) -> bool:
        return any(n.symbol in self.locals for expr in exprs for n in names(expr))

    # --- all start as zero

    def find_clears(self, local: Symbol) -> Iterator[_Clear]:
        """Yield what statements that every thread runs set to zero, each in all rounds of the loops around it."""
        for node in self.team.redundant:
            if isinstance(node, DeclStmt):
                declared = next((d for d in node.declarations if d.symbol == local and d.init is not None), None)
                if declared is not None and declared.init is not None and is_zero(declared.init):
                    whole = Name(span=declared.span, type=local.type, symbol=local)
                    yield _Clear(_Use(whole, ()), node)
            elif not isinstance(node, Expr):
                for stmt, around in _simple(node, certain=True):
                    for place in cleared_in(stmt):
                        found = place_of(place)
                        if found is not None and found[0].symbol == local and isinstance(node, Stmt):
                            yield _Clear(_Use(place, around), node)

    def starts_as_zero(self, local: Symbol, clears: Sequence[_Clear], reads: Sequence[_Use]) -> None:
        """Every element that is read was set to zero by a statement in front of all that add to it."""
        first = [one for one in clears if self.is_first(local, one, clears)]
        for use in reads:
            if not any(self.is_cleared(local.type, one.use, use) for one in first):
                text = f"{local.name}, which every thread adds, is not known to start as zeroes"
                raise NotOneThreadError(text, use.place.span, f"{local.name} set to zero in each thread")

    def is_first(self, local: Symbol, clear: _Clear, clears: Sequence[_Clear]) -> bool:
        """Whether all that names the variable, and does not set it to zero, stands behind a statement, in its run."""
        zeroes = {id(n) for one in clears for n in names(one.use.place)}
        used = {id(n) for n in names(self.body) if n.symbol == local} - zeroes
        for part in walk(self.body):
            run = part.statements if isinstance(part, Block) else ()
            at = next((k for k, stmt in enumerate(run) if stmt is clear.stmt), None)
            if at is not None:
                return used <= {id(n) for stmt in run[at + 1 :] for n in names(stmt)}
        return False

    def is_cleared(self, type: Type, clear: _Use, use: _Use) -> bool:
        """Whether what a use names lies in what is set to zero."""
        if isinstance(clear.place, Name):
            return not clear.around  # a loop around it may make no round
        if clear.members != use.members or len(clear.subscripts) != len(use.subscripts):
            return False
        counters = [_loop_of(subscript, clear.around) for subscript in clear.subscripts]
        counting = {id(loop) for loop in counters}
        if len(counting) != len(counters) or any(id(loop) not in counting for loop in clear.around):
            return False
        for loop, subscript in zip(counters, use.subscripts, strict=True):
            count = type.count if isinstance(type, Array) else None
            type = type.of if isinstance(type, Array) else type
            if loop is None or not (_is_whole(loop, count) or self.is_within(loop, subscript, use)):
                return False
        return True

    def is_within(self, loop: For, subscript: Expr, use: _Use) -> bool:
        """Whether a subscript is a counter that goes as far as that of a `loop` that sets elements to zero."""
        other = _loop_of(subscript, use.around)
        if constant_of(loop.lower) != 0 or loop.step != 1 or loop.relation not in ("<", "<="):
            return False
        if other is None or not same(other.bound, loop.bound) or other.relation != loop.relation:
            return False
        lowest = constant_of(other.lower)
        changed = effects(self.facts.program, self.body, self.function, self.facts.summaries).writes
        steady = all(n.symbol not in changed | self.facts.summaries.address_taken for n in names(loop.bound))
        return lowest is not None and lowest >= 0 and other.step > 0 and steady and is_plain(loop.bound)


def _simple(
    node: Node, around: tuple[For, ...] = (), *, certain: bool = False
) -> Iterator[tuple[Stmt, tuple[For, ...]]]:
    """Yield the expression statements below a node with the loops around them; `certain`: those that run in every
    round of these, and nothing else."""
    if isinstance(node, ExprStmt):
        yield node, around
    elif isinstance(node, Block):
        for stmt in node.statements:
            yield from _simple(stmt, around, certain=certain)
    elif isinstance(node, For):
        if not certain or not any(isinstance(part, _LEAVES) for part in walk(node.body)):
            yield from _simple(node.body, (*around, node), certain=certain)
    elif not certain:
        yield from ((part, around) for part in walk(node) if isinstance(part, ExprStmt))


def _loop_of(subscript: Expr, around: tuple[For, ...]) -> For | None:
    """Return the loop of which a subscript is the counter."""
    return next((loop for loop in reversed(around) if is_variable(subscript, loop.variable)), None)


def _is_whole(loop: For, count: int | None) -> bool:
    """Whether a loop counts all elements of an array that has so many."""
    bound = constant(loop.bound)
    if count is None or constant_of(loop.lower) != 0 or loop.step != 1 or bound is None:
        return False
    return (loop.relation == "<" and bound >= count) or (loop.relation == "<=" and bound >= count - 1)


def _repeated(stmt: Stmt, target: Expr, local: Symbol) -> Iterator[Name]:
    """Yield the Names of a variable in what an assignment reads of its own target."""
    for part in walk(stmt):
        if isinstance(part, Expr) and part is not target and same(peel(part), target):
            yield from (n for n in names(part) if n.symbol == local)


def _is_real(type: Type) -> bool:
    return isinstance(type, Scalar) and type.kind == "float"
