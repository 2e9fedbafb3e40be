"""Forward gotos in the body of a loop as branches, where branches alone say the same.

    if (a[i] > 0) goto B;         if (!(a[i] > 0))
    s;                                s;
    goto C;                       else
    B: t;                             t;
    C: u;                         u;

Invariant: of a statement from which control goes to several places, the join is the first place that all ways from it
pass. What lies on the way of one of its arms alone is put into that arm, in the order of the text; the ways of two arms
have no statement in common, so nothing is written twice and no variable is added. Labels are left out where every goto
to them was nested.

A statement that was nested has the text from its own start to the label at its join: every goto in that text leads to a
label in it. `is_nested` in
tree/printing/nested.py finds such statements, whose text and tree are two forms of one thing: the one or the other is
taken as a whole.

Source: the structure theorem for forward branches of B. S. Baker, "An algorithm for structuring flowgraphs", J. ACM
24(1), 1977, for what needs no copies.
Limits: C alone. Ways that cross (two arms that share a statement which others pass by), gotos that lead back or into a
block, out of two loops or past a variable's declaration to its use, and those around preprocessor lines and pragmas
keep the loop as it is, and say so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import takewhile

import msgspec.structs
from msgspec import Struct

from warpsmith.base.source import Span
from warpsmith.front.c.jumps.branches import arms_of, write_branch
from warpsmith.front.c.jumps.runs import (
    LabeledRun,
    LabeledStatement,
    NotNestedError,
    completes,
    find_marks,
    find_targets,
    read_run,
)
from warpsmith.front.c.jumps.scopes import check_scopes
from warpsmith.tree.nodes import Block, Break, For, Loop, Node, Pragma, Stmt, Switch, Verbatim, While, replace
from warpsmith.tree.walk import rebuild, walk

__all__ = ["leave_loops", "nest_jumps"]


def nest_jumps(body: Stmt, jumps: Mapping[str, int]) -> Stmt:
    """Return the body of a loop without gotos to labels in it; where that cannot be, the body with the reason.

    `jumps`: how many gotos of the function lead to each label.
    """
    inside = Counter(find_marks((body,)))
    if not inside:
        return body
    try:
        targets = Counter(find_targets((body,)))
        if any(jumps.get(label, 0) > targets[label] for label in inside):
            raise NotNestedError("goto into a loop")
        if not isinstance(body, Block):
            raise NotNestedError("a label before the body of a loop")
        made = _Nesting(frozenset(inside)).nest(read_run(body.statements, frozenset()))
        nested = replace(body, statements=made)
        if set(find_marks((nested,))) or inside.keys() & set(find_targets((nested,))):
            raise NotNestedError("goto into a block")
        check_scopes(nested)
    except NotNestedError as reason:
        return _tell(body, str(reason))
    return nested


def leave_loops(statements: Sequence[Stmt], jumps: Mapping[str, int]) -> list[Stmt]:
    """Return the statements of a block, with `break` for each goto that leads out of a loop to the label behind it.

    The labels of which nothing is left go too. `jumps`: how many gotos of the function lead to each label.
    """
    made: list[Stmt] = []
    rest = list(statements)
    while rest:
        stmt = rest.pop(0)
        behind = list(takewhile(lambda s: isinstance(s, Verbatim) and bool(s.marks), rest))
        marks = [mark for mark in behind if isinstance(mark, Verbatim)]
        if isinstance(stmt, For | While) and marks and _leads_only_to(stmt, marks, jumps):
            try:
                stmt = _break(stmt, marks)
                rest = rest[len(marks) :]
            except NotNestedError:
                pass
        made.append(stmt)
    return made


def _leads_only_to(loop: Loop, marks: Sequence[Verbatim], jumps: Mapping[str, int]) -> bool:
    """Whether all gotos to the labels stand in the loop."""
    targets = Counter(find_targets((loop,)))
    return all(0 < targets[mark.marks] == jumps.get(mark.marks, 0) for mark in marks)


class _Nesting(Struct, frozen=True):
    """What is known of one body: its labels."""

    labels: frozenset[str]

    def targets(self, statements: Sequence[Node]) -> frozenset[str]:
        """Return the labels of the body to which statements go."""
        return self.labels & frozenset(find_targets(statements))

    def nest(self, run: LabeledRun) -> tuple[Stmt, ...]:
        """Return the statements of a run without gotos to labels of the body."""
        made: list[Stmt] = []
        position = 0
        while position < run.end:
            stmt = run.items[position].stmt
            targets = self.targets((stmt,))
            if not targets:
                made.append(stmt)
                position += 1
                continue
            _check_lines(run)
            rest = run.behind(position + 1)
            if isinstance(stmt, Verbatim):
                position += 1 + rest.position(stmt.goes)
                continue
            if isinstance(stmt, For | While):
                made.append(self.leave(stmt, rest))
                position += 1
                continue
            join, branch = self.branch(stmt, rest)
            made.append(branch)
            position += 1 + join
        return tuple(made)

    def leave(self, loop: Loop, rest: LabeledRun) -> Loop:
        """Return a loop with `break` for its gotos to the labels behind it."""
        if not self.targets((loop,)) <= rest.names(0):
            raise NotNestedError("goto out of a loop to a place farther on")
        return _break(loop, rest.marks(0))

    def branch(self, stmt: Stmt, rest: LabeledRun) -> tuple[int, Stmt]:
        """Return a branch with what lies on the ways of its arms, and the position in `rest` where these join."""
        arms = arms_of(stmt, lambda arm: self.exits(arm, rest))
        join, reached = self.find_join([arm.exits for arm in arms], rest)
        if sum(map(len, reached)) > len(frozenset().union(*reached)):
            raise NotNestedError("gotos whose ways cross")
        names = rest.names(join)
        runs = [
            read_run(arm.statements, names).then([rest.items[i] for i in sorted(way)])
            for arm, way in zip(arms, reached, strict=True)
        ]
        marks = [mark for i in range(join + 1) for mark in rest.marks(i) if mark.marks in self.labels]
        moved = [rest.items[i].stmt.span.end for i in range(join)]
        end = max([stmt.span.end, *moved, *(mark.span.end for mark in marks)])
        span = Span(stmt.span.file, stmt.span.start, end)
        return join, write_branch(stmt, arms, [self.nest(run) for run in runs], span)

    def exits(self, statements: Sequence[Stmt], rest: LabeledRun) -> frozenset[int]:
        """Return the positions in `rest` to which control goes from statements in front of it."""
        targets = self.targets(statements)
        found = {rest.position(label) for label in targets - set(find_marks(statements))}
        return frozenset(found | ({0} if completes(statements, targets) else set()))

    def find_join(self, exits: list[frozenset[int]], rest: LabeledRun) -> tuple[int, list[frozenset[int]]]:
        """Return the first position that all ways pass, and the positions before it on the way of each arm."""
        join = max((position for arm in exits for position in arm), default=0)
        while True:
            reached = [self.reach(arm, join, rest) for arm in exits]
            ends = [end for way in reached for i in way for end in self.next(i, rest)]
            farther = max([join, *ends])
            if farther == join:
                return join, reached
            join = farther

    def reach(self, starts: frozenset[int], join: int, rest: LabeledRun) -> frozenset[int]:
        """Return the positions before `join` to which control may come from `starts`."""
        found: set[int] = set()
        pending = sorted(starts)
        while pending:
            position = pending.pop()
            if position < join and position not in found:
                found.add(position)
                pending += self.next(position, rest)
        return frozenset(found)

    def next(self, position: int, rest: LabeledRun) -> frozenset[int]:
        """Return where control goes from a position."""
        behind = self.exits((rest.items[position].stmt,), rest.behind(position + 1))
        return frozenset(position + 1 + far for far in behind)


def _break(loop: Loop, behind: Sequence[Verbatim]) -> Loop:
    """Return a loop in which gotos to the labels `behind` it are breaks; its text reaches to the last of them."""
    names = {mark.marks for mark in behind}
    for part in walk(loop.body):
        if isinstance(part, For | While | Switch) and names & set(find_targets((part,))):
            raise NotNestedError("goto out of two loops, or out of a loop from a switch")

    def change(part: Node) -> Node:
        leaves = isinstance(part, Verbatim) and part.goes in names
        return Break(span=part.span) if leaves else part

    end = max([loop.span.end, *(mark.span.end for mark in behind)])
    span = Span(loop.span.file, loop.span.start, end)
    return replace(loop, span=span, body=rebuild(loop.body, change))


def _check_lines(run: LabeledRun) -> None:
    """Raise where a line of the preprocessor could be parted from what it stands before."""
    for position, item in enumerate(run.items):
        if (isinstance(item.stmt, Verbatim) and item.stmt.text.startswith("#")) or (
            isinstance(item.stmt, Pragma) and item.stmt.choice
        ):
            raise NotNestedError("goto around a line of the preprocessor")
        if isinstance(item.stmt, Pragma) and (position + 1 == run.end or _is_moved(run.items[position + 1])):
            raise NotNestedError("goto at a pragma")


def _is_moved(item: LabeledStatement) -> bool:
    return bool(item.marks) or any(find_targets((item.stmt,)))


def _tell(body: Stmt, reason: str) -> Stmt:
    """Return the body with the reason at the gotos and labels that have none yet."""

    def change(part: Node) -> Node:
        plain = isinstance(part, Verbatim) and part.reason in ("goto", "a label")
        return msgspec.structs.replace(part, reason=reason) if plain else part

    return rebuild(body, change)
