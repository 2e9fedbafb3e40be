"""A launch in memory: what parameters hold, where arrays lie, and that it can begin again as it was."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.flows.witness.kernels import unit_of
from warpsmith.base.errors import UsageError
from warpsmith.base.findings import Finding
from warpsmith.flows.started import StartedLaunch, place_launch
from warpsmith.kernels.units import KernelFile, KernelUnit, read_unit

TEXT = "__global__ void k(int *a, int n) { __shared__ int s[8]; s[0] = n; a[0] = s[0]; }"
LOCAL = "kernel void k(global int *a, local int *s, local int *r) { s[0] = r[0]; a[0] = s[0]; }"


def started(unit: KernelUnit, *texts: str, shared: int = 0) -> StartedLaunch:
    """Return a launch of the only kernel of some text."""
    (kernel,) = (one for one in unit.module.functions if one.kernel)
    return place_launch(unit, kernel, texts, (32, 1, 1), (1, 1, 1), shared=shared)


def test_arguments_are_where_parameters_say(tmp_path: Path) -> None:
    found = started(unit_of(tmp_path, TEXT), "n=7", "a=iota:i32[n]", shared=64)
    (a,) = found.buffers.values()
    assert found.launch.arguments["n"] == (7).to_bytes(4, "little")
    assert found.launch.arguments["a"] == a.address.to_bytes(8, "little")
    assert bytes(a.data) == b"".join(number.to_bytes(4, "little") for number in range(7))
    assert found.shared == found.launch.shared == 64


def test_it_begins_again_as_it_was(tmp_path: Path) -> None:
    found = started(unit_of(tmp_path, TEXT), "n=7", "a=iota:i32[n]")
    before = bytes(found.buffers["a"].data)
    found.buffers["a"].data[:] = bytes(len(before))
    for checks in (True, False):
        memory, buffers = found.placed(checks=checks)
        assert memory.checks is checks
        assert (bytes(buffers["a"].data), buffers["a"].address) == (before, found.buffers["a"].address)
    assert found.place_again().buffers[0].address == found.buffers["a"].address


def test_arguments_in_shared_memory_lie_one_behind_the_other(tmp_path: Path) -> None:
    (tmp_path / "k.cl").write_text(LOCAL)
    unit = read_unit(KernelFile(str(tmp_path / "k.cl")))
    assert not isinstance(unit, Finding)
    found = started(unit, "a=zeros:i32[4]", "s=local:i32[10]", "r=local:i32[2]")
    first, second = found.launch.parts
    assert (first.name, first.end - first.start, second.name, second.end - second.start) == ("s", 40, "r", 8)
    assert second.start >= first.end and found.shared == 48 and found.launch.shared >= second.end - first.start


def test_what_makes_no_sense_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="needs an argument for a"):
        started(unit_of(tmp_path, TEXT), "n=7")


BROOK = "kernel void k(int a<>, int s, out int o<>) { o = a * s; }"


@pytest.mark.parametrize(
    ("texts", "grid"), [(("width=65",), (2, 1, 1)), (("width=10", "height=3"), (1, 3, 1)), (("width=0",), (1, 1, 1))]
)
def test_a_grid_covers_the_elements_of_a_stream(texts: tuple[str, ...], grid: tuple[int, int, int]) -> None:
    unit = read_unit(KernelFile("k.br", text=BROOK))
    assert isinstance(unit, KernelUnit)
    (kernel,) = unit.module.functions
    found = place_launch(unit, kernel, ("a=iota:i32[130]", "s=2", "o=empty:i32[130]", *texts))
    assert (found.launch.grid, found.launch.block) == (grid, (64, 1, 1))
    assert place_launch(
        unit, kernel, ("a=iota:i32[1]", "s=2", "o=empty:i32[1]", *texts), None, (7, 1, 1)
    ).launch.grid == (7, 1, 1)


def test_how_wide_a_stream_is_has_to_be_said() -> None:
    unit = read_unit(KernelFile("k.br", text=BROOK))
    assert isinstance(unit, KernelUnit)
    with pytest.raises(UsageError, match=r"needs an argument for width \(int\)"):
        place_launch(unit, unit.module.functions[0], ("a=iota:i32[1]", "s=2", "o=empty:i32[1]"))
