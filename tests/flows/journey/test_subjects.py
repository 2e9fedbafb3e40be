"""The four of our own are there with their texts, their launches and their inputs."""

from __future__ import annotations

import pytest

from tests.flows.journey.begun import step_subject
from warpsmith.flows.journey.inputs import make_inputs
from warpsmith.flows.journey.subjects import NAMES, loops_subject, own_subject, program_text
from warpsmith.front.inputs import Source


@pytest.mark.parametrize("name", NAMES)
def test_each_has_its_texts_and_inputs(name: str) -> None:
    subject = own_subject(name)
    inputs = make_inputs(subject.values)
    assert f"void {name}(" in program_text(subject.loops)
    assert subject.sizes == inputs.numbers and inputs.arrays
    assert set(subject.searched) == set(subject.sizes)
    if subject.hand is not None:
        assert subject.hand.file.text == program_text(f"{name}.cu")


def test_the_passes_of_a_bitonic_sort_are_those_of_its_loops() -> None:
    passes = own_subject("bitonic").rounds
    assert passes is not None and len(passes) == 6 * 7 // 2
    assert [(one["run"], one["apart"]) for one in passes[:6]] == [(2, 1), (4, 2), (4, 1), (8, 4), (8, 2), (8, 1)]


def test_loops_of_the_users_come_with_their_file() -> None:
    source = Source("f.c", text="void f(int n) {} // \xc3\xa4")
    subject = loops_subject(source, "", ("n=7", "by=0.5"))
    assert (subject.loops, subject.rounds, subject.sizes) == ("f.c", None, {"n": 7})
    assert subject.loops_source is source and subject.loops_text == "void f(int n) {} // ä"
    assert own_subject("lu").loops_source.text == own_subject("lu").loops_text


def test_a_kernel_of_the_users_has_no_loops() -> None:
    subject = step_subject()
    assert not subject.loops and subject.hand is not None and subject.sizes == {"n": 60}
    with pytest.raises(KeyError):
        own_subject("step")
