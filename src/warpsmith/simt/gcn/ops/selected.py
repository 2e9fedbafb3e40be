"""Operations whose operands are parts of registers (SDWA, op_sel), or come from other lanes (DPP).

    v_max_i32_sdwa v2, v8, sext(v2) dst_sel:DWORD src0_sel:DWORD src1_sel:BYTE_0
    v_add_u32_dpp  v1, v0, v1 row_shr:1 row_mask:0xf bank_mask:0xf

Sources are put into registers without a name as the operation wants them; then it runs as ever; then its result is put
where it belongs.

Source: AMD, "Vega" Instruction Set Architecture, 13.3.8 and 13.3.9 (VOP_SDWA, VOP_DPP).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

import numpy as np
from msgspec.structs import replace

from warpsmith.simt.gcn.memory import Array, GcnFault
from warpsmith.simt.gcn.nodes import GcnInstruction, GcnOperand, GcnRegisters
from warpsmith.simt.gcn.ops.op import GcnOp
from warpsmith.simt.gcn.wave import TEMPORARY, GcnWave

__all__ = ["LANE_MOVES", "is_selected", "run_selected"]

_RESULT: Final = TEMPORARY + 3
_PARTS: Final = {"DWORD": (0, 32), **{f"BYTE_{n}": (8 * n, 8) for n in range(4)}, "WORD_0": (0, 16), "WORD_1": (16, 16)}
_ROW: Final = 16


def is_selected(i: GcnInstruction) -> bool:
    """Whether an instruction reads or writes parts of registers, or other lanes."""
    return i.encoding in ("sdwa", "dpp", "e64_dpp") or ("op_sel" in i.modifiers and not i.name.startswith("v_pk_"))


def run_selected(wave: GcnWave, i: GcnInstruction, op: GcnOp) -> None:
    """Run an instruction with parts of registers, or other lanes."""
    form = next(one for one in op.forms if len(one.all) == len(i.operands))
    first = len(form.results)
    if i.encoding.endswith("dpp"):
        _run_moved(wave, i, op, first)
        return
    if "op_sel" in i.modifiers and not any(type.endswith("16") for type in form.all):
        raise GcnFault(f"{i.name} has no halves that op_sel could choose")
    chosen = _chosen_parts(i, first)
    operands = list(i.operands)
    for number, at in enumerate(range(first, len(operands))):
        if form.all[at] != "mask":
            operands[at] = _select(wave, operands[at], chosen[number], number)
    target = operands[0] if form.results[0] != "mask" else None
    if target is not None:
        operands[0] = GcnRegisters("v", _RESULT, 1)
        wave.v[_RESULT] = wave.read(target, "u32")
    op.run(wave, replace(i, operands=tuple(operands), encoding="", modifiers=_others(i.modifiers)))
    if target is not None:
        _place(wave, target, i)


def _others(modifiers: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in modifiers.items() if name in ("clamp", "mul", "div")}


def _chosen_parts(i: GcnInstruction, first: int) -> list[str]:
    """Return the part that each source is."""
    count = len(i.operands) - first
    if "op_sel" in i.modifiers:
        bits = re.findall(r"\d", i.modifiers["op_sel"])[:count]
        return [f"WORD_{bit}" for bit in bits] + ["DWORD"] * (count - len(bits))
    return [i.modifiers.get(f"src{number}_sel", "DWORD") for number in range(count)]


def _select(wave: GcnWave, operand: GcnOperand, part: str, number: int) -> GcnOperand:
    start, size = _part(part)
    plain = replace(operand, negative=False, absolute=False) if isinstance(operand, GcnRegisters) else operand
    value = wave.read(plain, "u32") >> np.uint32(start)
    if size < 32:
        value = value & np.uint32((1 << size) - 1)
        if getattr(operand, "extended", False):
            sign = np.uint32(1 << (size - 1))
            value = (value ^ sign) - sign
    wave.v[TEMPORARY + number] = value
    signs = (getattr(operand, "negative", False), getattr(operand, "absolute", False))
    return GcnRegisters("v", TEMPORARY + number, 1, *signs)


def _part(name: str) -> tuple[int, int]:
    if name not in _PARTS:
        raise GcnFault(f"{name} is no part of a register")
    return _PARTS[name]


def _place(wave: GcnWave, target: GcnOperand, i: GcnInstruction) -> None:
    """Write the part of the result that is meant, and what becomes of the rest of the register."""
    bits = re.findall(r"\d", i.modifiers.get("op_sel", ""))
    halves = len(bits) > len(i.operands) - 1
    part = f"WORD_{bits[-1]}" if halves else i.modifiers.get("dst_sel", "DWORD")
    start, size = _part(part)
    mask = np.uint32((((1 << size) - 1) << start) & 0xFFFFFFFF)
    value = (wave.v[_RESULT] << np.uint32(start)) & mask
    unused = "UNUSED_PRESERVE" if halves else i.modifiers.get("dst_unused", "UNUSED_PAD")
    if unused == "UNUSED_PRESERVE":
        value = value | (wave.read(target, "u32") & ~mask)
    elif unused == "UNUSED_SEXT":
        top = np.uint32(32 - start - size)
        value = ((value << top).view(np.int32) >> top.astype(np.int32)).view(np.uint32)
    wave.write(target, value)


# --- other lanes


def _run_moved(wave: GcnWave, i: GcnInstruction, op: GcnOp, first: int) -> None:
    source, inside = _source_lanes(wave, i.modifiers)
    # fi: lanes that are not active are read as they are
    reads = inside & (wave.active[source] if i.modifiers.get("fi", "0") == "0" else True)
    operand = i.operands[first]
    plain = replace(operand, negative=False, absolute=False) if isinstance(operand, GcnRegisters) else operand
    wave.v[TEMPORARY] = np.where(reads, wave.read(plain, "u32")[source], np.uint32(0))
    enabled = _enabled(wave, i.modifiers)
    before = wave.mask
    # a lane that has nothing to read does nothing, or reads 0
    writes = enabled if "bound_ctrl" in i.modifiers else enabled & reads
    operands = list(i.operands)
    signs = (getattr(operand, "negative", False), getattr(operand, "absolute", False))
    operands[first] = GcnRegisters("v", TEMPORARY, 1, *signs)
    wave.mask = wave.mask_of(writes) & before
    op.run(wave, replace(i, operands=tuple(operands), encoding="", modifiers=_others(i.modifiers)))
    wave.mask = before


def _enabled(wave: GcnWave, modifiers: Mapping[str, str]) -> Array:
    """Return the lanes whose row and bank take part."""
    number = np.arange(wave.width)
    rows, banks = (int(modifiers.get(name) or "0xf", 0) for name in ("row_mask", "bank_mask"))
    enabled: Array = (rows >> (number // _ROW) & 1).astype(bool) & (banks >> (number % _ROW // 4) & 1).astype(bool)
    return enabled


def _shifted(by: int, size: int) -> Callable[[Array], tuple[Array, Array]]:
    """Return a move by `by` lanes within groups of a size."""

    def move(number: Array) -> tuple[Array, Array]:
        source = number + by
        inside = source // size == number // size
        return np.where(inside, source, 0), inside

    return move


def _within(function: Callable[[Array], Array], size: int) -> Callable[[Array], tuple[Array, Array]]:
    """Return a move to a lane of the same group."""
    return lambda number: (number // size * size + function(number % size) % size, np.ones(len(number), bool))


def _broadcast_before(number: Array, last: int) -> tuple[Array, Array]:
    """Return a move of the last lane of a row (or of half a wave) to the next one."""
    group = last + 1
    source = number // group * group - 1
    return np.where(source >= 0, source, 0), source >= 0


def _source_lanes(wave: GcnWave, modifiers: Mapping[str, str]) -> tuple[Array, Array]:
    number = np.arange(wave.width)
    for name, move in LANE_MOVES.items():
        if name in modifiers:
            source, inside = move(modifiers[name])(number)
            inside = inside & (source < wave.width)
            return np.where(inside, source, 0), inside
    raise GcnFault("which lane is read is not said")


Move = Callable[[Array], tuple[Array, Array]]
LANE_MOVES: Final[Mapping[str, Callable[[str], Move]]] = {
    "quad_perm": lambda said: _within(lambda n: np.array([int(x) for x in re.findall(r"\d", said)])[n], 4),
    "row_shl": lambda said: _shifted(int(said), _ROW),
    "row_shr": lambda said: _shifted(-int(said), _ROW),
    "row_ror": lambda said: _within(lambda n: n - int(said), _ROW),
    "row_mirror": lambda said: _within(lambda n: 15 - n, _ROW),
    "row_half_mirror": lambda said: _within(lambda n: 7 - n, 8),
    "row_bcast": lambda said: lambda number: _broadcast_before(number, int(said)),
    "row_newbcast": lambda said: _within(lambda n: np.full(len(n), int(said)), _ROW),
    "row_share": lambda said: _within(lambda n: np.full(len(n), int(said)), _ROW),
    "row_xmask": lambda said: _within(lambda n: n ^ int(said), _ROW),
    "wave_shl": lambda said: _shifted(int(said), 64),
    "wave_shr": lambda said: _shifted(-int(said), 64),
    "wave_rol": lambda said: _within(lambda n: n + int(said), 64),
    "wave_ror": lambda said: _within(lambda n: n - int(said), 64),
    "dpp8": lambda said: _within(lambda n: np.array([int(x) for x in re.findall(r"\d", said)])[n], 8),
}
"""Which lane each lane reads, and whether there is one."""
