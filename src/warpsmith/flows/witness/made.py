"""Arguments that are made up for a kernel: numbers that all threads are below, arrays of random numbers.

n = 1024          twice as many as there are threads, then other sizes
a = rand:f32[…]   as long as the run turned out to need
s = local:f32[…]  __local of OpenCL, likewise
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from warpsmith.analysis.uniformity.facts import LaunchShape
from warpsmith.kernels.units import KernelUnit
from warpsmith.ssa.nodes import Constant, Function, Instruction, Operand, Param, Value
from warpsmith.ssa.ops import OPS
from warpsmith.tree import types as tree

__all__ = ["Made", "make_arguments"]

_SHORTEST: Final = 256
LONGEST: Final = 1 << 24
"""Bytes of an array at most."""
_SHORTEST_LOCAL: Final = 1 << 13
_LARGEST_LOCAL: Final = 1 << 16
"""Bytes of an array of a block, at first and at most: what leaves one may be in the next."""
_GROWTH: Final = 4
_LONG: Final = 16
"""Bytes that an element of a row has at most, and as many times longer a row is than it is told to be."""
_PRODUCTS: Final = ("mul", "smulwide", "umulwide")
_PARTS: Final = (*_PRODUCTS, "sext", "zext", "trunc", "shl", "lshr", "ashr", "sdiv", "udiv")
_FEW: Final = 8
"""A number for kernels to which large ones are too much."""
_BELOW: Final = 64
_MOST_CALLS: Final = 3
"""Launches whose arguments are tried."""
_FLOATS: Final = {4: "f32", 8: "f64", 2: "f16"}


class Made(Struct, frozen=True):
    """Arguments of a launch: `numbers` by parameter, as texts, those that are `given` by the user among them; for each
    array the type of its elements and how many they are; those in `local` are of a block, and hold nothing;
    `shrunk`: a number that host code gives is left out, since it may be too large for a run."""

    numbers: Mapping[str, str]
    given: frozenset[str]
    arrays: Mapping[str, tuple[str, int]]
    local: frozenset[str] = frozenset()
    shrunk: bool = False

    @property
    def texts(self) -> tuple[str, ...]:
        """Return them as `simulate --arg` takes them."""
        numbers = (f"{name}={text}" for name, text in self.numbers.items())
        arrays = (
            f"{name}={f'local:{type}[{count}]' if name in self.local else _content(type, count)}"
            for name, (type, count) in self.arrays.items()
        )
        return (*numbers, *arrays)

    @property
    def assumptions(self) -> tuple[str, ...]:
        """Return what was made up, in words."""
        numbers = [f"{name} is {text}" for name, text in self.numbers.items() if name not in self.given]
        held = [
            name for name, (type, _) in self.arrays.items() if type not in _FLOATS.values() and name not in self.local
        ]
        names = f"{', '.join(held[:3])}{' …' if len(held) > 3 else ''}"
        return (*numbers, *([f"random numbers below {_BELOW} in {names}"] if held else []))

    def longer(self, name: str, count_bytes: int) -> Made | None:
        """Return the same with an array of so many bytes at least; None where that is too long, or no array."""
        longest = _LARGEST_LOCAL if name in self.local else LONGEST
        if name not in self.arrays or count_bytes > longest:
            return None
        type, count = self.arrays[name]
        size = _bytes_of(type)
        needed = max(min(_GROWTH * count, longest // size), -(-count_bytes // size))
        return replace(self, arrays={**self.arrays, name: (type, 1 << (needed - 1).bit_length())})


def _content(type: str, count: int) -> str:
    return f"rand:{type}[{count}]" if type in _FLOATS.values() else f"rand:{type}[{count}]:below={_BELOW}"


def _bytes_of(type: str) -> int:
    return int(type[1:]) // 8


def make_arguments(
    unit: KernelUnit, kernel: Function, threads: int, shape: LaunchShape, side: int = 0
) -> Iterator[Made]:
    """Yield arguments to try for a kernel that is launched with so many threads along an axis, `side` in a block; none
    where a parameter is of a kind that nothing can be made up for. Numbers that the user or host code gives stay, those
    of each launch together; such as may be too large for a run are left out at last."""
    given = _given_sets(shape)
    tried = [list(_make(unit, kernel, (threads, side), known)) for known in given]
    yield from (made for several in zip(*tried, strict=True) for made in several)
    for known in given[:1] if shape.calls else ():
        kept = {name: n for name, n in known.items() if name in shape.deciding or n <= 2 * threads}
        if kept != known:
            yield from (replace(made, shrunk=True) for made in _make(unit, kernel, (threads, side), kept))


def _given_sets(shape: LaunchShape) -> list[dict[str, int]]:
    """Return the numbers that are given, those of each of a few launches that differ."""
    if not shape.calls:
        return [dict(shape.arguments)]
    found: list[dict[str, int]] = []
    for call in shape.calls:
        for pick in (min, max):
            one = {name: pick(numbers) for name, numbers in call.numbers.items()}
            found += [one] if one not in found else []
    return found[:_MOST_CALLS]


def _make(unit: KernelUnit, kernel: Function, along: tuple[int, int], known: Mapping[str, int]) -> Iterator[Made]:
    """Yield arguments for so many threads along an axis, of the grid and of a block."""
    declared = {symbol.name: symbol.type for symbol in unit.parameters.get(kernel.name, ())}
    arrays: dict[str, tuple[str, int]] = {}
    numbers: dict[str, str] = {}
    sizes: list[str] = []
    floats: list[str] = []
    for parameter in kernel.parameters:
        type = declared.get(parameter.name)
        element = _element(type)
        if element:
            arrays[parameter.name] = (element, _SHORTEST_LOCAL // _bytes_of(element) if _is_local(type) else _SHORTEST)
        elif parameter.name in known:
            numbers[parameter.name] = str(known[parameter.name])
        elif parameter.type is None:
            numbers[parameter.name] = f"hex:{'00' * parameter.bytes}"
        elif parameter.type.kind == "float":
            numbers[parameter.name] = ""
            floats.append(parameter.name)
        elif parameter.bytes == 8 and not isinstance(type, tree.Scalar):
            return
        else:
            numbers[parameter.name] = ""
            sizes.append(parameter.name)
    numbers |= zip(floats, _floats(len(floats)), strict=True)
    given = frozenset(known).intersection(numbers)
    local = frozenset(name for name in arrays if _is_local(declared.get(name)))
    threads, side = along
    factors, pitches = _find_factors(kernel)
    for size in _sizes(threads) if sizes else [0]:
        # with rows that are shorter than a block anything meets
        least = {name: max(size, side) if name in factors else size for name in numbers}
        long = {name: least[name] * (_LONG if name in pitches else 1) for name in numbers}
        said = {name: text or str(_fits(long[name], kernel, name)) for name, text in numbers.items()}
        yield Made(said, given, arrays, local)


def _find_factors(kernel: Function) -> tuple[frozenset[str], frozenset[str]]:
    """Return the parameters that something is multiplied by; and those of them that nothing is compared with: lengths
    of rows, in bytes perhaps. A row holds as many elements as other arguments say."""
    users: dict[Operand, list[Instruction]] = defaultdict(list)
    for _, i in kernel.instructions():
        for operand in set(i.operands):
            users[operand].append(i)
    factors, compared = set[str](), set[str]()
    for _, i in kernel.instructions():
        if isinstance(i.detail, Param) and i.results[0].type.kind == "integer":
            reached = list(_follow(i.results[0], users))
            if any(user.op in _PRODUCTS and _varies(user, value) for value, user in reached):
                factors.add(i.detail.parameter)
            if any(OPS[user.op].shape == "compare" for _, user in reached):
                compared.add(i.detail.parameter)
    return frozenset(factors), frozenset(factors - compared)


def _follow(value: Value, users: Mapping[Operand, Sequence[Instruction]]) -> Iterator[tuple[Value, Instruction]]:
    """Yield what uses a number, or a constant times or part of it."""
    pending = [value]
    while pending:
        one = pending.pop()
        for user in users.get(one, ()):
            yield one, user
            if user.op in _PARTS and not _varies(user, one):
                pending += user.results


def _varies(user: Instruction, value: Value) -> bool:
    """Whether an instruction has another operand than a number, and a constant."""
    return any(operand != value and not isinstance(operand, Constant) for operand in user.operands)


def _sizes(threads: int) -> Iterator[int]:
    """Yield numbers to try: twice as many as threads, fewer, no multiple of anything, as many, and few."""
    yield from (2 * threads, threads + threads // 2 + 13, threads, _FEW)


def _floats(count: int) -> list[str]:
    """Return numbers that rise, and have what arrays hold between the first two: they may be a range."""
    return ["1.5"] if count == 1 else [str(3 * number - 1.5) for number in range(count)]


def _fits(size: int, kernel: Function, name: str) -> int:
    """Return a size as a parameter holds it."""
    parameter = next(p for p in kernel.parameters if p.name == name)
    return min(size, (1 << (8 * parameter.bytes - 1)) - 1)


def _is_local(type: tree.Type | None) -> bool:
    return isinstance(type, tree.Pointer) and type.space == "shared"


def _element(type: tree.Type | None) -> str:
    """Return the type of the elements that a pointer leads to, "" for what is no pointer."""
    return _element_of(type.to) if isinstance(type, tree.Pointer) else ""


def _element_of(type: tree.Type) -> str:
    """Return the type of the elements of an array as arguments have it: numbers, or bytes."""
    match type:
        case tree.Scalar(kind="float", bits=bits) if bits // 8 in _FLOATS:
            return _FLOATS[bits // 8]
        case tree.Scalar(kind="signed" | "unsigned", bits=bits) if bits in (8, 16, 32, 64):
            return f"{type.kind[0].replace('s', 'i')}{bits}"
        case tree.Record(lanes=lanes) if lanes and type.fields:
            return _element_of(type.fields[0].type)
        case _:
            return "u8"
