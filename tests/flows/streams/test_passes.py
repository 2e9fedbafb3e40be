"""Calls of kernels by host code: shapes and types of streams, and what a pass may not do."""

from __future__ import annotations

import numpy as np
import pytest

from warpsmith.base.errors import InputError
from warpsmith.base.source import SourceFile
from warpsmith.flows.streams import evaluate
from warpsmith.flows.streams.evaluate import HostRunner
from warpsmith.flows.streams.passes import _Call
from warpsmith.flows.streams.run import StreamOptions, run_host
from warpsmith.flows.streams.values import Numbers, StreamValue
from warpsmith.front.brook.nodes import BrookParameter
from warpsmith.tree.nodes import InitList

KERNELS = """kernel void k(float a<>, out float o<>) { o = a + 1; }
kernel void two(float a<>, out float o<>, out float p<>) { o = a; p = 2 * a; }
kernel void g(float a[], out float o<>) { o = a[instance().x + 1]; }
kernel void s(float a<>, out float o[]) { o[0] = a; }
kernel void v(float4 c, out float o<>) { o = c.x; }
kernel void t(int a<>, out int o<>) { o = a; }
reduce void r(float a<>, reduce float o<>) { o += a; }
kernel void w(iter float2 i<>, float a<>, out float o<>) { o = 10 * i.y + i.x + 100 * a; }
kernel void n(float a<>, out float o<>) { o = a + indexof(a).x; }
kernel void c(float2 v<>, out float o<>) { o = 100 * v.x + v.y; }
kernel void z(float g[][][], out float o<>) { int4 i = instance(); o = g[1 - i.z][i.y][i.x] + 100.0f * (float)i.z; }
void both(float s<>, float t<>) { k(s, t); }
"""


def run(body: str) -> list[float]:
    """Return what an array x of 0 to 7 has after host code with streams a, b, c of eight elements."""
    text = (
        f"{KERNELS}void f(float x[])\n{{\nfloat a<8>; float b<8>; float c<8>; float d<2, 4>; float e<4>;\n{body}\n}}\n"
    )
    options = StreamOptions(("x=iota:f32[8]",))
    (row,) = run_host(SourceFile("k.br", text), "f", options).outputs
    return [float(one) for one in row.first]


PASSES: list[tuple[str, list[float]]] = [
    ("streamRead(a, x); k(a, b); streamWrite(b, x);", [1, 2, 3, 4, 5, 6, 7, 8]),
    ("streamRead(a, x); two(a, b, c); k(c, b); streamWrite(b, x);", [1, 3, 5, 7, 9, 11, 13, 15]),
    ("streamRead(a, x); r(a, e); streamWrite(e, x);", [1, 5, 9, 13, 4, 5, 6, 7]),
    ("float t; streamRead(a, x); r(a, t); x[0] = t; k(a, b); streamWrite(b, x);", [1, 2, 3, 4, 5, 6, 7, 8]),
    ("streamRead(d, x); r(d, x[0]); streamRead(a, x); streamWrite(a, x);", [28, 1, 2, 3, 4, 5, 6, 7]),
    ("streamRead(e, x + 4); streamWrite(e, x);", [4, 5, 6, 7, 4, 5, 6, 7]),
    ("streamRead(a, x); g(a, e); streamWrite(e, x);", [1, 2, 3, 4, 4, 5, 6, 7]),
    ("streamRead(e, x); k(e, a); streamWrite(a, x);", [1, 1, 2, 2, 3, 3, 4, 4]),
    ("streamRead(a, x); k(a, e); streamWrite(e, x);", [1, 3, 5, 7, 4, 5, 6, 7]),
    ("streamRead(e, x); k(e, d); streamWrite(d, x);", [1, 2, 3, 4, 1, 2, 3, 4]),
    ("float q<2, 2>; streamRead(d, x); k(d, q); streamWrite(q, x);", [1, 3, 5, 7, 4, 5, 6, 7]),
    ("float q<4, 2>; streamRead(d, x); k(d, q); streamWrite(q, x);", [1, 3, 1, 3, 5, 7, 5, 7]),
    ("float q<1>; streamRead(q, x + 3); k(q, d); streamWrite(d, x);", [4] * 8),
    ("iter float q<8> = iter(0, 4); k(q, a); streamWrite(a, x);", [1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5]),
    ("iter float2 q<2, 4> = iter(float2(0, 0), float2(4, 2)); streamRead(e, x); w(q, e, d); streamWrite(d, x);",
     [0, 101, 202, 303, 10, 111, 212, 313]),
    ("iter float2 q<4> = iter(float2(0, 8), float2(4, 4)); c(q, e); streamWrite(e, x);",
     [8, 107, 206, 305, 4, 5, 6, 7]),
    ("float q<2, 2, 2>; float p<2, 2, 2>; streamRead(q, x); z(q, p); streamWrite(p, x);",
     [4, 5, 6, 7, 100, 101, 102, 103]),
    ("float q<2, 2, 2>; float p<2, 2, 2>; streamRead(q, x); k(q, p); streamWrite(p, x);", [1, 2, 3, 4, 5, 6, 7, 8]),
    ("float q<2, 1, 2>; float p<2, 1, 2>; streamRead(q, x); z(q, p); streamWrite(p, x);",
     [2, 3, 100, 101, 4, 5, 6, 7]),
    ("float q<2, 2, 2>; float t; streamRead(q, x); r(q, t); streamWrite(q, x); x[0] = t;", [28, 1, 2, 3, 4, 5, 6, 7]),
    ("streamRead(a, x); both(a, b); streamWrite(b, x);", [1, 2, 3, 4, 5, 6, 7, 8]),
    ("float2 v[4]; float2 q<4>; int i; for (i = 0; i < 4; i++) { v[i].x = i; v[i].y = x[i + 4]; }"
     "streamRead(q, v); c(q, e); streamWrite(e, x); x[4] = v[3].x + v[3].y;", [4, 105, 206, 307, 10, 5, 6, 7]),
    ("float2 *v = (float2 *)malloc(4 * sizeof(float2)); float2 q<2>; v[3].y = 5; v[2].x = 1; streamRead(q, v + 2);"
     "float p<2>; c(q, p); streamWrite(p, x);", [100, 5, 2, 3, 4, 5, 6, 7]),
    ("streamRead(a, x); k(a, b); streamWrite(b, x); exit(0); x[0] = 9;", [1, 2, 3, 4, 5, 6, 7, 8]),
]  # fmt: skip


@pytest.mark.parametrize(("body", "wanted"), PASSES)
def test_a_pass_does_what_its_kernel_says(body: str, wanted: list[float]) -> None:
    assert run(body) == wanted


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("k(a, b);", "a is read, and nothing was written to it"),
        ("streamRead(a, x); k(a, a);", "a is read and written by one call"),
        ("streamRead(a, x); two(a, b, b);", "one stream is written as two out streams"),
        ("float q<2, 2, 2>; streamRead(q, x); k(q, a);", "q is 2x2x2, and the out streams are 8"),
        ("float q<2, 2, 2>; float p<2, 2, 1>; streamRead(q, x); k(q, p);", "q is 2x2x2, and the out streams are 2x2x1"),
        ("float q<2, 2, 2>; streamRead(q, x); g(q, a);", "q has three axes, and a takes one"),
        ("float q<2, 2, 2>; streamRead(q, x); r(q, e);", "q has three axes, of which only the sum of all is reduced"),
        ("float q<2, 2, 2>; streamRead(a, x); g(a, q);", "q has three axes, and g two"),
        ("float q<3>; streamRead(q, x); k(q, a);", "q is 3, and the out streams are 1x8"),
        ("streamRead(e, x); n(e, a);", "indexof(a) is where in e a thread is, which is 4; the out streams are 1x8"),
        ("iter float q<2, 4> = iter(0, 1); k(q, d);", "'q' counts along two axes, which takes two numbers"),
        ("iter float2 q<4> = iter(float2(0, 0), 1); c(q, e); int *p; p[0] = 1;", "'p' has no value yet"),
        ("float2 v[4]; v[4].x = 1;", "v has 8 elements, and number 8 is asked for"),
        ('x[0] = atof("3");', "atof reads a word of the command line, and there is none"),
        ("streamRead(a, x); two(a, b, e);", "e and b have different shapes: 4 and 8"),
        ("streamRead(d, x); g(d, a);", "d has two axes, and a takes one"),
        ("streamRead(d, x); float q<3>; r(d, q);", "d is 2x4, which 1x3 elements do not share equally"),
        ("streamRead(a, x); t(a, b);", "'a' of t has elements of type int, and a those of float"),
        ("v(1.0f, a);", "'c' of v is float4, and host code has numbers only here"),
        ("k(x, a);", "'a' of k is a stream, and this is none"),
        ("streamRead(a, x); g(a, b);", "g, called in line 16: "),
        ("streamRead(a, x); s(a, b);", "two threads meet in one element of a scattered stream"),
    ],
)
def test_what_brook_leaves_open_is_refused_with_its_line(body: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        run(body)
    (finding,) = caught.value.findings
    assert message in finding.message and finding.span is not None
    assert finding.span.line == 16 or "called in line 16" in finding.message


def test_numbers_are_what_the_kernel_takes() -> None:
    text = "kernel void k(int n, float f, out float o<>) { o = n + f; }\n"
    text += "void m(float x[]) { float o<2>; k(2.9, 0.1, o); streamWrite(o, x); }"
    (row,) = run_host(SourceFile("k.br", text), "m", StreamOptions(("x=zeros:f32[2]",))).outputs
    assert float(row.first[0]) == pytest.approx(float(np.float32(2) + np.float32(0.1)))


def _repeated(self: _Call, parameter: BrookParameter, domain: tuple[int, int]) -> Numbers:
    data = self.streams[parameter.name].data
    rows, columns = (np.arange(wants) % has for has, wants in zip(data.shape, domain, strict=False))
    found: Numbers = data[rows][:, columns]
    return found


def _other_axis(self: _Call, parameter: BrookParameter, domain: tuple[int, int]) -> Numbers:
    return np.swapaxes(_data(self, parameter, domain[::-1]), 0, 1).reshape(*domain, -1)


def _to_the_last(self: HostRunner, stream: StreamValue, made: InitList) -> StreamValue:
    found = _counting(self, stream, made)
    found.data *= found.data.shape[1] / max(1, found.data.shape[1] - 1)
    return found


_data, _counting = _Call._data, HostRunner._counting
BUGS = {
    "elements go round in place of repeating": (_Call, "_data", _repeated),
    "axes are swapped": (_Call, "_data", _other_axis),
    "the last value is reached": (HostRunner, "_counting", _to_the_last),
    "an element of a vector is one number": (evaluate, "_lanes_of", lambda _: 1),
}


def _is_wrong(body: str, wanted: list[float]) -> bool:
    try:
        return run(body) != wanted
    except (InputError, ValueError, IndexError):
        return True


@pytest.mark.slow
@pytest.mark.parametrize("bug", BUGS)
def test_a_seeded_bug_is_seen(bug: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(*BUGS[bug])
    assert any(_is_wrong(body, wanted) for body, wanted in PASSES)
