"""Which kernel is meant, by its name or a pattern, and how one run of it is launched."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from tests.kernels.kernels import kernel, unit
from warpsmith.analysis.uniformity.facts import Dim
from warpsmith.base.errors import InputError, UsageError
from warpsmith.base.findings import Finding
from warpsmith.kernels.chosen import launch_of, named_kernel
from warpsmith.kernels.units import Launched
from warpsmith.ssa.nodes import Limits


@pytest.mark.parametrize(
    ("wanted", "name"), [("scale", "scale"), ("sca?e", "scale"), ("by*", "bytes"), ("scan", "scan")]
)
def test_a_kernel_by_its_name_or_a_pattern(wanted: str, name: str) -> None:
    found, shown = named_kernel(unit(), wanted, "k.cu")
    assert found is kernel(name) and shown == name
    assert named_kernel(unit(), found.name, "k.cu")[0] is found


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        ("sc*", "2 kernels that may be meant: scale, scan"),
        ("", "5 kernels that may be meant"),
        ("scal", "no kernel matches 'scal'"),
        ("helper", "no kernel matches 'helper'"),
    ],
)
def test_none_or_several_are_usage(wanted: str, words: str) -> None:
    with pytest.raises(UsageError, match=words.replace("*", ".")):
        named_kernel(unit(), wanted, "k.cu")


def test_the_help_names_what_is_near_or_all() -> None:
    for wanted, help in (("scal", "did you mean 'scale'?"), ("qqq", "the kernels: scale, scan, bytes, twice, fetch")):
        with pytest.raises(UsageError) as told:
            named_kernel(unit(), wanted, "k.cu")
        assert told.value.findings[0].help == (help,)


def test_a_file_without_a_kernel_says_its_errors() -> None:
    empty = replace(unit(), module=replace(unit().module, functions=()), findings=())
    with pytest.raises(InputError, match=r"k\.cu has no kernel with code"):
        named_kernel(empty, "", "k.cu")
    errors = (Finding("A", "warning", "odd"), Finding("B", "error", "broken"))
    with pytest.raises(InputError) as told:
        named_kernel(replace(empty, findings=errors), "", "k.cu")
    assert told.value.findings == errors[1:]
    alone = replace(unit(), module=replace(unit().module, functions=(kernel("twice"),)))
    assert named_kernel(alone, "", "k.cu")[0] is kernel("twice")


def _launch(name: str, block: Dim | None = None, grid: Dim | None = None, shared: int = 0) -> tuple[Dim, Dim, int]:
    return launch_of(unit(), kernel(name), block, grid, shared)


def test_the_user_says_the_launch_or_the_files_host_code_does() -> None:
    assert _launch("scan") == ((8, 4, 1), (2, 3, 1), 256)
    assert _launch("scan", (16, 1, 1), (5, 1, 1), 32) == ((16, 1, 1), (5, 1, 1), 32)
    assert _launch("scale") == ((64, 1, 1), (1, 1, 1), 0), "two launches of it differ in the grid"
    assert _launch("twice", (32, 1, 1)) == ((32, 1, 1), (1, 1, 1), 0)


def test_nothing_says_the_block() -> None:
    with pytest.raises(UsageError, match="how many threads a block"):
        _launch("twice")


@pytest.mark.parametrize(
    ("block", "grid"),
    [
        ((1025, 1, 1), None),
        ((32, 33, 1), None),
        ((1, 1, 65), None),
        ((1, 1, 1), (1, 65536, 1)),
        ((1, 1, 1), (2**31, 1, 1)),
    ],
)
def test_what_no_gpu_starts(block: Dim, grid: Dim | None) -> None:
    with pytest.raises(UsageError, match="no GPU starts"):
        _launch("twice", block, grid)
    assert _launch("twice", (1, 1, 64), (2**31 - 1, 65535, 65535))


def test_a_kernel_that_requires_its_block() -> None:
    exact = replace(kernel("twice"), limits=Limits(exact_block=(8, 8, 1)))
    assert launch_of(unit(), exact, None, None, 0)[0] == (8, 8, 1)
    with pytest.raises(UsageError, match="requires blocks of 8x8x1 threads, not 64x1x1"):
        launch_of(unit(), exact, (64, 1, 1), None, 0)
    said = replace(unit(), launches={exact.name: Launched((8, 8, 1), None, 16)})
    assert launch_of(said, exact, None, None, 0) == ((8, 8, 1), (1, 1, 1), 16)
