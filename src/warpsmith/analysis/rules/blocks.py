"""SYN008: a block reads what another block of the same launch writes, where both addresses are the same sum but for a
number.

    store a + C·ctaid.x + c·tid.x + …        C = c · (threads along x): each block owns a dense piece of the array
    load  a + C·ctaid.x + c·tid.x + … + D    D ≠ 0: for some thread the element is in another block's piece

    store a + C·ctaid.x + c·tid.x + d·C·i    iteration i of block b writes what block b + d writes in iteration i - 1

Limits: but for that, no loops around either access, no fences in the kernel (flags may order blocks), and no branch
around them that tests the thread's index in its block, since that may keep threads from crossing the border.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from warpsmith.analysis.memory.clamps import CUT_OFF
from warpsmith.analysis.rules.finding import EvidenceTable, KernelFinding
from warpsmith.analysis.rules.origins import origin
from warpsmith.analysis.rules.place import describe_access, place_of
from warpsmith.analysis.rules.walk import count_visits
from warpsmith.analysis.sync.grid import may_order_blocks
from warpsmith.analysis.uniformity.facts import AccessFact, KernelFacts
from warpsmith.base.findings import Note
from warpsmith.ssa.nodes import BasicBlock, Branch, Memory, Switch, terminator_operands

__all__ = ["between_blocks", "tests_thread"]

_OWN: Final = frozenset({"tid.x", "tid.y", "tid.z", "ctaid.x"})
_TERM: Final = re.compile(r"(?:^|(?P<sign> [+-] ))(?P<term>-?[^ ]+)")


def between_blocks(facts: KernelFacts) -> Iterator[KernelFinding]:
    """Yield each load of what another block may be writing."""
    grid = facts.shape.grid
    if (grid is not None and grid[0] == 1) or may_order_blocks(facts.function):
        return
    yield from _find_crossing(facts)
    plain = [access for access in facts.accesses if _is_plain(facts, access)]
    stores: dict[object, dict[int, AccessFact]] = defaultdict(dict)
    for access in plain:
        if access.kind == "store" and (piece := _piece(facts, access)) is not None:
            stores[piece.array].setdefault(piece.start, access)
    reported = {race.variable for race in facts.races if race.reach == "grid"}
    for load in plain:
        piece = _piece(facts, load) if load.kind == "load" and load.variable not in reported else None
        if piece is None:
            continue
        for start, store in stores[piece.array].items():
            apart = piece.start - start
            if apart and apart % load.bytes == 0 and (grid is None or grid[0] > _count_between(facts, load, apart)):
                yield _report_load(facts, store, load, apart)
                break


def _find_crossing(facts: KernelFacts) -> Iterator[KernelFinding]:
    """Yield each store that goes on into the pieces of the next blocks, in a loop that certainly runs twice."""
    visits: dict[str, int] | None = None
    for access in facts.accesses:
        apart = _count_pieces(facts, access)
        if not apart:
            continue
        visits = count_visits(facts) if visits is None else visits
        grid = facts.shape.grid
        # the last visit of a header may be the one that leaves the loop
        if visits.get(access.loops[0].header, 0) > 2 and (grid is None or grid[0] > apart):
            yield _report_crossing(facts, access, apart)


def _count_pieces(facts: KernelFacts, access: AccessFact) -> int:
    """Return by how many pieces of a block a store moves in each iteration of its loop; 0 where it does not."""
    cut = CUT_OFF in access.assumptions
    if access.kind != "store" or access.space != "global" or len(access.loops) != 1 or cut:
        return 0
    terms, _ = _terms(access.index)
    moved, size = access.loops[0].stride_bytes or 0, terms.get("tid.x", 0) * facts.block[0]
    plain = len(terms) == 4 and not any("·" in name for name in terms)
    if not plain or _piece(facts, access) is None or moved % size:
        return 0
    return abs(moved) // size


def _report_crossing(facts: KernelFacts, store: AccessFact, apart: int) -> KernelFinding:
    whose = "the next block" if apart == 1 else f"the block {apart} further"
    message = f"{describe_access(store)} goes on into what {whose} of the same launch writes, one iteration ahead of it"
    found = place_of(facts, store, "SYN008", message)
    assumptions = () if facts.shape.grid is not None else (f"the grid has more than {apart} blocks",)
    guarded = ("the tests around let a second iteration through",) if tests_thread(facts, store.block) else ()
    rows = (
        ("(0, 0, 0) of block b", "store in iteration i + 1", store.index),
        (f"(0, 0, 0) of block b + {apart}", "store in iteration i", store.index),
    )
    return replace(
        found,
        certainty="conditional",
        assumptions=tuple(dict.fromkeys((*found.assumptions, *assumptions, *guarded, "both threads get there"))),
        label="no order between blocks",
        evidence=(EvidenceTable("two threads at one place", ("thread", "access", "address"), rows),),
        help=("let blocks be as far apart as all that one of them writes: ctaid.x times the iterations",),
        impact=100.0,
    )


def _is_plain(facts: KernelFacts, access: AccessFact) -> bool:
    detail = access.instruction.detail
    ordered = isinstance(detail, Memory) and bool(detail.order)
    usable = access.space in ("global", "generic") and bool(access.variable) and bool(access.index) and not access.loops
    # where an index is cut off, that may be at the border of the block
    usable = usable and CUT_OFF not in access.assumptions
    return usable and not ordered and not tests_thread(facts, access.block)


def tests_thread(facts: KernelFacts, block: str) -> bool:
    """Whether a branch that not all ways to a block agree on tests the index of the thread in its block."""
    return block in _find_tested(facts)


@lru_cache(maxsize=1)
def _find_tested(facts: KernelFacts) -> frozenset[str]:
    """Return the blocks for which `tests_thread` holds, from the entry down: what dominates a block and is decided
    there is decided in all that the block dominates."""
    graph = facts.warp_level.graph
    blocks = {block.name: block for block in facts.function.blocks}
    found: set[str] = set()
    above: set[str] = set()
    for name in graph.order:
        over = graph.dominator.get(name)
        if over is not None and (over in found or (over in above and not graph.post_dominates(name, over))):
            found.add(name)
        if over in above or _tests(facts, blocks[name]):
            above.add(name)
    return frozenset(found)


def _tests(facts: KernelFacts, block: BasicBlock) -> bool:
    """Whether a block ends with a test of the index of the thread in its block, or of what is not known."""
    if not isinstance(block.terminator, Branch | Switch):
        return False
    made_of = origin(facts, *terminator_operands(block.terminator))
    return not made_of.plain or (made_of.of_thread and not made_of.of_block)


class _Piece(Struct, frozen=True):
    """The place of an access in the dense piece of an array that its block owns: two accesses of one `array` are as far
    apart as their `start` says."""

    array: object
    start: int


def _piece(facts: KernelFacts, access: AccessFact) -> _Piece | None:
    terms, start = _terms(access.index)
    step = terms.get("tid.x", 0)
    # 4·n·tid.x: threads are rows apart, and the elements between them are no other thread's
    apart = any("·" in name and not _OWN.isdisjoint(name.split("·")) for name in terms)
    dense = not apart and step == access.bytes > 0 and terms.get("ctaid.x", 0) == step * facts.block[0]
    flat = facts.block[1] == facts.block[2] == 1
    return _Piece((access.variable, frozenset(terms.items())), start) if dense and flat else None


def _terms(index: str) -> tuple[dict[str, int], int]:
    """Return the coefficients of a sum's products, and its number.

    >>> _terms("a + 1024·ctaid.x + 4·tid.x - 8")
    ({'a': 1, 'ctaid.x': 1024, 'tid.x': 4}, -8)
    """
    found: dict[str, int] = {}
    number = 0
    for part in _TERM.finditer(index):
        sign = -1 if (part["sign"] or "").strip() == "-" else 1
        first, _, rest = part["term"].partition("·")
        if re.fullmatch(r"-?\d+", first):
            if rest:
                found[rest] = found.get(rest, 0) + sign * int(first)
            else:
                number += sign * int(first)
        else:
            name = part["term"].removeprefix("-")
            found[name] = found.get(name, 0) + (-sign if part["term"].startswith("-") else sign)
    return found, number


def _count_between(facts: KernelFacts, load: AccessFact, apart: int) -> int:
    """Return by how many blocks a load reaches on at least, as far as another block is meant."""
    return max(1, abs(apart) // load.bytes // facts.block[0])


def _report_load(facts: KernelFacts, store: AccessFact, load: AccessFact, apart: int) -> KernelFinding:
    elements = apart // load.bytes
    message = (
        f"{describe_access(load)} reaches {abs(elements)} element{'s' if abs(elements) > 1 else ''} "
        f"{'ahead' if elements > 0 else 'back'}, into what another block of the same launch writes"
    )
    found = place_of(facts, load, "SYN008", message)
    thread = facts.block[0] - 1 if elements > 0 else 0
    other = (thread + elements) // facts.block[0]
    rows = (
        (f"({thread}, 0, 0) of block b", "load", load.index),
        (f"({(thread + elements) % facts.block[0]}, 0, 0) of block b {'+' if other > 0 else '-'} {abs(other)}", "store",
         store.index),
    )  # fmt: skip
    between = _count_between(facts, load, apart)
    more = "one block" if between == 1 else f"{between} blocks"
    assumptions = () if facts.shape.grid is not None else (f"the grid has more than {more}",)
    related = () if store.span is None else (Note(store.span, "each block writes its own part here"),)
    return replace(
        found,
        certainty="conditional",
        assumptions=tuple(dict.fromkeys((*found.assumptions, *assumptions, "both threads get there"))),
        label="no order between blocks",
        related=related,
        evidence=(EvidenceTable("two threads at one place", ("thread", "access", "address"), rows),),
        help=(
            "write to another array and swap the two between launches",
            "or split the kernel at this point: a second launch waits for the first",
        ),
        impact=100.0,
    )
