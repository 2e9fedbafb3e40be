"""How a wave of a kernel begins: which registers hold what, as the kernel's descriptor has it.

    s[0:3]  s[4:5]     s[6:7]   s[8:9]      …  then s14 s15 s16       v0            v1  v2
    scratch dispatch   queue    arguments      number of the block    thread: x     y   z     packed in v0 since gfx90a
            packet                              x   y   z

Sources: LLVM, User Guide for AMDGPU Backend (Initial Kernel Execution State, Kernel Prologue); HSA Platform System
Architecture 1.2, 2.9.6 (dispatch packet).
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Final

import numpy as np
from msgspec import Struct

from warpsmith.simt.gcn.memory import SCRATCH_BASE, GcnFault, GcnMemory
from warpsmith.simt.gcn.nodes import CODE_STEP, GcnKernel, GcnProgram
from warpsmith.simt.gcn.wave import CODE, GcnWave, Symbols
from warpsmith.simt.launch import Launch
from warpsmith.simt.memory import LaunchMemory

__all__ = ["GcnStart", "GcnTask", "begin_gcn_wave", "prepare_start"]

_PACKED: Final = ("gfx90a", "gfx94", "gfx95", "gfx11", "gfx12")
_OWN_SCRATCH: Final = ("gfx94", "gfx95", "gfx11", "gfx12")
"""Architectures whose scratch memory has instructions of its own, and no descriptor."""
_KEEP_HALVES: Final = ("gfx10", "gfx11", "gfx12")
"""Architectures whose instructions of 16 bits leave the upper half of a register as it is."""
_PACKET_BYTES: Final = 64


class GcnTask(Struct, frozen=True, eq=False):
    """What is run: a kernel (None: the program from its first instruction on), and how; `registers`: scalar registers
    of programs without a descriptor: numbers, or `x`, `y`, `z` for that of the block."""

    program: GcnProgram
    kernel: GcnKernel | None
    launch: Launch
    registers: Mapping[int, int | str] = {}


class GcnStart(Struct, frozen=True, eq=False):
    """What all waves of a launch begin with: symbols, and user registers in order."""

    task: GcnTask
    symbols: Symbols
    user: tuple[int, ...]

    @property
    def entry(self) -> int:
        """The first instruction."""
        kernel = self.task.kernel
        return self.task.program.labels.get(kernel.name, 0) if kernel is not None else 0

    def setting(self, name: str, default: int = 0) -> int:
        """Return what the descriptor says."""
        kernel = self.task.kernel
        return kernel.settings.get(name, default) if kernel is not None else default


def prepare_start(task: GcnTask, memory: LaunchMemory) -> GcnStart:
    """Return what waves begin with; arguments, the dispatch packet and data of the program come into memory."""
    program, kernel = task.program, task.kernel
    addresses = {name: CODE + CODE_STEP * index for name, index in program.labels.items()}
    known = {buffer.name: buffer.address for buffer in memory.buffers}
    for name, data in program.data.items():
        addresses[name] = known[name] if name in known else memory.allocate(name, data).address
    for name, address in list(addresses.items()):
        if name in program.data:
            held = memory.allocate(f"where {name} is", struct.pack("<Q", address), space="constant")
            addresses[f"{name}@got"] = held.address
    user: list[int] = []
    if kernel is not None:
        _refuse_other_floats(kernel)
        user = _user_registers(program, kernel, task.launch, memory)
    return GcnStart(task, Symbols(addresses), tuple(user))


def _refuse_other_floats(kernel: GcnKernel) -> None:
    modes = {
        "float_round_mode_32": 0,
        "float_round_mode_16_64": 0,
        "float_denorm_mode_32": 3,
        "float_denorm_mode_16_64": 3,
    }
    for name, usual in modes.items():
        if kernel.settings.get(name, usual) != usual:
            raise GcnFault(f".amdhsa_{name} {kernel.settings[name]} is not modeled: numbers are rounded to nearest, "
                           "and subnormal ones are kept")  # fmt: skip


def _user_registers(program: GcnProgram, kernel: GcnKernel, launch: Launch, memory: LaunchMemory) -> list[int]:
    packet = memory.allocate("dispatch packet", _packet(launch), space="constant").address
    arguments = memory.allocate("kernel arguments", _arguments(kernel, launch), space="constant").address
    user: list[int] = []
    values = (
        ("private_segment_buffer", (SCRATCH_BASE, 0x00E0_0000_FFFF_FFFF)),
        ("dispatch_ptr", (packet,)),
        ("queue_ptr", (0,)),
        ("kernarg_segment_ptr", (arguments,)),
        ("dispatch_id", (0,)),
        ("flat_scratch_init", (0,)),
    )
    own = program.architecture.startswith(_OWN_SCRATCH)
    for name, words in values:
        described = name not in ("private_segment_buffer", "flat_scratch_init") or not own
        if described and kernel.settings.get(f"user_sgpr_{name}", 0):
            for word in words:
                user += [word & 0xFFFF_FFFF, word >> 32]
    if kernel.settings.get("user_sgpr_private_segment_size", 0):
        user.append(kernel.settings.get("private_segment_fixed_size", 0))
    count = kernel.settings.get("user_sgpr_count", len(user))
    return (user + [0] * count)[:count]


def _packet(launch: Launch) -> bytes:
    threads = [size * blocks for size, blocks in zip(launch.block, launch.grid, strict=True)]
    packed = struct.pack("<HHHHHHIII", 0, 3, *launch.block, 0, *threads)
    return packed.ljust(_PACKET_BYTES, b"\0")


def _arguments(kernel: GcnKernel, launch: Launch) -> bytes:
    size = max((one.offset + one.size for one in kernel.arguments), default=0)
    made = bytearray(max(size, kernel.settings.get("kernarg_size", 0)) + 64)
    for one in kernel.arguments:
        given = launch.arguments.get(one.name, b"")[: one.size]
        made[one.offset : one.offset + len(given)] = given
    return bytes(made)


def begin_gcn_wave(start: GcnStart, block: int, first: int, memory: GcnMemory) -> GcnWave:
    """Return the wave of a block whose first thread is `first`."""
    task = start.task
    launch, width = task.launch, task.program.wave
    wave = GcnWave(width, min(width, launch.threads - first), start.symbols, memory)
    wave.keeps_upper_half = task.program.architecture.startswith(_KEEP_HALVES)
    wave.pc = start.entry
    numbers = _coordinates(block, launch.grid)
    for at, word in enumerate(start.user):
        wave.s[at] = word
    at = len(start.user)
    if task.kernel is not None:
        for axis, number in zip("xyz", numbers, strict=True):
            if start.setting(f"system_sgpr_workgroup_id_{axis}", int(axis == "x")):
                wave.s[at] = number
                at += 1
    for register, value in task.registers.items():
        wave.write_scalar(register, 1, numbers["xyz".index(value)] if isinstance(value, str) else value)
    _write_threads(start, wave, first)
    return wave


def _coordinates(number: int, sizes: tuple[int, int, int]) -> tuple[int, int, int]:
    return number % sizes[0], number // sizes[0] % sizes[1], number // (sizes[0] * sizes[1])


def _write_threads(start: GcnStart, wave: GcnWave, first: int) -> None:
    threads = np.arange(first, first + wave.width)
    task = start.task
    x, y, _ = task.launch.block
    axes = [axis.astype(np.uint32) for axis in (threads % x, threads // x % y, threads // (x * y))]
    if task.kernel is not None and task.program.architecture.startswith(_PACKED):
        wave.v[0] = axes[0] | axes[1] << np.uint32(10) | axes[2] << np.uint32(20)
        return
    for register in range(start.setting("system_vgpr_workitem_id") + 1):
        wave.v[register] = axes[register]
