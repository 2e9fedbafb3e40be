"""What may run while a loop that threads share runs: the statements between two points at which all threads wait.

    #pragma omp for nowait
    for (i …) …                    the loop
    x = 1;                         behind it: a thread that is through goes on at once …
    for (t …) {                    … into the first round of this loop …
        #pragma omp for
        for (j …) …                … up to here, where it waits
        y = 2;
    }

Seen from the loop, its surroundings are left step by step: what stands behind it in its block (before it, where one
looks back), then the other rounds of the loop around that block, what stands behind that one, and so on. Each step is a
phase. Invariant: every statement of the parallel region that another thread may run at the same time because nobody
waits in between is covered by a phase, or it is said that the function is left without a wait. Conditions around the
loop are statements before it: a late thread decides them while others run it. A jump goes past the waits behind it.
Nobody ever waits for other teams before their region ends (`teams`).
Limits: what is called is taken to wait for nobody, unless the walk asks what certainly runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from warpsmith.poly.pointers.control import escapes
from warpsmith.tree.nodes import (
    Block,
    Call,
    Case,
    For,
    Function,
    If,
    Literal,
    Loop,
    Node,
    Pragma,
    Stmt,
    Switch,
    Verbatim,
    While,
)
from warpsmith.tree.program import Program
from warpsmith.tree.text.directives import Directive
from warpsmith.tree.types import Symbol
from warpsmith.tree.walk import children, peel, walk, way_to

__all__ = ["WaitPhase", "Walls", "phases", "waiting_functions"]

_WAITED = frozenset({"for", "loop", "single", "sections", "workshare", "scope"})
_COMPARED = {"<": int.__lt__, "<=": int.__le__, ">": int.__gt__, ">=": int.__ge__, "!=": int.__ne__}

_Item = tuple[Stmt, tuple[Directive, ...]]


class WaitPhase(Struct, frozen=True):
    """Statements that may run while the loop runs.

    `scope`: the statements to look at together, the loop among or in them; `around`: the loops around these. `whole`:
    statements that may run with all that is in them, `heads`: those of which only conditions and bounds may; `sure`:
    those of `whole` that each thread comes to without a wait and whatever the data. `rounds`: they run in another round
    of this loop than the loop that is asked about, in the one next to it unless `any_round`. `straight`: no other loop
    lies between the scope and the loop, and nothing on the way may wait or jump.
    """

    scope: tuple[Stmt, ...]
    around: tuple[Loop, ...]
    whole: frozenset[Stmt]
    heads: frozenset[Stmt]
    sure: frozenset[Stmt]
    rounds: Loop | None = None
    any_round: bool = False
    straight: bool = True


class Walls(Struct, frozen=True):
    """Where threads wait for each other; `teams`: it is teams, which never do. `waiting`: functions that wait."""

    teams: bool
    waiting: frozenset[Symbol] = frozenset()

    def at_end(self, directives: Sequence[Directive]) -> bool:
        """Whether all threads wait at the end of what stands behind these directives."""
        return not self.teams and any(
            bool(_WAITED.intersection(d.words[:1])) and not d.has("nowait") and "thread" not in d.argument("bind")
            for d in directives
        )

    def inside(self, stmt: Stmt) -> bool:
        """Whether threads may wait for each other somewhere inside a statement."""
        if self.teams:
            return False
        if isinstance(stmt, Pragma):
            return stmt.directive is not None and self.is_barrier(stmt.directive)
        pending: list[Node] = [stmt]
        while pending:
            node = pending.pop()
            run = _run_of(node)
            if run is None:
                pending += children(node)
                continue
            for part, directives in _items(run):
                if any(self.is_barrier(d) for d in directives) or self.at_end(directives):
                    return True
                if not any(d.starts_threads for d in directives):
                    pending.append(part)
        return False

    def is_barrier(self, directive: Directive) -> bool:
        """Whether all threads wait at a directive that stands alone."""
        return not self.teams and directive.words[:1] == ("barrier",)

    def may_stop(self, stmt: Stmt, directives: Sequence[Directive]) -> bool:
        """Whether a statement may keep threads from what follows: it waits, calls what does, or cancels."""
        calls = any(isinstance(n, Call) and getattr(peel(n.function), "symbol", None) in self.waiting
                    for n in walk(stmt))  # fmt: skip
        cancels = any(isinstance(n, Pragma) and n.directive is not None and n.directive.words[:1] == ("cancel",)
                      for n in walk(stmt))  # fmt: skip
        return calls or cancels or self.at_end(directives) or self.inside(stmt)


def waiting_functions(program: Program) -> frozenset[Symbol]:
    """Return the functions of a program in which threads may wait for each other."""
    walls = Walls(False)
    bodies = {one.symbol: one.body for _, one in program.functions()}
    found = {symbol for symbol, body in bodies.items() if walls.inside(body)}
    while True:
        more = {s for s, body in bodies.items() if s not in found and Walls(False, frozenset(found)).may_stop(body, ())}
        if not more:
            return frozenset(found)
        found |= more


class _Cover(Struct):
    """What a thread comes to before it certainly waits; `passes`: it may come through without. `certain`: it comes
    through without whatever the data; `jumps`: it may go elsewhere on its way."""

    whole: set[Stmt]
    heads: set[Stmt]
    sure: set[Stmt]
    passes: bool = True
    certain: bool = True
    jumps: bool = False


def phases(function: Function, root: Node, loop: Loop, walls: Walls, *, forward: bool) -> tuple[list[WaitPhase], bool]:
    """Return what may run while `loop`, which stands in `root`, runs: behind it (`forward`), or before it; and whether
    the end of `root` is reached without a wait."""
    way = way_to(function.body, loop) or []
    start = next((k for k, node in enumerate(way) if node is root), 0)
    found: list[WaitPhase] = []
    straight = certain = True
    jumped = False
    for k in range(len(way) - 2, start - 1, -1):
        parent, child = way[k], way[k + 1]
        around = tuple(n for n in way[:k] if isinstance(n, For | While))
        run = _run_of(parent)
        if run is not None:
            cover = _beside(run, child, walls, forward=forward, jumped=jumped)
            if cover is None:
                continue
            if cover[1].whole or cover[1].heads:
                found.append(_phase(cover[0], around, cover[1], straight=straight and certain))
            if not cover[1].passes:
                return found, False
            certain = certain and cover[1].certain
            jumped = jumped or cover[1].jumps
        elif isinstance(parent, For | While):
            again = _over((parent.body, ()), walls, forward=forward)
            again.heads.add(parent)
            phase = _phase((parent,), around, again, straight=straight and certain)
            found.append(replace(phase, rounds=parent, any_round=again.passes))
            straight = False
            # what stands behind this loop is where a jump out of it leads to
            jumped = jumped and escapes(parent)
        elif isinstance(parent, If) and not forward:
            # others may still decide whether they come to the loop
            found.append(WaitPhase((parent,), around, frozenset(), frozenset({parent}), frozenset(), straight=straight))
        elif isinstance(parent, Switch):
            found.append(WaitPhase((parent,), around, frozenset({parent}), frozenset(), frozenset(), straight=False))
            straight = False
            jumped = jumped and escapes(parent)
    return found, True


def _phase(scope: tuple[Stmt, ...], around: tuple[Loop, ...], cover: _Cover, *, straight: bool) -> WaitPhase:
    return WaitPhase(
        scope, around, frozenset(cover.whole), frozenset(cover.heads), frozenset(cover.sure), straight=straight
    )


def _beside(
    run: Sequence[Stmt], child: Node, walls: Walls, *, forward: bool, jumped: bool
) -> tuple[tuple[Stmt, ...], _Cover] | None:
    """Return what stands behind `child` in its run (before it), with the statements to look at together; `jumped`: a
    thread may jump past it."""
    items = list(_items(run))
    at = next((k for k, (stmt, _) in enumerate(items) if stmt is child), None)
    if at is None:
        return None
    beside = items[at + 1 :] if forward else items[:at][::-1]
    cover, used = _along(beside, walls, forward=forward, past=jumped and forward)
    near = beside[:used]
    order = [items[at], *near] if forward else [*near[::-1], items[at]]
    return tuple(stmt for stmt, _ in order if not isinstance(stmt, Pragma)), cover


def _along(items: Sequence[_Item], walls: Walls, *, forward: bool, past: bool = False) -> tuple[_Cover, int]:
    """Return what a thread comes to in a list of statements, and how many of them it may come to; `past`: it may also
    jump past all of them."""
    cover = _Cover(set(), set(), set())
    for k, (stmt, directives) in enumerate(items):
        # a jump in front of a wait goes past it
        ahead = items[:k] if forward else items[k + 1 :]
        jumped = past or any(escapes(other) for other, _ in ahead)
        if _stands_before(stmt, directives, walls, forward=forward):
            cover.passes = jumped
            cover.certain = False
            if forward or not jumped:
                return cover, k
            continue
        if isinstance(stmt, Pragma):
            cover.certain = cover.certain and not any(d.words[:1] == ("cancel",) for d in directives)
            continue
        part = _over((stmt, directives), walls, forward=forward)
        cover.whole |= part.whole
        cover.heads |= part.heads
        cover.sure |= part.sure if cover.certain and not jumped else set()
        cover.jumps = cover.jumps or escapes(stmt)
        cover.certain = cover.certain and not cover.jumps and not walls.may_stop(stmt, directives)
        if not part.passes and (forward or not jumped):
            cover.passes = jumped
            return cover, k + 1
    return cover, len(items)


def _stands_before(stmt: Stmt, directives: Sequence[Directive], walls: Walls, *, forward: bool) -> bool:
    """Whether threads wait before they come to a statement: at a barrier, or at the end of what one looks back at."""
    if isinstance(stmt, Pragma):
        return any(walls.is_barrier(d) for d in directives)
    return not forward and walls.at_end(directives)


def _over(item: _Item, walls: Walls, *, forward: bool) -> _Cover:
    """Return what a thread comes to in one statement."""
    stmt, directives = item
    if any(d.starts_threads for d in directives) or not walls.inside(stmt):
        sure: set[Stmt] = set() if walls.may_stop(stmt, ()) else {stmt}
        return _Cover({stmt}, set(), sure, not walls.at_end(directives))
    cover = _Cover(set(), set(), set())
    match stmt:
        case Block(statements=parts):
            cover = _along(list(_items(parts))[:: 1 if forward else -1], walls, forward=forward)[0]
        case If(then=then, other=other):
            arms = [_over((arm, ()), walls, forward=forward) for arm in (then, other) if arm is not None]
            for arm in arms:
                cover.whole |= arm.whole
                cover.heads |= arm.heads
            cover.heads.add(stmt)
            cover.passes = other is None or any(arm.passes for arm in arms)
        case For(body=body):
            cover = _over((body, ()), walls, forward=forward)
            cover.heads.add(stmt)
            cover.sure = set()
            cover.passes = cover.passes or not _certainly_enters(stmt)
        case _:
            return _Cover({stmt}, set(), set(), True)
    cover.passes = cover.passes and not walls.at_end(directives)
    return cover


def _certainly_enters(loop: For) -> bool:
    """Whether a loop runs at least once, as its text shows."""
    low, high = peel(loop.lower), peel(loop.bound)
    if not isinstance(low, Literal) or not isinstance(high, Literal):
        return False
    if not isinstance(low.value, int) or not isinstance(high.value, int):
        return False
    return bool(_COMPARED[loop.relation](low.value, high.value))


def _run_of(node: Node) -> tuple[Stmt, ...] | None:
    """Return the statement list that a node is, or None."""
    if isinstance(node, Block):
        return node.statements
    return node.body if isinstance(node, Case) else None


def _items(run: Sequence[Stmt]) -> Iterator[_Item]:
    """Yield the statements of a list with the directives that stand in front of each; those that stand alone by
    themselves."""
    before: list[Directive] = []
    for stmt in run:
        if isinstance(stmt, Pragma):
            directive = None if stmt.left_out else stmt.directive
            if directive is not None and directive.stands_alone:
                yield stmt, (directive,)
            elif directive is not None:
                before.append(directive)
        elif not (isinstance(stmt, Verbatim) and stmt.text.startswith("#")):
            yield stmt, tuple(before)
            before = []
