"""A kernel goes through every stage, and whatever is wrong on its way shows in what is said of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from tests.flows.journey.begun import STEP, settings, step_subject
from warpsmith.base.errors import InputError
from warpsmith.base.findings import Finding
from warpsmith.flows.journey import journey, ran, written
from warpsmith.flows.journey.compared import Compared
from warpsmith.flows.journey.journey import travel
from warpsmith.flows.journey.machines.every import MACHINES
from warpsmith.flows.journey.machines.work import MachineWork
from warpsmith.flows.journey.ran import find_reference
from warpsmith.flows.journey.subjects import NAMES, Subject, own_subject
from warpsmith.flows.lower import lower_unit
from warpsmith.kernels.arguments import Array
from warpsmith.report.journey.model import FoundStage, Journey, MachineStage, RewriteStage, WidthStage
from warpsmith.report.lowering.model import Lowering
from warpsmith.targets.llvm.listing import Listed

FEW = tuple(one for one in MACHINES if one.target in ("", "ptx", "gcn", "il"))


@pytest.fixture(autouse=True)
def _few_stages(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out what a test does not look at: it is tested beside this file."""
    if "slow" in request.keywords:
        return
    monkeypatch.setattr(ran, "MACHINES", FEW)
    monkeypatch.setattr(journey, "simulate_widths", lambda *_: WidthStage())
    monkeypatch.setattr(journey, "rewrite", lambda *_: RewriteStage())
    monkeypatch.setattr(journey, "find", lambda *_: FoundStage())
    monkeypatch.setattr(written, "ORDER", ("ptx", "gcn", "il"))


def _step(text: str = STEP) -> Journey:
    subject = step_subject()
    assert subject.hand is not None
    file = replace(subject.hand.file, text=text)
    return travel(replace(subject, hand=replace(subject.hand, file=file)), settings())


def _verdicts(made: Journey) -> dict[str, str]:
    return {row.target or row.machine: row.verdict for row in made.ran.rows}


def test_every_output_is_the_originals() -> None:
    made = _step()
    assert set(_verdicts(made).values()) == {"equal"}
    assert (made.exit_code, made.differs) == (0, False)
    assert not [stage.problem for stage in made.stages if stage.problem]
    assert made.streams is None


# --- seeded bugs


def _spoil(target: str, old: str, new: str) -> Callable[..., Lowering]:
    """Return what writes texts, one of them with an instruction that is wrong."""
    lower = lower_unit

    def spoiled(*given: Any) -> Lowering:
        made = lower(*given)
        columns = []
        for column in made.columns:
            if column.target == target and column.listing is not None:
                lines = tuple(Listed(one.text.replace(old, new), one.file, one.line) for one in column.listing.lines)
                assert lines != column.listing.lines
                column = replace(column, listing=replace(column.listing, lines=lines))
            columns.append(column)
        return replace(made, columns=tuple(columns))

    return spoiled


@pytest.mark.parametrize(
    ("target", "old", "new"),
    [("ptx", "sub.s32", "add.s32"), ("gcn", "v_subrev_u32_e32", "v_sub_u32_e32"), ("il", "inegate", "mov")],
)
def test_a_text_that_is_wrong_by_one_instruction(
    target: str, old: str, new: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(written, "lower_unit", _spoil(target, old, new))
    made = _step()
    assert made.exit_code == 1
    assert {name for name, verdict in _verdicts(made).items() if verdict != "equal"} == {target}


def test_a_machine_whose_output_is_of_another_input(monkeypatch: pytest.MonkeyPatch) -> None:
    def other(work: MachineWork) -> Mapping[str, Array]:
        arrays = {name: array[::-1].copy() for name, array in work.arrays.items()}
        return FEW[0].run(MachineWork(work.version, arrays, work.texts))

    monkeypatch.setattr(ran, "MACHINES", (replace(FEW[0], run=other),))
    made = _step()
    assert _verdicts(made) == {"interpreter": "differs"} and made.exit_code == 1


def test_a_machine_that_does_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ran, "MACHINES", (replace(FEW[0], run=lambda work: work.arrays),))
    assert _step().ran.rows[0].differ == 60


def test_a_machine_that_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ran, "MACHINES", (replace(FEW[0], run=lambda _: {}),))
    assert _step().ran.rows[0].differ == 60


def test_a_comparison_that_looks_at_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ran, "compare", lambda *_: Compared(0, 0))
    made = _step()
    # nothing is said to be equal, and the run does not pass
    assert set(_verdicts(made).values()) == {"not run"} and made.exit_code == 3


def test_a_reference_of_another_input(monkeypatch: pytest.MonkeyPatch) -> None:
    find = find_reference

    def wrong(begun: Any) -> ran.Expected:
        reference = find(begun)
        return replace(reference, arrays={name: np.roll(array, 1) for name, array in reference.arrays.items()})

    monkeypatch.setattr(journey, "find_reference", wrong)
    assert set(_verdicts(_step()).values()) == {"differs"}


def test_texts_that_are_kept_from_an_earlier_run(monkeypatch: pytest.MonkeyPatch) -> None:
    kept: dict[str, Lowering] = {}
    lower = lower_unit

    def stored(unit: Any, kernel: Any, targets: Any) -> Lowering:
        return kept.setdefault(kernel.name, lower(unit, kernel, targets))

    monkeypatch.setattr(written, "lower_unit", stored)
    assert _step().exit_code == 0
    made = _step(STEP.replace("* 5", "* 7"))
    assert {name for name, verdict in _verdicts(made).items() if verdict == "differs"} == {"ptx", "gcn", "il"}


def test_each_run_works_all_out_anew() -> None:
    one, other = _step(), _step(STEP.replace("* 5", "* 7"))
    assert other.exit_code == 0
    pairs = zip(one.written.rows, other.written.rows, strict=True)
    assert all(row.text != changed.text for row, changed in pairs)


def test_a_stage_that_cannot_be_is_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> MachineStage:
        raise InputError(Finding("INP001", "error", "the disk is full"))

    monkeypatch.setattr(journey, "run_machines", fail)
    made = _step()
    assert made.ran.problem == "the disk is full" and not made.ran.rows and made.written.rows
    assert made.exit_code == 3


# --- the four of our own


def _refused(made: Journey) -> set[tuple[str, str]]:
    return {(row.version, row.target) for row in made.ran.rows if row.verdict == "not run"}


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_one_of_our_own_goes_through_everything(name: str) -> None:
    made = travel(own_subject(name), settings())
    assert made.exit_code == 0 and not made.differs
    assert not [stage.problem for stage in made.stages if stage.problem]
    # what does not run has no text
    refused = {(row.version, row.target) for row in made.written.rows if row.why}
    assert {one for one in _refused(made) if one[1] != "avx512"} <= refused
    assert made.verdicts.count("equal") >= 7 and made.ran.changed > 0
    assert (made.streams is not None) == (name == "bitonic")


@pytest.mark.slow
def test_a_sort_downward_is_none_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    subject: Subject = own_subject("bitonic")
    assert subject.hand is not None and subject.hand.file.text is not None
    text = subject.hand.file.text.replace("if ((t & run) == 0)", "if ((t & run) != 0)")
    file = replace(subject.hand.file, text=text)
    made = travel(replace(subject, hand=replace(subject.hand, file=file)), settings())
    assert made.exit_code == 1
    wrong = {row.version for row in made.ran.rows if row.verdict == "differs"}
    assert wrong == {"by hand"} and made.streams is not None
    assert [row.verdict for row in made.streams.rows] == ["equal", "equal", "differs"]
