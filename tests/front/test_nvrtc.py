from __future__ import annotations

import pytest

from warpsmith.base.findings import Finding
from warpsmith.base.source import SourceFile
from warpsmith.front.inputs import Source
from warpsmith.front.kernels import load_kernels
from warpsmith.front.load import FrontOptions
from warpsmith.front.nvrtc import PtxText, compile_to_ptx, has_nvrtc
from warpsmith.front.ptx.read import read_ptx

TEXT = """
#include <iostream>
#include <some/library.h>
constexpr int three() { return 3; }
template <class T> __global__ void lost(T *x) { x[threadIdx.x] = __vimax3_s32(1, 2, three()); }
__global__ void fine(float *x) { x[0] = 1; }
int main() { std::cout << "host"; fine<<<1, 2>>>(0); lost<<<1, 32>>>((int *)0); }
"""


def test_what_the_parser_loses_is_named_with_the_text_of_the_device() -> None:
    unit = load_kernels(Source("n.cu", (), None, TEXT), FrontOptions())
    assert (unit.kernels, unit.lost) == (("fine",), ("lost<int>",))
    assert "host" not in unit.device_text and "three()" in unit.device_text
    assert len(unit.device_text) == len(TEXT)


@pytest.mark.skipif(not has_nvrtc(), reason="NVRTC is not installed")
def test_lost_kernels_become_ptx() -> None:
    unit = load_kernels(Source("n.cu", (), None, TEXT), FrontOptions())
    made = compile_to_ptx(SourceFile("n.cu", unit.device_text), (), unit.lost)
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


def test_without_nvrtc_the_finding_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("warpsmith.front.nvrtc.has_nvrtc", lambda: False)
    answer = compile_to_ptx(SourceFile("r.cu", "__global__ void k() {}"), (), ("k",))
    assert isinstance(answer, Finding) and "cuda" in answer.help[0]
