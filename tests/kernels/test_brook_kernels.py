"""Kernels of Brook+ as units: their parameters, and what nobody needs to say of a launch."""

from __future__ import annotations

from tests.front.brook.running import EXAMPLES
from warpsmith.base.source import SourceFile
from warpsmith.kernels.brook_kernels import read_brook_kernels, rows_of
from warpsmith.kernels.units import Domain, KernelFile, KernelUnit, read_unit


def test_a_file_of_brook_is_a_unit_with_its_kernels() -> None:
    unit = read_unit(KernelFile(str(EXAMPLES / "sum.br")))
    assert isinstance(unit, KernelUnit) and not unit.findings
    assert {one.name for one in unit.module.functions} == {"square", "add", "larger"}
    assert [one.name for one in unit.parameters["add"]] == ["a", "a_width", "a_height", "total", "width", "height"]
    assert unit.domains["add"] == Domain(("width", "height"), {"height": "1", "a_height": "1"})
    assert unit.launches["add"].block == (64, 1, 1) and unit.launches["add"].grid is None


def test_sizes_of_one_row_need_not_be_said() -> None:
    _, findings, kernels = read_brook_kernels(SourceFile("k.br", "kernel void k(int height, out int o<>) { o = 1; }"))
    assert not findings and rows_of(kernels["k"]) == {"domain_height": "1"}


def test_what_cannot_be_read_is_told_and_the_rest_is_there() -> None:
    text = "kernel void a(out float o<>) { o = b; }\nkernel void c(out float o<>) { o = 1; }\n"
    module, findings, _ = read_brook_kernels(SourceFile("k.br", text))
    assert [one.name for one in module.functions] == ["c"] and [one.message for one in findings] == [
        "'b' is not declared"
    ]
