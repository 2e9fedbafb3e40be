"""Calls in device code: what each hands over."""

from __future__ import annotations

import pytest

from tests.front.test_kernels import boxes, functions, lines, load
from warpsmith.front.device.builders import BASE_ELSEWHERE
from warpsmith.front.kernels import DeviceUnit
from warpsmith.tree.nodes import Call, Name, Unary, VerbatimExpr
from warpsmith.tree.types import Pointer
from warpsmith.tree.walk import walk

TEXT = """
struct Base { int n; __device__ int get() const { return n; } };
struct Vec : Base {
    float x;
    __device__ Vec(float a) : x(a) {}
    __device__ float norm(float by) const { return x * by; }
    __device__ float twice() { return norm(2) + this->norm(3); }
    __device__ Vec &operator+=(const Vec &o) { x += o.x; return *this; }
    __device__ static int count(int k) { return k; }
};
struct Open { __device__ virtual int open() { return 1; } };
struct Far : Base, Open { int own; };
__device__ float operator-(const Vec &a, float b) { return a.x - b; }
__device__ void swap(float &a, float &b) { float t = a; a = b; b = t; }
__device__ float &pick(float *p, int i) { return p[i]; }
__device__ int more(int a, int b = 40, float c = sinf(1)) { return a + b; }
typedef int (*Op)(int);
__global__ void k(float *p, Vec v, Vec *q, Op op, bool c, Open o, Far far) {
    p[0] = v.norm(1) + q->norm(2) + v.get();
    v += *q;
    p[1] = v - 2.0f;
    swap(c ? p[0] : p[1], pick(p, 3));
    pick(p, 4) = more(1) + Vec::count(2) + op(5);
    Vec w = Vec(3.0f), x = w, y{4.0f};
    v = w;
    p[5] = float() + int3().x + o.open();
    p[6] = far.get();
}
"""


@pytest.fixture(scope="module")
def unit() -> DeviceUnit:
    return load(TEXT)


def calls(unit: DeviceUnit, name: str) -> list[Call]:
    found = [n for n in walk(functions(unit)["k"].body) if isinstance(n, Call) and isinstance(n.function, Name)]
    return [c for c in found if isinstance(c.function, Name) and c.function.symbol.name.rpartition("::")[2] == name]


def test_a_method_gets_its_object(unit: DeviceUnit) -> None:
    first, second = calls(unit, "norm")
    assert isinstance(first.arguments[0], Unary) and first.arguments[0].op == "&" and len(first.arguments) == 2
    assert isinstance(second.arguments[0], Name) and second.arguments[0].symbol.name == "q"
    inherited, of_far = calls(unit, "get")
    assert isinstance(inherited.arguments[0].type, Pointer) and isinstance(inherited.arguments[0], Unary)
    assert isinstance(of_far.arguments[0], Unary) and isinstance(of_far.arguments[0].operand, VerbatimExpr)
    twice = functions(unit)["Vec::twice"]
    owners = [n.arguments[0] for n in walk(twice.body) if isinstance(n, Call)]
    assert [isinstance(o, Name) and o.symbol.name for o in owners] == ["this", "this"]
    (static,) = calls(unit, "count")
    assert len(static.arguments) == 1


def test_references_get_addresses(unit: DeviceUnit) -> None:
    (swapped,) = calls(unit, "swap")
    assert all(isinstance(a.type, Pointer) for a in swapped.arguments)
    chosen, picked = swapped.arguments
    assert type(chosen).__name__ == "Conditional"
    assert isinstance(picked, Call)  # the address that it returns, not the address of a copy
    (minus,) = calls(unit, "operator-")
    assert isinstance(minus.arguments[0], Unary) and not isinstance(minus.arguments[1].type, Pointer)


def test_arguments_that_are_left_out_stand_there(unit: DeviceUnit) -> None:
    (more,) = calls(unit, "more")
    assert [type(a).__name__ for a in more.arguments] == ["Literal", "Literal", "Call"]


def test_objects_are_made_by_functions_that_return_them(unit: DeviceUnit) -> None:
    written = list(lines(functions(unit)["k"]))
    assert [w for w in written if w.startswith(("w =", "x =", "y ="))] == [
        "w = Vec::Vec(3.0f)",
        "x = w",
        "y = Vec::Vec(4.0f)",
    ]
    assert "v = w" in written


def test_what_cannot_be_called_is_a_box(unit: DeviceUnit) -> None:
    assert boxes(unit) == ["a virtual call", BASE_ELSEWHERE]
