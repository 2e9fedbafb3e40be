"""The arms of branches, and branches with other arms.

An arm of a switch is a case: its `break` at the end is no part of the arm, and without a default there is an arm that
does nothing. Cases that only go to one place are one arm.
Limits: a case that falls into the next one, or has a `break` inside another statement, is not taken apart.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from warpsmith.base.source import Span
from warpsmith.front.c.jumps.runs import NotNestedError, completes, find_marks, find_targets, list_of
from warpsmith.tree.nodes import Block, Break, Case, Expr, For, If, Node, Stmt, Switch, Unary, Verbatim, While, replace
from warpsmith.tree.types import INT
from warpsmith.tree.walk import children, walk

__all__ = ["BranchArm", "arms_of", "write_branch"]


class BranchArm(Struct, frozen=True):
    """One way through a branch: its statements, and where control goes from them; of a switch the labels too."""

    statements: tuple[Stmt, ...]
    exits: frozenset[int]
    labels: tuple[Expr | None, ...] = ()


def arms_of(stmt: Stmt, exits: Callable[[Sequence[Stmt]], frozenset[int]]) -> list[BranchArm]:
    """Return the arms of a branch; `exits` says where control goes from statements in front of what follows it."""
    match stmt:
        case If(then=then, other=other):
            return [BranchArm(list_of(arm), exits(list_of(arm))) for arm in (then, other)]
        case Switch():
            return _cases(stmt, exits)
        case Block(statements=statements):
            if set(find_targets(statements)) - set(find_marks(statements)):
                raise NotNestedError("goto out of a block that is no branch")
            return [BranchArm(statements, exits(statements))]
        case _:
            raise NotNestedError("goto in a statement that is no branch")


def _cases(switch: Switch, exits: Callable[[Sequence[Stmt]], frozenset[int]]) -> list[BranchArm]:
    arms: list[BranchArm] = []
    labeled = [(case.labels, _without_break(case, last=case is switch.cases[-1])) for case in switch.cases]
    if not any(None in labels for labels, _ in labeled):
        labeled.append(((None,), ()))
    for labels, body in labeled:
        arm = BranchArm(body, exits(body), labels)
        same = next((n for n, old in enumerate(arms) if _only_go(old, arm)), None)
        if same is None:
            arms.append(arm)
        else:
            arms[same] = BranchArm((), arm.exits, (*arms[same].labels, *labels))
    return [
        BranchArm((), a.exits, a.labels) if not any(map(_acts, a.statements)) and a.exits == {0} else a for a in arms
    ]


def _only_go(one: BranchArm, other: BranchArm) -> bool:
    """Whether two arms do nothing but go to the same place, which is where nothing but a goto leads."""
    return one.exits == other.exits and not any(map(_acts, (*one.statements, *other.statements)))


def _acts(stmt: Stmt) -> bool:
    return not (isinstance(stmt, Verbatim) and stmt.goes)


def _without_break(case: Case, *, last: bool) -> tuple[Stmt, ...]:
    body = case.body
    if body and isinstance(body[-1], Break):
        body = body[:-1]
    elif not last and completes(body, frozenset(find_targets(body))):
        raise NotNestedError("goto in a case that falls into the next one")
    if any(map(_has_break, body)):
        raise NotNestedError("goto in a case with a break inside another statement")
    return body


def _has_break(node: Node) -> bool:
    """Whether a statement has a break that leaves what is around it."""
    if isinstance(node, Break):
        return True
    return not isinstance(node, For | While | Switch) and any(map(_has_break, children(node)))


def write_branch(stmt: Stmt, arms: Sequence[BranchArm], runs: Sequence[tuple[Stmt, ...]], span: Span) -> Stmt:
    """Return a branch with other statements in its arms; `span` is the text for which it stands."""
    place = Span(span.file, span.start, span.start)
    if isinstance(stmt, Switch):
        return replace(stmt, span=span, cases=tuple(_case(a, r, place) for a, r in zip(arms, runs, strict=True)))
    if isinstance(stmt, If):
        then, other = (Block(span=place, statements=run) for run in runs)
        if not then.statements and other.statements:
            against = Unary(span=place, type=INT, op="!", operand=stmt.condition)
            return replace(stmt, span=span, condition=against, then=other, other=None)
        return replace(stmt, span=span, then=then, other=other if other.statements else None)
    return replace(stmt, statements=runs[0])


def _case(arm: BranchArm, run: tuple[Stmt, ...], place: Span) -> Case:
    if any(map(_has_break, run)):
        raise NotNestedError("goto around a break, from a switch")
    named = [part for stmt in run for part in walk(stmt)]
    ends = not named or completes(run, frozenset())
    return Case(span=place, labels=arm.labels, body=(*run, Break(span=place)) if ends else run)
