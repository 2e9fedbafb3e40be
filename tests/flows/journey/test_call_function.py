"""Numbers and arrays go into a function of a library as they are."""

from __future__ import annotations

import subprocess
from pathlib import Path

import msgspec

from warpsmith.flows.journey.call_function import FunctionCall
from warpsmith.targets.llvm.own_process import ask_process

TEXT = "void f(int n, long long m, char *a, char *b) { a[0] = n; *(long long *)b = m; }\n"


def test_numbers_of_both_sizes_and_arrays(tmp_path: Path) -> None:
    source, library = tmp_path / "f.c", tmp_path / "f.so"
    source.write_text(TEXT)
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", str(library), str(source)], check=True)
    call = FunctionCall(str(library), "f", (-3, -(1 << 40), "a", "b"), (32, 64, 64, 64), {"a": b"xy", "b": bytes(8)})
    answer = ask_process("warpsmith.flows.journey.call_function", msgspec.json.encode(call), 30)
    left = msgspec.json.decode(answer, type=dict[str, bytes])
    assert left["a"] == bytes([256 - 3]) + b"y"
    assert int.from_bytes(left["b"], "little", signed=True) == -(1 << 40)
