"""The time model on numbers: what must be slower than what, and figures that a GPU has shown."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from warpsmith.machine.devices import device, load_host
from warpsmith.machine.time.coarse import ERROR, HostWork, KernelWork, copy_seconds, host_seconds, kernel_seconds

H100 = device("h100")
HOST = load_host()


def test_an_empty_kernel_takes_a_launch() -> None:
    assert kernel_seconds(H100, KernelWork(1, 1, 1, 1, 8)) == pytest.approx(4e-6)
    assert kernel_seconds(H100, KernelWork(0, 1e9, 1e9, 1, 8)) == pytest.approx(4e-6)


def test_few_threads_are_slow() -> None:
    """The same work in fewer threads takes longer, and one thread longer than the host."""
    work = 1e9
    times = [kernel_seconds(H100, KernelWork(n, 4 * work / n, 2 * work / n, 8, 0)) for n in (1, 1e3, 1e6)]
    assert times[0] > 100 * times[1] > 1000 * times[2]
    assert times[0] > host_seconds(HOST, HostWork(operations=4 * work))


def test_a_request_that_is_not_coalesced_takes_longer() -> None:
    dense, apart = (kernel_seconds(H100, KernelWork(1e6, 10, 1000, sectors, 0)) for sectors in (8, 32))
    assert apart == pytest.approx(4 * dense)


def test_memory_answers_no_faster_than_it_can() -> None:
    assert kernel_seconds(H100, KernelWork(1e9, 1, 1, 8, 3.35e12)) == pytest.approx(1.0, rel=0.05)


@pytest.mark.parametrize(
    ("work", "measured"),
    [
        # a product of matrices, 1000 by 1100 by 1200: gemm of gpu_times.txt
        (KernelWork(1.1e6, 9 * 1200, 2 * 1200, 7, 3.4e7), 0.0027),
        # 1,200 threads that go through two arrays, 500,000 steps each: symm
        (KernelWork(1200, 12 * 5e5, 4 * 5e5, 6, 3.7e7), 0.1069),
        # one sweep over a plane of 1,300 by 1,300: jacobi-2d
        (KernelWork(1.69e6, 20, 6, 8, 0), 10.1e-6),
    ],
)
def test_kernels_take_what_a_gpu_has_shown(work: KernelWork, measured: float) -> None:
    assert measured / ERROR < kernel_seconds(H100, work) < measured * ERROR


def test_copies_take_their_bytes_and_their_number() -> None:
    assert copy_seconds(H100, 7e9, 1) == pytest.approx(1.0, rel=0.001)
    assert copy_seconds(H100, 0, 4000) == pytest.approx(0.032)
    assert copy_seconds(H100, 52e9, 1, pinned=True) == pytest.approx(1.0, rel=0.001)


def test_threads_of_the_host_share_its_work_and_are_no_more_than_its_cores() -> None:
    work = HostWork(operations=1e9, divisions=1e6)
    alone = host_seconds(HOST, work)
    assert host_seconds(HOST, work, 4) == pytest.approx(alone / 4)
    assert host_seconds(HOST, work, 10_000) == pytest.approx(alone / HOST.cores)


def test_a_team_starts_once_for_all_of_its_threads_and_text_takes_longer_than_a_call() -> None:
    team = HostWork(teams=1000)
    assert host_seconds(HOST, team, 16) == host_seconds(HOST, team) == pytest.approx(6.4e-3, rel=0.1)
    printed, called = HostWork(calls=1e6, io=1e6), HostWork(calls=1e6)
    assert host_seconds(HOST, printed) == pytest.approx(0.148, rel=0.1)
    assert host_seconds(HOST, printed) > 5 * host_seconds(HOST, called)


def test_work_of_the_host_adds_up() -> None:
    work = HostWork(operations=10, vector=4, chain=2, divisions=3, calls=1, strided=5, bytes=7)
    assert host_seconds(HOST, work.times(2)) == pytest.approx(2 * host_seconds(HOST, work))
    parts = ("operations", "chain", "divisions", "calls", "strided", "bytes")
    longer = [host_seconds(HOST, replace(work, **{part: 100.0})) for part in parts]
    assert min(longer) > host_seconds(HOST, work) > host_seconds(HOST, replace(work, vector=10.0))
