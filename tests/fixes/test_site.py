"""The node that a finding's span stands for, and what the user did not write where it stands."""

from __future__ import annotations

import pytest

from tests.fixes.places import site, trees
from warpsmith.base.source import SourceFile, Span
from warpsmith.fixes.site import Trees, line_of
from warpsmith.tree.nodes import Binary, ExprStmt, For, If, Index, While

TEXT = """#define HALF 0.5f
#define TWICE(x) ((x) + (x))
__global__ void k(float *out, const float *in, int n)
{
    int i = threadIdx.x;
    if (i < n) {
        out[i] = in[i] * HALF;
        out[n] = TWICE(in[i]);
    }
    for (int j = 0; j < n; j++) out[j] += 1.0f;
}
template <typename T> __global__ void both(T *out) { out[0] = out[1] + out[2]; }
template __global__ void both<float>(float *);
template __global__ void both<double>(double *);
"""


@pytest.fixture(scope="module")
def known() -> Trees:
    return trees(TEXT)


def found(known: Trees, place: str) -> list[str]:
    start = TEXT.index(place)
    return [type(one.node).__name__ for one in known.sites(Span(known.file, start, start + len(place)))]


def test_a_span_stands_for_the_outermost_node_with_its_text(known: Trees) -> None:
    assert found(known, "in[i] * HALF") == ["Binary"] and found(known, "in[i]") == ["Index"]
    assert found(known, "n[i] *") == [] and found(known, "i < n") == ["Binary"]


def test_what_a_macro_made_is_no_text_of_its_own(known: Trees) -> None:
    assert found(known, "HALF;") == [] and found(known, "TWICE(in[i])") == []


def test_a_template_has_several_places(known: Trees) -> None:
    start = TEXT.index("out[1] + out[2]")
    places = list(known.sites(Span(known.file, start, start + len("out[1] + out[2]"))))
    assert len(places) == 2 and all(one.is_template for one in places)
    assert not site(known, "in[i] * HALF").is_template
    other = SourceFile("other.cu", TEXT)
    assert list(known.sites(Span(other, start, start + 15))) == []


def test_what_stands_around_a_node(known: Trees) -> None:
    one = site(known, "in[i] * HALF")
    assert isinstance(one.node, Binary) and one.file is known.file
    around = [type(node) for node in one.around(one.node)]
    assert around.index(ExprStmt) < around.index(If) and one.parent(one.function) is None
    inner = site(known, "out[j]")
    assert isinstance(inner.node, Index) and any(isinstance(n, For | While) for n in inner.around(inner.node))


@pytest.mark.parametrize(
    ("text", "part", "expected"),
    [
        ("a;\n  b();\nc;\n", "b();", "  b();\n"),
        ("a;\n  b(); // why\nc;\n", "b();", None),
        ("a; b();\n", "b();", None),
        ("b();\nc", "b();", "b();\n"),
        ("{\n b(1,\n   2);\n}", "b(1,\n   2);", " b(1,\n   2);\n"),
        ("a;\n  b();", "b();", "  b();"),
    ],
)
def test_a_line_that_a_span_has_for_itself(text: str, part: str, expected: str | None) -> None:
    start = text.index(part)
    got = line_of(Span(SourceFile("k.cu", text), start, start + len(part)))
    assert (None if got is None else got.text) == expected
