"""Calls of kernels by host code: shapes and types of streams, and what a pass may not do."""

from __future__ import annotations

import numpy as np
import pytest

from warpsmith.base.errors import InputError
from warpsmith.base.source import SourceFile
from warpsmith.flows.streams.run import StreamOptions, run_host

KERNELS = """kernel void k(float a<>, out float o<>) { o = a + 1; }
kernel void two(float a<>, out float o<>, out float p<>) { o = a; p = 2 * a; }
kernel void g(float a[], out float o<>) { o = a[instance().x + 1]; }
kernel void s(float a<>, out float o[]) { o[0] = a; }
kernel void v(float4 c, out float o<>) { o = c.x; }
kernel void t(int a<>, out int o<>) { o = a; }
reduce void r(float a<>, reduce float o<>) { o += a; }
"""


def run(body: str) -> list[float]:
    """Return what an array x of 0 to 7 has after host code with streams a, b, c of eight elements."""
    text = (
        f"{KERNELS}void f(float x[])\n{{\nfloat a<8>; float b<8>; float c<8>; float d<2, 4>; float e<4>;\n{body}\n}}\n"
    )
    options = StreamOptions(("x=iota:f32[8]",))
    (row,) = run_host(SourceFile("k.br", text), "f", options).outputs
    return [float(one) for one in row.first]


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ("streamRead(a, x); k(a, b); streamWrite(b, x);", [1, 2, 3, 4, 5, 6, 7, 8]),
        ("streamRead(a, x); two(a, b, c); k(c, b); streamWrite(b, x);", [1, 3, 5, 7, 9, 11, 13, 15]),
        ("streamRead(a, x); r(a, e); streamWrite(e, x);", [1, 5, 9, 13, 4, 5, 6, 7]),
        ("float t; streamRead(a, x); r(a, t); x[0] = t; k(a, b); streamWrite(b, x);", [1, 2, 3, 4, 5, 6, 7, 8]),
        ("streamRead(d, x); r(d, x[0]); streamRead(a, x); streamWrite(a, x);", [28, 1, 2, 3, 4, 5, 6, 7]),
        ("streamRead(e, x + 4); streamWrite(e, x);", [4, 5, 6, 7, 4, 5, 6, 7]),
        ("streamRead(a, x); g(a, e); streamWrite(e, x);", [1, 2, 3, 4, 4, 5, 6, 7]),
    ],
)  # fmt: skip
def test_a_pass_does_what_its_kernel_says(body: str, wanted: list[float]) -> None:
    assert run(body) == wanted


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("k(a, b);", "a is read, and nothing was written to it"),
        ("streamRead(a, x); k(a, a);", "a is read and written by one call"),
        ("streamRead(a, x); two(a, b, b);", "one stream is written as two out streams"),
        ("streamRead(a, x); k(a, d);", "a is 8, and the out streams are 2x4"),
        ("streamRead(a, x); two(a, b, e);", "e and b have different shapes: 4 and 8"),
        ("streamRead(d, x); g(d, a);", "d has two axes, and a takes one"),
        ("streamRead(d, x); float q<3>; r(d, q);", "d is 2x4, which 1x3 elements do not share equally"),
        ("streamRead(a, x); t(a, b);", "'a' of t has elements of type int, and a those of float"),
        ("v(1.0f, a);", "'c' of v is float4, and host code has numbers only here"),
        ("k(x, a);", "'a' of k is a stream, and this is none"),
        ("streamRead(a, x); g(a, b);", "g, called in line 11: "),
        ("streamRead(a, x); s(a, b);", "two threads meet in one element of a scattered stream"),
    ],
)
def test_what_brook_leaves_open_is_refused_with_its_line(body: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        run(body)
    (finding,) = caught.value.findings
    assert message in finding.message and finding.span is not None
    assert finding.span.line == 11 or "called in line 11" in finding.message


def test_numbers_are_what_the_kernel_takes() -> None:
    text = "kernel void k(int n, float f, out float o<>) { o = n + f; }\n"
    text += "void m(float x[]) { float o<2>; k(2.9, 0.1, o); streamWrite(o, x); }"
    (row,) = run_host(SourceFile("k.br", text), "m", StreamOptions(("x=zeros:f32[2]",))).outputs
    assert float(row.first[0]) == pytest.approx(float(np.float32(2) + np.float32(0.1)))
