"""Closures as objects: their members are what the lambda has captured, in its order."""

from __future__ import annotations

from tests.front.test_kernels import boxes, functions, lines, load
from warpsmith.front.device.closures import is_closure
from warpsmith.tree.nodes import DeclStmt, InitList
from warpsmith.tree.types import INT, Record
from warpsmith.tree.walk import walk

TEXT = """
template <class F> __device__ int apply(F f, int n) { return f(n); }
struct Box { int k;
__device__ int run(int n) { auto f = [this, n](int i) { return k + n + i; }; return apply(f, 2); } };
__global__ void k(int *a, int n) {
    int sum = 0;
    auto f = [=, &sum](int i) { sum += a[i]; return n + i; };
    a[0] = apply(f, 8);
    a[1] = apply([&](int i) { return a[i] + n; }, 9);
    a[2] = apply([](int i) { return i; }, 1);
    Box b{3};
    a[3] = b.run(4) + sum;
}
__global__ void odd(int *a, int n) { a[0] = apply([m = n + 1](int i) { return m + i; }, 1); }
"""


def test_members_are_the_captures_in_their_order() -> None:
    unit = load(TEXT)
    kernel = functions(unit)["k"]
    (made,) = [d for n in walk(kernel.body) if isinstance(n, DeclStmt) for d in n.declarations if d.symbol.name == "f"]
    type = made.symbol.type
    assert isinstance(type, Record) and is_closure(type) and not is_closure(INT)
    assert [field.name for field in type.fields] == [f"captured{n}" for n in range(len(type.fields))]
    assert isinstance(made.init, InitList) and len(made.init.items) == len(type.fields) == 3
    bodies = [" ".join(lines(f)) for name, f in functions(unit).items() if "operator()" in name or "lambda" in name]
    assert any("*this->captured0 +=" in body or "this->captured0" in body for body in bodies), bodies


def test_what_is_captured_in_more_than_one_way_is_not_told_apart() -> None:
    text = TEXT.replace("[this, n]", "[=]")
    assert set(boxes(load(TEXT))) == {"a lambda whose captures are not distinguished", "a member without its object"}
    assert "a lambda whose captures are not distinguished" in boxes(load(text))
