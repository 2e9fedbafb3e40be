"""Host functions: what is read, and what is refused with its line."""

from __future__ import annotations

import pytest

from tests.front.brook.running import EXAMPLES, read
from warpsmith.base.errors import InputError
from warpsmith.front.brook.hosts import read_host
from warpsmith.front.brook.statements import STREAM
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
        ("iter float i<4>;", 16, "';' cannot stand here"),
        ("iter float i;", 13, "';' cannot stand here"),
        ("iter float i<4> = 3;", 19, "'3' cannot stand here"),
        ("iter float i<4> = iter(0, x);", 27, "'x' is not declared"),
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


def test_streams_are_parameters_of_host_functions() -> None:
    text = "kernel void k(float a<>, out float o<>) { o = a; }\nvoid f(float s<>, float t<>) { k(s, t); }\n"
    host = read_host(read(text), "f")
    assert [one.type for one in host.function.parameters] == [STREAM, STREAM] and len(host.elements) == 2
    with pytest.raises(InputError, match="'s' of a host function is written as a whole"):
        read_host(read("void f(out float s) { }"), "f")


def test_what_is_left_aside_is_told_where_host_code_comes_to_it() -> None:
    text = read(
        "static char *name(int n) { return 0; }\nstruct s { int a; } f2(int n) { }\nvoid f() { f2(name(3)); }\n"
    )
    with pytest.raises(InputError, match="'struct' is no type of Brook"):
        read_host(text, "f2")
    with pytest.raises(InputError, match="'struct' is no type of Brook"):
        read_host(text, "f")


def test_main_has_words_of_the_command_line() -> None:
    text = "int main(int argc, char **argv) { size_t n; long m; if (argc > 1 && argv[1] != NULL) exit(1); return 0; }"
    assert read_host(read(text), "main").function.symbol.name == "main"
