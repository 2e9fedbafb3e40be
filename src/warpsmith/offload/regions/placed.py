"""The user's functions with their port in them, as they stand in his own files.

    for (i …) …       →       if (switched on && guards) { ported } else { for (i …) … }

Invariant: where the port is switched off, a function does what the user wrote; what stands between its statements for
the device does nothing then.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial

from warpsmith.base.source import Span
from warpsmith.offload.regions.one_thread import within_region
from warpsmith.offload.transfers.flow import ProgramPoint
from warpsmith.offload.transfers.insertion import Edits, rewritten_run
from warpsmith.offload.transfers.known_sizes import shorten_function
from warpsmith.offload.transfers.splice import splice
from warpsmith.poly.facts import statement_spans
from warpsmith.tree.in_place.versioned import SWITCHED, InsertedText, Run, Versioned, refuse_alone
from warpsmith.tree.nodes import (
    Binary,
    Block,
    Expr,
    For,
    Function,
    If,
    Literal,
    Name,
    Node,
    Pragma,
    Stmt,
    VarDecl,
    replace,
)
from warpsmith.tree.program import Program
from warpsmith.tree.shared import is_own, is_shared
from warpsmith.tree.types import INT
from warpsmith.tree.walk import rebuild, walk

__all__ = ["place_versions"]


def place_versions(
    program: Program, versions: Sequence[Versioned], inserted: Sequence[InsertedText], alone: Sequence[Pragma] = ()
) -> Mapping[Function, Function]:
    """Return the functions of the user's `program` that have `versions` of their statements, statements `inserted`
    between them, or a parallel region that one thread runs by itself (`alone`: its pragma), each with them in it; those
    that share their text with others are left out where something is inserted, as is one where something stands beside
    a statement that the steps have made.

    Raises RefusedError where a region cannot be given to one thread.
    """
    found: dict[Function, Function] = {}
    for unit, function in program.functions():
        mine = [v for v in versions if _is_in(v, function)]
        between = [new for new in inserted if _is_in(new, function)]
        regions = _left_regions(function, alone, mine)
        own = is_own(unit, function) and sum(f.span == function.span for f in unit.functions) == 1
        if (own and (mine or between or regions)) or (is_shared(unit, function) and mine and not between):
            placed = _place(function, mine, between, regions)
            if regions and placed is None:
                raise refuse_alone(regions[0].span)
            if placed is not None:
                found[function] = shorten_function(placed)
    return found


def _is_in(part: Versioned | InsertedText, function: Function) -> bool:
    return part.function.span == function.span and part.function.symbol == function.symbol


def _left_regions(function: Function, alone: Sequence[Pragma], versions: Sequence[Versioned]) -> list[Pragma]:
    """Return the pragmas of the function's regions that one thread runs and no version holds."""
    held = {id(part) for version in versions for stmt in version.written for part in walk(stmt)}
    mine = {id(part) for part in walk(function.body) if isinstance(part, Pragma)} - held
    return [pragma for pragma in alone if id(pragma) in mine]


def _place(
    function: Function,
    versions: Sequence[Versioned],
    inserted: Sequence[InsertedText],
    regions: Sequence[Pragma],
) -> Function | None:
    if any(_names_made(new, function, versions) for new in inserted):
        return None
    nodes = {_key(part): part for part in walk(function.body)}
    edits = Edits()
    for new in inserted:
        node = nodes.get(_key(new.node))
        if not isinstance(node, Stmt):
            return None
        edits.at(ProgramPoint(new.where, node), new.statements)
    run = rewritten_run(function.body.statements, edits)
    if regions:
        places = {pragma.span for pragma in regions}
        run = tuple(rebuild(stmt, partial(_run_alone, places)) for stmt in run)
    added = replace(function, body=replace(function.body, statements=run))
    try:
        return splice(added, [(v.written, within_region(v, inserted) or (*v.before, _choice(v))) for v in versions])
    except ValueError:
        return None


def _run_alone(places: Collection[Span], node: Node) -> Node:
    """Return a region's pragma with the condition that one thread runs the region."""
    return replace(node, alone=True) if isinstance(node, Pragma) and node.span in places else node


def _names_made(new: InsertedText, function: Function, versions: Sequence[Versioned]) -> bool:
    """Whether what is inserted is said with a variable that the steps have made, and that the user's text has not."""
    text = (function.body, *(stmt for version in versions for stmt in version.before))
    declared = {part.symbol for stmt in text for part in walk(stmt) if isinstance(part, VarDecl)}
    known = {*function.parameters, *declared, *(part.variable for part in walk(function.body) if isinstance(part, For))}
    used = {part.symbol for stmt in new.statements for part in walk(stmt) if isinstance(part, Name)}
    return any(symbol.storage == "local" for symbol in used - known)


def _key(node: Node) -> tuple[type[Node], int, int]:
    return type(node), node.span.start, node.span.end


def _choice(version: Versioned) -> If:
    """Return what chooses between the device and the user's statements."""
    span = statement_spans(version.written)
    condition: Expr = Literal(span=span, type=INT, text="1", value=1)
    for part in _parts(version):
        condition = Binary(span=span, type=INT, op="&&", left=condition, right=part)
    written: Run = (*version.fallback[0], *version.written, *version.fallback[1])
    blocks = Block(span=span, statements=version.ported), Block(span=span, statements=written)
    return If(span=span, condition=condition, then=blocks[0], other=blocks[1], reasons=(SWITCHED, *version.reasons))


def _parts(version: Versioned) -> Iterator[Expr]:
    """Yield the parts of a condition, one for each reason."""
    condition = version.condition
    found: list[Expr] = []
    for _ in version.reasons[1:]:
        assert isinstance(condition, Binary) and condition.op == "&&"
        found.append(condition.right)
        condition = condition.left
    if condition is not None:
        yield from (condition, *reversed(found))
