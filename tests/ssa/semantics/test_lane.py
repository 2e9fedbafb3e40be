"""The meaning of the pure ops against the machine: C code of each, compiled once, on awkward numbers."""

from __future__ import annotations

import ctypes
import random
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec import Struct

from tests.ssa.semantics.one_op import compute
from warpsmith.ssa.nodes import Convert, Detail, Float, Instruction, Undefined, Value
from warpsmith.ssa.ops import OPS
from warpsmith.ssa.semantics.lane import lane, lanes
from warpsmith.ssa.semantics.patterns import number_of
from warpsmith.ssa.types import F32, F64, I1, I8, I16, I32, I64, TYPES, Type

ROUNDINGS = {"nearest": 0, "down": 0x400, "up": 0x800, "zero": 0xC00}
"""The rounding modes with their numbers in fenv.h of x86."""


class Case(Struct, frozen=True):
    op: str
    source: tuple[Type, ...]
    made: Type
    c: str
    detail: Detail | None = None
    rounding: str = "nearest"


def _integers() -> list[Case]:
    cases = []
    for bits in (8, 16, 32, 64):
        t = TYPES[f"i{bits}"]
        s, u = f"int{bits}_t", f"uint{bits}_t"
        two = {
            "add": f"({u})a + ({u})b", "sub": f"({u})a - ({u})b", "mul": "a * b", "and": "a & b", "or": "a | b",
            "xor": "a ^ b", "smin": f"({s})a < ({s})b ? a : b", "smax": f"({s})a > ({s})b ? a : b",
            "umin": "a < b ? a : b", "umax": "a > b ? a : b",
            "udiv": "b ? a / b : -1", "urem": "b ? a % b : a",
            "sdiv": f"b == 0 ? -1 : ({u})-1 == b ? -a : ({u})(({s})a / ({s})b)",
            "srem": f"b == 0 ? a : ({u})-1 == b ? 0 : ({u})(({s})a % ({s})b)",
            "umulhi": f"(unsigned __int128)a * b >> {bits}",
            "smulhi": f"(unsigned __int128)((__int128)({s})a * ({s})b) >> {bits}",
        }  # fmt: skip
        cases += [Case(op, (t, t), t, text) for op, text in two.items()]
        one = {"not": "~a", "neg": "-a", "abs": f"({s})a < 0 ? -a : a"}
        cases += [Case(op, (t,), t, text) for op, text in one.items()]
        tests = {"lt": "<", "le": "<=", "gt": ">", "ge": ">="}
        cases += [Case(f"s{op}", (t, t), I1, f"({s})a {sign} ({s})b") for op, sign in tests.items()]
        cases += [Case(f"u{op}", (t, t), I1, f"a {sign} b") for op, sign in tests.items()]
        shifts = {"shl": f"b >= {bits} ? 0 : a << b", "lshr": f"b >= {bits} ? 0 : a >> b"}
        shifts["ashr"] = f"({s})a >> (b >= {bits} ? {bits - 1} : b)"
        cases += [Case(op, (t, I32), t, text) for op, text in shifts.items()]
    for bits in (32, 64):
        t, suffix = TYPES[f"i{bits}"], "ll" if bits == 64 else ""
        cases.append(Case("popcount", (t,), I32, f"__builtin_popcount{suffix}(a)"))
        cases.append(Case("leading", (t,), I32, f"a ? __builtin_clz{suffix}(a) : {bits}"))
        cases.append(Case("ufind", (t,), I32, f"a ? {bits - 1} - __builtin_clz{suffix}(a) : -1"))
    cases.append(Case("smulwide", (I32, I32), I64, "(int64_t)(int32_t)a * (int32_t)b"))
    cases.append(Case("umulwide", (I32, I32), I64, "(uint64_t)a * b"))
    for narrow, wide in ((I8, I32), (I16, I64), (I32, I64)):
        cases.append(Case("sext", (narrow,), wide, f"(int64_t)(int{narrow.bits}_t)a"))
        cases.append(Case("zext", (narrow,), wide, "a"))
        cases.append(Case("trunc", (wide,), narrow, "a"))
    return cases


def _numbers() -> list[Case]:
    cases = []
    for t, f in ((F32, "f"), (F64, "")):
        for rounding in ROUNDINGS:
            detail = Float(rounding)  # type: ignore[arg-type]
            for op, sign in (("fadd", "+"), ("fsub", "-"), ("fmul", "*"), ("fdiv", "/")):
                cases.append(Case(op, (t, t), t, f"a {sign} b", detail, rounding))
            cases.append(Case("ffma", (t, t, t), t, f"fma{f}(a, b, c)", detail, rounding))
            cases.append(Case("fround", (t,), t, f"nearbyint{f}(a)", detail, rounding))
            how = Convert(rounding)  # type: ignore[arg-type]
            for number in (I32, I64):
                cases.append(Case("sitof", (number,), t, f"(int{number.bits}_t)a", how, rounding))
                cases.append(Case("uitof", (number,), t, "a", how, rounding))
                limit = f"0x1p{number.bits - 1}{f}"
                inside = f"a >= -{limit} && a < {limit}"
                other = f"a > 0 ? INT{number.bits}_MAX : INT{number.bits}_MIN"
                other = f"a != a ? {'0' if number == I32 else 'INT64_MIN'} : {other}"
                cases.append(
                    Case(
                        "ftosi",
                        (t,),
                        number,
                        f"{inside} ? (int{number.bits}_t)nearbyint{f}(a) : {other}",
                        how,
                        rounding,
                    )
                )
        cases.append(Case("sqrt", (t,), t, f"sqrt{f}(a)"))
        for name, sign in (("eq", "=="), ("ne", "!="), ("lt", "<"), ("le", "<="), ("gt", ">"), ("ge", ">=")):
            ordered = "a == a && b == b"
            cases.append(Case(f"fo{name}", (t, t), I1, f"{ordered} && a {sign} b"))
            cases.append(Case(f"fu{name}", (t, t), I1, f"!({ordered}) || a {sign} b"))
        cases.append(Case("fneg", (t,), t, "-a"))
        cases.append(Case("fabs", (t,), t, f"fabs{f}(a)"))
        cases.append(Case("copysign", (t, t), t, f"copysign{f}(b, a)"))
        for op in ("fmin", "fmax"):
            cases.append(Case(op, (t, t), t, f"a == b ? (signbit(a) == {int(op == 'fmin')} ? a : b) : {op}{f}(a, b)"))
    for rounding in ROUNDINGS:
        cases.append(Case("ftrunc", (F64,), F32, "a", Convert(rounding), rounding))  # type: ignore[arg-type]
    cases.append(Case("fext", (F32,), F64, "a"))
    return cases


CASES = (*_integers(), *_numbers())
BIT_OPS = (("uextract", 3), ("sextract", 3), ("insert", 4), ("reverse", 1), ("sfind", 1), ("sdot4", 3), ("ssad", 3))


def _c_type(type: Type) -> str:
    return {"float": {32: "float", 64: "double"}, "integer": {n: f"uint{n}_t" for n in (8, 16, 32, 64)}}.get(
        type.kind, {1: "uint8_t"}
    )[type.bits]


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    folder: Path = tmp_path_factory.mktemp("semantics")
    lines = ["#include <stdint.h>", "#include <math.h>", "#include <fenv.h>", "#include <string.h>"]
    for number, case in enumerate(CASES):
        lines.append(f"void f{number}(const uint64_t *in, uint64_t *out) {{")
        for name, place, type in zip("abc", range(3), case.source, strict=False):
            lines.append(f"{_c_type(type)} {name}; memcpy(&{name}, in + {place}, sizeof {name});")
        made = _c_type(case.made)
        lines.append(f"fesetround({ROUNDINGS[case.rounding]}); volatile {made} r = {case.c}; fesetround(0); *out = 0;")
        lines.append(f"{made} r2 = r; memcpy(out, &r2, sizeof r2); }}")
    source, library = folder / "machine.c", folder / "machine.so"
    source.write_text("\n".join(lines))
    flags = ["-O0", "-frounding-math", "-ffp-contract=off", "-w", "-shared", "-fPIC"]
    subprocess.run(["gcc", *flags, str(source), "-o", str(library), "-lm"], check=True)
    return ctypes.CDLL(str(library))


def _patterns(type: Type, chosen: random.Random) -> int:
    top = 1 << type.bits
    special = [0, 1, 2, 5, top - 1, top - 2, top >> 1, (top >> 1) - 1, (top >> 1) + 1, 31, 32, 33, 63, 64]
    if type.kind == "float":
        digits = 23 if type.bits == 32 else 52
        exponents = (1 << (type.bits - 1 - digits)) - 1
        infinity = exponents << digits
        one = (exponents >> 1) << digits
        special += [
            infinity,
            infinity | 1 << (digits - 1),
            one,
            one + 1,
            one - 1,
            infinity - 1,
            1 << digits,
            (1 << digits) - 1,
        ]
        special += [bits | top >> 1 for bits in (infinity, one, 1, 0)]
        near = one + (chosen.randint(-30, 66) << digits) + chosen.getrandbits(digits)
        special += [near, near ^ top >> 1, near, near ^ top >> 1]
    return chosen.choice([*special, chosen.getrandbits(type.bits)]) % top


def _is_nan(bits: int, type: Type) -> bool:
    return type.kind == "float" and number_of(bits, type) != number_of(bits, type)


def test_ops_mean_what_the_machine_does(machine: ctypes.CDLL) -> None:
    chosen = random.Random(7)
    wrong: list[str] = []
    for number, case in enumerate(CASES):
        result = Value(case.made)
        instruction = Instruction(case.op, tuple(map(Undefined, case.source)), (result,), case.detail)
        for _ in range(60):
            operands = tuple(_patterns(type, chosen) for type in case.source)
            (found,) = lane(instruction, operands)
            expected = _by_machine(machine, number, operands)
            if found != expected and not (_is_nan(found, case.made) and _is_nan(expected, case.made)):
                wrong.append(
                    f"{case.op} {case.made} {case.rounding} {[hex(o) for o in operands]}: {found:#x} {expected:#x}"
                )
    assert not wrong, "\n".join(wrong[:20])


def test_many_lanes_at_once_are_as_one_by_one() -> None:
    chosen = random.Random(8)
    cases = [
        *CASES,
        *(Case(op, (I32,) * count, I32, "") for op, count in BIT_OPS),
        Case("select", (I1, I64, I64), I64, ""),
    ]
    for case in cases:
        instruction = Instruction(case.op, tuple(map(Undefined, case.source)), (Value(case.made),), case.detail)
        rows = [tuple(_patterns(type, chosen) for type in case.source) for _ in range(20)]
        assert lanes(instruction, list(zip(*rows, strict=True))) == tuple(lane(instruction, row)[0] for row in rows), (
            case.op
        )


def _by_machine(machine: ctypes.CDLL, number: int, operands: Sequence[int]) -> int:
    given = (ctypes.c_uint64 * 3)(*operands)
    made = ctypes.c_uint64(0)
    getattr(machine, f"f{number}")(given, ctypes.byref(made))
    return made.value


def test_every_pure_op_has_a_meaning() -> None:
    elsewhere = {"query", "param", "address", "to_generic", "from_generic", "lanewise"}
    pure = {name for name, op in OPS.items() if op.pure} - elsewhere
    numbers = {"reverse", "tanh", "sin", "cos", "exp2", "log2", "rsqrt", "rcp", "select", "bitcast"}
    tried = {case.op for case in CASES} | numbers
    for name in pure - tried:
        shape = OPS[name].shape
        count = {"unary": 1, "test": 1, "count": 1, "binary": 2, "compare": 2, "carry": 2, "ternary": 3}.get(shape, 0)
        type = F32 if OPS[name].domain == "float" else I32
        if count:
            made = (type, I1) if shape == "carry" else (I1,) if shape in ("compare", "test") else (type,)
            assert all(0 <= bits < 1 << 32 for bits in compute(name, (type,) * count, made, *[1] * count))
