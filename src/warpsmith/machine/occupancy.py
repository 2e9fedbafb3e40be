"""How many blocks and warps one multiprocessor holds at a time.

    registers   [warp|warp|warp|warp| … ]   allocated a warp at a time, warps spread over 4 partitions
    shared      [ block + 1 KB | block + 1 KB | … ]
    warps, blocks: plain caps
    the least of the four wins

Source: NVIDIA's cuda_occupancy.h (allocation granularities and block caps). Shared memory is taken at its largest
carve-out. Compute capability 1.1 gives registers to a block at a time, in units of 256, 2.0 to a warp, in units of 64,
63 a thread at most, both to two warps at least (from memory of NVIDIA's occupancy calculator, not confirmed).
Limits: NVIDIA devices only.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from warpsmith.machine.devices import Device
from warpsmith.machine.limits import MAX_THREADS

__all__ = ["Limiter", "Occupancy", "most_registers", "occupancy"]

Limiter = Literal["warps", "blocks", "registers", "shared memory", "does not fit"]

_PARTITIONS = 4
_REGISTER_UNIT = 256
_MOST_REGISTERS = 255


class Occupancy(Struct, frozen=True):
    """Resident blocks and warps a multiprocessor, the most warps it could hold, and what stops at this number."""

    blocks: int
    warps: int
    limit: int
    limited_by: Limiter


def occupancy(device: Device, threads: int, registers: int, shared: int = 0) -> Occupancy:
    """Return the occupancy of a kernel with `threads` a block, `registers` a thread and `shared` bytes a block.

    Raises ValueError for a device whose rules are not known (AMD).
    """
    if device.vendor != "nvidia":
        raise ValueError(f"the occupancy rules of {device.title} are not known")
    limit = device.warps_per_unit
    warps = -(-threads // device.warp_width)
    if not 1 <= threads <= MAX_THREADS:
        return Occupancy(0, 0, limit, "does not fit")
    caps: list[tuple[int, Limiter]] = [
        (limit // warps, "warps"),
        (device.blocks_per_unit, "blocks"),
        (_by_registers(device, warps, registers), "registers"),
        (_by_shared(device, shared), "shared memory"),
    ]
    blocks, limited_by = min(caps, key=lambda cap: cap[0])
    return Occupancy(blocks, blocks * warps, limit, limited_by if blocks else "does not fit")


def most_registers(device: Device, threads: int) -> int:
    """Return the most registers a thread with which a block of `threads` fits on a multiprocessor."""
    if device.vendor != "nvidia":
        return _MOST_REGISTERS
    warps = -(-threads // device.warp_width)
    return next((r for r in range(_MOST_REGISTERS, 0, -1) if _by_registers(device, warps, r)), 0)


def _by_registers(device: Device, warps: int, registers: int) -> int:
    if registers == 0:
        return device.blocks_per_unit
    if _major(device) < 7:
        return _by_registers_of_old(device, warps, registers)
    a_warp = _round_up(device.warp_width * registers, _REGISTER_UNIT)
    if registers > _MOST_REGISTERS or a_warp * _round_up(warps, _PARTITIONS) > device.registers:
        return 0
    return device.registers // _PARTITIONS // a_warp * _PARTITIONS // warps


def _by_registers_of_old(device: Device, warps: int, registers: int) -> int:
    """Return the blocks that fit on devices whose multiprocessors have no partitions."""
    pairs = _round_up(warps, 2)
    if _major(device) == 1:
        a_block = _round_up(device.warp_width * registers * pairs, 256)
    else:
        a_block = _round_up(device.warp_width * registers, 64) * pairs
    most = 124 if _major(device) == 1 else 63
    return device.registers // a_block if registers <= most else 0


def _major(device: Device) -> int:
    return int(device.arch.removeprefix("sm_")) // 10


def _by_shared(device: Device, shared: int) -> int:
    major = _major(device)
    if shared > device.shared_per_block_kib * 1024:
        return 0
    reserved, unit = (1024, 128) if major >= 8 else (0, {1: 512, 2: 128}.get(major, 256))
    a_block = _round_up(shared + reserved, unit)
    return device.shared_per_unit_kib * 1024 // a_block if a_block else device.blocks_per_unit


def _round_up(value: int, unit: int) -> int:
    return -(-value // unit) * unit
