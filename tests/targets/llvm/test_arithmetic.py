"""Ops that machines have themselves."""

from __future__ import annotations

from tests.targets.llvm.texts import ir_of, refusal
from warpsmith.targets.llvm.machines import Nvidia


def test_a_root_is_one_operation() -> None:
    ir = ir_of("__global__ void k(float *a) { a[0] = sqrtf(a[1]) / -a[2]; }")
    assert 'call float @"llvm.sqrt.f32"' in ir
    assert "fneg float" in ir
    assert "fpext" not in ir


def test_an_approximate_sine_is_the_hardwares_and_another_is_refused() -> None:
    assert 'call afn float @"llvm.sin.f32"' in ir_of("__global__ void k(float *a) { a[0] = __sinf(a[1]); }")
    finding = refusal("__global__ void k(float *a) { a[0] = sinf(a[1]); }")
    assert finding.message == "sin is a function of AMD's device library, which is not here"
    assert finding.help == ("its approximate form is an instruction",)


def test_exponentials_are_amds_back_ends_and_not_nvidias() -> None:
    text = "__global__ void k(float *a) { a[0] = expf(a[1]); }"
    assert 'call float @"llvm.exp.f32"' in ir_of(text)
    assert "NVIDIA's libdevice" in refusal(text, Nvidia()).message


def test_rounding_in_a_direction_is_refused() -> None:
    finding = refusal("__global__ void k(float *a) { a[0] = __fadd_rz(a[1], a[2]); }")
    assert finding.message == "GCN has no fadd that rounds in a direction of its own"
