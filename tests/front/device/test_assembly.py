"""Inline assembly that makes threads meet, near misses that stay assembly, and kernels with it that run."""

from __future__ import annotations

import struct

import pytest

from tests.simt.engine.agree import Case, agree
from warpsmith.front.device.assembly import AssemblyCall, meetings, template_of
from warpsmith.kernels.units import KernelFile, KernelUnit, read_unit
from warpsmith.simt.interpreter import interpret
from warpsmith.simt.launch import Launch, Outcome
from warpsmith.simt.memory import LaunchMemory
from warpsmith.ssa.nodes import Barrier, Constant, Fence, Instruction


def unit_of(body: str) -> KernelUnit:
    head = 'extern "C" __global__ void k(int *a, unsigned n) { __shared__ int s[128]; int t = threadIdx.x;'
    unit = read_unit(KernelFile("k.cu", "cuda", (), f"{head} {body} }}"))
    assert isinstance(unit, KernelUnit)
    return unit


def instructions_of(body: str) -> list[Instruction]:
    function = unit_of(body).module.function("k")
    assert function is not None
    return [i for _, i in function.instructions()]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("bar.sync 0;", [AssemblyCall("__syncthreads")]),
        ("barrier.cta.sync.aligned 0x0;", [AssemblyCall("ws_bar_sync", ("0x0",))]),
        ("bar.sync 1, 64;", [AssemblyCall("ws_bar_sync", ("1", "64"))]),
        ("\\n\\tbar.sync\\t%0 ;\\n", None),
        ("bar.arrive %1, %0; membar.gl;", [AssemblyCall("ws_bar_arrive", ("%1", "%0")), AssemblyCall("__threadfence")]),
        ("bar.warp.sync 0xffff;", [AssemblyCall("__syncwarp", ("0xffff",))]),
        ("membar.cta;", [AssemblyCall("__threadfence_block")]),
        ("fence.acq_rel.sys;", [AssemblyCall("__threadfence_system")]),
        ("// nothing\\n", []),
        ("", []),
        # near misses
        ("bar.sync 0; mov.u32 %0, 1;", None),
        ("bar.red.popc.u32 %0, 0, p;", None),
        ("bar.arrive 1;", None),
        ("bar.sync r1;", None),
        ("@p bar.sync 0;", None),
        ("membar.gl 1;", None),
        ("fence.proxy.async;", None),
        ("fence.mbarrier_init.release.cluster;", None),
        ("barrier.cluster.arrive;", None),
    ],
)
def test_what_instructions_say(text: str, wanted: list[AssemblyCall] | None) -> None:
    template = template_of(f'asm volatile("{text}")')
    assert template is not None
    found = meetings(template)
    assert (None if found is None else list(found)) == wanted


def test_a_text_in_pieces_is_one_and_one_of_a_macro_none() -> None:
    assert template_of('__asm__ __volatile__("bar.sync "  "0;" ::: "memory")') == "bar.sync 0;"
    assert template_of("asm(TEXT)") is None
    assert template_of("SYNC()") is None


def test_operands_are_values_of_the_kernel() -> None:
    made = instructions_of('asm volatile("bar.sync %1, %0;" :: "r"(n), "n"(3) : "memory"); a[t] = 1;')
    (barrier,) = (i for i in made if i.op == "barrier")
    number, count = barrier.operands
    assert isinstance(number, Constant) and number.bits == 3 and not isinstance(count, Constant)
    assert barrier.detail == Barrier()
    made = instructions_of('asm volatile("bar.arrive 2, 64; membar.gl;"); a[t] = 1;')
    assert [i.detail for i in made if i.op in ("barrier", "fence")] == [Barrier(waits=False), Fence("device")]


@pytest.mark.parametrize(
    "body",
    [
        'asm volatile("bar.sync 0;" : "+r"(t)); a[t] = 1;',
        'asm volatile("bar.sync 0; trap;"); a[t] = 1;',
    ],
    ids=["an output", "something else too"],
)
def test_what_does_more_is_not_modelled(body: str) -> None:
    made = instructions_of(body)
    assert any(i.op == "unmodeled" for i in made)
    assert not any(i.op == "barrier" for i in made)


def case(body: str, threads: int = 64) -> Case:
    launch = Launch((2, 1, 1), (threads, 1, 1), {"n": struct.pack("<I", threads)})
    return Case(unit_of(body).module, "k", launch, {"a": (bytes(4 * threads), True)})


def interpreted(given: Case) -> tuple[Outcome, list[int], LaunchMemory]:
    memory, launch = given.placed(checks=True)
    outcome = interpret(given.module, "k", launch, memory)
    return outcome, list(struct.unpack(f"<{len(memory.buffers[0].data) // 4}I", memory.buffers[0].data)), memory


TURNED = "s[t] = 7 * t; {} if (blockIdx.x == 0) a[t] = s[63 - t];"


def test_a_barrier_in_assembly_orders_what_a_barrier_orders() -> None:
    given = case(TURNED.format('asm volatile("bar.sync 0;" ::: "memory");'))
    assert agree(given) == ""
    outcome, numbers, _ = interpreted(given)
    assert outcome.complete and not outcome.conflicts
    assert numbers == [7 * (63 - t) for t in range(64)]
    outcome, _, _ = interpreted(case(TURNED.format('asm volatile("membar.gl;" ::: "memory");')))
    assert outcome.conflicts  # a fence makes nobody wait


def test_a_number_makes_no_difference_where_all_meet() -> None:
    assert agree(case(TURNED.format('asm volatile("bar.sync 3;" ::: "memory");'))) == ""


def test_half_of_a_block_meets_at_a_barrier_of_its_own() -> None:
    half = """s[t] = 7 * t;
        if (t < 32) asm volatile("bar.sync %0, 32;" :: "r"(1) : "memory");
        else asm volatile("bar.sync 2, 32;" ::: "memory");
        if (blockIdx.x == 0) a[t] = s[t < 32 ? 31 - t : 95 - t];"""
    outcome, numbers, _ = interpreted(case(half))
    assert outcome.complete and not outcome.conflicts and not outcome.problems
    assert numbers == [7 * (31 - t if t < 32 else 95 - t) for t in range(64)]
    assert "barrier" in agree(case(half))  # left to the interpreter
