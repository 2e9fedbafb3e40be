"""Random kernels with their addresses by Python, and what is said of them against every thread and iteration."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from pathlib import Path
from types import CodeType

from msgspec import Struct

from warpsmith.analysis.kernel import examine
from warpsmith.analysis.patterns.kernel import KernelSpace, kernel_accesses
from warpsmith.analysis.uniformity.facts import Dim, KernelFacts, LaunchShape
from warpsmith.kernels.units import KernelFile, KernelUnit, read_unit
from warpsmith.machine.devices import device
from warpsmith.poly.patterns.lattice import rank
from warpsmith.poly.patterns.model import ArrayReference

__all__ = ["RandomKernel", "contradictions", "facts_of", "patterns_of", "random_kernel", "read_kernels"]

GRID: Dim = (2, 3, 1)
_READ = 60
NUMBERS = {"n": 1009, "m": 10007}
_NAMES = {"ctaid.y": "blockIdx.y", "ctaid.x": "blockIdx.x", "tid.y": "threadIdx.y", "tid.x": "threadIdx.x"}
Point = tuple[int, ...]


class _Loop(Struct, frozen=True):
    name: str
    text: str
    values: tuple[int, ...]


class RandomKernel(Struct, frozen=True):
    """A kernel: its text, its block, its loops, and the index of each of its references as an expression."""

    name: str
    text: str
    block: Dim
    loops: tuple[_Loop, ...]
    indices: tuple[str, ...]
    shared: bool


def random_kernel(seed: int) -> RandomKernel:
    """Return one of the kernels; every fourth has its array in shared memory."""
    r = random.Random(seed)
    block: Dim = r.choice(((4, 1, 1), (4, 3, 1), (8, 2, 1), (2, 5, 1), (12, 2, 1)))
    loops = tuple(_loop(r, name) for name in "kl"[: r.randint(0, 2)])
    shared = seed % 4 == 3
    index = _index(r, block, [loop.name for loop in loops], shared=shared)
    shift = r.choice((0, 1, -1, 2))
    indices = (index, f"{index} + {shift}" if shift else index)
    array = "__shared__ float a[4096]; " if shared else ""
    given = "float *out" if shared else "float *a, float *out"
    body = f"out[0] = a[{indices[1]}]; a[{indices[0]}] = 1;"
    opened = "".join(f"for (int {loop.text}) " for loop in loops)
    name = f"kernel{seed}"
    text = f"__global__ void {name}({given}, int n, int m) {{ {array}{opened}{{ {body} }} }}\n"
    return RandomKernel(name, text, block, loops, indices, shared)


def _loop(r: random.Random, name: str) -> _Loop:
    start, count, step = r.choice((0, 0, 1, 3)), r.randint(2, 4), r.choice((1, 1, 2, -1))
    if step < 0:
        return _Loop(name, f"{name} = {count - 1}; {name} >= 0; {name}--", tuple(range(count - 1, -1, -1)))
    end = start + count * step
    return _Loop(name, f"{name} = {start}; {name} < {end}; {name} += {step}", tuple(range(start, end, step)))


def _index(r: random.Random, block: Dim, counters: Sequence[str], *, shared: bool) -> str:
    whole = [f"({block[k]} * blockIdx.{a} + threadIdx.{a})" for k, a in enumerate("xy")]
    linear = f"({block[0]} * threadIdx.y + threadIdx.x)"
    names = [*whole, *_NAMES.values(), *counters, *counters]
    terms = []
    for _ in range(r.randint(1, 4)):
        factor = r.choice((1, 1, 1, 2, 4, 8, 16, -1))
        parameter = "" if shared else r.choice(("", "", "n * ", "m * "))
        terms.append(f"{factor} * {parameter}{r.choice(names)}")
    if r.random() < 0.2:
        terms.append(r.choice(("(threadIdx.x / 2)", "(threadIdx.x % 3)", "threadIdx.x * threadIdx.y")))
    if r.random() < 0.4:
        parameter = "" if shared else r.choice(("", "n * "))
        parts = ("threadIdx.x", "threadIdx.x", whole[0], linear, "(threadIdx.x + threadIdx.y)")
        for operator in r.choice(("/", "%", "/%", "//")):
            number, of = r.choice((2, 2, 4, 3)), r.choice(parts)
            terms.append(f"{r.choice((1, 3, number, 16))} * {parameter}({of} {operator} {number})")
    # numbers of blocks and threads have no sign: an index is of int
    signed = " + ".join(terms)
    for name in _NAMES.values():
        signed = signed.replace(name, f"(int){name}")
    return signed + (" + 1000" if shared else "")


def read_kernels(kernels: Sequence[RandomKernel], folder: Path) -> KernelUnit:
    """Return the kernels as one file that is read."""
    path = folder / "random.cu"
    path.write_text("".join(one.text for one in kernels))
    unit = read_unit(KernelFile(str(path)))
    assert isinstance(unit, KernelUnit)
    return unit


def facts_of(unit: KernelUnit, one: RandomKernel) -> KernelFacts:
    """Return the facts of a kernel."""
    symbol = next(f.name for f in unit.module.functions if f.name == one.name or f"{len(one.name)}{one.name}" in f.name)
    return examine(unit.module, symbol, LaunchShape(block=one.block, grid=GRID), device("a100"))


def patterns_of(facts: KernelFacts) -> KernelSpace:
    """Return what is said of the references in the loops of a kernel."""
    return next(s for s in kernel_accesses(facts) if any(_is_array(r) for r in s.space.references))


def _is_array(reference: ArrayReference) -> bool:
    """Whether it is to the array; variables of one name in a file are numbered."""
    return reference.array.partition(".")[0] == "a"


def contradictions(one: RandomKernel, found: KernelSpace) -> Iterator[str]:
    """Yield what is said of a kernel and its addresses do not bear out."""
    points = list(_points(one, found))
    references = [r for r in found.space.references if _is_array(r)]
    # the load is first, and the store where it is another reference
    if len(references) < len(set(one.indices)):
        yield f"{one.indices} are taken for one reference"
        return
    indices = [one.indices[1], one.indices[0]][: len(references)]
    tables = [_addresses(one, index, points) for index in indices]
    for reference, table in zip(references, tables, strict=True):
        yield from _reference(reference, table, found)
    for group in found.space.groups:
        pair = [found.space.references[place] for place in (group.earlier, group.later)]
        if all(r in references for r in pair):
            earlier, later = (tables[references.index(r)] for r in pair)
            for point, address in earlier.items():
                after = _move(point, group.direction)
                if after in later and later[after] != address:
                    yield f"group {group.direction} at {point}"
                    break


def _points(one: RandomKernel, found: KernelSpace) -> Iterator[tuple[Point, Mapping[str, int]]]:
    """Yield every point of the columns with the values of all names."""
    ranges = {
        "blockIdx.y": range(GRID[1]), "blockIdx.x": range(GRID[0]),
        "threadIdx.y": range(one.block[1]), "threadIdx.x": range(one.block[0]),
        **{loop.name: loop.values for loop in one.loops},
    }  # fmt: skip
    counts = {loop.name: loop.values for loop in one.loops}
    for values in product(*ranges.values()):
        at = dict(zip(ranges, values, strict=True))
        point: list[int] = []
        for column in found.columns:
            name = _NAMES.get(column.name, column.name)
            loops = [loop for loop in one.loops if loop.name == name.partition("/")[0]]
            if name in at:
                point.append(at[name])
            elif name.startswith("tid."):
                point.append(_part(name, at))
            elif loops:
                point.append(counts[loops[0].name].index(at[loops[0].name]))
            else:  # the number of an iteration: `i1` is of the outermost loop
                loop = one.loops[int(name[1:]) - 1]
                point.append(loop.values.index(at[loop.name]))
        yield tuple(point), at


def _part(name: str, at: Mapping[str, int]) -> int:
    """Return a part of the index of a thread: `tid.x%8/2`."""
    number = at[_NAMES[name[:5]]]
    for operator, by in re.findall(r"([%/])(\d+)", name[5:]):
        number = number % int(by) if operator == "%" else number // int(by)
    return number


def _addresses(
    one: RandomKernel, index: str, points: Sequence[tuple[Point, Mapping[str, int]]]
) -> dict[Point, tuple[int, ...]]:
    """Return the element at each point: its index, and the block that has it where it is shared."""
    text = index.replace("(int)", "").replace("/", "//")
    for number, name in enumerate(_NAMES.values()):
        text = text.replace(name, f"v{number}")
    code: Callable[..., int] = eval(f"lambda v0, v1, v2, v3, k, l, n, m: {text}")
    found: dict[Point, tuple[int, ...]] = {}
    for point, at in points:
        numbers = [at[name] for name in _NAMES.values()]
        element = code(*numbers, at.get("k", 0), at.get("l", 0), **NUMBERS)
        found[point] = (element, *numbers[:2]) if one.shared else (element,)
    return found


def _read(text: str, at: Mapping[str, int]) -> int:
    """Return what the text of a subscript is at a point."""
    values = {**NUMBERS, **{name: number for name, number in at.items() if name.isidentifier()}}
    for name, number in at.items():
        counter, _, step = name.partition("/")
        values |= {counter: int(step) * number} if step and counter in "kl" else {}
    for axis in "xy":
        digits = {name: number for name, number in at.items() if name.startswith(f"tid.{axis}")}
        values[f"tid_{axis}"] = sum(_width(name) * number for name, number in digits.items())
        values[f"ctaid_{axis}"] = at.get(f"ctaid.{axis}", 0)
    return int(eval(_compile(text), {}, values))


@cache
def _compile(text: str) -> CodeType:
    plain = re.sub(r"\b(ctaid|tid)\.", r"\1_", text).replace("·", "*").replace("/", "//")
    return compile(plain, "subscript", "eval")


def _width(name: str) -> int:
    return int(name.partition("/")[2] or 1)


def _move(point: Point, direction: Sequence[int]) -> Point:
    return tuple(a + b for a, b in zip(point, direction, strict=True))


def _reference(reference: ArrayReference, table: Mapping[Point, tuple[int, ...]], found: KernelSpace) -> Iterator[str]:
    for direction in reference.reuse:
        for point, address in table.items():
            after = _move(point, direction)
            if after in table and table[after] != address:
                yield f"{reference.text}: {direction} leads from {point} to another element"
                break
    if any(row.irregular for row in reference.rows):
        return
    yield from _complete(reference, table)
    yield from _matrix(reference, table, found)


def _complete(reference: ArrayReference, table: Mapping[Point, tuple[int, ...]]) -> Iterator[str]:
    """Yield a pair of points with one element that no directions lead between."""
    first: dict[tuple[int, ...], Point] = {}
    realized: list[list[int]] = []
    met: set[Point] = set()
    for point, address in table.items():
        start = first.setdefault(address, point)
        apart = [b - a for a, b in zip(start, point, strict=True)]
        if tuple(apart) in met:
            continue
        met.add(tuple(apart))
        if rank([*reference.reuse, apart]) > len(reference.reuse):
            yield f"{reference.text}: {start} and {point} touch one element"
            return
        realized += [apart] if rank([*realized, apart]) > len(realized) else []
    mixed = any(sum(map(bool, column)) > 1 for column in zip(*reference.reuse, strict=True))
    if len(realized) != len(reference.reuse) and not mixed:
        yield f"{reference.text}: {reference.reuse} where {realized} is all that happens"


def _matrix(reference: ArrayReference, table: Mapping[Point, tuple[int, ...]], found: KernelSpace) -> Iterator[str]:
    """Yield where the subscripts by the matrix are the same and the elements are not, or the other way round."""
    numbers = [eval(p.replace("·", "*"), dict(NUMBERS)) for p in found.space.parameters]
    seen: dict[tuple[int, ...], int] = {}
    for point, address in table.items():
        subscripts = tuple(
            sum(int(f) * p for f, p in zip(row.counters, point, strict=True))
            + sum(int(f) * p for f, p in zip(row.parameters, numbers, strict=True))
            + row.constant
            for row in reference.rows
        )
        if seen.setdefault(subscripts, address[0]) != address[0]:
            yield f"{reference.text}: subscripts {subscripts} are two elements"
            return
        if len(seen) > _READ:
            continue
        at = {column.name: number for column, number in zip(found.columns, point, strict=True)}
        if [_read(row.text, at) for row in reference.rows] != list(subscripts):
            yield f"{reference.text} is not {subscripts} at {point}"
            return
    if len(set(seen.values())) < len(seen):
        yield f"{reference.text}: one element has two subscripts"
