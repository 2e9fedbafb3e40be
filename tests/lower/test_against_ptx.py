"""PTX that nvcc makes and lowered source of the same text agree in the interpreter, bit by bit."""

from __future__ import annotations

import shutil
import struct
import subprocess
from pathlib import Path

import pytest

from tests.lower.harness import OUTPUTS, constructs, interpreted, kernels, lowered
from tests.lower.programs import PRELUDE, inputs
from warpsmith.base.source import SourceFile
from warpsmith.front.ptx.read import read_ptx
from warpsmith.simt.interpreter import interpret
from warpsmith.simt.launch import Dim, Launch
from warpsmith.simt.memory import LaunchMemory
from warpsmith.ssa.nodes import Function, Module
from warpsmith.ssa.passes.inline import inline_calls
from warpsmith.ssa.passes.tidy import tidy
from warpsmith.ssa.verify import faults

NVCC = shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/bin:/usr/local/cuda/bin")
PAIR = struct.pack("<ifhhhBxI", 11, 2.5, 1, -2, 300, 200, 77)


def _ptx(text: str, folder: Path) -> Module:
    (folder / "p.cu").write_text(text)
    command = [str(NVCC), "-ptx", "-arch=sm_80", "-fmad=false", "-std=c++17", "-lineinfo", "-o", "p.ptx", "p.cu"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    module, findings = read_ptx(SourceFile.read(str(folder / "p.ptx")))
    assert [finding.message for finding in findings] == []
    return module


def _ran(module: Module, function: Function, block: Dim) -> list[str]:
    memory = LaunchMemory(checks=False)
    whole, real = inputs()
    data = {"in": whole, "fin": real, **{label: bytes(size) for label, size in OUTPUTS.items()}}
    buffers = {label: memory.allocate(label, content) for label, content in data.items()}
    values = [struct.pack("<q", buffer.address) for buffer in buffers.values()]
    values += [struct.pack("<i", 13), struct.pack("<f", 1.75), bytes([250]), PAIR]
    arguments = {p.name: value for p, value in zip(function.parameters, values, strict=True)}
    others = tuple(f for f in module.functions if not f.kernel)
    launch = Launch((1, 1, 1), block, arguments, shared=256)
    outcome = interpret(Module((function, *others), module.symbols), function.name, launch, memory)
    assert outcome.complete, f"{function.name}: {outcome.problems[0].message}"
    return [buffers[label].data.hex() for label in OUTPUTS]


@pytest.mark.slow
@pytest.mark.skipif(NVCC is None, reason="nvcc is not here")
@pytest.mark.parametrize("start", (200, 220))
def test_ptx_and_source_do_the_same(start: int, tmp_path: Path) -> None:
    given = {**kernels(range(start, start + 20)), **(constructs() if start == 200 else {})}
    given = {name: (text, block) for name, (text, block) in given.items() if "printf" not in text}
    text = "\n".join(["#include <cstdio>", PRELUDE, *(body for body, _ in given.values()), ""])
    source, ptx = lowered(text, tmp_path).module, _ptx(text, tmp_path)
    found = {name: _named(ptx, name) for name in given}
    found = {name: function for name, function in found.items() if _is_modeled(function)}
    assert len(found) >= len(given) // 4
    blocks = {name: given[name][1] for name in found}
    wrong = [n for n, f in found.items() if interpreted(source, n, blocks[n]) != _ran(ptx, f, blocks[n])]
    assert wrong == []


def _named(ptx: Module, name: str) -> Function:
    return next(f for f in ptx.functions if f"{len(name)}{name}" in f.name)


def _is_modeled(function: Function) -> bool:
    """Whether the interpreter knows all of a kernel: `__ffs` is an instruction that it does not."""
    return not any(i.op in ("lanewise", "unmodeled") for _, i in function.instructions())


@pytest.mark.slow
@pytest.mark.skipif(NVCC is None, reason="nvcc is not here")
def test_inlined_ptx_does_what_it_did(tmp_path: Path) -> None:
    given = kernels(range(230, 250))
    marked = PRELUDE.replace("__device__ inline", "__device__").replace("__device__ int", "__device__ __noinline__ int")
    text = "\n".join(["#include <cstdio>", marked, *(body for body, _ in given.values()), ""])
    ptx = _ptx(text, tmp_path)
    called = sum(i.op == "call" for f in ptx.functions for _, i in f.instructions())
    made, findings = inline_calls(ptx)
    assert called > 0
    assert findings == ()
    for name, (_, block) in given.items():
        before = _named(ptx, name)
        if not _is_modeled(before):
            continue
        after = made.function(before.name)
        assert after is not None
        after = tidy(after)
        assert faults(after) == ()
        assert _ran(ptx, before, block) == _ran(made, after, block)
