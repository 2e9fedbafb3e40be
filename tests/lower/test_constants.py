"""The numbers with which a variable of the device begins."""

from __future__ import annotations

import re
import struct
from pathlib import Path

import pytest

from tests.lower.harness import lowered
from tests.lower.pocl import lowered as lowered_cl

DECLARED: dict[str, tuple[int, ...] | None] = {
    "int a = 3": (3,),
    "int a = -(2 + 1) * 4 / 5 % 3": (2**32 - 2,),
    "int a = 1 << 4 | 3 & ~1": (18,),
    "unsigned a = 0u - 1u": (2**32 - 1,),
    "unsigned char a = (unsigned char)300": (44,),
    "int a = (signed char)200": (2**32 - 56,),
    "bool a = 5": (1,),
    "float a = 1.5f + 1": (0x40200000,),
    "double a = 0.5": (0x3FE0000000000000,),
    "int a[3] = {1, 2}": (1, 2, 0),
    "int a[2][2] = {{1}, {2, 3}}": (1, 0, 2, 3),
    "P a = {1, 2.0f}": struct.unpack("<8B", struct.pack("<if", 1, 2.0)),
    "int a = sizeof(P)": (8,),
    "float a = 1.0f / 0": None,
    "B a = {1, 2}": None,
}


def test_initial_values_are_plain_numbers_or_none(tmp_path: Path) -> None:
    text = "struct P { int a; float b; }; struct B { int a : 3, b : 4; }; __device__ int other;\n"
    names = [f"v{n}" for n in range(len(DECLARED))]
    for name, declared in zip(names, DECLARED, strict=True):
        text += "__device__ " + re.sub(r"\ba\b", name, declared, count=1) + ";\n"
    uses = " ".join(f"use((const void *)&{name});" for name in names)
    text += f"__device__ void use(const void *p);\n__global__ void k() {{ {uses} }}\n"
    symbols = {s.name: s.initial for s in lowered(text, tmp_path).module.symbols}
    found = {declared: symbols.get(name) or None for name, declared in zip(names, DECLARED, strict=True)}
    assert found == DECLARED


def test_vectors_of_opencl(tmp_path: Path) -> None:
    text = (
        "constant int4 a = (int4)(1, (int2)(2, 3), 4); constant int4 b = (int4)(7); constant short2 c = {5, 6};\n"
        "kernel void k(global int *o) { o[0] = a.x + b.y + c.x; }\n"
    )
    symbols = {s.name: (s.type.bits, s.initial) for s in lowered_cl(text, tmp_path).module.symbols}
    whole = {name: b"".join(n.to_bytes(bits // 8, "little") for n in data) for name, (bits, data) in symbols.items()}
    assert whole == {
        "a": struct.pack("<4i", 1, 2, 3, 4), "b": struct.pack("<4i", 7, 7, 7, 7), "c": struct.pack("<2h", 5, 6),
    }  # fmt: skip


@pytest.mark.parametrize("value", ["1e400", "0x7fffffff + 1"])
def test_what_has_no_exact_value_is_not_guessed(value: str, tmp_path: Path) -> None:
    text = f"__device__ int a = (int)({value});\n__global__ void k(int *o) {{ o[0] = a; }}\n"
    (symbol,) = lowered(text, tmp_path).module.symbols
    assert symbol.initial == ()
