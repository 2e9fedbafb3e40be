"""SYN008: a block reads what another block of the same launch writes, where both addresses are the same sum but for a
number.

    store a + C·ctaid.x + c·tid.x + …        C = c · (threads along x): each block owns a dense piece of the array
    load  a + C·ctaid.x + c·tid.x + … + D    D ≠ 0: for some thread the element is in another block's piece

Limits: no loops around either access, no fences in the kernel (flags may order blocks), and no branch around them that
tests the thread's index in its block, since that may keep threads from crossing the border.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from warpsmith.analysis.facts import AccessFact, KernelFacts
from warpsmith.analysis.rules.finding import Evidence, KernelFinding
from warpsmith.analysis.rules.memory import accessed, place_of
from warpsmith.analysis.rules.origins import origin
from warpsmith.base.findings import Note
from warpsmith.ssa.nodes import Branch, Memory, Switch, terminator_operands

__all__ = ["between_blocks", "tests_thread"]

_TERM: Final = re.compile(r"(?:^|(?P<sign> [+-] ))(?P<term>-?[^ ]+)")


def between_blocks(facts: KernelFacts) -> Iterator[KernelFinding]:
    """Yield each load of what another block may be writing."""
    grid = facts.shape.grid
    if (grid is not None and grid[0] == 1) or any(i.op == "fence" for _, i in facts.function.instructions()):
        return
    plain = [access for access in facts.accesses if _is_plain(facts, access)]
    stores = [access for access in plain if access.kind == "store"]
    told = {race.variable for race in facts.races if race.reach == "grid"}
    for load in plain:
        if load.kind != "load" or load.variable in told:
            continue
        for store in stores:
            apart = _apart(facts, store, load)
            if apart:
                yield _found(facts, store, load, apart)
                break


def _is_plain(facts: KernelFacts, access: AccessFact) -> bool:
    detail = access.instruction.detail
    ordered = isinstance(detail, Memory) and bool(detail.order)
    usable = access.space in ("global", "generic") and bool(access.variable) and bool(access.index) and not access.loops
    return usable and not ordered and not tests_thread(facts, access.block)


def tests_thread(facts: KernelFacts, block: str) -> bool:
    """Whether a branch that not all ways to a block agree on tests the index of the thread in its block."""
    graph = facts.warp_level.graph
    for above in facts.function.blocks:
        if above.name not in graph.successors or not isinstance(above.terminator, Branch | Switch):
            continue
        if graph.dominates(above.name, block) and not graph.post_dominates(block, above.name):
            made_of = origin(facts, *terminator_operands(above.terminator))
            if not made_of.plain or (made_of.of_thread and not made_of.of_block):
                return True
    return False


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


def _apart(facts: KernelFacts, store: AccessFact, load: AccessFact) -> int:
    """Return by how many bytes a load is shifted against a store of the same array; 0 where nothing is known."""
    (terms, start), (others, place) = _terms(store.index), _terms(load.index)
    step = terms.get("tid.x", 0)
    dense = step > 0 and terms.get("ctaid.x", 0) == step * facts.block[0]
    same = store.variable == load.variable and terms == others and store.bytes == load.bytes == step
    flat = facts.block[1] == facts.block[2] == 1
    return place - start if same and dense and flat and (place - start) % step == 0 else 0


def _found(facts: KernelFacts, store: AccessFact, load: AccessFact, apart: int) -> KernelFinding:
    elements = apart // load.bytes
    message = (
        f"{accessed(load)} reaches {abs(elements)} element{'s' if abs(elements) > 1 else ''} "
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
    assumptions = () if facts.shape.grid is not None else ("the grid has more than one block",)
    related = () if store.span is None else (Note(store.span, "each block writes its own part here"),)
    return replace(
        found,
        certainty="conditional",
        assumptions=tuple(dict.fromkeys((*found.assumptions, *assumptions, "both threads get there"))),
        label="no order between blocks",
        related=related,
        evidence=(Evidence("two threads at one place", ("thread", "access", "address"), rows),),
        help=(
            "write to another array and swap the two between launches",
            "or split the kernel at this point: a second launch waits for the first",
        ),
        impact=100.0,
    )
