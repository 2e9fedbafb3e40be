"""Host code that passes exponents, and what is not seen to be a power of two."""

from __future__ import annotations

import pytest

from tests.flows.streams.test_encode import CALLED, KERNEL, encoded, outputs
from warpsmith.base.errors import InputError


def test_names_that_are_taken_and_powers_that_are_read() -> None:
    kernel = "kernel void k(out float o<>, int w) { int w_exponent = 1; o = (float)(w + w_exponent); }\n"
    host = "void run(float v[]) { float o<4>; int w = 8; k(o, w); streamWrite(o, v); if (w == 8) { k(o, w * 2); } }\n"
    text = encoded(kernel + host, "k.w")
    assert "int w_exponent_2)" in text and "o = (float)((1 << w_exponent_2) + w_exponent);" in text
    assert "int w = 8;\n" in text and "int w_exponent = 3;" in text and "k(o, w_exponent + 1)" in text
    given = ("v=zeros:f32[4]",)
    assert outputs(text, "v", host="run", arguments=given) == outputs(kernel + host, "v", host="run", arguments=given)


@pytest.mark.parametrize(
    ("body", "statement", "message"),
    [
        ("o = a * (float)w;", "k(a, o, m);", "'m' is not seen to be a power of two"),
        ("o = a * (float)w;", "k(a, o, 6);", "'6' is not seen to be a power of two"),
        ("o = a * (float)w;", "w++; k(a, o, w);", "whether 'w' is still a power of two"),
        ("o = a * (float)w;", "w = w + 1; k(a, o, w);", "'w + 1' is not seen to be a power of two"),
        ("o = a * (float)w;", "k(a, o, 1 << n++);", "'n++' is no int that can be passed as an exponent"),
        ("o = a * (float)w;", "for (w = 1; w < 8; w *= 2) k(a, o, w);", "no second statement can stand"),
    ],
)
def test_what_is_not_seen_to_be_a_power_of_two_is_refused(body: str, statement: str, message: str) -> None:
    text = KERNEL.replace("BODY", body) + CALLED.replace("STATEMENT", statement)
    with pytest.raises(InputError) as caught:
        encoded(text, "k.w")
    (finding,) = caught.value.findings
    assert message in finding.message and finding.span is not None


def test_a_variable_that_a_reduction_writes_is_no_power() -> None:
    kernels = (
        "kernel void k(out float o<>, float w) { o = w; }\nreduce void sum(float a<>, reduce float s<>) { s += a; }\n"
    )
    body = "float o<8>; float w = 8.0f; k(o, w); sum(o, w); k(o, w); streamWrite(o, v);"
    with pytest.raises(InputError, match="whether 'w' is still a power of two"):
        encoded(f"{kernels}void run(float v[]) {{ {body} }}\n", "k.w")


def test_what_is_to_hold_is_said_of_all_that_is_passed() -> None:
    kernel = "kernel void k(out float o<>, int w) { o = (float)w; }\n"
    body = "int u = 2, w = 1 << m; k(o, u * w); k(o, w); k(o, 4); k(o, 1 << m); w = w * 2; k(o, u);"
    text = encoded(f"{kernel}void run(int m) {{ float o<8>; {body} }}\n", "k.w")
    assert text.startswith(
        "// w_exponent: w is 2 to its power; from 0 to 30 are m of line 2, u_exponent + w_exponent of line 2, "
        "w_exponent of line 2\n"
    )


def test_a_power_that_another_exponent_is_stays() -> None:
    kernel = "kernel void k(out float o<>, int w) { o = (float)w; }\n"
    body = "float o<4>; int v = 4; int w = 1 << v; k(o, v); k(o, 1 << v); k(o, w); streamWrite(o, a);"
    text = f"{kernel}void run(float a[]) {{ {body} }}\n"
    assert "int v = 4;" in encoded(text, "k.w") and "int w_exponent = v;" in encoded(text, "k.w")
    given = ("a=zeros:f32[4]",)
    assert outputs(encoded(text, "k.w"), "a", host="run", arguments=given) == outputs(
        text, "a", host="run", arguments=given
    )


def test_a_power_of_itself_is_refused() -> None:
    kernel = "kernel void k(out float o<>, int w) { o = (float)w; }\n"
    with pytest.raises(InputError, match="whether 'w' is still a power of two"):
        encoded(f"{kernel}void run() {{ float o<4>; int w = 4; w = 1 << w; k(o, w); }}\n", "k.w")
