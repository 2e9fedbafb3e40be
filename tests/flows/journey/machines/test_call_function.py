"""Numbers and arrays go into a function of a library as they are."""

from __future__ import annotations

import struct
import subprocess
from pathlib import Path

import msgspec

from warpsmith.flows.journey.machines.call_function import FunctionCall
from warpsmith.targets.llvm.own_process import ask_process

TEXT = """static void f(int n, long long m, float x, double y, char *a, char *b)
{
    a[0] = n; *(long long *)b = m; ((float *)b)[2] = x; ((double *)b)[2] = y;
}
void *called = (void *)f;
"""


def test_numbers_of_both_sizes_and_arrays(tmp_path: Path) -> None:
    source, library = tmp_path / "f.c", tmp_path / "f.so"
    source.write_text(TEXT)
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", str(library), str(source)], check=True)
    given, kinds = (-3, -(1 << 40), 2, 0.1, "a", "b"), ("i32", "i64", "f32", "f64", "address", "address")
    call = FunctionCall(str(library), "called", given, kinds, {"a": b"xy", "b": bytes(24)})
    answer = ask_process("warpsmith.flows.journey.machines.call_function", msgspec.json.encode(call), 30)
    left = msgspec.json.decode(answer, type=dict[str, bytes])
    assert left["a"] == bytes([256 - 3]) + b"y"
    assert left["b"] == struct.pack("<qfxxxxd", -(1 << 40), 2.0, 0.1)
