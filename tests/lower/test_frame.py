"""The lowering of one function: what it keeps in registers, in memory, and what it gives up."""

from __future__ import annotations

from pathlib import Path

from tests.lower.harness import answers, code, lowered
from warpsmith.ssa.nodes import Memory

BODIES = [
    "int a = t; oi[t] = a",
    "int a = t; int *p = &a; oi[t] = *p",
    "int a[4] = {1, 2, 3, 4}; oi[t] = a[t & 3]",
    "__shared__ __align__(16) int a[8]; a[t] = t; oi[t] = a[t]",
    "__shared__ int a[8]; volatile int *p = a; p[t] = t; oi[t] = p[t]",
    "static __device__ int a = 3; oi[t] = a",
]


def test_where_variables_live(tmp_path: Path) -> None:
    made = list(code(BODIES[:6], tmp_path).values())
    assert all(told == [] for _, told in made)
    assert "local @" not in made[0][0] and "local @" not in made[1][0]  # promoted: nobody keeps the address
    assert "local @" in made[2][0] and "i32 x 4" in made[2][0]
    assert "shared @" in made[3][0] and "align 16" in made[3][0]
    assert "volatile" in made[4][0] and "volatile" not in made[3][0]
    assert "address [@" in made[5][0]


def test_volatile_variables_of_the_device_are_read_each_time(tmp_path: Path) -> None:
    text = (
        "__device__ volatile int flag; __device__ volatile int table[4]; __device__ int plain;\n"
        "__global__ void k(int *o) { o[0] = flag; o[1] = table[o[2]]; o[3] = plain; flag = 1; }\n"
    )
    (kernel,) = lowered(text, tmp_path).module.functions
    made = [i for b in kernel.blocks for i in b.instructions if isinstance(i.detail, Memory)]
    orders = [(i.op, i.detail.order) for i in made if isinstance(i.detail, Memory)]
    assert [order for op, order in orders if op == "load"] == ["volatile", "", "volatile", ""]
    assert [order for op, order in orders if op == "store"] == ["", "", "", "volatile"]


def test_variables_of_one_name_are_apart(tmp_path: Path) -> None:
    text = (
        "__global__ void k(int *o) { { __shared__ int a[2]; a[0] = 1; o[0] = a[0]; }\n"
        "{ __shared__ int a[3]; a[1] = 2; o[1] = a[1]; } }\n"
        "__global__ void l(int *o) { __shared__ int a[5]; a[0] = 1; o[0] = a[0]; }\n"
    )
    module = lowered(text, tmp_path).module
    counts = [sorted(s.count for s in f.symbols) for f in module.functions]
    assert counts == [[2, 3], [5]]
    assert len({s.name for f in module.functions for s in f.symbols}) >= 2


def test_the_rest_goes_on_behind_what_is_not_modeled(tmp_path: Path) -> None:
    made = code(['asm volatile("nop;"); oi[t] = 5', 'int x = 3; asm("mov %0, 1;" : "=r"(x)); oi[t] = x'], tmp_path)
    for text, told in made.values():
        assert "unmodeled" in text and "store [global" in text and told
    assert answers(["oi[t] = 3; { } ;"], tmp_path) == {"oi[t] = 3; { } ;": [3] * 8}
