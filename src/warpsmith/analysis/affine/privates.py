"""Arrays of the thread's own as values: each store makes a new one of the one before, each load looks into one.

    store a, k, x        a1 = store a0, k, x          the array is as divergent as the place and the number
    load  a, j           y  = load a1, j              y as divergent as the array and the place
    where ways meet      a3 = phi a1, a2              as any other phi

So an array is the same in all threads where each of them has stored the same numbers at the same places in the same
order; what an element holds that was never written is nobody's business. This is for arrays whose address goes nowhere
but into the addresses of loads and stores.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from warpsmith.ssa.graph import Graph
from warpsmith.ssa.nodes import (
    Address,
    BasicBlock,
    Constant,
    Function,
    Instruction,
    Memory,
    Operand,
    Phi,
    Text,
    Value,
    terminator_operands,
)
from warpsmith.ssa.types import I32

__all__ = ["Privates", "privates"]

_NOTHING = Constant(I32, 0)
"""An array that nobody has written to."""


class Privates(Struct):
    """The phis that private arrays need, by block; for each store the instruction that makes an array; for each load
    the array that it looks into. `exposed`: whether an address in the thread's own memory goes anywhere else, so that
    what is loaded from memory, or comes from a call, may be one."""

    phis: dict[str, tuple[Phi, ...]] = field(default_factory=dict)
    stores: dict[Instruction, Instruction] = field(default_factory=dict)
    loads: dict[Instruction, Operand] = field(default_factory=dict)
    exposed: bool = False


def privates(function: Function, graph: Graph) -> Privates:
    """Return the private arrays of a function as values."""
    own = {symbol.name for symbol in function.symbols if symbol.space == "local"}
    if not own:
        return Privates()
    blocks = {block.name: block for block in function.blocks}
    places, lost = _places(graph, blocks, own)
    found = Privates(exposed=bool(lost))
    for name in sorted(set(places.values())):
        _array(graph, blocks, name, {i for i, symbol in places.items() if symbol == name}, found)
    return found


def _places(graph: Graph, blocks: Mapping[str, BasicBlock], own: set[str]) -> tuple[dict[Instruction, str], set[str]]:
    """Return the loads and stores of arrays whose address goes nowhere else, each with its array; and the others."""
    held: dict[Operand, str] = {}
    lost: set[str] = set()
    places: dict[Instruction, str] = {}
    for name in graph.order:
        for i in blocks[name].instructions:
            _note(i, own, held, lost, places)
        others = [o for phi in blocks[name].phis for _, o in phi.incoming]
        lost |= {held[o] for o in (*others, *terminator_operands(blocks[name].terminator)) if o in held}
    # a phi of a loop is met before what comes round to it
    lost |= {held[o] for name in graph.order for phi in blocks[name].phis for _, o in phi.incoming if o in held}
    return {i: name for i, name in places.items() if name not in lost}, lost


def _note(i: Instruction, own: set[str], held: dict[Operand, str], lost: set[str], at: dict[Instruction, str]) -> None:
    """Take note of what an instruction does with the addresses of arrays."""
    if isinstance(i.detail, Address):
        if i.detail.symbol in own:
            held[i.result] = i.detail.symbol
        return
    mine = [(n, held[o]) for n, o in enumerate(i.operands) if o in held]
    if not mine:
        return
    (place, name), others = mine[0], mine[1:]
    lost |= {symbol for _, symbol in others}
    window = i.op in ("to_generic", "from_generic") and isinstance(i.detail, Text) and i.detail.text == "local"
    plain = isinstance(i.detail, Memory) and not i.detail.order
    if i.op == "add" or (place == 0 and (i.op == "sub" or window)):
        held[i.result] = name
    elif place == 0 and i.op in ("load", "store") and plain:
        at[i] = name
    else:
        lost.add(name)


def _array(
    graph: Graph, blocks: Mapping[str, BasicBlock], name: str, places: set[Instruction], found: Privates
) -> None:
    """Make values of one array: a new one for each store, phis where ways meet that have different ones."""
    stores = {n for n in graph.order if any(i in places and i.op == "store" for i in blocks[n].instructions)}
    merged = {block: Value(I32, name) for block in _frontier(graph, stores)}
    ends: dict[str, Operand] = {}
    for block in graph.order:
        now: Operand = merged.get(block) or ends.get(graph.dominator.get(block, ""), _NOTHING)
        for i in blocks[block].instructions:
            if i not in places:
                continue
            if i.op == "load":
                found.loads[i] = now
            else:
                found.stores[i] = replace(i, operands=(*i.operands, now), results=(Value(I32, name),))
                now = found.stores[i].result
        ends[block] = now
    for block, value in merged.items():
        phi = Phi(value, tuple((before, ends[before]) for before in graph.predecessors[block]))
        found.phis[block] = (*found.phis.get(block, ()), phi)


def _frontier(graph: Graph, blocks: set[str]) -> set[str]:
    """Return where ways meet of which some lead through these blocks (Cytron et al., TOPLAS 1991)."""
    edges: dict[str, set[str]] = defaultdict(set)
    for join in graph.order:
        for before in graph.predecessors[join]:
            name: str | None = before if len(graph.predecessors[join]) > 1 else None
            while name is not None and name != graph.dominator.get(join):
                edges[name].add(join)
                name = graph.dominator.get(name)
    found: set[str] = set()
    pending = list(blocks)
    while pending:
        new = edges[pending.pop()] - found
        found |= new
        pending += new
    return found
