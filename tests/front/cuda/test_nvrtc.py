from __future__ import annotations

from pathlib import Path

import pytest

from warpsmith.base.findings import Finding
from warpsmith.base.nvrtc import has_nvrtc
from warpsmith.base.source import SourceFile
from warpsmith.front.cuda.nvrtc import PtxText, compile_to_ptx
from warpsmith.front.inputs import Source
from warpsmith.front.kernels import load_kernels
from warpsmith.front.load import FrontOptions
from warpsmith.front.ptx.read import read_ptx

TEXT = """
#include <iostream>
#include <some/library.h>
constexpr int three() { return 3; }
template <class T> __global__ void lost(T *x) { x[threadIdx.x] = __vimax3_s32(1, 2, three()); }
__global__ void fine(float *x) { x[0] = 1; }
int main() { std::cout << "host"; fine<<<1, 2>>>(0); lost<<<1, 32>>>((int *)0); }
"""


@pytest.mark.skipif(not has_nvrtc(), reason="NVRTC is not installed")
def test_lost_kernels_become_ptx() -> None:
    unit = load_kernels(Source("n.cu", (), None, TEXT), FrontOptions())
    made = compile_to_ptx(SourceFile("n.cu", unit.device_text), (), [one.name for one in unit.lost])
    assert isinstance(made, PtxText)
    assert set(made.stood_in) == {"iostream", "some/library.h"}
    module, findings = read_ptx(SourceFile("n.ptx", made.text))
    assert made.entries["lost<int>"] in {function.name for function in module.functions}
    assert not findings


@pytest.mark.skipif(not has_nvrtc(), reason="NVRTC is not installed")
def test_a_refusal_is_a_finding_at_its_line() -> None:
    text = "__global__ void k(float *x)\n{\n    x[0] = nowhere;\n}\n"
    answer = compile_to_ptx(SourceFile("r.cu", text), (), ("k",))
    assert isinstance(answer, Finding) and answer.span is not None and answer.span.line == 3


@pytest.mark.skipif(not has_nvrtc(), reason="NVRTC is not installed")
def test_a_compilation_without_an_end_is_given_up() -> None:
    answer = compile_to_ptx(SourceFile("r.cu", "__global__ void k() {}"), (), ("k",), timeout_s=0.0)
    assert isinstance(answer, Finding) and "too long" in answer.message


def test_without_nvrtc_the_finding_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("warpsmith.front.cuda.nvrtc.has_bindings", lambda: False)
    answer = compile_to_ptx(SourceFile("r.cu", "__global__ void k() {}"), (), ("k",))
    assert isinstance(answer, Finding) and "cuda" in answer.help[0]


def test_bindings_without_their_library_are_as_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "cuda" / "bindings"
    package.mkdir(parents=True)
    (tmp_path / "cuda" / "__init__.py").touch()
    (package / "__init__.py").touch()
    (package / "nvrtc.py").write_text("def nvrtcVersion():\n    raise RuntimeError('libnvrtc.so.13 is nowhere')\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr("warpsmith.front.cuda.nvrtc.has_bindings", lambda: True)
    answer = compile_to_ptx(SourceFile("r.cu", "__global__ void k() {}"), (), ("k",))
    assert isinstance(answer, Finding) and "NVRTC is missing" in answer.message and "cuda" in answer.help[0]
