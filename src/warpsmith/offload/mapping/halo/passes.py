"""A kernel that does several iterations of a loop over two nests in tiles, from one array to another and back.

    A ──pass 0──► B ──pass 1──► A ──first nest──► B ──second nest──► A

Each pass does k iterations; what is around the range stays where it is. The last iteration is done as the nests are, so
that both arrays hold what they would: passes leave in the array that is stored first what is in the other one.

Invariant (overlapped tiles; J. Holewinski, L.-N. Pouchet, P. Sadayappan, High-Performance Code Generation for Stencil
Computations on GPU Architectures, 2012): a block computes its own elements and all that they need, from what one array
holds, and stores to the other one: no block reads what another one stores. Elements outside of the range of the nests
are never written: those of either array are read there. Each element is computed as the nests compute it.
Limits: each nest stores to one array, by its counters as they are, and reads the other one at constant distances; all
else that it reads nothing writes meanwhile.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from warpsmith.base.verdict import Proved, Reason
from warpsmith.offload.fragments import Draft
from warpsmith.offload.mapping.filling.words import unqualified
from warpsmith.offload.mapping.halo.neighbors import HaloRead, Neighbor, NeighborFinder, is_alike, list_elements
from warpsmith.offload.mapping.halo.pass_text import PassNest, PassTiles, write_pass
from warpsmith.offload.mapping.tile_shape import MOST_BYTES
from warpsmith.offload.mapping.tiles import TileSearch, find_obstacle
from warpsmith.offload.mapping.tiling import TileRequest, TilesRefusedError, Tiling
from warpsmith.offload.plan import HaloTiles
from warpsmith.poly.effects.origin import Origin
from warpsmith.poly.facts import LoopFacts
from warpsmith.poly.legality.alone import AloneQuestion, is_alone
from warpsmith.poly.legality.distances import DistanceQuestion, find_other_distance
from warpsmith.tree.nodes import Assign, Call, ExprStmt, For, Index, Loop, Name, Node, Unary
from warpsmith.tree.types import Scalar
from warpsmith.tree.walk import loops, peel, root_symbol, statements_of, walk

__all__ = ["stored_element", "tile_passes"]

_BLOCKS: Final = {
    1: ((256, 1, 1), (128, 1, 1), (64, 1, 1)),
    2: ((32, 8, 1), (32, 4, 1), (16, 4, 1)),
    3: ((16, 4, 4), (16, 4, 2), (8, 4, 4), (8, 4, 2), (4, 4, 4)),
}
"""By how many loops are threads; the first of which both tiles fit into shared memory."""
_FUNCTIONS: Final = frozenset(
    f"{name}{suffix}"
    for name in ("fabs", "sqrt", "exp", "log", "sin", "cos", "fmin", "fmax", "floor", "ceil", "pow", "fma")
    for suffix in ("", "f")
)


def stored_element(head: For) -> Assign | None:
    """Return the store that is all that an iteration does."""
    statements = statements_of(head.body)
    if len(statements) != 1 or not isinstance(statements[0], ExprStmt):
        return None
    expr = statements[0].expr
    return expr if isinstance(expr, Assign) and expr.op == "=" else None


def tile_passes(request: TileRequest) -> Tiling:
    """Return the kernel's body. Raises TilesRefusedError where there is none."""
    draft = request.search.draft
    assert draft.passes is not None, "it has passes"
    nests = [_read_nest(request, nest, chain) for nest, chain in draft.passes.nests]
    first, second = nests
    if first.array == second.array or (first.read.array, second.read.array) != (second.array, first.array):
        text = "the first nest reads what the second one stores, and the other way round; here they do not"
        raise TilesRefusedError(Reason("STP002", text, draft.loops[0].loop.header))
    if unqualified(first.read.element) != unqualified(second.read.element):
        text = f"{first.array} cannot hold what is in {second.array}: their elements are not of one type"
        raise TilesRefusedError(Reason("STP002", text, draft.loops[0].loop.header))
    for mine, other in ((first, second), (second, first)):
        _check_pair(request, mine, other)
    blocks = [request.block.block] if request.is_fixed else _BLOCKS[len(request.search.heads)]
    shapes = (replace(request.block, block=one) for one in blocks)
    fitting = [PassTiles((first, second), one, draft.passes.iterations) for one in shapes]
    tiles = next((one for one in fitting if one.bytes <= MOST_BYTES), fitting[-1])
    block = tiles.block
    if tiles.bytes > MOST_BYTES:
        shape = ",".join(map(str, block.block))
        text = f"two tiles for {tiles.iterations} iterations of a block of {shape} take {tiles.bytes} bytes of shared "
        text += f"memory, and a block has {MOST_BYTES}"
        raise TilesRefusedError(Reason("STP003", text, draft.loops[0].loop.header, legal_if=("fewer iterations",)))
    body = write_pass(tiles, draft.passes.turns, request.own, draft.statements[-1].span)
    halos = tuple(HaloTiles(nest.read.array, tiles.extents) for nest in nests)
    return Tiling(body, replace(request.mapping, block=block.block), halos=halos, iterations=draft.passes.iterations)


def _read_nest(request: TileRequest, nest: For, chain: tuple[LoopFacts, ...]) -> PassNest:
    """Return what a nest stores, and what it reads around it."""
    heads = tuple(f.loop for f in chain if isinstance(f.loop, For))
    search = request.search
    own = TileSearch(search.request, search.region, replace(search.draft, statements=(nest,), loops=chain), heads)
    reason = find_obstacle(own)
    if reason is not None:
        raise TilesRefusedError(reason)
    store = stored_element(heads[-1])
    assert store is not None, "the nest was chosen since it has one"
    if any(isinstance(part, Call | Assign) or _changes(part) for part in walk(store.value) if not _is_known(part)):
        text = "what an iteration computes calls a function of the program, or changes a variable"
        raise TilesRefusedError(Reason("STP002", text, store.span))
    finder = NeighborFinder.of(own)
    target = peel(store.target)
    member = finder.read(target) if isinstance(target, Index) else None
    if not isinstance(member, Neighbor) or any(d.number or d.inner for d in member.distances.values()):
        text = "the nest does not store to an element by its counters as they are"
        raise TilesRefusedError(Reason("STP002", text, store.span))
    if set(member.distances) != set(heads):
        raise TilesRefusedError(Reason("STP002", "the nest stores to an element more than once", store.span))
    return PassNest(heads, store, member, _read_group(request, own, store))


def _read_group(request: TileRequest, own: TileSearch, store: Assign) -> HaloRead:
    """Return what a nest reads of the arrays that are stored to: elements of one of them, in one shape."""
    finder = NeighborFinder.of(own)
    written = {root_symbol(part.expr.target) for part in _stores(request.search.draft) if isinstance(part.expr, Assign)}
    elements = list(list_elements(own.heads[-1]))
    _check_others(request, [node for node in elements if root_symbol(node) not in written])
    group: list[Neighbor] = []
    for node in elements:
        found = finder.read(node) if root_symbol(node) in written else None
        if isinstance(found, Neighbor):
            group.append(found)
        elif root_symbol(node) in written:
            text = "an element is read by other counters than those by which it is stored"
            raise TilesRefusedError(found if isinstance(found, Reason) else Reason("STP002", text, node.span))
    if not group or not all(is_alike(group[0], one) for one in group):
        text = "the nest does not read one array of the two, by its counters moved by numbers"
        raise TilesRefusedError(Reason("STP002", text, store.span))
    if any(distance.inner for one in group for distance in one.distances.values()):
        raise TilesRefusedError(Reason("STP002", "how far the nest reads is not a number", store.span))
    read = finder.prove(group, still=True)
    if isinstance(read, Reason):
        raise TilesRefusedError(read)
    return read


def _changes(part: Node) -> bool:
    return isinstance(part, Unary) and ("++" in part.op or "--" in part.op or part.op == "&")


def _is_known(part: Node) -> bool:
    """Whether a part is a call of a function of numbers that no file of the program defines."""
    if not isinstance(part, Call) or not isinstance(part.function, Name):
        return False
    return part.function.symbol.name in _FUNCTIONS and all(isinstance(one.type, Scalar) for one in part.arguments)


def _stores(draft: Draft) -> tuple[ExprStmt, ...]:
    """Return the stores of both nests."""
    assert draft.passes is not None, "it has passes"
    heads = [chain[-1].loop for _, chain in draft.passes.nests]
    return tuple(s for head in heads for s in statements_of(head.body) if isinstance(s, ExprStmt))


def _check_pair(request: TileRequest, mine: PassNest, other: PassNest) -> None:
    """Refuse where the other nest reads an element that this one stores at another distance than in a tile."""
    search = request.search
    assert search.draft.passes is not None, "it has passes"
    if not _is_in_one_shape(mine, other):
        text = f"{mine.array} is stored in another shape than it is read in"
        raise TilesRefusedError(Reason("STP002", text, mine.store.span))
    origin, around, loop = _surroundings(request)
    read = {
        id(peel(node)): tuple(other.read.distances[id(node)][head].number for head in other.heads)
        for node in other.read.nodes
    }
    run = tuple(nest for nest, _ in search.draft.passes.nests)
    question = DistanceQuestion(
        origin, run, (*around, loop), mine.store.target, read, search.request.poly, search.tested
    )
    reason = find_other_distance(question)
    if reason is not None:
        raise TilesRefusedError(reason)


def _is_in_one_shape(mine: PassNest, other: PassNest) -> bool:
    """Whether one element has the same subscripts in both nests, counter for counter."""
    if len(mine.member.dimensions) != len(other.read.dimensions):
        return False
    names = {a.variable.key: b.variable.key for a, b in zip(mine.heads, other.heads, strict=True)}
    for one, two in zip(mine.member.dimensions, other.read.dimensions, strict=True):
        if one.split is None or two.split is None or one.rest != two.rest:
            return False
        if {names[key]: step for key, step in one.split.steps.items()} != dict(two.split.steps):
            return False
    return True


def _check_others(request: TileRequest, others: Sequence[Index]) -> None:
    """Refuse where an element that is read beside the tiles may be stored in the loop."""
    search = request.search
    origin, around, _ = _surroundings(request)
    for node in others:
        question = AloneQuestion(
            origin, search.draft.statements, (node,), around, search.request.poly, allowed=search.tested
        )
        verdict = is_alone(question)
        if not isinstance(verdict, Proved):
            raise TilesRefusedError(verdict.reasons[0])


def _surroundings(request: TileRequest) -> tuple[Origin, tuple[Loop, ...], For]:
    """Return where the passes stand: what is known there, the loops around them, and their own."""
    search = request.search
    function = search.request.facts.function
    loop = search.draft.statements[-1]
    assert isinstance(loop, For), "passes are of a loop"
    return Origin.of(search.request.program, function, search.known), dict(loops(function.body))[loop], loop
