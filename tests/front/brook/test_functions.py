"""What kernels call: their own functions, those of the prelude, and what the hardware does."""

from __future__ import annotations

import numpy as np
import pytest

from tests.front.brook.running import launch, module_of, wrong


def test_streams_are_values_and_out_streams_places_of_who_calls() -> None:
    text = """
        kernel void twice(float a<>, out float b<>) { b = 2 * a; }
        kernel void both(float a, out float two, out float three) { twice(a, two); three = two + a; }
        kernel float pick(float g[], int h[][], int i) { return g[h[1][i]]; }
        kernel void k(float a<>, float g[], int h[][], out float o<>, out float4 v<>) {
            float three;
            v = float4(0);
            both(a, o, three);
            twice(three, v.y);
            v.x = pick(g, h, instance().x);
        }
    """
    arrays = {
        "a": np.array([1, 2], "f4"), "g": np.array([10, 20, 30], "f4"), "h": np.array([0, 0, 2, 1], "i4"),
        "o": np.zeros(2, "f4"),
        "v": np.zeros(8, "f4"),
    }  # fmt: skip
    found = launch(module_of(text), "k", arrays, {"h_width": 2}, (1, 2))
    assert found["o"].tolist() == [2, 4] and found["v"].tolist() == [30, 6, 0, 0, 20, 12, 0, 0]


def test_functions_of_the_prelude_are_there_for_every_vector() -> None:
    text = "kernel void k(float3 a<>, out float3 o<>) { o = fmod(a, 2.0f) + frac(a) + clamp(a, 0, 1) + saturate(a); }"
    found = launch(module_of(text), "k", {"a": np.array([5.5, -1.25, 0.5], "f4"), "o": np.zeros(3, "f4")}, {}, (1, 1))
    assert found["o"].tolist() == [1.5 + 0.5 + 2, -1.25 + 0.75, 2.0]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("o = f(a, a);", "f takes 1 argument, and here is 2"),
        ("o = f(v);", "'x' of f is float, and this is float4"),
        ("s(a, 1.0f);", "'y' of s is written, and needs a variable of type float"),
        ("s(a, a);", "'y' of s is written, and this is an in stream"),
        ("o = p(a);", "'g' of p is a gather"),
        ("o = p(h);", "'g' of p is a gather"),
        ("o = f(g);", "'x' of f is a value, and this is a gather"),
        ("o = sin(g);", "sin takes no streams"),
        ("o = dot(a, a);", "dot takes vectors of floats, and this is float"),
        ("o = max(v, w).x;", "max takes vectors of floats, of one type"),
        ("o = flor(a);", "there is no function 'flor' for kernels"),
    ],
)
def test_arguments_have_to_fit(body: str, message: str) -> None:
    head = """kernel float f(float x) { return x; } kernel void s(float x<>, out float y<>) { y = x; }
        kernel float p(float g[]) { return g[0]; }
        kernel void k(float a<>, float g[], float h[][], float4 v, float2 w, out float o<>) { """
    assert [one[2] for one in wrong(f"{head}{body} }}")] == [message]


def test_what_calls_itself_is_refused() -> None:
    text = "kernel float f(float x) { return g(x); } kernel float g(float x) { return f(x); }\n" + (
        "kernel void k(out float o<>) { o = f(1); }"
    )
    assert {message for _, _, message, _ in wrong(text)} == {"f calls itself", "g calls itself"} or len(
        wrong(text)
    ) == 1
    assert all("calls itself" in message for _, _, message, _ in wrong(text))


def test_sines_are_those_of_the_hardware() -> None:
    made = module_of("kernel void k(float a<>, out float o<>) { o = sin(a) + exp2(a) + sqrt(a) + pow(a, 2); }")
    ops = [i.op for _, i in made.functions[0].instructions()]
    assert {"sin", "exp2", "sqrt"} <= set(ops) and ops.count("lanewise") == 1
