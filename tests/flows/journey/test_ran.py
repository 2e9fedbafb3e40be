"""Every machine has a row; what cannot be compared is not equal."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from tests.flows.journey.begun import begun_step, begun_with, reference_of_step, written_step
from warpsmith.flows.journey import ran
from warpsmith.flows.journey.compared import Compared
from warpsmith.flows.journey.machines.every import MACHINES
from warpsmith.flows.journey.origin import begin
from warpsmith.flows.journey.ran import find_reference, judge, run_machines
from warpsmith.flows.journey.reasons import UnableError
from warpsmith.flows.journey.subjects import own_subject

RACE = "__global__ void k(int *v) { v[(threadIdx.x + 1) % 32] = v[threadIdx.x] + 1; }\n"
UNSET = "__global__ void k(int *v) { __shared__ int s[32]; v[threadIdx.x] = s[threadIdx.x]; }\n"
OUTSIDE = "__global__ void k(int *v) { v[threadIdx.x + 1000] = 1; }\n"


def test_every_machine_has_a_row_and_what_ran_is_equal() -> None:
    stage = run_machines(begun_step(), written_step()[1], reference_of_step())
    assert [row.machine for row in stage.rows] == [one.name for one in MACHINES]
    assert {row.verdict for row in stage.rows} <= {"equal", "not run"}
    assert sum(row.verdict == "equal" for row in stage.rows) >= len(MACHINES) - 1
    assert all(row.elements == 60 for row in stage.rows if row.verdict == "equal")
    assert all(row.why for row in stage.rows if row.verdict == "not run")
    assert stage.changed == 60


@pytest.mark.parametrize(
    ("text", "why"),
    [(RACE, "threads race"), (UNSET, "reads what was never written"), (OUTSIDE, "is stopped on this input")],
)
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
    assert judge(Compared(0, 0)) == ("not run", "there is no element to compare")
    assert judge(Compared(4, 0)) == ("equal", "")
    assert judge(Compared(4, 1, first="v[0]")) == ("differs", "v[0]")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("__global__ void k(int *v) { v[atomicAdd(v, 1) + 1] = threadIdx.x; }\n", "the result of an atomic operation"),
        ("__global__ void k(float *v) { atomicAdd(v, 0.1f * threadIdx.x); }\n", "depends on the order of the threads"),
    ],
)
def test_where_the_order_of_threads_matters_another_output_may_be_right(text: str, why: str) -> None:
    begun = begun_with(text, ("v=zeros:i32[64]" if "int" in text else "v=zeros:f32[64]",), (20, 1, 1), 1)
    verdict, said = judge(Compared(64, 3, first="v[1] is 2, not 3"), begun.versions[0])
    assert verdict == "undecided" and why in said
    assert judge(Compared(64, 0), begun.versions[0]) == ("equal", "")
    assert judge(Compared(64, 3), begun_step().versions[0])[0] == "differs"
