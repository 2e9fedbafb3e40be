"""Every machine has a row; what cannot be compared is not equal."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from tests.flows.journey.begun import begun_step, begun_with, reference_of_step, written_step
from warpsmith.flows.journey import ran
from warpsmith.flows.journey.compared import Compared
from warpsmith.flows.journey.machines.every import MACHINES
from warpsmith.flows.journey.origin import begin
from warpsmith.flows.journey.ran import find_reference, run_machines, verdict_of
from warpsmith.flows.journey.reasons import UnableError
from warpsmith.flows.journey.subjects import own_subject

RACE = "__global__ void k(int *v) { v[(threadIdx.x + 1) % 32] = v[threadIdx.x] + 1; }\n"
OUTSIDE = "__global__ void k(int *v) { v[threadIdx.x + 1000] = 1; }\n"


def test_every_machine_has_a_row_and_what_ran_is_equal() -> None:
    stage = run_machines(begun_step(), written_step()[1], reference_of_step())
    assert [row.machine for row in stage.rows] == [one.name for one in MACHINES]
    assert {row.verdict for row in stage.rows} <= {"equal", "not run"}
    assert sum(row.verdict == "equal" for row in stage.rows) >= len(MACHINES) - 1
    assert all(row.elements == 60 for row in stage.rows if row.verdict == "equal")
    assert all(row.why for row in stage.rows if row.verdict == "not run")
    assert stage.changed == 60


@pytest.mark.parametrize(("text", "why"), [(RACE, "threads race"), (OUTSIDE, "is stopped on this input")])
def test_what_has_no_right_output_is_compared_with_nothing(text: str, why: str) -> None:
    begun = begun_with(text, ("v=zeros:i32[64]",), blocks=1)
    reference = find_reference(begun)
    stage = run_machines(begun, {}, reference)
    assert why in stage.problem and not stage.rows


def test_where_the_program_cannot_be_run_the_interpreter_says_what_is_right(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise UnableError("there is no compiler")

    monkeypatch.setattr(ran, "run_original", fail)
    _, begun = begin(own_subject("dec2zero"))
    reference = find_reference(begun)
    assert "by the interpreter, since dec2zero.c cannot be run: there is no compiler" in reference.name
    assert not reference.arrays["v"].any()
    assert find_reference(replace(begun, versions=())).why == "there is no compiler"


def test_a_verdict_needs_elements() -> None:
    assert verdict_of(Compared(0, 0)) == "not run"
    assert verdict_of(Compared(4, 0)) == "equal"
    assert verdict_of(Compared(4, 1)) == "differs"
