"""The copies that data regions add to the host's text, as the plan lists them, and what is said of the large ones.

update the host: u[5]               8 bytes, few
update the host: everything         as much as is there: said aloud where every iteration does it
a suspension                             everything goes back, and comes again with the next call
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from warpsmith.base.findings import Finding
from warpsmith.offload.plan import DataRegions, InsertedStatements, RefusedDataRegion, Transfer
from warpsmith.offload.transfers.transfers import block_texts, loops_around, plain_text
from warpsmith.poly.isl.bound_values import constant
from warpsmith.tree.nodes import DataSuspension, If, Node, SizeOf, Stmt, Update
from warpsmith.tree.printing.printer import show_expression
from warpsmith.tree.types import Pointer, Scalar
from warpsmith.tree.walk import loop_names, walk

__all__ = ["data_region_findings", "data_region_transfers"]

_EVERYTHING = "everything that is on the device"


def data_region_transfers(decided: DataRegions, *, shared: bool = False) -> Iterator[Transfer]:
    """Yield what the inserted statements copy, in the order of the text; `shared`: the host shares what pointers lead
    to, where the program's own allocations gave it."""
    for added in decided.inserted:
        # What a guard asks for only happens where it fails.
        for stmt in (s for s in added.statements if not isinstance(s, If)):
            yield from _of(stmt, loops_around(added.function).get(added.node), shared=shared)


def _of(stmt: Stmt, in_loop: str | None, *, shared: bool) -> Iterator[Transfer]:
    for part in walk(stmt):
        if isinstance(part, Update):
            possibly = shared and part.variable is not None and isinstance(part.variable.type, Pointer)
            yield replace(_update(part, in_loop), unless_shared=possibly)
        elif isinstance(part, DataSuspension) and not part.ends:
            yield Transfer(_EVERYTHING, False, _EVERYTHING, "all", in_loop, part.cause)


def _update(node: Update, in_loop: str | None) -> Transfer:
    if node.block and node.variable is not None:
        section, bytes = block_texts(node.variable.name)
        return Transfer(node.variable.name, node.to_device, section, bytes, in_loop, node.cause)
    if node.address is None or node.bytes is None:
        return Transfer(_EVERYTHING, node.to_device, _EVERYTHING, "all", in_loop, node.cause)
    section = show_expression(node.address).removeprefix("&").replace("(long long)", "")
    name = node.variable.name if node.variable is not None else section
    return Transfer(name, node.to_device, section, plain_text(node.bytes), in_loop, node.cause, few=_few(node))


def _few(node: Update) -> int | None:
    """Return how many bytes it is where that is one element."""
    assert node.bytes is not None
    value = constant(node.bytes)
    if value is not None:
        return value
    sizes = [part for part in walk(node.bytes) if isinstance(part, SizeOf)]
    place = getattr(node.address, "operand", None)
    alone = len(sizes) == 1 and not any(part.__class__.__name__ == "Binary" for part in walk(node.bytes))
    type = getattr(place, "type", None)
    return type.bits // 8 if alone and isinstance(type, Scalar) else None


# --- what is said of it


def data_region_findings(decided: DataRegions) -> Iterator[Finding]:
    """Yield POR018 for loops that keep nothing on the device, and for bulk copies that stay in a data region."""
    for refused in decided.refused:
        if not refused.data_region.own and not _has_inner(refused, decided):
            yield _refusal(refused)
    for added in decided.inserted:
        for stmt in added.statements:
            if _is_bulk(stmt) and not _is_conditional(added):
                yield _bulk(stmt, added)


def _has_inner(refused: RefusedDataRegion, decided: DataRegions) -> bool:
    """Whether a loop inside the refused one became a data region, or all that is left of a refused run did."""
    if refused.data_region.loop is None:
        return all(any(stmt in data_region.run for data_region in decided.data_regions) for stmt in refused.cuts)
    inside = set(walk(refused.data_region.loop.body))
    return any(stmt in inside for data_region in decided.data_regions for stmt in data_region.run)


def _refusal(refused: RefusedDataRegion) -> Finding:
    data_region, place = refused.data_region, refused.reason.span
    if data_region.loop is None:
        where = refused.cuts[0].span
        return Finding(
            rule="POR018",
            severity="note",
            message=f"the data of the kernels called in {data_region.function.symbol.name} do not "
            f"stay on the device across "
            f"line {where.line}: {refused.reason.text}",
            span=place if place is not None else where,
            help=refused.reason.legal_if,
        )
    name = loop_names(data_region.function).get(data_region.loop, "the loop")
    return Finding(
        rule="POR018",
        severity="warning",
        message=f"the data of the kernels called in {name} are copied in every iteration: {refused.reason.text}",
        span=place if place is not None else data_region.loop.header,
        help=refused.reason.legal_if,
    )


def _is_bulk(stmt: Stmt) -> bool:
    if isinstance(stmt, DataSuspension):
        return not stmt.ends
    return isinstance(stmt, Update) and stmt.address is None and not stmt.to_device


def _is_conditional(added: InsertedStatements) -> bool:
    """Whether the statement stands under a condition of its function."""
    path = _path(added.function.body, added.node)
    return any(isinstance(node, If) for node in path)


def _path(root: Node, target: Node) -> list[Node]:
    return [node for node in walk(root) if node is not target and any(part is target for part in walk(node))]


def _bulk(stmt: Stmt, added: InsertedStatements) -> Finding:
    cause = getattr(stmt, "cause", added.node.span)
    what = (
        "may free memory, or touch any" if isinstance(stmt, DataSuspension) else "touches what cannot be bounded here"
    )
    return Finding(
        rule="POR018",
        severity="warning",
        message=f"all data on the device come to the host each time that this runs: it {what}",
        span=cause,
        help=(
            "name what it touches: an index that is computed from plain variables, a function whose source is given",
            "or describe the function in an effects file (--effects)",
        ),
    )
