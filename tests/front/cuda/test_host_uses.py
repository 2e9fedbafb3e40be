"""Variables and functions of the host in device code are found; what our headers do not know is left alone."""

from __future__ import annotations

import pytest

from warpsmith.front.cuda.host_uses import find_host_uses

_HOST_USES = """#include <cstdio>
#include <cstdlib>
#include <vector>
static double scale = 2.0;
static const int rows = 4;
const double weights[2] = {1.0, 2.0};
double half(double x) { return x / 2; }
__device__ double third(double x) { return unknown_intrinsic(x) / 3; }
template <class T> __host__ __device__ T twice(T x) { return x + x; }
double *place() { return &scale; }
__global__ void k(double *a) {
    a[0] = EXPRESSION;
}
int main() { std::vector<double> v(rows, scale); printf("%g %g", half(v[0]), *place()); }
"""


@pytest.mark.parametrize("expression", ["scale * a[1]", "half(a[1])", "*(&scale)", "rand()", "*place()"])
def test_objects_of_the_host_in_device_code_are_found(expression: str) -> None:
    (finding,) = find_host_uses({"a.cu": _HOST_USES.replace("EXPRESSION", expression)}, "a.cu")
    assert finding.span is not None and finding.span.line == 12


@pytest.mark.parametrize("expression", ["twice(a[1]) * rows", "third(a[1])", "sqrt(a[1])", "__not_known_here(a)"])
def test_other_complaints_are_left_to_the_build(expression: str) -> None:
    assert find_host_uses({"a.cu": _HOST_USES.replace("EXPRESSION", expression)}, "a.cu") == ()
