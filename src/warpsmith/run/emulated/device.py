"""The GPU that the emulation stands for: what differs between GPUs, as the emulated program is to see it."""

from __future__ import annotations

from warpsmith.machine.devices import device

__all__ = ["device_environment"]


def device_environment(name: str) -> dict[str, str]:
    """Return what the environment must hold for the emulation to have the limits of a GPU (emulation/device.cpp).

    Raises UsageError where there is no such GPU.
    """
    gpu = device(name)
    numbers = {
        "shared_per_block": gpu.shared_per_block_kib << 10,
        "shared_per_unit": gpu.shared_per_unit_kib << 10,
        "threads_per_unit": gpu.warps_per_unit * gpu.warp_width,
        "blocks_per_unit": gpu.blocks_per_unit,
        "registers": gpu.registers,
        "l2": int(gpu.l2_mib * (1 << 20)),
        "clock_khz": gpu.clock_mhz * 1000,
    }
    if gpu.vendor == "nvidia":
        numbers["capability"] = int(gpu.arch.removeprefix("sm_"))
    return {"WARPSMITH_EMULATION_DEVICE": " ".join(f"{key}={value}" for key, value in numbers.items())}
