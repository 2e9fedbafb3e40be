"""Functions of device code: kernels, methods, constructors, lambdas."""

from __future__ import annotations

from tests.front.test_kernels import boxes, functions, lines, load
from warpsmith.tree.nodes import (
    Assign,
    Call,
    Name,
)
from warpsmith.tree.printing.printer import print_expr
from warpsmith.tree.types import FunctionType, Pointer, Record
from warpsmith.tree.walk import walk

OBJECTS = """
struct Base { int n; __device__ Base(int m) : n(m) {} __device__ int twice() const { return 2 * n; } };
struct Vec : Base {
    float x = 1.5f, y;
    __device__ Vec(float a) : Base(3), y(a) { x += a; }
    __device__ Vec operator+(const Vec &o) const { Vec r(x + o.x); r.y += o.y; return r; }
};
template <class T> struct Held { T stride; };
template <class T> struct Derived : Held<T> {
    __device__ Derived(T s) : Held<T>{s} {}
    __device__ void turn() { this->stride = -this->stride; }
};
__device__ float4 operator*(float4 a, float s) { return make_float4(a.x * s, a.y * s, a.z * s, a.w * s); }
__device__ void swap(float &a, float &b) { float t = a; a = b; b = t; }
template <class T, int n> constexpr int PLUS = n + 1;
__device__ int more(int a, int b = 40) { return a + b; }
__global__ void k(float *p) {
    Vec v(2.0f), w = v + Vec(1.0f);
    Vec copy = w;
    p[0] = copy.twice() + PLUS<int, 4> + more(1);
    Derived<float> d(2.0f);
    d.turn();
    float4 f = make_float4(1, 2, 3, 4) * 2.0f;
    swap(p[1], p[2]);
    const int &three = 2 + 1;
    float &r = p[3];
    r = f.w + three;
    int total = 0;
    auto add = [&](int i) { total += i; };
    auto scaled = [=](float x) { return p[0] * x; };
    add(3);
    r = scaled(2.0f);
}
"""


def test_objects_operators_references_and_lambdas() -> None:
    unit = load(OBJECTS)
    assert (unit.kernels, unit.findings, boxes(unit)) == (("k",), (), [])
    known = functions(unit)
    vec = known["Vec::Vec"]
    assert isinstance(vec.symbol.type, FunctionType) and isinstance(vec.symbol.type.result, Record)
    made = list(lines(vec))
    assert made[-1] == "return object"
    assert [m for m in made if "object.y = a" in m or "object.x = 1.5f" in m] == ["object.y = a", "object.x = 1.5f"]
    assert any("Base(3)" in m for m in made)
    text = list(lines(known["k"]))
    assert "copy = w" in text  # what clang makes itself has no text: the copy is the object
    first = next(t for t in text if t.startswith("p[0] ="))
    assert "5" in first and "more(1, 40)" in first and "copy.twice()" in first
    assert "swap(p[1], p[2])" in text  # prints as C++ has it; the tree hands over addresses
    calls = {
        n.function.symbol.name: n for n in walk(known["k"].body) if isinstance(n, Call) and isinstance(n.function, Name)
    }
    (adds,) = [
        c
        for name, c in calls.items()
        if name.startswith("lambda@") and len(c.arguments) == 2 and print_expr(c.arguments[1]) == "3"
    ]
    assert isinstance(adds.function, Name) and isinstance(adds.function.type, FunctionType)
    captured = adds.function.type.parameters[0]
    assert isinstance(captured, Pointer) and captured.reference
    base = [n for n in walk(known["Derived<float>::Derived"].body) if isinstance(n, Assign)]
    assert len(base) == 1 and isinstance(base[0].type, Record) and base[0].type.tag == "Held<float>"
    ours = known["make_float4"].device
    assert ours is not None and ours.ours


def test_every_called_function_with_a_text_is_there() -> None:
    unit = load(OBJECTS)
    there = {f.symbol for _, f in unit.program.functions()}
    named = {n.symbol for _, f in unit.program.functions() for n in walk(f.body) if isinstance(n, Name)}
    assert {s.name for s in named - there if s.storage == "function"} == set()
