"""Heads of functions: what parameters are, and mistakes outside of bodies."""

from __future__ import annotations

import pytest

from tests.front.brook.running import read, wrong


def test_parameters_are_what_is_written_behind_their_names() -> None:
    text = read(
        "kernel void f(float a<>, float4 g[], float h[][16], out float2 o<>, out int s[], const float c,"
        " unsigned int u) { s[0] = 1; o = float2(a); }\nreduce void r(float a<10, 10>, reduce float t<>) { t += a; }\n"
        "kernel float q(float x, out float y) { y = x; return x; }\n"
        "void host(float v[], int n) { }\nint later(int a);\n"
    )
    kinds = [(one.name, one.kind, one.axes) for one in text.definitions["f"].parameters]
    assert kinds == [
        ("a", "stream", 0), ("g", "gather", 1), ("h", "gather", 2), ("o", "out", 0), ("s", "scatter", 1),
        ("c", "constant", 0), ("u", "constant", 0),
    ]  # fmt: skip
    assert list(text.kernels) == ["f", "r"] and list(text.definitions) == ["f", "r", "q", "host"]
    assert [one.kind for one in text.definitions["r"].parameters] == ["stream", "reduce"]


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("kernel f(float a<>) {}", 1, 8, "'f' is no type of Brook+"),
        ("kernel void f(float a<>", 1, 23, "the end of the text cannot stand here"),
        ("kernel void f(float a<) {}", 1, 22, "'<' is not closed"),
        ("kernel void f(float a[) {}", 1, 22, "'[' is not closed"),
        ("kernel void f(out float o<>) { o = 1;", 1, 30, "this block has no end"),
        ("kernel void f(int g[][][][], out int o<>) {}", 1, 19, "'g' has 4 axes, and gathers have three at most here"),
        ("kernel float f(out float o<>) { return 1; }", 1, 14, "f has out streams, and returns a value"),
        (
            "kernel void f(vout[1] float i<>) {}",
            1,
            15,
            "'vout' streams are not read here: threads push as much as they like",
        ),
        ("kernal void f(out float o<>) {}", 1, 1, "'kernal' is no type of Brook+"),
        ("kernel void f(char c, out float o<>) {}", 1, 15, "'char' is no type of Brook+"),
        ("kernel void f(float a, float a, out float o<>) {}", 1, 30, "two parameters are called 'a'"),
        ("kernel void f(reduce float a<>) {}", 1, 28, "a reduce parameter stands in a kernel"),
        (
            "reduce void f(float a<>, float b<>, reduce float c<>) {}",
            1,
            13,
            "f reduces one in stream to one reduce parameter",
        ),
        ("kernel void f(void a) {}", 1, 15, "a parameter has no type void"),
        ("kernel void f(out float o<>) {o=1;}\nkernel void f(out float o<>) {o=1;}", 2, 13, "'f' is defined twice"),
        ("}", 1, 1, "'}' cannot stand here"),
    ],
)
def test_a_mistake_is_told_at_its_place(text: str, line: int, column: int, message: str) -> None:
    assert wrong(text)[0][:3] == (line, column, message)


def test_reading_goes_on_behind_a_mistake() -> None:
    text = "kernel void a(foo x) { x = 1; }\nkernel void b(out float o<>) { o = y; }\n"
    text += "kernel void c(out float o<>) { o = 1; }"
    assert [(line, message) for line, _, message, _ in wrong(text)] == [
        (1, "'foo' is no type of Brook+"), (2, "'y' is not declared")
    ]  # fmt: skip


HOST = """typedef struct { float x; char *name; } Item;
static char retval = 1, *names[] = { "a;", "b" };
struct pair { int a; } pairs[4] = { { 1 } };
enum color { red, green };
extern FILE *log(const char *text, struct pair *p);
Item made(Item *from, int n) { if (n) { return from[0]; } return from[1]; }
void shown(char *text, Item one) { }
float scale = 3;
kernel void k(float a<>, out float o<>) { o = a; }
int main(int argc, char *argv[]) { return 0; }
"""


def test_what_c_has_is_left_aside_until_host_code_comes_to_it() -> None:
    text = read(HOST)
    assert list(text.kernels) == ["k"] and list(text.definitions) == ["k", "main"]
    assert {"Item", "retval", "pairs", "log", "made", "shown", "scale"} < set(text.aside)
    assert text.aside["scale"].message == "'scale' is a variable outside of functions"
    assert [line for line, *_ in wrong(HOST + "kernel void j(Item a<>, out float o<>) { o = 1; }")] == [11]


def test_streams_that_count_are_in_streams() -> None:
    text = read("kernel void k(iter float2 i<>, float a<>, out float o<>) { o = i.y + a; }")
    assert [one.kind for one in text.definitions["k"].parameters] == ["stream", "stream", "out"]


def test_indexof_is_asked_of_streams() -> None:
    text = read("kernel void k(float a<>, float b<>, out float o<>) { o = indexof(a).x + indexof o.y; }")
    assert text.definitions["k"].placed == {"a", "o"}
