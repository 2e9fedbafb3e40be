"""The list of GPUs with bundles."""

from __future__ import annotations

import pytest

from warpsmith.base.errors import UsageError
from warpsmith.machine.vliw.gpus import load_vliw_gpus, vliw_gpu
from warpsmith.machine.vliw.slots import GENERATIONS


def test_the_family_of_the_hd_3870_and_its_followers_are_there() -> None:
    found = vliw_gpu("hd3870")
    assert (found.units, found.texture_units, found.clock_mhz, found.source) == (64, 16, 775, "public")
    assert vliw_gpu("RV670") == found
    assert {one.generation for one in load_vliw_gpus()} == set(GENERATIONS)


def test_names_are_each_ones_own() -> None:
    names = [name for one in load_vliw_gpus() for name in (one.name, one.chip.lower())]
    assert len(set(names)) == len(names)


def test_a_name_that_there_is_not() -> None:
    with pytest.raises(UsageError) as caught:
        vliw_gpu("hd3780")
    assert "hd3870" in caught.value.findings[0].help[0]
