"""Hypothesis strategies for random nests: depths 1-3, symbolic widths, triangles, unsigned and narrow counters.

Three kinds of nest are mixed:
    tidy      each element is written by its own iteration and read nowhere else, as in most real loops
    stencil   the same, but neighbors of the element are read too
    wild      every subscript is drawn on its own

Nothing that is run is undefined or endless: where a counter or a size is unsigned, no subscript and no bound goes below
zero (`i - 1` only where i starts at 1 or later, `n - 1` only with n >= 1).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from msgspec import Struct
from msgspec.structs import replace

from tests.random_programs.nests import Access, Affine, Guard, Loop, Nest, Scalar, SizeType, Statement
from tests.random_programs.oracle import repeats
from tests.random_programs.survey import LEGAL

__all__ = ["gather", "nests"]

HARMLESS: tuple[Scalar, ...] = ("", "", "", "", "temporary", "outer temporary", "last temporary", "either", "row sum")
SCALARS: tuple[Scalar, ...] = (*HARMLESS, "conditional", "carried", "sum")
SIGNED = ("int", "int", "int", "int", "long", "short", "signed char")
UNSIGNED = ("unsigned", "unsigned", "unsigned long", "unsigned short", "unsigned char")
SIZES_OF_SIGNED: tuple[SizeType, ...] = ("int", "int", "int", "int", "int", "long", "unsigned")
SIZES_OF_UNSIGNED: tuple[SizeType, ...] = ("unsigned", "unsigned", "unsigned", "unsigned", "unsigned long", "int")
FLAT_OR_ROWS = ("A", "B", "M", "P")
ARRAYS = ("A", "B", "X", "Y", "M", "P")


class Shape(Struct, frozen=True):
    """What the subscripts of one nest are made of. `free`: values may be negative; `late`: counters from 1 on."""

    counters: tuple[str, ...]
    free: bool
    kind: Literal["tidy", "stencil", "wild"]
    own: tuple[Affine, ...]
    late: frozenset[str]


@st.composite
def loops(draw: st.DrawFn, counter: str, outer: tuple[str, ...], kinds: tuple[str, ...], free: bool) -> Loop:
    kind = draw(st.sampled_from(kinds))
    from_outer = bool(outer) and draw(st.integers(0, 4)) == 0
    lower = Affine(draw(st.integers(0, 2)), ((draw(st.sampled_from(outer)), 1),) if from_outer else ())
    triangle = bool(outer) and not from_outer and draw(st.integers(0, 5)) == 0
    end = draw(st.sampled_from(outer)) if triangle else draw(st.sampled_from(["n", "m"]))
    shift = draw(st.sampled_from([0, 0, 0, -1, 1]))
    upper = Affine(0 if triangle and not free else shift, ((end, 1),))
    step = draw(st.sampled_from([1, 1, 1, 1, 1, 2, 3, -1, -2] if free else [1, 1, 1, 1, 2, -1]))
    inclusive = draw(st.integers(0, 3)) == 0 and (free or step > 0 or lower.constant > 0)
    return Loop(counter, kind, lower, upper, inclusive, step)


@st.composite
def subscripts(draw: st.DrawFn, shape: Shape) -> Affine:
    used = draw(st.lists(st.sampled_from(shape.counters), min_size=0, max_size=2, unique=True))
    scales = [1, 1, 1, 2, -1] if shape.free else [1, 1, 1, 2]
    return Affine(draw(st.integers(0, 2)), tuple((name, draw(st.sampled_from(scales))) for name in used))


@st.composite
def neighbors(draw: st.DrawFn, shape: Shape, own: Affine) -> Affine:
    """`i` becomes `i + 1`, or `i - 1`: where `i` starts at 0 rarely, and never where -1 would wrap."""
    back = own.terms[0][0] in shape.late or (shape.free and draw(st.integers(0, 4)) == 0)
    return replace(own, constant=own.constant + draw(st.sampled_from([-1, 1] if back else [1])))


@st.composite
def accesses(draw: st.DrawFn, shape: Shape, arrays: tuple[str, ...]) -> Access:
    array = draw(st.sampled_from(arrays))
    count = 1 if array in ("X", "Y") else 2
    if len(shape.own) >= count and draw(st.integers(0, 9)) < (4 if shape.kind == "wild" else 8):
        chosen = list(shape.own[:count])
        if draw(st.integers(0, 2)) == 0:
            moved = draw(st.integers(0, count - 1))
            chosen[moved] = draw(neighbors(shape, chosen[moved]))
        return Access(array, tuple(chosen))
    return Access(array, tuple(draw(subscripts(shape)) for _ in range(count)))


@st.composite
def guards(draw: st.DrawFn, shape: Shape, arrays: tuple[str, ...]) -> Guard:
    kind = draw(st.sampled_from(["<", "parity", "data"]))
    names = draw(st.lists(st.sampled_from(shape.counters), min_size=1, max_size=2, unique=True))
    left = Affine(0, tuple((name, 1) for name in names))
    if kind == "data":
        return Guard(left, "data", access=draw(accesses(shape, arrays)))
    if kind == "parity":
        return Guard(left, "parity")
    return Guard(left, "<", Affine(draw(st.integers(-1, 2)) if shape.free else 0, (("n", 1),)))


@st.composite
def statements(draw: st.DrawFn, shape: Shape, target: Access, arrays: tuple[str, ...]) -> Statement:
    sources = list(draw(st.lists(accesses(shape, arrays), min_size=0, max_size=2)))
    if shape.kind == "stencil":
        moved = draw(st.integers(0, len(target.subscripts) - 1))
        near = [draw(neighbors(shape, s)) if k == moved else s for k, s in enumerate(target.subscripts)]
        sources.append(Access(target.array, tuple(near)))
    guard = draw(guards(shape, arrays)) if draw(st.integers(0, 3)) == 0 else None
    update = draw(st.integers(0, 3)) == 0
    otherwise = None
    if guard is not None and draw(st.integers(0, 2)) == 0:
        otherwise = target if shape.kind != "wild" else draw(accesses(shape, arrays))
    return Statement(target, tuple(sources), guard, update, len(shape.counters), otherwise)


@st.composite
def shallow(draw: st.DrawFn, shape: Shape, arrays: tuple[str, ...]) -> Statement:
    """A statement of the outermost loop's body, before or after the loop inside it."""
    outer = replace(shape, counters=shape.counters[:1], own=(Affine(0, ((shape.counters[0], 1),)),))
    if shape.kind == "stencil":
        outer = replace(outer, kind="tidy")
    target = draw(accesses(outer, arrays)) if shape.kind == "wild" else Access("X", outer.own)
    return replace(draw(statements(outer, target, arrays)), after=draw(st.booleans()))


@st.composite
def bodies(draw: st.DrawFn, shape: Shape, depth: int, summed: bool) -> tuple[tuple[Statement, ...], tuple[str, ...]]:
    """Return the statements, and the arrays that the scalar's source may be in."""
    others: tuple[str, ...] = ARRAYS
    if shape.kind == "wild":
        targets = draw(st.lists(accesses(shape, ARRAYS), min_size=1, max_size=2))
        body = [draw(statements(shape, target, ARRAYS)) for target in targets]
    else:
        array = draw(st.sampled_from(("X", "Y") if depth == 1 else FLAT_OR_ROWS))
        target = Access(array, shape.own[: 1 if depth == 1 else 2])
        others = tuple(
            x for x in ARRAYS if x not in (array, *(("X",) if depth > 1 else ()), *(("Y",) if summed else ()))
        )
        body = draw(st.lists(statements(shape, target, others), min_size=1, max_size=2))
    if depth > 1 and draw(st.integers(0, 3)) == 0:
        body.append(draw(shallow(shape, others)))
    return tuple(body), others


@st.composite
def nests(draw: st.DrawFn) -> Nest:
    """Return a nest without a name."""
    depth = draw(st.sampled_from([1, 2, 2, 2, 3]))
    counters = ("i", "j", "k")[:depth]
    signed = draw(st.integers(0, 3)) > 0
    sizes = draw(st.sampled_from(SIZES_OF_SIGNED if signed else SIZES_OF_UNSIGNED))
    free = signed and not sizes.startswith("unsigned")
    kinds = SIGNED if signed else UNSIGNED
    made = tuple(draw(loops(counters[d], counters[:d], kinds, free)) for d in range(depth))
    order = draw(st.permutations(counters[:2])) if depth > 1 else ("i", "i")
    own = tuple(Affine(0, ((counter, 1),)) for counter in order)
    late = frozenset(loop.counter for loop in made if loop.lower.constant > 0)
    kind: Literal["tidy", "stencil", "wild"] = draw(
        st.sampled_from(("tidy", "tidy", "tidy", "stencil", "wild", "wild", "wild"))
    )
    scalar = draw(st.sampled_from(SCALARS if kind == "wild" else HARMLESS))
    if depth == 1 and scalar == "row sum":
        scalar = "sum"
    if depth > 1 and scalar == "last temporary" and draw(st.integers(0, 2)) > 0:
        scalar = "either"
    body, others = draw(bodies(Shape(counters, free, kind, own, late), depth, scalar == "row sum"))
    source = draw(accesses(Shape(counters, free, kind, own, late), others))
    least = int(not free and any(loop.upper.constant < 0 for loop in made))
    restrict = draw(st.integers(0, 8)) > 0
    return Nest("", made, body, scalar, source, draw(st.booleans()), sizes, restrict, least)


def gather(count: int, size: int) -> Iterator[list[Nest]]:
    """Yield `count` nests in batches of `size`, always the same ones; each has a loop that repeats.

    Hypothesis also tries variants of what it has drawn: of nests with the same loops or the same statements only the
    first is taken.
    """
    found: list[Nest] = []
    parts: set[tuple[object, ...]] = set()

    @settings(
        max_examples=8 * count,
        derandomize=True,
        deadline=None,
        database=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    @given(nests())
    def collect(nest: Nest) -> None:
        if len(found) < count and any(repeats(nest, depth, LEGAL) for depth in range(len(nest.loops))):
            if not parts & {nest.loops, nest.statements}:
                found.append(nest)
            parts.update((nest.loops, nest.statements))

    collect()
    assert len(found) == count
    named = [replace(nest, name=f"nest{index}") for index, nest in enumerate(found)]
    for start in range(0, count, size):
        yield named[start : start + size]
