"""Constructs that are not modeled are reported at their place, in the user's words, and the rest goes on."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.lower.harness import lowered
from warpsmith.lower.program import Lowered
from warpsmith.ssa.nodes import Branch, Function, Memory
from warpsmith.ssa.verify import faults

SOURCE = """
int on_host;
__device__ int down(int n) { return n < 2 ? 1 : n * down(n - 1); }
__device__ int first(const int *p) { if (p[0] > 3) return p[1]; return p[2]; }
__global__ void host_variable(int *p) { p[threadIdx.x] = on_host; p[1] = 2; }
__global__ void recursion(int *p) { p[threadIdx.x] = down(p[0]); }
__global__ void assembly(int *p) { int x; asm("mov.u32 %0, %%laneid;" : "=r"(x)); p[x] = 1; }
__global__ void jumps(int *p) { switch (p[0]) { case 0: { p[1] = 2; case 1: p[2] = 3; } } }
__global__ void branches(int *p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && i > 2)
    p[i] = first(p + i);
  while (p[0] > 1 && p[1] > i) p[0] = i > 5 ? p[i] : p[2 * i];
  do p[1]--; while (p[1] > 0);
}
__global__ void vectors(float4 *v, const double2 *d, float3 *w) { v[0] = v[1]; w[0] = w[1]; v[2].x = (float)d[1].y; }
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Lowered:
    return lowered(SOURCE, tmp_path_factory.mktemp("findings"))


def _function(made: Lowered, name: str) -> Function:
    found = made.module.function(name)
    assert found is not None
    return found


def _messages(made: Lowered, line: str) -> list[str]:
    number = next(n for n, text in enumerate(SOURCE.splitlines(), start=1) if line in text)
    return [f.message for f in made.findings if f.span is not None and f.span.line == number]


def test_everything_is_well_formed(made: Lowered) -> None:
    assert [fault for function in made.module.functions for fault in faults(function)] == []


def test_a_host_variable_is_named(made: Lowered) -> None:
    assert any("on_host, which is no variable of the device" in text for text in _messages(made, "host_variable"))
    ops = [i.op for _, i in _function(made, "host_variable").instructions()]
    assert ops.count("store") == 2
    assert "unmodeled" in ops


def test_recursion_stays_a_call(made: Lowered) -> None:
    assert any("down calls itself" in f.message for f in made.findings)
    assert "call" in {i.op for _, i in _function(made, "recursion").instructions()}


def test_assembly_writes_something_unknown(made: Lowered) -> None:
    assert any("assembly" in text for text in _messages(made, "void assembly"))
    store = next(i for _, i in _function(made, "assembly").instructions() if i.op == "store")
    assert store.operands[0] not in {None}
    assert "unmodeled" in {i.op for _, i in _function(made, "assembly").instructions()}


def test_where_control_is_lost_a_kernel_has_no_code(made: Lowered) -> None:
    assert any("a case label" in text for text in _messages(made, "void jumps"))
    assert _function(made, "jumps").blocks == ()


def test_branches_know_their_construct_and_their_line(made: Lowered) -> None:
    function = _function(made, "branches")
    found = [b.terminator for b in function.blocks if isinstance(b.terminator, Branch)]
    shown = [(one.construct, one.span.text if one.span else "") for one in found]
    assert ("if", "i < n && i > 2") in shown
    assert ("&&", "p[0] > 1") in shown
    assert ("while", "p[1] > i") in shown
    assert ("?:", "i > 5") in shown
    assert ("do", "p[1] > 0") in shown


def test_inlined_code_knows_the_call(made: Lowered) -> None:
    blocks = [block for block in _function(made, "branches").blocks if block.calls]
    assert {span.text for block in blocks for span in block.calls} == {"first(p + i)"}
    inside = [b.terminator for b in blocks if isinstance(b.terminator, Branch)]
    assert [one.span.text for one in inside if one.span] == ["p[0] > 3"]


def test_aligned_vectors_move_at_once(made: Lowered) -> None:
    accesses = [
        (i.op, i.detail.align, max(len(i.results), len(i.operands) - 1), i.detail.space)
        for _, i in _function(made, "vectors").instructions()
        if isinstance(i.detail, Memory)
    ]
    assert accesses[:2] == [("load", 16, 4, "global"), ("store", 16, 4, "global")]
    assert ("load", 8, 1, "global") in accesses
    assert sum(width == 1 for _, _, width, _ in accesses) == 8


def test_a_program_without_kernels_keeps_its_functions(tmp_path: Path) -> None:
    made = lowered("__device__ float half(float x) { return x / 2; }\n", tmp_path)
    assert [function.name for function in made.module.functions] == ["half"]


UNSEEN = """
__device__ int made = 3 * 4 + 1;
__device__ int *where = &made;
struct Base { int b; __device__ Base() : b(1) {} };
struct Shape { int side = 2; __device__ virtual int area() const { return side; } };
struct Held {
  int n;
  __device__ int both() { auto add = [this](int i) { return i + n; }; auto copy = add; return copy(1); }
};
template <class F> __device__ int called(F f) { return f(2); }
__global__ void pointer(int *p) { p[0] = *where + made; }
__global__ void objects(int *p) { Base many[65]; p[0] = many[threadIdx.x].b; }
__global__ void virtuals(int *p, Shape *s) { p[0] = s->area(); }
__global__ void closures(int *p, Held h) { p[0] = h.both(); }
__global__ void named(int *p, int n) { int k = n; p[0] = called([k = n + 1](int i) { return i * k; }); }
"""


def test_what_is_not_seen_is_unknown_and_never_left_out(tmp_path: Path) -> None:
    made = lowered(UNSEEN, tmp_path)
    lines = UNSEEN.splitlines()
    said = {lines[f.span.line - 1].split("(")[0].split()[-1]: f.message for f in made.findings if f.span is not None}
    assert "what where begins with" in said.pop("&made;")
    assert "an array that is initialized as a whole" in said.pop("objects")
    assert "a virtual call" in said.pop("virtuals")
    assert len(said) >= 2, said
    for name in ("objects", "virtuals", "closures", "named"):
        assert "unmodeled" in {i.op for _, i in _function(made, name).instructions()}, name
    assert next(symbol.initial for symbol in made.module.symbols if symbol.name == "made") == (13,)


def test_instances_of_a_template_are_one_place(tmp_path: Path) -> None:
    text = """template <class T> __global__ void own(T *p) { int x; asm("mov.u32 %0, %%laneid;" : "=r"(x)); p[x] = 1; }
template __global__ void own<int>(int *);
template __global__ void own<float>(float *);
"""
    made = lowered(text, tmp_path)
    assert len(made.module.functions) == 2
    assert [finding.message for finding in made.findings] == [
        "not modeled: inline assembly; what it gives is taken for unknown"
    ]
