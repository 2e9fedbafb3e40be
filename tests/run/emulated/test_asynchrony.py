"""The emulation is asynchronous: what nothing orders is seen in every run, whatever the order; and only that."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.run.emulated.small_programs import SCHEDULES, outputs, program, run_all
from warpsmith.emit.files import OutputFile
from warpsmith.run.emulated.build import Executable, RunResult, build_emulated, run_emulated
from warpsmith.run.native.tools import RunLimits
from warpsmith.run.verification import Sources

_TEXT = Path(__file__).with_name("asynchronous.cu").read_text()
_WRONG = {
    "two_streams": ("kernel fill", "kernel add", "a["),
    "copy_beside_kernel": ("kernel fill", "cudaMemcpyAsync", "a["),
    "early_read_pinned": ("the host", "cudaMemcpyAsync", "pinned[0]"),
    "early_read_pageable": ("the host", "cudaMemcpyAsync", "memory of the host"),
    "early_write": ("the host", "cudaMemcpyAsync", "pinned[1]"),
    "managed": ("the host", "kernel fill", "managed[2]"),
    "default_stream": ("kernel fill", "kernel add", "a["),
    "set_then_stream": ("kernel fill", "cudaMemset", "a["),
    "free_in_another_stream": ("cudaFreeAsync", "cudaMallocAsync", "p[0]"),
    "host_function": ("the host", "the host function", "pinned[0]"),
}


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> Executable:
    """All cases, in one program."""
    sources = Sources((OutputFile("a.cu", _TEXT),))
    built = build_emulated(sources, tmp_path_factory.mktemp("asynchronous"))
    assert built.finding is None, built.finding
    return built


def _runs(built: Executable, *arguments: str) -> list[RunResult]:
    return [run_emulated(built, number, arguments=arguments, limits=RunLimits(seconds=30)) for number in SCHEDULES]


@pytest.mark.parametrize("case", _WRONG)
def test_what_nothing_orders_is_seen_in_every_run(cases: Executable, case: str) -> None:
    first, second, memory = _WRONG[case]
    for result in _runs(cases, case):
        found = next(failure for failure in result.seen.failures if failure.rule == "VER046")
        assert first in found.message and second in found.message and memory in found.message
        assert found.span is not None and found.span.file.path == "a.cu"
        assert found.related or "a.cu" in found.message


@pytest.mark.parametrize("case", [*_WRONG, "neighbors", "reuse", "waits_without_a_call"])
def test_what_is_ordered_is_right(cases: Executable, case: str) -> None:
    printed = outputs(_runs(cases, case, "ordered"))
    assert len(set(printed)) == 1
    expected = {"two_streams": "3 3 3", "neighbors": "1 2 7", "reuse": "0 2 0", "early_write": "0 6 0"}
    assert expected.get(case, printed[0].strip()) == printed[0].strip()


def test_a_late_copy_shows_in_the_result_too(cases: Executable) -> None:
    late, ordered = _runs(cases, "early_read_pageable")[0], _runs(cases, "early_read_pageable", "ordered")[0]
    assert late.ran.stdout.split()[0] != ordered.ran.stdout.split()[0] == b"5"


def test_both_lines_are_named_for_a_host_in_c() -> None:
    host = """#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cuda_runtime.h>
void go(int *a, cudaStream_t s);
int main(int argc, char **argv) {
    int *a, *h, copy[8];
    cudaStream_t s;
    cudaStreamCreate(&s);
    cudaMalloc((void **)&a, 32);
    cudaMallocHost((void **)&h, 32);
    go(a, s);
    cudaMemcpyAsync(h, a, 32, cudaMemcpyDeviceToHost, s);
    if (getenv("WAIT")) cudaStreamSynchronize(s);
    memcpy(copy, h, 32);
    printf("%d\\n", copy[7]);
    return 0;
}
"""
    kernels = """#include <cuda_runtime.h>
__global__ void fill(int *a) { a[threadIdx.x] = threadIdx.x; }
extern "C" void go(int *a, cudaStream_t s) { fill<<<1, 8, 0, s>>>(a); }
"""
    sources = Sources((OutputFile("main.c", host), OutputFile("k.cu", kernels)))
    for result in run_all(sources):
        (failure,) = result.seen.failures
        assert "cudaMemcpyAsync writes" in failure.message and "main.c:13" in failure.message
        assert failure.span is not None and failure.span.line == 15
    waits = Sources((OutputFile("main.c", host.replace('if (getenv("WAIT")) ', "")), sources.files[1]))
    assert outputs(run_all(waits)) == ["7\n"] * 3


def test_work_that_nobody_waits_for_is_run_at_the_end() -> None:
    body = """
__global__ void fill(int *a) { a[threadIdx.x] = 1; }
int main() { int *a; cudaMalloc(&a, 4); fill<<<1, 2>>>(a); return 0; }
"""
    for result in run_all(program(body)):
        assert [failure.rule for failure in result.seen.failures] == ["VER041"]
