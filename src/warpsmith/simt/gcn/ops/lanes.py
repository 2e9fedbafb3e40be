"""Between lanes: one lane read or written, numbers of lanes, and exchanges by way of shared memory's crossbar.

A lane that is read while it is not active gives 0 in an exchange; v_readlane reads it as it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

import numpy as np

from warpsmith.simt.gcn.memory import Array, GcnFault
from warpsmith.simt.gcn.nodes import GcnInstruction, GcnOperand, GcnRegisters
from warpsmith.simt.gcn.ops.op import GcnOp, forms_of
from warpsmith.simt.gcn.wave import GcnWave

__all__ = ["LANES"]

_HALF: Final = 32


def _scalar(wave: GcnWave, target: GcnOperand, value: int) -> None:
    assert isinstance(target, GcnRegisters)
    wave.write_scalar(target.first, 1, value)


def _read_first(wave: GcnWave, i: GcnInstruction) -> None:
    mask = wave.mask
    lane = (mask & -mask).bit_length() - 1 if mask else 0
    _scalar(wave, i.operands[0], int(wave.read(i.operands[1], "u32")[lane]))


def _read_lane(wave: GcnWave, i: GcnInstruction) -> None:
    lane = wave.read_scalar(i.operands[2], 32) % wave.width
    _scalar(wave, i.operands[0], int(wave.read(i.operands[1], "u32")[lane]))


def _write_lane(wave: GcnWave, i: GcnInstruction) -> None:
    lane = wave.read_scalar(i.operands[2], 32) % wave.width
    target = i.operands[0]
    assert isinstance(target, GcnRegisters)
    wave.file(target)[target.first, lane] = wave.read_scalar(i.operands[1], 32)


def _lanes_below(wave: GcnWave, i: GcnInstruction) -> None:
    """Count the bits of a mask that are those of lanes below, in the lower or the upper half of a wave."""
    number = np.arange(wave.width)
    first = _HALF if "_hi_" in i.name else 0
    below = (np.int64(1) << np.clip(number - first, 0, _HALF)) - 1
    mask, plus = wave.read(i.operands[1], "u32"), wave.read(i.operands[2], "u32")
    wave.write(i.operands[0], np.bitwise_count(mask & below.astype(np.uint32)).astype(np.uint32) + plus)


def _from(wave: GcnWave, values: Array, source: Array) -> Array:
    """Return what other lanes have, 0 where they are not active."""
    return np.where(wave.active[source], values[source], np.uint32(0))


def _pull(wave: GcnWave, i: GcnInstruction) -> None:
    places = wave.read(i.operands[1], "u32") + np.uint32(int(i.modifiers.get("offset") or "0", 0))
    source = (places >> np.uint32(2)).astype(np.int64) % wave.width
    wave.write(i.operands[0], _from(wave, wave.read(i.operands[2], "u32"), source))


def _push(wave: GcnWave, i: GcnInstruction) -> None:
    places = wave.read(i.operands[1], "u32") + np.uint32(int(i.modifiers.get("offset") or "0", 0))
    target, values = (places >> np.uint32(2)).astype(np.int64) % wave.width, wave.read(i.operands[2], "u32")
    made = np.zeros(wave.width, np.uint32)
    for lane in np.flatnonzero(wave.active):
        made[target[lane]] = values[lane]
    wave.write(i.operands[0], made)


def _swizzle(wave: GcnWave, i: GcnInstruction) -> None:
    """Exchange lanes of groups of 4 (bit 15 of the offset is set), or of 32 by masks of their numbers."""
    offset = int(i.modifiers.get("offset") or "0", 0)
    number = np.arange(wave.width)
    if offset >> 15:
        if offset >> 14 & 1:
            raise GcnFault("rotations and FFT of ds_swizzle_b32 are not modeled")
        source = (number & ~3) | (offset >> (2 * (number & 3)) & 3)
    else:
        own = number & 31
        source = (number & ~31) | (((own & offset & 31) | offset >> 5 & 31) ^ (offset >> 10 & 31))
    wave.write(i.operands[0], _from(wave, wave.read(i.operands[1], "u32"), source))


def _swap(wave: GcnWave, i: GcnInstruction) -> None:
    first, second = (wave.read(one, "u32").copy() for one in i.operands)
    wave.write(i.operands[0], second)
    wave.write(i.operands[1], first)


def _move_pair(wave: GcnWave, i: GcnInstruction) -> None:
    """Write a word of the first source, and one of the second: op_sel says which."""
    chosen = [int(word) for word in re.findall(r"\d", i.modifiers.get("op_sel", "[0,0]"))]
    target = i.operands[0]
    assert isinstance(target, GcnRegisters)
    words = [wave.read(one, "u64") >> np.uint64(32 * which) for one, which in zip(i.operands[1:], chosen, strict=True)]
    wave.write(target, (words[0] & np.uint64(0xFFFFFFFF)) | words[1] << np.uint64(32))


LANES: Final[Mapping[str, GcnOp]] = {
    "v_readfirstlane_b32": GcnOp(forms_of("s32 = u32"), _read_first),
    "v_readlane_b32": GcnOp(forms_of("s32 = u32 s32"), _read_lane),
    "v_writelane_b32": GcnOp(forms_of("u32 = s32 s32"), _write_lane),
    "v_mbcnt_lo_u32_b32": GcnOp(forms_of("u32 = u32 u32"), _lanes_below),
    "v_mbcnt_hi_u32_b32": GcnOp(forms_of("u32 = u32 u32"), _lanes_below),
    "ds_bpermute_b32": GcnOp(forms_of("v32 = v32 v32"), _pull, ("offset",)),
    "ds_permute_b32": GcnOp(forms_of("v32 = v32 v32"), _push, ("offset",)),
    "ds_swizzle_b32": GcnOp(forms_of("v32 = v32"), _swizzle, ("offset",)),
    "v_swap_b32": GcnOp(forms_of("v32 v32"), _swap),
    "v_pk_mov_b32": GcnOp(forms_of("u64 = u64 u64"), _move_pair, ("op_sel", "op_sel_hi")),
}
