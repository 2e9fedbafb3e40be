"""Where a thread is: by what IL has for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.targets.mask.kernel_text import kernel_of
from warpsmith.front.il.printing import print_il_source
from warpsmith.ssa.nodes import Module
from warpsmith.targets.il.writing.code import IlCode
from warpsmith.targets.il.writing.export import write_il
from warpsmith.targets.il.writing.places import LaunchPlaces, find_absolute


def test_the_number_of_a_thread_is_said_along_each_axis(tmp_path: Path) -> None:
    function = kernel_of(tmp_path, "a[blockIdx.y * blockDim.y + threadIdx.y] = i;")
    found = {print_il_source(word) for word in find_absolute(function).values() if not isinstance(word, int)}
    assert found == {"vAbsTid.x", "vAbsTid.y"}
    assert write_il(Module(()), function).words == ()


def test_other_sums_are_not(tmp_path: Path) -> None:
    body = "a[blockIdx.x * blockDim.y + threadIdx.x] = blockIdx.y * blockDim.y + threadIdx.x;"
    made = write_il(Module(()), kernel_of(tmp_path, body))
    assert [one.name for one in made.words] == ["ntid.y"]


@pytest.mark.parametrize(
    ("register", "kind"), [("tid.z", "vTidInGrp"), ("ctaid.x", "vThreadGrpId"), ("nctaid.y", "cb"), ("laneid", "r")]
)
def test_special_registers(register: str, kind: str) -> None:
    word = LaunchPlaces(IlCode(), None).query(register)
    assert word is not None and not isinstance(word, int) and word.register.kind == kind


def test_a_size_that_is_known_is_a_number_and_others_are_none() -> None:
    places = LaunchPlaces(IlCode(), (8, 4, 1))
    assert places.query("ntid.y") == 4
    assert places.query("clock64") is None and places.query("tid") is None and places.query("envreg1") is None
