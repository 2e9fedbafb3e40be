"""Additions between the user's statements outside of every offload region: updates, data regions, the `else` that an
`if` lacks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from warpsmith.base.errors import RefusedError
from warpsmith.base.findings import Finding
from warpsmith.tree.in_place.offload_regions import is_lone, owner_of_body
from warpsmith.tree.in_place.versioned import InsertedText, Run, Versioned
from warpsmith.tree.in_place.writer import InPlaceWriter, deeper
from warpsmith.tree.nodes import DataRegionBoundary, For, If, Name, Stmt, VarDecl
from warpsmith.tree.text.additions import Addition
from warpsmith.tree.text.layout import indent_at
from warpsmith.tree.text.places import InsertionPoint, place_between
from warpsmith.tree.walk import walk

__all__ = ["inserted_additions"]


def inserted_additions(writer: InPlaceWriter, new: InsertedText, versions: Sequence[Versioned]) -> Iterator[Addition]:
    """Yield what stands beside a statement outside of every offload region, or around an offload region."""
    body, node = new.function.body, new.node
    boundaries = tuple(stmt for stmt in new.statements if isinstance(stmt, DataRegionBoundary))
    lines = writer.texts([stmt for stmt in new.statements if stmt not in boundaries])
    offload_region = next((v for v in versions if node.span in (v.written[0].span, v.written[-1].span)), None)
    _check_names(writer, new, () if offload_region is None else offload_region.before)
    run: Run = (node,) if offload_region is None else offload_region.written
    if new.where == "within":
        indent = indent_at(writer.file, node.span.start) + writer.indentation
        place = place_between(writer.file, node.span.start, node.span.end - 1, indent, early=True)
        yield Addition(place, tuple(lines), node.span.end, node.span.end, closes=True)
        return
    if new.where == "else":
        yield from _else(writer, node, lines)
        return
    braced = offload_region is not None and is_lone(offload_region)
    owner = None if braced else owner_of_body(new.function, node)
    place = writer.before(run, body)
    if new.where == "before":
        yield writer.opens(place, run, lines)
    else:
        yield writer.closes(run, lines)
    if boundaries:
        yield _outside(writer, place, run, writer.texts(boundaries), closes=new.where != "before")
    if owner is not None:
        yield from writer.braces(place, run, owner, by=3)


def _outside(writer: InPlaceWriter, place: InsertionPoint, run: Run, lines: Sequence[str], *, closes: bool) -> Addition:
    """Return lines that stand outside of what is added around `run`: what they declare is known behind it. The
    braces of a body that had none stand outside of them."""
    start, end = run[0].span.start, run[-1].span.end
    if closes:
        return Addition(writer.after(run), tuple(lines), start - 2, end, closes=True)
    return Addition(place, tuple(lines), start, end + 2, closes=False)


def _check_names(writer: InPlaceWriter, new: InsertedText, declared: Run) -> None:
    """Refuse a statement that names a variable which only a step has made."""
    user = next(f for f in writer.unit.functions if f.span == new.function.span)
    known = {*user.parameters, *(part.symbol for part in walk(user.body) if isinstance(part, VarDecl))}
    known |= {part.symbol for stmt in declared for part in walk(stmt) if isinstance(part, VarDecl)}
    known |= {part.variable for part in walk(user.body) if isinstance(part, For)}
    used = {part.symbol for stmt in new.statements for part in walk(stmt) if isinstance(part, Name)}
    strange = next((s.name for s in sorted(used - known, key=lambda s: s.key) if s.storage == "local"), None)
    if strange is not None:
        message = f"what the device needs to know here is said with {strange}, which is not in the user's text"
        raise RefusedError(Finding("POR008", "error", message, new.node.span))


def _else(writer: InPlaceWriter, node: Stmt, lines: list[str]) -> Iterator[Addition]:
    """Yield an `else` branch for an `if` that has none."""
    if not isinstance(node, If):
        raise ValueError("only an `if` can have an `else`")
    if not node.then.span.text.startswith("{"):
        opening, closing = writer.braces(writer.before((node.then,), node), (node.then,), node)
        yield opening
        yield replace(closing, lines=("} else {", *deeper(lines, writer.indentation), "}"))
    else:
        yield writer.closes((node.then,), ["else {", *deeper(lines, writer.indentation), "}"])
