"""Programs of AMD IL as units."""

from __future__ import annotations

from tests.front.il.listings import PLAIN
from warpsmith.base.source import SourceFile
from warpsmith.kernels.il_kernels import declared_parameter, read_il
from warpsmith.kernels.units import KernelFile, KernelUnit, read_unit
from warpsmith.tree.types import Pointer


def test_a_file_of_il_is_a_unit_with_one_kernel() -> None:
    unit = read_unit(KernelFile("p.il", text=PLAIN))
    assert isinstance(unit, KernelUnit) and not unit.findings
    assert [one.name for one in unit.module.functions] == ["main"]
    names = [one.name for one in unit.parameters["main"]]
    assert names == ["o0", "t0", "t0_width", "cb0", "width", "height"]


def test_pointers_are_told_from_sizes_and_words_from_floats() -> None:
    module, _ = read_il(SourceFile("p.il", PLAIN))
    types = {one.name: declared_parameter(one).type for one in module.functions[0].parameters}
    pointed = {name: type.to.name for name, type in types.items() if isinstance(type, Pointer)}  # type: ignore[union-attr]
    assert pointed == {"o0": "float", "t0": "float", "cb0": "int"}


def test_what_cannot_be_read_is_told() -> None:
    module, findings = read_il(SourceFile("p.il", PLAIN.replace("dcl_literal l0,", "dcl_literal l1,")))
    assert not module.functions and [one.message for one in findings] == ["l0 is not declared: there is l1"]
