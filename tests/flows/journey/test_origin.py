"""Loops are ported, a kernel stays as it is, and both go on."""

from __future__ import annotations

from tests.flows.journey.begun import STEP, step_subject
from warpsmith.flows.journey.origin import begin
from warpsmith.flows.journey.subjects import own_subject


def test_loops_and_a_kernel_are_two_versions() -> None:
    stage, begun = begin(own_subject("dec2zero"))
    assert [version.name for version in begun.versions] == ["port", "by hand"]
    loops, kernel = stage.rows
    assert [(one.line, one.category) for one in loops.loops] == [(4, "parallel"), (5, "unanalyzable")]
    assert loops.written.startswith("__global__ void ws_dec2zero_k1_kernel(") and loops.written.endswith("}")
    assert (loops.launches, kernel.launches, kernel.kernels) == (1, 1, ("dec2zero",))
    assert begun.original is not None and begun.original.symbol.name == "dec2zero"


def test_a_kernel_of_the_users_is_one() -> None:
    stage, begun = begin(step_subject())
    assert [version.name for version in begun.versions] == ["yours"] and begun.original is None
    assert (stage.rows[0].kind, stage.rows[0].text) == ("CUDA kernel", STEP)


def test_loops_that_stay_say_why() -> None:
    # the same function, of which nothing may become a kernel for the inputs that are given
    subject = own_subject("dec2zero")
    stage, begun = begin(type(subject)(subject.name, subject.values, subject.loops, rounds=({"n": 0},)))
    assert begun.versions[0].calls == () and stage.rows[0].launches == 0
