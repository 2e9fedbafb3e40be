"""Barriers and warp operations count who must come; what a device cannot hold is an error."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.run.emulated.small_programs import SCHEDULES, outputs, program, run_all
from warpsmith.emit.files import OutputFile
from warpsmith.run.emulated.build import Executable, RunResult, build_emulated, run_emulated
from warpsmith.run.emulated.device import device_environment
from warpsmith.run.native.tools import RunLimits
from warpsmith.run.verification import Sources

_TEXT = Path(__file__).with_name("limits.cu").read_text()


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> Executable:
    """All kernels, in one program."""
    built = build_emulated(Sources((OutputFile("l.cu", _TEXT),)), tmp_path_factory.mktemp("limits"))
    assert built.finding is None, built.finding
    return built


def _runs(built: Executable, case: int, n: int) -> list[RunResult]:
    limits = RunLimits(seconds=30)
    return [run_emulated(built, number, arguments=(str(case), str(n)), limits=limits) for number in SCHEDULES]


@pytest.mark.parametrize(
    ("case", "n", "rule"),
    [(1, 40, "VER043"), (2, 40, "VER043"), (3, 100, "VER043"), (5, 16, "VER047"), (7, 0, "VER047"), (8, 1, "VER043")],
)
def test_threads_that_do_not_come_are_missed(kernels: Executable, case: int, n: int, rule: str) -> None:
    marked = [number for number, line in enumerate(_TEXT.splitlines(), 1) if "// here" in line]
    line = marked[(1, 2, 3, 5, 7, 8).index(case)]
    for result in _runs(kernels, case, n):
        failure = result.seen.failures[0]
        assert failure.rule == rule
        assert failure.span is not None and failure.span.line == line


@pytest.mark.parametrize(
    ("case", "n", "printed"),
    [
        (0, 40, "39 8\n"),
        (1, 64, "126 64\n"),
        (2, 64, "0 31\n"),
        (3, 128, "0 31\n"),
        (4, 100, "0 31\n"),
        (5, 32, None),
        (6, 16, "120 0\n"),
        (9, 0, "16 15\n"),
    ],
)
def test_those_that_come_or_have_returned_are_not(kernels: Executable, case: int, n: int, printed: str | None) -> None:
    results = _runs(kernels, case, n)
    assert outputs(results) == [printed or results[0].ran.stdout.decode()] * 3


_SHARED = """
namespace tools {
template <int SIZE> __global__ void fill(int *a) {
    __shared__ char tile[SIZE];
    extern __shared__ char more[];
    tile[SIZE - 1 - threadIdx.x] = (char)a[threadIdx.x];
    more[threadIdx.x] = tile[SIZE - 1 - threadIdx.x];
    a[threadIdx.x] = more[threadIdx.x];
}
}
static __global__ void plain(int *a) {
    __shared__ int tile[10240];
    extern __shared__ int more[];
    tile[10239 - threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    more[threadIdx.x] = tile[10208 + threadIdx.x];
    a[threadIdx.x] = more[threadIdx.x];
}
int main(int count, char **word) {
    int *a, wanted = atoi(word[1]), dynamic = atoi(word[2]);
    cudaMalloc(&a, 128);
    cudaMemset(a, 0, 128);
    cudaDeviceProp p;
    cudaGetDeviceProperties(&p, 0);
    cudaError_t allowed = cudaSuccess, started;
    if (wanted) allowed = cudaFuncSetAttribute(plain, cudaFuncAttributeMaxDynamicSharedMemorySize, wanted);
    cudaGetLastError();
    if (count > 3) tools::fill<40960><<<1, 32, dynamic>>>(a);
    else plain<<<1, 32, dynamic>>>(a);
    started = cudaGetLastError();
    int threads, blocks, few;
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, plain, 512, 0);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&few, plain, 32, 0);
    if (blocks != p.maxThreadsPerMultiProcessor / 512 || few != p.maxBlocksPerMultiProcessor) return 1;
    cudaDeviceGetAttribute(&threads, cudaDevAttrMaxThreadsPerMultiProcessor, 0);
    printf("%d %d | %zu %d %d %d.%d\\n", allowed, started, p.sharedMemPerBlockOptin, threads,
           p.maxBlocksPerMultiProcessor, p.major, p.minor);
    return cudaDeviceSynchronize();
}
"""
_A100 = "166912 2048 32 8.0"


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Executable:
    """40 KiB of static shared memory; arguments: what the kernel asks for, and dynamic shared memory."""
    built = build_emulated(program("#include <cstdlib>" + _SHARED), tmp_path_factory.mktemp("shared"))
    assert built.finding is None, built.finding
    return built


@pytest.mark.parametrize(
    ("device", "arguments", "printed"),
    [
        (None, "0 8192", f"0 0 | {_A100}"),
        ("sm_80", "0 8192", f"0 0 | {_A100}"),
        ("sm_80", "0 8193", f"0 1 | {_A100}"),
        ("sm_80", "0 8193 template", f"0 1 | {_A100}"),
        ("sm_80", "125952 125952", f"0 0 | {_A100}"),
        ("sm_80", "125953 125953", f"0 1 | {_A100}"),
        ("sm_80", "166913 128", f"1 0 | {_A100}"),
        ("rtx4090", "60416 60416", "0 0 | 101376 1536 24 8.9"),
        ("rtx4090", "125952 125952", "1 1 | 101376 1536 24 8.9"),
        ("h100", "191488 191488", "0 0 | 232448 2048 32 9.0"),
        ("t4", "24576 24576", "0 0 | 65536 1024 16 7.5"),
    ],
)
def test_shared_memory_is_that_of_the_device(
    shared: Executable, device: str | None, arguments: str, printed: str
) -> None:
    environment = device_environment(device) if device else {}
    got = run_emulated(shared, 0, arguments=arguments.split(), environment=environment, limits=RunLimits(seconds=30))
    assert (got.ran.exit_code, got.ran.stdout.decode()) == (0, f"{printed}\n")
    refused = [failure.message for failure in got.seen.failures if "launch of" in failure.message]
    assert len(refused) == (printed.split()[1] == "1")
    assert all("40960 bytes of static and" in message for message in refused)


def test_what_a_device_cannot_hold() -> None:
    body = """
struct Big { char text[SIZE + 28000]; };
__constant__ int table[SIZE * 3 + 4096];
__global__ void k(int *a, Big b) {
    __shared__ double tile[SIZE + 2048];
    tile[threadIdx.x] = b.text[threadIdx.x] + table[threadIdx.x];
    __syncthreads();
    a[threadIdx.x] = (int)tile[31 - threadIdx.x];
}
int main() { int *a; cudaMalloc(&a, 128); Big b = {}; k<<<1, 32>>>(a, b); return cudaDeviceSynchronize(); }
"""
    (large,) = run_all(program(body, arguments=("-DSIZE=6144",)), (0,))
    assert [failure.rule for failure in large.seen.failures] == ["VER048"] * 3
    assert [failure.span.text for failure in large.seen.failures if failure.span][:2] == ["tile", "table"]
    said = " ".join(failure.message for failure in large.seen.failures)
    assert "65536 bytes of shared memory" in said and "bytes of constant memory" in said and "parameters" in said
    (fits,) = run_all(program(body, arguments=("-DSIZE=4096",)), (0,))
    outputs([fits])


@pytest.mark.parametrize(
    ("launch", "said"),
    [
        ("<<<1, 1025>>>", "a block has 1024 threads at most, this one 1025"),
        ("<<<1, dim3(1, 1, 65)>>>", "blockDim.z is 64 at most"),
        ("<<<dim3(1, 70000), 32>>>", "gridDim.y is 65535 at most"),
        ("<<<1, 32, 60000>>>", "0 bytes of static and 60000 of dynamic shared memory"),
    ],
)
def test_a_launch_that_no_device_carries_out_is_an_error(launch: str, said: str) -> None:
    """Also where the program never looks at what the kernel was to write."""
    body = f"__global__ void k(int *a) {{ a[0] = 1; }}\nint main() {{ int *a; cudaMalloc(&a, 4); k{launch}(a); }}\n"
    (got,) = run_all(program(body), (0,))
    (failure,) = got.seen.failures
    assert (failure.rule, failure.severity) == ("VER048", "error") and said in failure.message
    assert failure.span is not None and "k<<<" in failure.span.text
    assert not got.seen.notes


def test_a_launch_without_blocks_is_a_note_said_once() -> None:
    body = """
__global__ void k(int *a) { a[0] = 1; }
int main() { int *a; cudaMalloc(&a, 4); for (int i = 0; i < 3; i++) k<<<0, 32>>>(a); }
"""
    (got,) = run_all(program(body), (0,))
    assert [note.rule for note in got.seen.notes] == ["VER044"] and not got.seen.failures
