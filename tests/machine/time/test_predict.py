"""The time of launches whose terms can be worked out by hand."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from tests.machine.time.works import axpy, work_of
from warpsmith.machine.devices import device
from warpsmith.machine.time.predict import predict
from warpsmith.machine.time.work import TouchedSectors, WarpInstructions

NOTHING = TouchedSectors(0, 0, 0, 0)
V100 = device("v100")


def test_a_stream_takes_its_bytes_over_what_memory_gives() -> None:
    found = predict(V100, axpy(1 << 24))
    assert found is not None and found.binding == "memory"
    bytes = 3 * 4 * (1 << 24)
    assert found.traffic.memory_bytes == bytes
    assert found.terms.memory == pytest.approx(bytes / (0.9 * 900e9))
    assert found.seconds == pytest.approx(found.terms.memory + 4e-6)
    assert found.roofline is not None and found.roofline.intensity == pytest.approx(2 / 12)
    assert found.unconfirmed == ()


def test_what_computes_takes_its_busiest_pipe() -> None:
    kinds = WarpInstructions(double=1e8, integer=1e6)
    found = predict(V100, work_of(8000, 8, kinds, NOTHING, NOTHING, flops=3.2e9, wide=1.0))
    assert found is not None and (found.binding, found.pipe) == ("pipe", "double")
    # 32 lanes of fp64 of 80 multiprocessors at 1.53 GHz
    assert found.terms.pipe == pytest.approx(1e8 * 32 / (32 * 80 * 1.53e9))


def test_one_block_uses_one_multiprocessor() -> None:
    kinds = WarpInstructions(integer=1e6)
    alone, all_ = (predict(V100, work_of(n, 8, kinds, NOTHING, NOTHING)) for n in (1, 80))
    assert alone is not None and all_ is not None
    assert alone.imbalance == 80 and all_.imbalance == 1
    assert alone.terms.issue == pytest.approx(80 * all_.terms.issue)


def test_a_block_more_than_multiprocessors_is_a_tail() -> None:
    found = predict(V100, work_of(81, 8, WarpInstructions(integer=1e6), NOTHING, NOTHING))
    assert found is not None and found.imbalance == pytest.approx(160 / 81)


def test_few_warps_wait() -> None:
    read = TouchedSectors(32, 32, 32, 32)
    slow = work_of(1, 1, WarpInstructions(memory=1000), read, NOTHING, load_sectors=4000, batches=1000, lines=1000)
    found = predict(V100, slow)
    assert found is not None and found.binding in ("latency", "launch")
    one = predict(V100, replace(slow, blocks=80, block_warps=8, instructions=WarpInstructions(memory=640_000),
                                load_sectors=320_000, batches=640_000))  # fmt: skip
    assert one is not None and one.terms.latency < found.terms.latency * 1.1


def test_copies_beside_take_no_time_of_a_warp_that_computes() -> None:
    read = TouchedSectors(32, 32, 32, 32)
    waits = work_of(1, 1, WarpInstructions(single=100_000), read, NOTHING, load_sectors=4000, batches=100, lines=1000)
    beside = replace(waits, batches=0, beside=100)
    found = [predict(V100, work) for work in (waits, beside, replace(beside, beside=0), replace(beside, beside=10**6))]
    waiting, copying, computing, late = (one.terms.latency for one in found if one is not None)
    assert copying == computing < waiting and late > waiting
    # what is on the way for longer than the warp computes is waited for, as long as it is on the way
    alone = predict(V100, replace(waits, instructions=WarpInstructions(), batches=10**6))
    assert alone is not None and late == pytest.approx(alone.terms.latency)


def test_no_time_without_numbers_or_room() -> None:
    assert predict(device("mi300x"), axpy(1 << 20)) is None
    assert predict(V100, replace(axpy(1 << 20), resident_blocks=0)) is None


def test_an_unknown_bandwidth_is_no_term_and_guesses_are_named() -> None:
    found = predict(device("b200"), axpy(1 << 24))
    assert found is not None and found.terms.l2 is None
    assert found.unconfirmed == ("bandwidth_gb_s",)
