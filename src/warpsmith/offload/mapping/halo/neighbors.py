"""Elements that a thread reads around its own: references to one array that are constant distances apart.

    i on y, j on x:   B[i][j] = A[i - 1][j] + A[i][j - 1] + A[i][j + 1]       -1…0 along i, -1…1 along j

Invariant: nothing writes the array while the kernel runs. The reference that stands for all, with its counters moved by
the distance of a node, is the element that the node reads; `condition` is True at the values of the counters at which
some thread reads the element that it is, and else only where it lies between such elements and the kernel writes none.
Limits: each counter is in one subscript; how far a loop inside moves a reference is known as a number; subscripts of
parameters and counters.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Final

from msgspec import Struct

from warpsmith.base.verdict import Proved, Reason
from warpsmith.offload.mapping.halo.subscripts import (
    SplitSubscript,
    is_counter,
    is_narrow,
    read_subscript,
    split_distance,
    split_subscript,
    write_subscript,
)
from warpsmith.offload.mapping.profile import size_of
from warpsmith.offload.mapping.tiles import (
    TileSearch,
    array_of,
    counts_up,
    find_strides,
    is_made_of,
    is_number,
    order_by_reach,
    placeholder,
    subscripts_of,
)
from warpsmith.poly.effects.origin import Origin
from warpsmith.poly.isl.bound_values import constant
from warpsmith.poly.isl.polynomial import ZERO, Polynomial
from warpsmith.poly.legality.alone import AloneQuestion, is_alone
from warpsmith.poly.legality.moved import Distance
from warpsmith.poly.legality.read_where import ReadQuestion, find_read_where
from warpsmith.tree.nodes import Assign, Expr, For, Index, Node, Unary, replace
from warpsmith.tree.printing.printer import show_expression
from warpsmith.tree.types import Array, Scalar, Symbol
from warpsmith.tree.walk import loops, names, peel, root_symbol, same, walk

__all__ = [
    "Dimension",
    "HaloRead",
    "Neighbor",
    "NeighborFinder",
    "NeighborReads",
    "find_neighbors",
    "is_alike",
    "list_elements",
]

# of one kernel: each takes questions to isl
_MOST_ARRAYS: Final = 8


class Dimension(Struct, frozen=True):
    """A subscript of the reference that stands for all: `fixed`, the user's own, where no counter moves it; else a sum
    of counters times their steps, and a `rest`."""

    fixed: Expr | None
    split: SplitSubscript | None
    rest: Polynomial


class HaloRead(Struct, frozen=True, eq=False):
    """References `nodes` that lie apart by constants. `by`: the loops whose counters move them, that which moves the
    address least last. `distances`: of each node, by its identity, along each of them; `reach`: the least and the
    greatest. `narrow`: the counters, so moved, are the subscripts, in an int. `at`: what the `condition` calls them."""

    nodes: tuple[Index, ...]
    by: tuple[For, ...]
    dimensions: tuple[Dimension, ...]
    distances: Mapping[int, Mapping[For, Distance]]
    reach: Mapping[For, tuple[int, int]]
    strides: Mapping[Symbol, int | None]
    narrow: bool
    condition: Expr | None
    at: Mapping[Symbol, Symbol]

    @property
    def array(self) -> str:
        """The name of the array."""
        return array_of(self.nodes[0])

    @property
    def element(self) -> Scalar:
        """The type of the element."""
        type = self.nodes[0].type
        assert isinstance(type, Scalar), "an element holds a number"
        return type

    @property
    def bytes(self) -> int:
        """The size of an element."""
        return size_of(self.element)

    def write(self, at: Mapping[For, Expr]) -> Expr:
        """Return the element that stands for all at values of the counters."""
        places = {loop.variable.key: value for loop, value in at.items()}
        symbols = {n.symbol.key: n.symbol for node in self.nodes for n in names(node)}
        indices: list[Expr] = []
        for one in self.dimensions:
            if one.split is None:
                assert one.fixed is not None, "a subscript is fixed or is split"
                indices.append(one.fixed)
            else:
                indices.append(write_subscript(one.split, one.rest, places, symbols, self.nodes[0].span))
        return _with_subscripts(self.nodes[0], indices)


class NeighborReads(Struct, frozen=True):
    """What a kernel reads around the elements of its threads, and why other arrays are not among it."""

    reads: tuple[HaloRead, ...]
    refused: tuple[Reason, ...]


class Neighbor(Struct, frozen=True):
    """A reference with its subscripts, and how far it is from the one that stands for all of its group."""

    node: Index
    dimensions: tuple[Dimension, ...]
    distances: Mapping[For, Distance]


def find_neighbors(search: TileSearch) -> NeighborReads:
    """Return the references of a kernel's threads that are constant distances apart, array by array."""
    finder = NeighborFinder.of(search)
    groups: list[list[Neighbor]] = []
    refused: list[Reason] = []
    for node in list_elements(search.heads[-1]):
        made = finder.read(node)
        if isinstance(made, Reason):
            refused.append(made)
        elif made is not None:
            group = next((one for one in groups if is_alike(one[0], made)), None)
            if group is None:
                groups.append([made])
            else:
                group.append(made)
    reads: list[HaloRead] = []
    for group in islice((one for one in groups if finder.is_wide(one)), _MOST_ARRAYS):
        found = finder.prove(group)
        if isinstance(found, Reason):
            refused.append(found)
        else:
            reads.append(found)
    return NeighborReads(tuple(reads), tuple(refused))


def list_elements(head: For) -> Iterator[Index]:
    """Yield the elements of arrays that a thread reads."""
    inside = {id(peel(part.base)) for part in walk(head.body) if isinstance(part, Index)}
    stored = {id(peel(part.target)) for part in walk(head.body) if isinstance(part, Assign)}
    taken = {id(peel(part.operand)) for part in walk(head.body) if isinstance(part, Unary) and part.op not in "+-~!"}
    for node in walk(head.body):
        if isinstance(node, Index) and id(node) not in inside | stored | taken and is_number(node):
            yield node


def is_alike(one: Neighbor, other: Neighbor) -> bool:
    """Whether two references are one that stands for both, moved."""
    if root_symbol(one.node) != root_symbol(other.node) or len(one.dimensions) != len(other.dimensions):
        return False
    return all(_is_same_dimension(a, b) for a, b in zip(one.dimensions, other.dimensions, strict=True))


def _is_same_dimension(one: Dimension, other: Dimension) -> bool:
    if one.split is None or other.split is None:
        return one.fixed is not None and other.fixed is not None and same(one.fixed, other.fixed)
    return one.split.steps == other.split.steps and one.rest == other.rest


class NeighborFinder(Struct, frozen=True):
    """Reads the references of one kernel. `inner`: the loops of the thread around each reference, by its identity."""

    search: TileSearch
    inner: Mapping[int, tuple[For, ...]]

    @classmethod
    def of(cls, search: TileSearch) -> NeighborFinder:
        """Return the finder of a kernel."""
        around: dict[int, tuple[For, ...]] = {}
        for loop, _ in loops(search.heads[-1].body):
            for part in walk(loop.body) if isinstance(loop, For) else ():
                if isinstance(part, Index):
                    assert isinstance(loop, For), "only counted loops are gone through"
                    around[id(part)] = (*around.get(id(part), ()), loop)
        return cls(search, around)

    def read(self, node: Index) -> Neighbor | Reason | None:
        """Return a reference with its distances; None where no counter of a thread moves it."""
        indices = subscripts_of(node)
        found = {n.symbol for index in indices for n in names(index)}
        by = [head for head in self.search.heads if head.variable in found]
        if not by:
            return None
        shown = show_expression(node)
        if _has_rows(node):
            return _refuse(f"the rows of {array_of(node)} lie anywhere", node)
        if not all(map(counts_up, by)):
            return _refuse(f"{shown} is read by a counter that does not count up by one", node)
        members = [self.dimension(index, node) for index in indices]
        if any(one is None for one in members):
            return _refuse(f"where {shown} is, is no sum of counters and parameters that nothing rounds", node)
        parts = [one for one in members if one is not None]
        moving = [key for one, _ in parts if one.split is not None for key in one.split.steps]
        if len(set(moving)) < len(moving):
            return _refuse(f"{shown} has one counter in two subscripts", node)
        distances: dict[For, Distance] = {}
        for one, own in parts:
            if one.split is not None:
                made = self.distance(one, own, node)
                if made is None:
                    return _refuse(f"how far {shown} lies from the thread's own element is not a number", node)
                distances |= made
        return Neighbor(node, tuple(one for one, _ in parts), distances)

    def dimension(self, index: Expr, node: Index) -> tuple[Dimension, Mapping[str, int]] | None:
        """Return a subscript without its distance from the one that stands for all, and that."""
        if is_made_of((index,), self.search.values):
            return Dimension(index, None, ZERO), {}
        value = read_subscript(index)
        counters = frozenset(head.variable.key for head in self.search.heads)
        inner = frozenset(loop.variable.key for loop in self.inner.get(id(node), ()))
        known = frozenset(symbol.key for symbol in self.search.values)
        split = None if value is None else split_subscript(value, counters, inner, known)
        if split is None or not split.steps or len({repr(step) for step in split.steps.values()}) < len(split.steps):
            return None
        distances, rest = split_distance(split.rest, split.steps)
        return Dimension(None, split, rest), distances

    def distance(self, one: Dimension, own: Mapping[str, int], node: Index) -> dict[For, Distance] | None:
        """Return how far a reference lies from the one that stands for all, by the counters of one subscript."""
        assert one.split is not None, "a fixed subscript has no distance"
        moved: dict[str, list[tuple[For, int]]] = {key: [] for key in own}
        for key, step in one.split.inner.items():
            loop = next(loop for loop in self.inner[id(node)] if loop.variable.key == key)
            factors, left = split_distance(step, one.split.steps)
            if left != ZERO or _range_of(loop) is None:
                return None
            for counter, factor in factors.items():
                if factor:
                    moved[counter].append((loop, factor))
        heads = {head.variable.key: head for head in self.search.heads}
        return {heads[key]: Distance(number, tuple(moved[key])) for key, number in own.items()}

    def is_wide(self, group: Sequence[Neighbor]) -> bool:
        """Whether neighbors of an element are among what a group reads."""
        return any(low < high for low, high in _find_reach(group).values())

    def prove(self, group: Sequence[Neighbor], *, still: bool = False) -> HaloRead | Reason:
        """Return what a group reads, if nothing writes it meanwhile and it is known where it is read. `still`: what
        lies between such elements may be loaded, whatever the kernel stores to the array."""
        search, request = self.search, self.search.request
        nodes = tuple(one.node for one in group)
        strides = find_strides(search, nodes[0])
        if strides is None:
            return _refuse(f"where {show_expression(nodes[0])} is, is not known", nodes[0])
        origin = Origin.of(request.program, request.facts.function, search.known)
        around = dict(loops(request.facts.function.body))[search.heads[0]]
        run, tested = search.draft.statements, search.tested
        by = order_by_reach(tuple(group[0].distances), strides)
        # an index that the program computes in an int is one; a part of it may be more
        plain = all(one.split is None or is_counter(one.split, one.rest) for one in group[0].dimensions)
        narrow = plain and all(is_narrow(index) for node in nodes for index in subscripts_of(node))
        moved = {id(one.node): one.distances for one in group}
        # what lies between elements that are read is in the buffer, and nothing is stored there either
        between = still or all(not use.written for use in search.draft.uses if use.symbol == root_symbol(nodes[0]))
        question = ("halo", still, search.heads[0], nodes, tuple((a.text, a.kind) for a in tested), request.poly)

        def ask() -> HaloRead | Reason:
            verdict = is_alone(AloneQuestion(origin, run, nodes, around, request.poly, allowed=tested))
            if not isinstance(verdict, Proved):
                return verdict.reasons[0]
            at = {one.variable: placeholder(one.variable, wide=not narrow) for one in by}
            asked = ReadQuestion(
                origin, run, nodes, around, by, at, frozenset(), search.heads, request.poly, tested, moved, between
            )
            where = find_read_where(asked)
            if isinstance(where, Reason):
                return where
            condition = where.condition
            if condition is not None and not is_made_of((condition,), search.values | set(at.values())):
                return _refuse(f"where {show_expression(nodes[0])} is read hangs on what no thread knows", nodes[0])
            dimensions, reach = group[0].dimensions, _find_reach(group)
            return HaloRead(nodes, by, dimensions, moved, reach, strides, narrow, condition, at)

        return search.known.remember(question, ask)


def _has_rows(node: Index) -> bool:
    """Whether a pointer that is read leads to what an element is in."""
    inner = peel(node.base)
    while isinstance(inner, Index):
        if not isinstance(inner.type, Array):
            return True
        inner = peel(inner.base)
    return False


def _find_reach(group: Sequence[Neighbor]) -> dict[For, tuple[int, int]]:
    """Return the least and the greatest distance along each counter."""
    found: dict[For, tuple[int, int]] = {}
    for one in group:
        for head, distance in one.distances.items():
            low = high = distance.number
            for loop, factor in distance.inner:
                ends = _range_of(loop)
                assert ends is not None, "only such loops are in a distance"
                low += min(factor * end for end in ends)
                high += max(factor * end for end in ends)
            least, most = found.get(head, (low, high))
            found[head] = min(least, low), max(most, high)
    return found


def _range_of(loop: For) -> tuple[int, int] | None:
    """Return the first and the last value of a counter that runs from a number to a number."""
    lower, bound = constant(loop.lower), constant(loop.bound)
    if lower is None or bound is None or loop.step < 1 or loop.relation not in ("<", "<="):
        return None
    last = bound - 1 if loop.relation == "<" else bound
    return lower, max(lower, lower + (last - lower) // loop.step * loop.step)


def _with_subscripts(node: Expr, indices: Sequence[Expr]) -> Expr:
    """Return an element at other subscripts."""
    if not indices:
        return node
    node = peel(node)
    assert isinstance(node, Index), "as many subscripts as the element has"
    return replace(node, base=_with_subscripts(node.base, indices[:-1]), index=indices[-1])


def _refuse(text: str, node: Node) -> Reason:
    return Reason("STP002", text, node.span)
