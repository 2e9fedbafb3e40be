"""Which slots operations may stand in: some rows of the table that it comes from."""

from __future__ import annotations

import pytest

from warpsmith.machine.vliw.slots import GENERATIONS, Generation, is_known, slots_of, width_of


@pytest.mark.parametrize(
    ("name", "slots"),
    [
        ("ADD", ("xyzwt", "xyzwt", "xyzwt", "xyzw")),
        ("ASHR_INT", ("t", "xyzwt", "xyzwt", "xyzw")),
        ("FLT_TO_INT", ("t", "t", "xyzw", "xyzw")),
        ("INT_TO_FLT", ("t", "t", "t", "xyzw")),
        ("MULLO_INT", ("t", "t", "t", "xyzw")),
        ("RECIP_IEEE", ("t", "t", "t", "xyzw")),
    ],
)
def test_slots_by_generation(name: str, slots: tuple[str, ...]) -> None:
    assert tuple(slots_of(name, generation) for generation in GENERATIONS) == slots


def test_cayman_takes_several_slots_for_what_only_t_did() -> None:
    assert [width_of(name, "cayman") for name in ("ADD", "INT_TO_FLT", "RECIP_IEEE", "MULHI_UINT")] == [1, 1, 3, 4]
    assert width_of("MULHI_UINT", "evergreen") == 1


@pytest.mark.parametrize("generation", GENERATIONS)
def test_what_there_is(generation: Generation) -> None:
    assert is_known("CNDE_INT", generation) and not is_known("BFE_INT", generation)
    assert is_known("RECIP_UINT", generation) == (generation != "cayman")
