"""A program that steps have rewritten, beside the program that the user wrote.

    original ── steps, each proved ──► program        changes: what stands in place of what, and under which guards

Invariant: `program` does what `original` does wherever the assumptions of its changes hold.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from warpsmith.base.source import Span
from warpsmith.base.verdict import Proved, Verdict
from warpsmith.loops.changed.changes import Run, changed_runs, counterparts
from warpsmith.loops.changed.guarded_runs import find_rest_of_scope
from warpsmith.loops.place import with_run
from warpsmith.loops.step import Step, step_text
from warpsmith.loops.versions import can_version, usable, version
from warpsmith.poly.analyze import Facts
from warpsmith.poly.effects.effects import find_escaped
from warpsmith.poly.facts import statement_spans
from warpsmith.tree.nodes import Expr, For, Function, Node, Stmt, While
from warpsmith.tree.program import Assumption, Program
from warpsmith.tree.types import Symbol
from warpsmith.tree.walk import loops, same, walk

__all__ = ["Applied", "Prepared", "RunChange", "as_written", "pairs"]

# steps that say where a loop runs, and change nothing: the kernel's own offload region tests what its verdict rests on
_PLACING = (
    "map", "offload", "shared-tile", "halo-tile", "register-tile", "double-buffer", "vector-load", "share-loop", "keep",
)  # fmt: skip

# steps after which a loop still does all that it did, to the same memory and to memory of their own
_WHOLE = (*_PLACING, "expand", "expand-expression")


class Applied(Struct, frozen=True):
    """A step that was applied, what its check said, and the user's text that it worked on."""

    step: Step
    verdict: Verdict
    function: Symbol
    span: Span

    @property
    def text(self) -> str:
        """The step in one line."""
        return step_text(self.step)

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        """What the step's legality rests on."""
        found = self.verdict.assumptions if isinstance(self.verdict, Proved) else ()
        return tuple(a for a in found if isinstance(a, Assumption))


class RunChange(Struct, frozen=True):
    """The run `new` of the function `rewritten` stands in place of `old` of the user's function `written`; it is right
    where `assumptions` hold."""

    function: Symbol
    written: Function
    rewritten: Function
    old: Run
    new: Run
    assumptions: tuple[Assumption, ...]

    def parts(self) -> frozenset[Node]:
        """Return every node of the new run."""
        return frozenset(part for stmt in self.new for part in walk(stmt))

    def stands_in(self, scope: Run) -> bool:
        """Whether all of the new run stands in `scope`."""
        return bool(self.new) and any(self.new[0] is part for stmt in scope for part in walk(stmt))


class Prepared(Struct, frozen=True):
    """`facts` are those of the rewritten program, `original` those of the user's; `cut`: the functions in which not all
    steps were tried that might help, since questions about some were too much work."""

    original: Facts
    facts: Facts
    applied: tuple[Applied, ...] = ()
    cut: tuple[Symbol, ...] = ()

    @property
    def program(self) -> Program:
        """The rewritten program."""
        return self.facts.program

    def changes(self) -> tuple[RunChange, ...]:
        """Return every run that the steps changed."""
        return tuple(
            RunChange(function.symbol, function, after, old, new, self._assumptions(function, old, new))
            for function, after in pairs(self.original.program, self.program)
            for old, new in changed_runs(function, after)
        )

    def steps_of(self, span: Span) -> tuple[Applied, ...]:
        """Return the steps that worked on the user's text at `span`."""
        return tuple(a for a in self.applied if a.span.file is span.file and _meet(a.span, span))

    def guard_changes(self) -> Program:
        """Return the rewritten program with `if (guards) { new } else { old }` for every change that needs it."""
        program = self.program
        for change in self.changes():
            if change.old and change.new and change.assumptions:
                holder = next(f for _, f in program.functions() if f.symbol == change.function)
                rest = find_rest_of_scope(holder, change.new, self._find_held(change))
                versioned = version((*change.old, *rest), (*change.new, *rest), change.assumptions)
                program = with_run(program, holder, (*change.new, *rest), versioned)
        return program

    def _find_held(self, change: RunChange) -> frozenset[Symbol]:
        return find_escaped(self.program, change.rewritten, self.facts.summaries)

    def untestable(self) -> tuple[RunChange, ...]:
        """Return the changes whose guards cannot be tested where the changed run is entered."""
        return tuple(c for c in self.changes() if not self._testable(c))

    def _testable(self, change: RunChange) -> bool:
        guards = [a for a in change.assumptions if a.kind == "guarded"]
        if not guards:
            return True
        rest = find_rest_of_scope(change.rewritten, change.new, self._find_held(change)) if change.new else ()
        if not change.old or not can_version((*change.old, *rest)):
            return False
        program, known = self.original.program, self.original.summaries
        conditions = [a.condition for a in guards]
        if not all(c is not None for c in conditions):
            return False
        late = [c for c in conditions if c is not None and not usable(program, change.written, c, change.old, known)]
        return all(self._speaks_of_entry(change, c) for c in late)

    def _speaks_of_entry(self, change: RunChange, condition: Expr) -> bool:
        """Whether a guard of variables that the user's run writes, as that of a pointer that walks, is about the values
        that they have where the run is entered: its steps worked on outermost loops of the run, and the new run does
        not write them."""
        around = [loop.span for stmt in change.old for loop, _ in loops(stmt)]
        mine = [
            a
            for a in self.applied
            if any(x.condition is not None and same(x.condition, condition) for x in a.assumptions)
        ]
        inner = any(_contains(span, a.span) and span != a.span for a in mine for span in around)
        new = self.facts
        return not inner and usable(new.program, change.rewritten, condition, change.new, new.summaries)

    def _assumptions(self, function: Function, old: Run, new: Run) -> tuple[Assumption, ...]:
        mine = [a for a in self.applied if a.function == function.symbol and a.step.name not in _PLACING]
        inside = [a for a in mine if old and _meet(statement_spans(old), a.span)]
        found: Sequence[Applied] = inside if old else mine
        moved = [a for a in self.applied if a.function != function.symbol and self._is_moved(a, old, new)]
        return _distinct([*_widest(found), *_elsewhere(moved)])

    def _is_moved(self, applied: Applied, old: Run, new: Run) -> bool:
        """Whether a step worked on loops of another function, to which `old` went (outline) or from which `new` came
        (inline)."""
        if all(f.symbol != applied.function for _, f in self.original.program.functions()):
            return bool(old) and _meet(statement_spans(old), applied.span)
        return any(
            _meet(part.span, applied.span) for stmt in new for part in walk(stmt) if isinstance(part, For | While)
        )


def _widest(found: Sequence[Applied]) -> Iterator[Assumption]:
    """Yield what steps rest on; a guard of an inner loop's step, about what one run of that loop touches, gives way to
    the guard with the same words of the first step on a loop around it: it speaks of all that these runs touch
    together. A later step on such a loop may work on a part of it only."""
    for applied in found:
        around = [a for a in _first_around(found) if a.span != applied.span and _contains(a.span, applied.span)]
        wider = {x.text for a in around for x in a.assumptions if x.kind == "guarded"}
        yield from (x for x in applied.assumptions if x.kind != "guarded" or x.text not in wider)


def _first_around(found: Sequence[Applied]) -> Iterator[Applied]:
    """Yield the steps before which no other one took anything out of their loop, or of one around it: all of the user's
    loop was still there."""
    for position, applied in enumerate(found):
        splitting = (earlier for earlier in found[:position] if earlier.step.name not in _WHOLE)
        if not any(_contains(earlier.span, applied.span) for earlier in splitting):
            yield applied


def _distinct(assumptions: Sequence[Assumption]) -> tuple[Assumption, ...]:
    """Return the assumptions without repetitions; equal words with different conditions are two."""
    kept: list[Assumption] = []
    for new in assumptions:
        if not any(old == new and _same_condition(old, new) for old in kept):
            kept.append(new)
    return tuple(kept)


def _same_condition(old: Assumption, new: Assumption) -> bool:
    if old.condition is None or new.condition is None:
        return old.condition is new.condition
    return same(old.condition, new.condition)


def _elsewhere(applied: Sequence[Applied]) -> Iterator[Assumption]:
    """Yield what steps in another function rest on: its condition speaks of that function's variables, so that nothing
    can test it here."""
    for one in applied:
        for assumption in one.assumptions:
            yield replace(assumption, condition=None) if assumption.kind == "guarded" else assumption


def as_written(scope: Run, changes: Sequence[RunChange]) -> Run:
    """Return the user's statements in whose place `scope` stands; `changes` are those of its function.

    Where only a part of a change stands in `scope`, that part stays as the steps made it: the user's statements do what
    the other part does as well.
    """
    user = counterparts(changes[0].written, changes[0].rewritten) if changes else {}
    result: list[Stmt] = []
    position = 0
    while position < len(scope):
        stmt = scope[position]
        change = next((c for c in changes if c.new and c.new[0] is stmt), None)
        if change is not None:
            whole = _begins_with(scope[position:], change.new)
            result += change.old if whole else (stmt,)
            position += len(change.new) if whole else 1
            continue
        inside = any(change.stands_in((stmt,)) for change in changes)
        result.append(user[stmt] if inside else stmt)
        position += 1
    return tuple(result)


def _begins_with(run: Run, part: Run) -> bool:
    return len(part) <= len(run) and all(a is b for a, b in zip(run, part, strict=False))


def pairs(original: Program, program: Program) -> Iterator[tuple[Function, Function]]:
    """Yield every function of `original` that steps changed, with what it became."""
    after = {(unit.file.path, function.symbol): function for unit, function in program.functions()}
    for unit, function in original.functions():
        new = after.get((unit.file.path, function.symbol))
        if new is not None and new is not function:
            yield function, new


def _contains(outer: Span, inner: Span) -> bool:
    return outer.file is inner.file and outer.start <= inner.start and inner.end <= outer.end


def _meet(one: Span, other: Span) -> bool:
    return one.file is other.file and one.start < other.end and other.start < one.end
