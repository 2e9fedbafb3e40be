"""Hypothesis strategies for random nests: depths 1-3, symbolic widths, triangles, unsigned and narrow counters.

Two kinds of nest are mixed. A tidy one writes each element from its own iteration, as most real loops do; a wild one
draws every subscript on its own. Sizes have the signedness of the counters, so that a program means what it seems to.
"""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from tests.random_programs.nests import Access, Affine, Guard, Loop, Nest, Scalar, Statement

__all__ = ["batches", "nests"]

HARMLESS: tuple[Scalar, ...] = ("", "", "", "temporary", "outer temporary")
SCALARS: tuple[Scalar, ...] = (*HARMLESS, "conditional", "carried", "sum")
SIGNED = ("int", "int", "int", "int", "long", "short", "signed char")
UNSIGNED = ("unsigned", "unsigned", "unsigned long", "unsigned char")
FLAT_OR_ROWS = ("A", "B", "M", "P")


@dataclass(frozen=True)
class Shape:
    """What the subscripts of one nest are made of."""

    counters: tuple[str, ...]
    signed: bool
    tidy: bool
    own: tuple[Affine, ...]


@st.composite
def loops(draw: st.DrawFn, counter: str, outer: tuple[str, ...], signed: bool) -> Loop:
    kind = draw(st.sampled_from(SIGNED if signed else UNSIGNED))
    from_outer = bool(outer) and draw(st.integers(0, 4)) == 0
    lower = Affine(draw(st.integers(0, 2)), ((draw(st.sampled_from(outer)), 1),) if from_outer else ())
    triangle = outer and not from_outer and draw(st.integers(0, 5)) == 0
    end = draw(st.sampled_from(outer)) if triangle else draw(st.sampled_from(["n", "m"]))
    upper = Affine(draw(st.sampled_from([0, 0, 0, -1, 1])) if signed else 0, ((end, 1),))
    step = draw(st.sampled_from([1, 1, 1, 1, 1, 2, 3, -1] if signed else [1, 1, 1, 2]))
    return Loop(counter, kind, lower, upper, signed and draw(st.integers(0, 3)) == 0, step)


@st.composite
def subscripts(draw: st.DrawFn, shape: Shape) -> Affine:
    """A wild subscript; below an unsigned counter it stays positive, for what wraps would be another program."""
    most = 2 if shape.signed else 1
    used = draw(st.lists(st.sampled_from(shape.counters), min_size=0, max_size=most, unique=True))
    scales = [1, 1, 1, 2, -1] if shape.signed else [1]
    return Affine(draw(st.integers(0, 2)), tuple((name, draw(st.sampled_from(scales))) for name in used))


@st.composite
def accesses(draw: st.DrawFn, shape: Shape, arrays: tuple[str, ...]) -> Access:
    array = draw(st.sampled_from(arrays))
    count = 1 if array in ("X", "Y") else 2
    if len(shape.own) >= count and draw(st.integers(0, 9)) < (8 if shape.tidy else 4):
        chosen = list(shape.own[:count])
        if shape.signed and not draw(st.integers(0, 2)):
            chosen[-1] = Affine(chosen[-1].constant + draw(st.sampled_from([-1, 1])), chosen[-1].terms)
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
    return Guard(left, "<", Affine(0 if not shape.signed else draw(st.integers(-1, 2)), (("n", 1),)))


@st.composite
def statements(draw: st.DrawFn, shape: Shape, target: Access, arrays: tuple[str, ...]) -> Statement:
    sources = tuple(draw(st.lists(accesses(shape, arrays), min_size=0, max_size=2)))
    guard = draw(guards(shape, arrays)) if not draw(st.integers(0, 3)) else None
    return Statement(target, sources, guard, not draw(st.integers(0, 3)))


@st.composite
def nests(draw: st.DrawFn, name: str = "f") -> Nest:
    depth = draw(st.sampled_from([1, 2, 2, 2, 3]))
    counters = ("i", "j", "k")[:depth]
    signed, tidy = bool(draw(st.integers(0, 3))), draw(st.integers(0, 9)) < 6
    made = tuple(draw(loops(counters[d], counters[:d], signed)) for d in range(depth))
    order = draw(st.permutations(counters[:2])) if depth > 1 else ("i",)
    own = tuple(Affine(0, ((counter, 1),)) for counter in order)
    shape = Shape(counters, signed, tidy, own if depth > 1 else (own[0], own[0]))
    every = ("A", "B", "X", "Y", "M", "P")
    if tidy:
        # the target belongs to the iteration (of the outer two loops), and is read nowhere else
        array = draw(st.sampled_from(("X", "Y") if depth == 1 else FLAT_OR_ROWS))
        target = Access(array, shape.own[: 1 if depth == 1 else 2])
        others = tuple(other for other in every if other != array)
        body = tuple(draw(st.lists(statements(shape, target, others), min_size=1, max_size=2)))
        return Nest(
            name, made, body, draw(st.sampled_from(HARMLESS)), draw(accesses(shape, others)), draw(st.booleans())
        )
    targets = draw(st.lists(accesses(shape, every), min_size=1, max_size=2))
    body = tuple(draw(statements(shape, target, every)) for target in targets)
    return Nest(name, made, body, draw(st.sampled_from(SCALARS)), draw(accesses(shape, every)), draw(st.booleans()))


@st.composite
def batches(draw: st.DrawFn, size: int) -> list[Nest]:
    """Return `size` nests with distinct names."""
    return [draw(nests(f"nest{index}")) for index in range(size)]
