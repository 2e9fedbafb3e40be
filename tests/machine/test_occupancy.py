import pytest

from warpsmith.machine.devices import device
from warpsmith.machine.occupancy import occupancy


@pytest.mark.parametrize(
    ("registers", "warps", "limited_by"),
    [(32, 64, "warps"), (64, 32, "registers"), (72, 24, "registers"), (255, 8, "registers"), (256, 0, "does not fit")],
)
def test_registers_on_sm_80_with_256_threads(registers: int, warps: int, limited_by: str) -> None:
    found = occupancy(device("sm_80"), 256, registers)
    assert (found.warps, found.limited_by) == (warps, limited_by)
    assert found.limit == 64


def test_shared_memory_is_rounded_with_what_the_system_reserves() -> None:
    a100 = device("a100")
    assert occupancy(a100, 64, 16, 40 * 1024).blocks == 4  # 41 KB a block of 164
    assert occupancy(a100, 64, 16, 41 * 1024).blocks == 3
    assert occupancy(a100, 64, 16, 163 * 1024).blocks == 1
    assert occupancy(a100, 64, 16, 164 * 1024).limited_by == "does not fit"


def test_small_blocks_hit_the_block_cap() -> None:
    found = occupancy(device("sm_86"), 32, 16)
    assert (found.blocks, found.limited_by) == (16, "blocks")


def test_too_many_threads_and_unknown_rules() -> None:
    assert occupancy(device("sm_90"), 1025, 16).blocks == 0
    with pytest.raises(ValueError, match="not known"):
        occupancy(device("mi300x"), 256, 32)
