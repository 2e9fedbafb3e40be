"""Functions: parameters as the launch and as calls give them, results, limits."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.lower.harness import lowered
from warpsmith.ssa.nodes import Function, Limits, Return
from warpsmith.ssa.text import print_function
from warpsmith.ssa.verify import faults

TEXT = """
struct Pair { int *p; bool b; float f; };
__device__ Pair made(int *p) { Pair q = {p, true, 2.0f}; return q; }
__device__ int nothing(int n) { if (n) return 1; }
__device__ int place(int n) { int *q = &(n); *q += 1; int m = n; m += 2; ++m; return n + m; }
__global__ void __launch_bounds__(128, 2) k(int *p, bool b, Pair q, short n) {
  p[n] = b + q.b + q.p[1] + made(p).p[2] + place(n);
}
__global__ void only(int *p) { if (p[0]) return; p[1] = nothing(p[2]); }
"""


@pytest.fixture(scope="module")
def functions(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Function]:
    kernels, others = TEXT, TEXT.partition("__global__")[0]
    folder = tmp_path_factory.mktemp("functions")
    return {f.name: f for text in (others, kernels) for f in lowered(text, folder).module.functions}


def test_parameters_of_kernels_lie_as_the_launch_gives_them(functions: dict[str, Function]) -> None:
    kernel = functions["k"]
    assert [(p.name, p.bytes, p.align, str(p.type)) for p in kernel.parameters] == [
        ("p", 8, 8, "i64"), ("b", 1, 1, "i8"), ("q", 16, 8, "None"), ("n", 2, 2, "i16"),
    ]  # fmt: skip
    assert kernel.limits == Limits(128, None, 2) and kernel.kernel and kernel.results == ()
    text = print_function(kernel)
    assert "param [q+0.p]" in text and "param [q+8.b]" in text and "['global']" in text
    assert all(faults(function) == () for function in functions.values())


def test_objects_come_back_in_room_that_the_caller_makes(functions: dict[str, Function]) -> None:
    made = functions["made"]
    assert [p.name for p in made.parameters] == [".result", "p"] and made.results == ()
    assert [str(type) for type in functions["place"].results] == ["i32"]


def test_a_function_that_owes_a_result_gives_any(functions: dict[str, Function]) -> None:
    ends = [b.terminator for b in functions["nothing"].blocks if isinstance(b.terminator, Return)]
    assert len(ends) == 2 and "undef:i32" in print_function(functions["nothing"])


def test_lvalues_of_all_forms(functions: dict[str, Function]) -> None:
    assert "unmodeled" not in print_function(functions["place"])


def test_where_control_is_lost_there_are_no_blocks(tmp_path: Path) -> None:
    text = "__global__ void k(int *p) { void *q = &&here; goto *q; here: p[0] = 1; }\n"
    text += "__global__ void l(int *p) { p[0] = 2; }"
    made = {f.name: f for f in lowered(text, tmp_path).module.functions}
    assert made["k"].blocks == () and made["l"].blocks
