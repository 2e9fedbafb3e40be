"""Registers as ptxas says, by the user's names."""

from __future__ import annotations

import pytest

from warpsmith.analysis.resources.resources import CompilerFigures
from warpsmith.base.findings import Finding
from warpsmith.flows.explaining import registers
from warpsmith.flows.explaining.registers import ask_ptxas
from warpsmith.front.cuda.nvrtc import PtxText
from warpsmith.kernels.units import KernelFile, KernelUnit, read_unit
from warpsmith.machine.devices import device

TEXT = """#include <stdio.h>
template <typename T> __global__ void scaled(T *a, T x) { a[threadIdx.x] *= x; }
__global__ void plain(int *a) { a[threadIdx.x] = 1; }
int main() { printf("host"); scaled<<<1, 32>>>((float *)0, 2.0f); plain<<<1, 32>>>((int *)0); }
"""
FIGURES = CompilerFigures(12, 0, 0)


def _unit(text: str = TEXT) -> KernelUnit:
    unit = read_unit(KernelFile("k.cu", "cuda", text=text))
    assert not isinstance(unit, Finding)
    return unit


def test_kernels_keep_the_names_that_the_user_gave_them(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, str]] = []

    def compile_(file: object, arguments: object, names: list[str], arch: str) -> PtxText:
        asked.extend((name, arch) for name in names)
        return PtxText("ptx", {name: f"_Z{name}" for name in names}, ())

    monkeypatch.setattr(registers, "compile_to_ptx", compile_)
    monkeypatch.setattr(registers, "assemble_ptx", lambda text, arch: {"_Zplain": FIGURES})
    found, unanswered = ask_ptxas(_unit(), (), (device("a100"), device("h100"), device("mi300x")))
    assert found == {("a100", "plain"): FIGURES, ("h100", "plain"): FIGURES} and not unanswered
    assert ("plain", "sm_80") in asked and ("plain", "sm_90") in asked


@pytest.mark.parametrize("broken", ["compile_to_ptx", "assemble_ptx"])
def test_no_answer_is_a_warning_and_no_registers(broken: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registers, "compile_to_ptx", lambda *given: PtxText("ptx", {}, ()))
    monkeypatch.setattr(registers, broken, lambda *given: Finding("INP004", "error", "it is refused"))
    found, (said,) = ask_ptxas(_unit(), (), (device("a100"),))
    assert not found and "it is refused" in said.message


def test_ptx_goes_to_ptxas_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    text = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\nret;\n}\n"
    monkeypatch.setattr(registers, "assemble_ptx", lambda given, arch: {given.decode()[:8]: FIGURES})
    unit = read_unit(KernelFile("k.ptx", "ptx", text=text))
    assert not isinstance(unit, Finding)
    assert ask_ptxas(unit, (), (device("a100"),))[0] == {("a100", ".version"): FIGURES}
