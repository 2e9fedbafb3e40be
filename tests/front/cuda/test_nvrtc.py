from __future__ import annotations

import importlib.util
import time
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from warpsmith.base.findings import Finding
from warpsmith.base.nvidia import has_nvrtc
from warpsmith.base.source import SourceFile
from warpsmith.front.cuda import nvrtc
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
@pytest.mark.parametrize("limit_s", [0.0, 0.2])
def test_a_compilation_without_an_end_is_given_up(
    limit_s: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    endless = tmp_path / "python"
    endless.write_text("#!/bin/sh\nexec sleep 30\n")
    endless.chmod(0o755)
    monkeypatch.setattr("warpsmith.front.cuda.nvrtc.sys.executable", str(endless))
    started = time.monotonic()
    answer = compile_to_ptx(SourceFile("r.cu", "__global__ void k() {}"), (), ("k",), timeout_s=limit_s)
    assert isinstance(answer, Finding) and "too long" in answer.message
    assert time.monotonic() - started < 20


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


BLOCKS = """
#include <cub/cub.cuh>
#include <thrust/device_vector.h>
__global__ void sums(const float *in, float *out)
{
    typedef cub::BlockReduce<float, 128> Reduce;
    __shared__ typename Reduce::TempStorage space;
    float sum = Reduce(space).Sum(in[128 * blockIdx.x + threadIdx.x]);
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
}
"""


@pytest.mark.slow
@pytest.mark.skipif(not has_nvrtc() or not nvrtc._find_cccl(), reason="NVRTC or cub is not installed")
def test_kernels_that_use_cub_become_ptx() -> None:
    made = compile_to_ptx(SourceFile("b.cu", BLOCKS), (), ("sums",))
    assert isinstance(made, PtxText) and made.stood_in == ()
    assert "bar.sync" in made.text or "barrier.sync" in made.text


def test_cub_is_found_where_packages_have_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "nvidia" / "cu13" / "include" / "cccl"
    (folder / "cub").mkdir(parents=True)
    monkeypatch.setattr(nvrtc, "_toolkit", lambda: ())
    monkeypatch.setattr(nvrtc, "_packaged", lambda: iter((folder,)))
    assert nvrtc._find_cccl() == (folder,)
    monkeypatch.setattr(nvrtc, "_packaged", lambda: iter(()))
    assert nvrtc._find_cccl() == ()


def test_packages_are_looked_through(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("cu12", "cu13"):
        (tmp_path / "nvidia" / name / "include" / "cccl").mkdir(parents=True)
    spec = ModuleSpec("nvidia", None, is_package=True)
    spec.submodule_search_locations = [str(tmp_path / "nvidia")]
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: spec)
    assert [path.parts[-3] for path in nvrtc._packaged()] == ["cu13", "cu12"]
