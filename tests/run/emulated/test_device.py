"""The limits of a GPU as the emulation is given them."""

from __future__ import annotations

import pytest

from warpsmith.base.errors import UsageError
from warpsmith.run.emulated.device import device_environment


def numbers(name: str) -> dict[str, int]:
    ((key, text),) = device_environment(name).items()
    assert key == "WARPSMITH_EMULATION_DEVICE"
    return {word: int(value) for word, _, value in (part.partition("=") for part in text.split(" "))}


def test_the_numbers_are_bytes_threads_and_khz() -> None:
    """Those of an A100: NVIDIA A100 Tensor Core GPU Architecture, table 1; CUDA guide, compute capability 8.0."""
    assert numbers("a100") == {
        "shared_per_block": 163 * 1024,
        "shared_per_unit": 164 * 1024,
        "threads_per_unit": 2048,
        "blocks_per_unit": 32,
        "registers": 65536,
        "l2": 40 << 20,
        "clock_khz": 1_410_000,
        "capability": 80,
    }


def test_an_architecture_stands_for_its_first_gpu_and_other_vendors_have_no_capability() -> None:
    assert numbers("sm_80") == numbers("a100")
    found = numbers("gfx90a")
    assert "capability" not in found and found["threads_per_unit"] == 2048


def test_a_gpu_that_nobody_knows_is_refused() -> None:
    with pytest.raises(UsageError, match="sm_8000"):
        device_environment("sm_8000")
