"""Host functions: what is read, and what is refused with its line."""

from __future__ import annotations

import pytest

from tests.front.brook.running import EXAMPLES, read
from warpsmith.base.errors import InputError
from warpsmith.front.brook.hosts import read_host
from warpsmith.tree.nodes import Call, Name
from warpsmith.tree.types import FLOAT
from warpsmith.tree.walk import walk


def test_calls_say_what_is_called() -> None:
    host = read_host(read((EXAMPLES / "bitonic.br").read_text()), "main")
    assert list(host.called) == ["sort", "main"] and set(host.elements.values()) == {FLOAT}
    calls = [one.function for one in walk(host.called["sort"].body) if isinstance(one, Call)]
    names = [one.symbol.key for one in calls if isinstance(one, Name)]
    assert set(names) == {
        "brook:kernel:sort_pass", "brook:library:pow", "brook:library:streamRead", "brook:library:streamWrite"
    }  # fmt: skip


KERNEL = "kernel void k(float a<>, out float o<>) { o = a; }\nkernel float h(float x) { return x; }\n"


@pytest.mark.parametrize(
    ("body", "place", "message"),
    [
        ("rand();", 1, "host code calls rand, which is not known here"),
        ("h(1.0f);", 1, "h is no kernel that runs by itself"),
        ("k(1);", 1, "k takes 2 arguments, and here is 1"),
        ("float s<>;", 7, "'s' does not say how many elements it has"),
        ("float s<4> = 1;", 12, "streams have no initial value"),
        ("float s<4>; s = 1;", 13, "'s' is a stream, which has no value here"),
        ("float s<4>; s[0];", 13, "'s' is a stream, which has no value here"),
        ("f();", 1, "f calls itself, which host code may not here"),
        ("float *p; *1;", 12, "'*' takes a pointer, and this is int"),
        ("iter float i<4>;", 1, "'iter' is not read here"),
    ],
)
def test_what_is_not_read_is_told_where_it_stands(body: str, place: int, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read_host(read(f"{KERNEL}void f()\n{{\n{body}\n}}\n"), "f")
    (finding,) = caught.value.findings
    assert finding.span is not None and finding.rule == "BRK001"
    expected = (3, 6) if "itself, which" in message else (5, place)
    assert (finding.span.line, finding.span.column, finding.message) == (*expected, message)


def test_kernels_are_there_whatever_host_code_is() -> None:
    assert list(read(KERNEL + "int main() { return scanf(); }").kernels) == ["k"]


def test_a_stream_is_no_parameter_of_a_host_function() -> None:
    with pytest.raises(InputError, match="'s' of a host function is a stream"):
        read_host(read("void f(float s<>) { }"), "f")
