"""Ops of the kernel IR as instructions of a multiprocessor."""

from __future__ import annotations

from tests.simt.test_interpreter import kernel
from warpsmith.analysis.counts.kinds import BlockKinds, block_kinds
from warpsmith.base.findings import Finding
from warpsmith.kernels.units import KernelFile, read_unit
from warpsmith.ssa.graph import Graph


def _kinds(body: str) -> dict[str, BlockKinds]:
    function = kernel(body).functions[0]
    return block_kinds(function, Graph.of(function))


def _total(body: str, kind: str) -> float:
    return sum(block.instructions.get(kind, 0) for block in _kinds(body).values())


def test_a_product_and_its_sum_are_one() -> None:
    fused = "mul.f32 %f1, %f2, %f3; add.f32 %f4, %f1, %f5; st.global.f32 [%rd1], %f4; ret;"
    apart = "mul.f32 %f1, %f2, %f3; add.f32 %f4, %f1, %f1; st.global.f32 [%rd1], %f4; ret;"
    assert _total(fused, "single") == 1 and _total(apart, "single") == 2
    assert sum(block.flops for block in _kinds(fused).values()) == 2


def test_a_division_by_a_number_is_a_product_or_a_shift() -> None:
    bodies = {
        name: f"{op} %r2, %r1, {divisor}; st.global.u32 [%rd1], %r2; ret;"
        for name, op, divisor in (
            ("any", "div.s32", "%r4"), ("34", "div.s32", "34"), ("rest", "rem.u32", "34"), ("32", "div.s32", "32"),
            ("mask", "rem.u32", "32"),
        )
    }  # fmt: skip
    found = {name: (_total(body, "integer"), _total(body, "multiply")) for name, body in bodies.items()}
    shift = found["mask"]
    more = {name: (integers - shift[0], products - shift[1]) for name, (integers, products) in found.items()}
    assert more == {"any": (19, 0), "34": (1, 1), "rest": (1, 2), "32": (2, 0), "mask": (0, 0)}


def test_doubles_have_lanes_of_their_own() -> None:
    text = "__global__ void k(double *a) { a[0] = a[1] + a[2]; }"
    unit = read_unit(KernelFile("k.cu", "cuda", text=text))
    assert not isinstance(unit, Finding)
    function = unit.module.functions[0]
    (block,) = block_kinds(function, Graph.of(function)).values()
    assert block.instructions["double"] == 1 and block.instructions.get("single", 0) == 0 and block.wide == 1


LOOP = """
    mov.u32 %r2, 0;
$head:
    {inside} add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 100; @%p1 bra $head;
    st.global.u32 [%rd1], %r4; ret;"""


def test_what_a_loop_does_not_change_stands_before_it() -> None:
    plain, invariant, changing = (
        _kinds(LOOP.format(inside=text)) for text in ("", "xor.b32 %r4, %r1, 3;", "xor.b32 %r4, %r2, 3;")
    )
    loop = next(name for name, block in plain.items() if block.instructions.get("control"))
    count = {key: kinds[loop].instructions["integer"] for key, kinds in
             (("plain", plain), ("invariant", invariant), ("changing", changing))}  # fmt: skip
    assert count["invariant"] == count["plain"] and count["changing"] == count["plain"] + 1


def test_a_copy_beside_the_warp_is_no_wait_of_it() -> None:
    def kinds(load: str) -> list[BlockKinds]:
        turn = f"__syncthreads(); if (i < n) for (int j = 0; j < 9; j++) tile[j][threadIdx.x] = {load};"
        body = f"__shared__ float tile[9][32]; for (int i = 0; i < n; i++) {{ {turn} }}"
        unit = read_unit(KernelFile("k.cu", "cuda", text=f"__global__ void k(float *a, int n) {{ {body} }}"))
        assert not isinstance(unit, Finding)
        function = unit.module.functions[0]
        return list(block_kinds(function, Graph.of(function)).values())

    plain, beside = kinds("a[threadIdx.x + j]"), kinds("ws_load_beside(&a[threadIdx.x + j])")
    assert sum(one.batches for one in plain) > 0 and not any(one.beside for one in plain)
    # one wait a turn, before the barrier
    assert [(one.batches, one.instructions.get("barriers")) for one in beside if one.beside] == [(0, 1)]
    assert not any(one.batches for one in beside)
    assert [one.instructions for one in plain] == [one.instructions for one in beside]


def test_loads_on_the_way_together_are_one_wait() -> None:
    together = """ld.global.u32 %r2, [%rd1]; ld.global.u32 %r4, [%rd1+4];
        add.u32 %r2, %r2, %r4; st.global.u32 [%rd1], %r2; ret;"""
    chained = "ld.global.u64 %rd7, [%rd1]; ld.global.u32 %r4, [%rd7]; st.global.u32 [%rd1], %r4; ret;"
    waits = [sum(block.batches for block in _kinds(body).values()) for body in (together, chained)]
    assert waits == [1, 2]
