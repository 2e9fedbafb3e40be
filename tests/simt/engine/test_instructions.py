"""Every op that the compiled machine has, on awkward numbers, against the interpreter's meaning of it."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable, Iterator

import pytest

from tests.simt.engine.agree import Case, agree
from tests.ssa.semantics.test_lane import ROUNDINGS
from warpsmith.simt.engine.engine import Checks
from warpsmith.simt.engine.ops.directed import DIRECTED
from warpsmith.simt.engine.ops.floats import FLOATS
from warpsmith.simt.engine.ops.functions import FUNCTIONS
from warpsmith.simt.engine.ops.functions import OPS as FUNCTION_OPS
from warpsmith.simt.engine.ops.integers import INTEGERS, PAIRS
from warpsmith.simt.launch import Launch
from warpsmith.ssa.builder import Builder, constant
from warpsmith.ssa.nodes import (
    Branch,
    Convert,
    Detail,
    Float,
    Function,
    Jump,
    Memory,
    Module,
    Operand,
    Param,
    Parameter,
    Query,
    Return,
    Rounding,
    Text,
)
from warpsmith.ssa.ops import OPS
from warpsmith.ssa.semantics.patterns import pattern_of
from warpsmith.ssa.types import BF16, F16, F32, F64, I1, I8, I16, I32, I64, Type

THREADS = 96
NOTHING = Checks(lost=False, requests=False, uninitialized=False, races=False)

Shape = tuple[str, tuple[Type, ...], tuple[Type, ...], Detail | None]
"""Op, types of operands and of results, detail."""

DIRECTIONS: tuple[Rounding, ...] = ("zero", "up", "down")
FLOAT_TYPES = (F32, F64, F16, BF16)
_WIDE = {I8: I16, I16: I32, I32: I64}


def shapes() -> Iterator[Shape]:
    """Yield every op in every type that it has."""
    for name in [*INTEGERS, *PAIRS]:
        yield from _integer_shapes(name)
    for name in FLOATS:
        yield from _float_shapes(name)
    for name in FUNCTION_OPS:
        yield from ((name, (t,), (t,), None) for t in FLOAT_TYPES)
    for name, function in FUNCTIONS.items():
        yield from ((("lanewise", (t,) * function.operands, (t,), Text(name))) for t in FLOAT_TYPES)


def _integer_shapes(name: str) -> Iterator[Shape]:
    shape = OPS[name].shape
    if shape in ("wide", "convert"):
        for narrow, wide in _WIDE.items():
            source, result = (wide, narrow) if name == "trunc" else (narrow, wide)
            yield name, (source,) * (2 if shape == "wide" else 1), (result,), None
        return
    few = shape in ("extract", "insert"), shape == "permute" or "dot4" in name
    for t in (I32,) if few[1] else (I32, I64) if few[0] else (I32, I64, I8, I16):
        for given, made in _SHAPES[shape](t, name):
            yield name, given, made, None


_Types = tuple[Type, ...]
_SHAPES: dict[str, Callable[[Type, str], list[tuple[_Types, _Types]]]] = {
    "unary": lambda t, name: [((t,), (t,))],
    "binary": lambda t, name: [((t, t), (t,))],
    "ternary": lambda t, name: [((t, t, t), (t,))],
    "shift": lambda t, name: [((t, I32), (t,))],
    "compare": lambda t, name: [((t, t), (I1,))],
    "select": lambda t, name: [((I1, t, t), (t,))],
    "count": lambda t, name: [((t,), (I32,))],
    "carry": lambda t, name: [((t, t), (t, I1)), ((t, t, I1), (t, I1))],
    "extract": lambda t, name: [((t, I32, I32), (t,))],
    "insert": lambda t, name: [((t, t, I32, I32), (t,))],
    "permute": lambda t, name: [((I32,) * (4 if name == "logic3" else 3), (I32,))],
}


def _float_shapes(name: str) -> Iterator[Shape]:
    shape = OPS[name].shape
    counts = {"unary": 1, "binary": 2, "ternary": 3, "compare": 2, "test": 1}
    if shape in counts:
        made = I1 if shape in ("compare", "test") else None
        details: list[Float | None] = (
            [None, Float(flush=True), Float(saturate=True)] if made is None and name[0] == "f" else [None]
        )
        if name == "fround":
            details += [Float(rounding) for rounding in DIRECTIONS]
        if name in DIRECTED:
            details += [Float(how) for how in DIRECTIONS] + [Float("up", flush=True)]
        for t in FLOAT_TYPES:
            yield from ((name, (t,) * counts[shape], (made or t,), detail) for detail in _allowed(name, details))
    elif name == "bitcast":
        yield from ((name, (a,), (b,), None) for a, b in ((F32, I32), (I32, F32), (F64, I64), (I64, F64), (I32, I32)))
    else:
        yield from _conversion_shapes(name)


def _conversion_shapes(name: str) -> Iterator[Shape]:
    mixed = [(i, f) for i in (I8, I16, I32, I64) for f in FLOAT_TYPES]
    if name in ("fext", "ftrunc"):
        pairs = [(few, many) for few in FLOAT_TYPES for many in FLOAT_TYPES if few.bits < many.bits][::-1]
        for few, many in pairs:
            given, made = (few, many) if name == "fext" else (many, few)
            yield from ((name, (given,), (made,), Convert(saturate=saturate)) for saturate in (False, True))
        if name == "ftrunc":
            yield from ((name, (many,), (few,), Convert(how)) for few, many in pairs for how in DIRECTIONS)
    elif name in ("sitof", "uitof"):
        yield from ((name, (i,), (f,), None) for i, f in mixed)
        yield from ((name, (i,), (f,), Convert(how)) for how in DIRECTIONS for i, f in mixed if i.bits > 16)
    else:
        for rounding in ("zero", *ROUNDINGS):
            yield from ((name, (f,), (i,), Convert(rounding)) for i, f in mixed)  # type: ignore[arg-type]


def _allowed(name: str, details: list[Float | None]) -> list[Float | None]:
    """Return the details that an op looks at."""
    plain = name in ("fneg", "fabs", "copysign") or name.startswith(("fmin", "fmax"))
    return details[:1] if plain else details


# --- numbers


def awkward(type: Type, chosen: random.Random) -> list[int]:
    """Return a pattern for each thread."""
    if type == I1:
        return [chosen.randrange(2) for _ in range(THREADS)]
    if type.kind == "float":
        return [_float_pattern(type, chosen) for _ in range(THREADS)]
    top = 1 << (type.bits - 1)
    known = [0, 1, 2, 3, 7, 31, 32, 33, 63, 64, 65, top - 1, top, top + 1, 2 * top - 1, 2 * top - 2]
    return [
        chosen.choice(known) % (2 * top) if chosen.random() < 0.6 else chosen.getrandbits(type.bits)
        for _ in range(THREADS)
    ]


_NUMBERS = [0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, -2.5, 3.0, 0.1, 1e-3, 100.0, -7.25, 1e30, -1e30, 1e-40, -1e-42, 1e300,
            float("inf"), float("-inf"), float("nan"), 2147483648.0, 4294967296.0, -2147483649.0, 1e19, 0.7, 0.999,
            88.0, -88.0, 710.0, -745.0, 127.0, 255.5, 65535.0]  # fmt: skip


def _float_pattern(type: Type, chosen: random.Random) -> int:
    kind = chosen.random()
    if type.bits == 16 and kind < 0.7:
        return chosen.getrandbits(16)
    value = chosen.choice(_NUMBERS) if kind < 0.5 else chosen.uniform(-4, 4) if kind < 0.9 else chosen.gauss(0, 1e6)
    if type.bits == 16:
        return pattern_of(value, type)
    code = "<f" if type == F32 else "<d"
    if type == F32 and 3e38 < abs(value) < float("inf"):
        value = 1e38
    return int.from_bytes(struct.pack(code, value), "little")


# --- the kernel


def kernel(shape: Shape) -> tuple[Module, tuple[Type, ...]]:
    """Return `k(in0 …, out0 …)`, which applies an op in every thread but some, which wait meanwhile."""
    op, given, made, detail = shape
    b = Builder("start")
    thread = b.emit("query", (), I32, Query("tid.x"))
    idle = b.emit("eq", (b.emit("and", (thread, constant(I32, 7)), I32), constant(I32, 5)), I1)
    b.end(Branch(idle, "done", "work"))
    b.start("work")
    operands: list[Operand] = []
    for number, type in enumerate(given):
        loaded = b.emit("load", (_at(b, f"in{number}", thread, type),), _held(type), Memory("global", 0, type.bytes))
        operands.append(b.emit("ne", (loaded, constant(I8, 0)), I1) if type == I1 else loaded)
    results = b.emit_many(op, tuple(operands), made, detail)
    for number, (type, value) in enumerate(zip(made, results, strict=True)):
        stored = b.emit("select", (value, constant(I8, 1), constant(I8, 0)), I8) if type == I1 else value
        b.emit_many("store", (_at(b, f"out{number}", thread, type), stored), (), Memory("global", 0, type.bytes))
    b.end(Jump("done"))
    b.start("done")
    b.end(Return())
    names = [*(f"in{n}" for n in range(len(given))), *(f"out{n}" for n in range(len(made)))]
    parameters = tuple(Parameter(name, 8, 8, I64) for name in names)
    return Module((Function("k", True, parameters, (), b.finish()),)), made


def _held(type: Type) -> Type:
    return I8 if type == I1 else type


def _at(b: Builder, name: str, thread: Operand, type: Type) -> Operand:
    base = b.emit("param", (), I64, Param(name))
    return b.emit("add", (base, b.emit("umulwide", (thread, constant(I32, type.bytes)), I64)), I64)


def op_case(shape: Shape, seed: int) -> Case:
    """Return the kernel of one op, with many numbers."""
    chosen = random.Random(f"{shape} {seed}")
    module, made = kernel(shape)
    arrays = {}
    for number, type in enumerate(shape[1]):
        patterns = awkward(type, chosen)
        arrays[f"in{number}"] = (b"".join(p.to_bytes(type.bytes, "little") for p in patterns), True)
    arrays |= {f"out{number}": (bytes(type.bytes * THREADS), True) for number, type in enumerate(made)}
    width = chosen.choice((8, 13, 32, 64))
    return Case(module, "k", Launch((1, 1, 1), (THREADS, 1, 1), warp=width, max_steps=10**6), arrays)


def check(shape: Shape, seed: int) -> None:
    """Compare one op on many numbers."""
    left = agree(op_case(shape, seed), NOTHING)
    assert not left, left


SHAPES = list(shapes())
FIRST = {name: SHAPES[n] for n, (name, *_) in reversed(list(enumerate(SHAPES)))}
"""One shape of each op."""


__all__ = ["FIRST", "SHAPES", "check", "op_case"]


def test_every_op_of_the_tables_is_tried() -> None:
    tried = {shape[0] for shape in SHAPES}
    assert tried >= {*INTEGERS, *PAIRS, *FLOATS, *FUNCTION_OPS}


def test_a_function_of_the_library_is_the_one_that_is_called() -> None:
    shape: Shape = ("exp2", (F64,), (F64,), None)
    assert shape in SHAPES
    for seed in range(3):
        check(shape, seed)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(SHAPES)))
def test_an_op_in_each_of_its_types(number: int) -> None:
    for seed in range(3):
        check(SHAPES[number], seed)
