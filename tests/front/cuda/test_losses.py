"""Kernels that the parser loses, and those that call what it loses."""

from __future__ import annotations

from tests.front.cuda.test_nvrtc import TEXT
from warpsmith.front.inputs import Source
from warpsmith.front.kernels import load_kernels
from warpsmith.front.load import FrontOptions


def test_what_the_parser_loses_is_named_with_the_text_of_the_device() -> None:
    unit = load_kernels(Source("n.cu", (), None, TEXT), FrontOptions())
    assert (unit.kernels, [one.name for one in unit.lost]) == (("fine",), ["lost<int>"])
    assert [one.name for one in unit.lost[0].parameters] == ["x"] and unit.lost[0].span.text == "lost"
    assert "host" not in unit.device_text and "three()" in unit.device_text
    assert len(unit.device_text) == len(TEXT)


def test_a_kernel_that_calls_what_is_lost_is_lost_in_part() -> None:
    text = (
        "__device__ int f(int x) { return nowhere(x); }\n__device__ int g(int x) { return f(x) + 1; }\n"
        "__global__ void k(int *a) { a[0] = g(2); }\n__global__ void fine(int *a) { a[0] = 2; }\n"
    )
    unit = load_kernels(Source("n.cu", (), None, text), FrontOptions())
    assert (unit.kernels, [one.name for one in unit.lost]) == (("k", "fine"), ["k"])
    assert unit.lost[0].extent.text.startswith("__global__ void k")


def test_instances_of_a_template_with_errors_are_lost_as_they_are_launched() -> None:
    text = (
        "constexpr int wide = 2;\n"
        "template <int B> __global__ void k(const float *in, int n) { typedef gone::Of<float, B> R; R(in).f(n); }\n"
        "int main() { const int own = 3; k<128><<<1, 2>>>(0, 1); k<wide><<<1, 2>>>(0, 1); k<own><<<1, 2>>>(0, 1); }\n"
    )
    unit = load_kernels(Source("n.cu", (), None, text), FrontOptions())
    assert [one.name for one in unit.lost] == ["k<128>", "k<wide>"]
    assert unit.lost[0].names == ("in", "n") and unit.lost[0].span.text == "k"


def test_a_template_that_nobody_launches_is_not_lost() -> None:
    text = "template <int B> __global__ void k(float *x) { x[0] = B; }\nint main() { return 0; }\n"
    unit = load_kernels(Source("n.cu", (), None, text), FrontOptions())
    assert unit.lost == () and [f.rule for f in unit.findings] == ["INP007"]
