"""Predicted times of a port as text and JSON: what each is bound by, and what is not known."""

from __future__ import annotations

import json

import jsonschema
import pytest
from msgspec.structs import replace

from tests.machine.time.works import axpy, work_of
from warpsmith.analysis.counts.predicted import PredictedTime
from warpsmith.machine.devices import device
from warpsmith.machine.occupancy import Occupancy
from warpsmith.machine.time.predict import predict
from warpsmith.machine.time.work import LaunchWork, TouchedSectors, WarpInstructions
from warpsmith.report.json_parts import schema
from warpsmith.report.model import (
    CopyPrediction,
    KernelMappings,
    KernelPrediction,
    MappingPrediction,
    PortPrediction,
    Report,
)
from warpsmith.report.port.json import report_json
from warpsmith.report.port.predicted import bound_text, idle_text, prediction_text

V100 = device("v100")
NOTHING = TouchedSectors(0, 0, 0, 0)
HELD = Occupancy(8, 64, 64, "warps")


def timed(work: LaunchWork, held: Occupancy = HELD) -> PredictedTime:
    return PredictedTime((256, 1, 1), (8, 1, 1), predict(V100, work), work, True, 8, (), held)


STREAM = timed(axpy(1 << 24))
SOLVE = KernelPrediction("solve", 50, False, 16, "ptxas", 0.0125, STREAM, (("k", 7), ("n", 4096)))
SWEEP = KernelPrediction("sweep", 50, False, 12, "estimate", 0.005, STREAM, (("k", 9), ("n", 4096)))
COPIES = CopyPrediction(3, 8e6, 0.00117)


@pytest.fixture(autouse=True)
def _wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "160")


def _flat(found: list[str]) -> str:
    """Return lines as one, however they were broken."""
    return " ".join(" ".join(found).split())


def lines(*kernels: KernelPrediction, copies: CopyPrediction | None = COPIES) -> list[str]:
    return prediction_text(PortPrediction(V100, kernels, copies)).splitlines()


def test_a_kernel_that_leaves_the_gpu_empty_for_long_is_told() -> None:
    def said(*kernels: KernelPrediction) -> str:
        return idle_text(PortPrediction(V100, kernels, COPIES)).strip()

    work = axpy(1 << 24)
    few = replace(SOLVE, time=timed(replace(work, blocks=80, block_warps=4)))
    assert said(few, SWEEP) == "solve has too few threads for this GPU: `--optimize` looks for a faster port"
    assert said(few, replace(few, name="b")).startswith("solve and b have too few")
    assert said(replace(few, time=timed(replace(work, blocks=81, block_warps=4)))) == ""
    assert said(replace(few, seconds=0.0009), SOLVE, replace(few, seconds=None)) == ""


def test_times_of_both_ways_are_upper_limits() -> None:
    both = replace(STREAM, exact=False, forks=("what is loaded",))
    _, _, first, second, _, note = lines(replace(SOLVE, time=both), SWEEP)
    assert " up to 12.5 ms " in first and "up to" not in second
    assert note.strip() == "up to: where threads part by what is not known, all go both ways: what is loaded"
    (each, *_) = lines(replace(SOLVE, time=both, guessed=True))[2:]
    assert " up to 250 us each " in each


def test_sizes_of_all_kernels_stand_once() -> None:
    head, names, first, second, last = lines(SOLVE, SWEEP)
    assert head == "predicted for the V100 SXM2 with n = 4096, not measured"
    assert names.split() == ["kernel", "launches", "together", "registers", "bound", "by"]
    assert first.split(maxsplit=5) == ["solve", "50", "12.5", "ms", "16", "DRAM bytes: 201 MB (k = 7)"]
    assert second.split(maxsplit=5) == ["sweep", "50", "5.00", "ms", "~12", "DRAM bytes: 201 MB (k = 9)"]
    assert last.split(maxsplit=4) == ["copies", "3", "1.17", "ms", "8 MB between host and device"]
    locked = CopyPrediction(3, 8e6, 1e-3, "page-locked", 4e-4)
    assert "8 MB between page-locked memory and the device; 400 us of it beside kernels" in _flat(
        lines(SWEEP, copies=locked)
    )
    assert "8 MB as pages that move, at best" in _flat(lines(SWEEP, copies=CopyPrediction(3, 8e6, 1e-3, "shared")))


def test_what_is_not_known_is_asked_for_once() -> None:
    unknown = KernelPrediction("solve", 1, unknown=("n", "m", "l"))
    assert lines(unknown, unknown) == [
        "predicted  no times: n, m and l are not known; sizes are given by --arg n=NUMBER --arg m=NUMBER --arg l=NUMBER"
    ]
    found = lines(unknown, SWEEP, copies=CopyPrediction(2))
    assert found[2].split(maxsplit=3) == ["solve", "1", "-", "n, m and l are not known"]
    assert found[4].split(maxsplit=3) == ["copies", "2", "-", "their sizes are not known"]
    assert found[5].strip().startswith("sizes are given by --arg n=NUMBER --arg m")
    lacking = lines(KernelPrediction("solve", 2, registers=9, lacks=("what is loaded in line 3",)))
    assert lacking[2].split(maxsplit=4) == ["solve", "2", "-", "~9", "it lacks what is loaded in line 3"]


def test_a_guessed_number_of_launches_is_none() -> None:
    assert lines(replace(SOLVE, guessed=True))[2].split(maxsplit=4)[:4] == ["solve", "?", "250", "us"]
    assert "each" in lines(replace(SOLVE, guessed=True))[2]


def test_blocks_that_stand_for_others_are_told() -> None:
    assert STREAM.work is not None
    some = replace(STREAM, exact=False, looked_at=16)
    assert f"DRAM bytes: 201 MB, by 16 of {STREAM.work.blocks:,} blocks" in lines(replace(SOLVE, time=some))[2]


@pytest.mark.parametrize(
    ("work", "said"),
    [
        (work_of(8000, 8, WarpInstructions(double=1e8), NOTHING, NOTHING), "the pipe for double"),
        (work_of(1, 1, WarpInstructions(memory=4000), TouchedSectors(32, 32, 32, 32), NOTHING, load_sectors=4000,
                 batches=4000, lines=1000), "latency: 1 of 64 warps resident"),
        (work_of(1, 1, WarpInstructions(integer=2), NOTHING, NOTHING), "the launch"),
        (work_of(8000, 8, WarpInstructions(integer=2), NOTHING, NOTHING, passes=1e9),
         "passes of the banks of shared memory"),
        (work_of(8000, 8, WarpInstructions(integer=1e8, single=1e8, control=1e8), NOTHING, NOTHING),
         "instructions issued"),
    ],
)  # fmt: skip
def test_the_binding_term_in_words(work: LaunchWork, said: str) -> None:
    assert bound_text(timed(work)) == said


def test_numbers_that_nobody_has_confirmed_are_named() -> None:
    work = axpy(1 << 24)
    b200 = PredictedTime((256, 1, 1), (8, 1, 1), predict(device("b200"), work), work, True, 8, (), HELD)
    text = prediction_text(PortPrediction(device("b200"), (replace(SOLVE, time=b200),), None))
    said = text.splitlines()[-1].strip()
    assert said == "it rests on what nobody has confirmed: bandwidth_gb_s (`warpsmith devices`)"


def test_other_mappings_are_a_table_with_the_ports_own() -> None:
    choices = tuple(
        MappingPrediction((("i", "y"), ("j", "x")), (256 >> at, 1 << at, 1), replace(SOLVE, seconds=0.001 * (at + 1)))
        for at in range(9)
    )
    found = KernelMappings("solve", (("i", "y"), ("j", "x")), (1, 256, 1), choices, 2, complete=False)
    lacking = KernelMappings("sweep", (("i", "x"),), (256, 1, 1), (), 0, complete=True, lacks="the size of n")
    prediction = PortPrediction(V100, (SOLVE,), None, mappings=(found, lacking))
    text = prediction_text(prediction).splitlines()
    at = text.index("solve on other axes, in other blocks (not all were tried: no time was left)")
    assert text[at + 1].split() == ["axes", "block", "together", "occupancy", "bound", "by"]
    shown = " ".join(text[at + 2].split())
    assert shown == "i on y, j on x 256,1 1.00 ms 100% DRAM bytes: 201 MB (a tie)"
    assert text[at + 10].endswith("DRAM bytes: 201 MB (as ported)") and "1,256" in text[at + 10]
    assert text[-1] == "sweep: no other mapping is predicted: it lacks the size of n"
    document = json.loads(report_json(Report("port", ("a.c",), "ok", predicted=prediction)))
    jsonschema.validate(document, schema())
    first, second = document["predicted"]["mappings"]
    assert first["choices"][0] == {"axes": {"i": "y", "j": "x"}, "block": [256, 1, 1], "seconds": 0.001,
                                   "as_ported": False}  # fmt: skip
    assert (second["lacks"], second["choices"]) == ("the size of n", [])


def test_json_is_of_the_schema() -> None:
    lacking = KernelPrediction("x", 2, unknown=("n",))
    report = Report("port", ("a.c",), "ok", predicted=PortPrediction(V100, (SOLVE, lacking), CopyPrediction(2)))
    document = json.loads(report_json(report))
    jsonschema.validate(document, schema())
    found = document["predicted"]
    assert (found["label"], found["device"]) == ("predicted", "v100")
    first, second = found["kernels"]
    assert (first["seconds"], first["registers"]) == (0.0125, {"count": 16, "source": "ptxas"})
    assert first["longest"]["binding"] == "memory" and first["sizes"] == {"k": 7, "n": 4096}
    assert (second["seconds"], second["unknown"], second["registers"]) == (None, ["n"], None)
    unsized = {"count": 2, "bytes": None, "seconds": None, "memory": "pageable", "hidden_seconds": 0.0}
    assert found["copies"] == unsized
