"""Loads, stores and atomic operations.

    global_load_dword v1, v0, s[2:3] offset:8        address: s[2:3] + v0 + 8; or v[2:3], off: a whole one in each lane
    flat_load_dword v1, v[2:3]                       any memory, by the address
    scratch_load_dword v1, off, s0                   memory of the lane; buffer_load_dword v1, v0, s[0:3], 0 offen too
    ds_read2_b32 v[0:1], v2 offset1:3                shared memory of the block; offsets count elements
    s_load_dwordx2 s[0:1], s[4:5], 0x8               for the whole wave

All is there at once: `s_waitcnt` waits for nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import numpy as np
from msgspec import Struct

from warpsmith.simt.gcn.memory import SCRATCH_BASE, Array, GcnFault, GcnSpace
from warpsmith.simt.gcn.nodes import GcnInstruction, GcnOperand, GcnRegisters, GcnWord
from warpsmith.simt.gcn.ops.atomics import NAMED_BY_TYPE, NAMED_BY_WORD, UPDATES
from warpsmith.simt.gcn.ops.op import GcnForm, GcnOp, forms_of
from warpsmith.simt.gcn.wave import GcnWave

__all__ = ["MEMORY"]

Where = Callable[[GcnWave, Sequence[GcnOperand], Mapping[str, str]], Array]
"""Addresses of lanes: of operands behind the data, and modifiers."""


class _Family(Struct, frozen=True):
    """Instructions that reach memory in one way; `addresses`: the forms of the operands that say where."""

    space: GcnSpace
    addresses: tuple[str, ...]
    where: Where
    modifiers: tuple[str, ...]


_CACHES: Final = ("glc", "slc", "dlc", "sc0", "sc1", "nt", "nv")


def _offset(modifiers: Mapping[str, str], name: str = "offset") -> int:
    return int(modifiers.get(name) or "0", 0)


def _sum(*parts: Array | int) -> Array:
    total = np.zeros(1, np.uint64)
    for part in parts:
        total = total + (np.uint64(part & 0xFFFF_FFFF_FFFF_FFFF) if isinstance(part, int) else part.astype(np.uint64))
    return total


def _is_off(operand: GcnOperand) -> bool:
    return isinstance(operand, GcnWord) and operand.text == "off"


def _lanes(wave: GcnWave, operand: GcnOperand) -> Array:
    """Return what registers of an address hold: one or two words."""
    assert isinstance(operand, GcnRegisters)
    return wave.read(operand, "u64" if operand.count == 2 else "u32")


def _where_global(wave: GcnWave, operands: Sequence[GcnOperand], modifiers: Mapping[str, str]) -> Array:
    base = 0 if _is_off(operands[1]) else wave.read_scalar(operands[1], 64)
    return _sum(_lanes(wave, operands[0]), base, _offset(modifiers))


def _where_flat(wave: GcnWave, operands: Sequence[GcnOperand], modifiers: Mapping[str, str]) -> Array:
    return _sum(_lanes(wave, operands[0]), _offset(modifiers))


def _where_shared(wave: GcnWave, operands: Sequence[GcnOperand], modifiers: Mapping[str, str]) -> Array:
    return _where_flat(wave, operands, modifiers) & np.uint64(0xFFFFFFFF)


def _where_scratch(wave: GcnWave, operands: Sequence[GcnOperand], modifiers: Mapping[str, str]) -> Array:
    parts = [_none(wave) if _is_off(operands[0]) else _lanes(wave, operands[0])]
    base = 0 if _is_off(operands[1]) else wave.read_scalar(operands[1], 32)
    return _sum(*parts, base, _offset(modifiers)) & np.uint64(0xFFFFFFFF)


def _none(wave: GcnWave) -> Array:
    return np.zeros(wave.width, np.uint64)


def _where_buffer(wave: GcnWave, operands: Sequence[GcnOperand], modifiers: Mapping[str, str]) -> Array:
    """Return places in scratch memory, the only buffer that there is; scalar offsets are those of all lanes."""
    if wave.read_scalar(operands[1], 64) & 0xFFFF_FFFF_FFFF != SCRATCH_BASE:
        raise GcnFault("buffers other than scratch memory are not modeled")
    if ("offen" in modifiers) == _is_off(operands[0]):
        raise GcnFault("offen says that a register holds the offset, off that none does")
    own = _none(wave) if _is_off(operands[0]) else _lanes(wave, operands[0])
    return _sum(own, wave.read_scalar(operands[2], 32) // wave.width, _offset(modifiers)) & np.uint64(0xFFFFFFFF)


_GLOBAL: Final = _Family("global", ("v64 off", "v32 s64"), _where_global, ("offset", *_CACHES))
_FLAT: Final = _Family("flat", ("v64",), _where_flat, ("offset", *_CACHES))
_SCRATCH: Final = _Family("scratch", ("v32 off", "off s32", "off off", "v32 s32"), _where_scratch, ("offset", *_CACHES))
_BUFFER: Final = _Family("scratch", ("v32 s128 s32", "off s128 s32"), _where_buffer, ("offset", "offen", *_CACHES))
_SHARED: Final = _Family("shared", ("v32",), _where_shared, ("offset", "offset0", "offset1"))
_FAMILIES: Final = {"global": _GLOBAL, "flat": _FLAT, "scratch": _SCRATCH, "buffer": _BUFFER}


class _Datum(Struct, frozen=True):
    """What is moved: so many bytes; of less than a word, which half of the register (None: all of it is written), and
    whether a sign is extended."""

    bytes: int
    half: int | None = None
    signed: bool = False

    @property
    def form(self) -> str:
        """The form of the registers."""
        return f"v{max(32, 8 * self.bytes)}"


_WIDE: Final = {"dword": 4, "dwordx2": 8, "dwordx3": 12, "dwordx4": 16, "b32": 4, "b64": 8, "b96": 12, "b128": 16}
_LOADED: Final[Mapping[str, _Datum]] = {
    **{name: _Datum(size) for name, size in _WIDE.items()},
    **{name: _Datum(1) for name in ("ubyte", "u8")},
    **{name: _Datum(1, signed=True) for name in ("sbyte", "i8")},
    **{name: _Datum(2) for name in ("ushort", "u16")},
    **{name: _Datum(2, signed=True) for name in ("sshort", "i16")},
    **{name: _Datum(2, 0) for name in ("short_d16", "d16_b16", "u16_d16")},
    **{name: _Datum(2, 1) for name in ("short_d16_hi", "d16_hi_b16", "u16_d16_hi")},
    **{name: _Datum(1, 0) for name in ("ubyte_d16", "d16_u8", "u8_d16")},
    **{name: _Datum(1, 1) for name in ("ubyte_d16_hi", "d16_hi_u8", "u8_d16_hi")},
    **{name: _Datum(1, 0, signed=True) for name in ("sbyte_d16", "d16_i8", "i8_d16")},
    **{name: _Datum(1, 1, signed=True) for name in ("sbyte_d16_hi", "d16_hi_i8", "i8_d16_hi")},
}
_STORED: Final[Mapping[str, _Datum]] = {
    **{name: _Datum(size) for name, size in _WIDE.items()},
    **{name: _Datum(1) for name in ("byte", "b8")},
    **{name: _Datum(2) for name in ("short", "b16")},
    **{name: _Datum(2, 1) for name in ("short_d16_hi", "d16_hi_b16", "b16_d16_hi")},
    **{name: _Datum(1, 1) for name in ("byte_d16_hi", "d16_hi_b8", "b8_d16_hi")},
}


def _forms(family: _Family, results: str, before: str = "", behind: str = "") -> str:
    """Return the forms of an instruction; of global memory data stand behind the first address operand."""
    made = []
    for one in family.addresses:
        first, *rest = one.split()
        made.append(f"{results}{before} {first} {behind} {' '.join(rest)}")
    return " | ".join(made)


# --- data of lanes


def _put(wave: GcnWave, target: GcnOperand, raw: Array, datum: _Datum) -> None:
    """Write bytes of lanes to registers."""
    assert isinstance(target, GcnRegisters)
    rows = wave.file(target)
    if datum.bytes >= 4:
        words = np.ascontiguousarray(raw).view(np.uint32)
        for number in range(words.shape[1]):
            np.copyto(rows[target.first + number], words[:, number], where=wave.active)
        return
    value = np.ascontiguousarray(raw).view({1: np.uint8, 2: np.uint16}[datum.bytes])[:, 0]
    wide = value.view(np.dtype(f"i{datum.bytes}")).astype(np.int32).view(np.uint32) if datum.signed else value
    word = wide.astype(np.uint32)
    if datum.half is not None:
        shift = np.uint32(16 * datum.half)
        kept = rows[target.first] & ~(np.uint32(0xFFFF) << shift)
        word = kept | (word & np.uint32(0xFFFF)) << shift
    np.copyto(rows[target.first], word, where=wave.active)


def _take(wave: GcnWave, source: GcnOperand, datum: _Datum) -> Array:
    """Return the bytes of registers: [lane, byte]."""
    assert isinstance(source, GcnRegisters)
    rows = wave.file(source)[source.first : source.first + max(1, datum.bytes // 4)]
    raw = np.ascontiguousarray(rows.T).view(np.uint8)
    start = 2 * (datum.half or 0)
    return raw[:, start : start + datum.bytes]


def _load(family: _Family, datum: _Datum) -> GcnOp:
    def run(wave: GcnWave, i: GcnInstruction) -> None:
        places = family.where(wave, i.operands[1:], i.modifiers)
        _put(wave, i.operands[0], wave.memory.load(family.space, places, wave.active, datum.bytes), datum)

    return GcnOp(forms_of(_forms(family, f"{datum.form} =")), run, family.modifiers)


def _store(family: _Family, datum: _Datum) -> GcnOp:
    def run(wave: GcnWave, i: GcnInstruction) -> None:
        data, *rest = i.operands if family is _BUFFER else (i.operands[1], i.operands[0], *i.operands[2:])
        places = family.where(wave, rest, i.modifiers)
        wave.memory.store(family.space, places, wave.active, _take(wave, data, datum))

    before, behind = (datum.form, "") if family is _BUFFER else ("", datum.form)
    return GcnOp(forms_of(_forms(family, "", before, behind)), run, family.modifiers)


def _pairs(wave: GcnWave, i: GcnInstruction, address: GcnOperand, unit: int) -> list[Array]:
    """Return the two places of an instruction on two elements."""
    base = _lanes(wave, address)
    places = (_sum(base, unit * _offset(i.modifiers, f"offset{n}")) for n in (0, 1))
    return [place & np.uint64(0xFFFFFFFF) for place in places]


def _load_two(size: int, unit: int) -> GcnOp:
    def run(wave: GcnWave, i: GcnInstruction) -> None:
        raw = [wave.memory.load("shared", p, wave.active, size) for p in _pairs(wave, i, i.operands[1], unit)]
        _put(wave, i.operands[0], np.concatenate(raw, axis=1), _Datum(2 * size))

    return GcnOp(forms_of(f"v{16 * size} = v32"), run, _SHARED.modifiers)


def _store_two(size: int, unit: int) -> GcnOp:
    def run(wave: GcnWave, i: GcnInstruction) -> None:
        for place, data in zip(_pairs(wave, i, i.operands[0], unit), i.operands[1:], strict=True):
            wave.memory.store("shared", place, wave.active, _take(wave, data, _Datum(size)))

    return GcnOp(forms_of(f"v32 v{8 * size} v{8 * size}"), run, _SHARED.modifiers)


# --- atomic operations


def _numbers(wave: GcnWave, source: GcnOperand, bits: int) -> list[int]:
    return [int(number) for number in wave.read(source, f"u{bits}")]


def _atomic(family: _Family, update: str, bits: int) -> GcnOp:
    """Return an atomic operation with one operand, which may give what was there before."""
    function, forms = UPDATES[update], f"v{bits}"

    def run(wave: GcnWave, i: GcnInstruction) -> None:
        rest = i.operands[_given(i, family, 1) :]
        values = _numbers(wave, rest[1], bits)
        _change(wave, i, (family, (rest[0], *rest[2:]), bits), lambda old, lane: function(old, values[lane], bits))

    return GcnOp(_atomic_forms(family, forms, forms), run, family.modifiers)


def _compare_and_swap(family: _Family, bits: int, *, compared_first: bool) -> GcnOp:
    """Return an exchange where a number is there: of global memory one operand holds what is written, then what is
    compared; of shared memory they are two."""
    apart = family is _SHARED
    data = f"v{bits} v{bits}" if apart else f"v{2 * bits}"

    def run(wave: GcnWave, i: GcnInstruction) -> None:
        rest = i.operands[_given(i, family, 2 if apart else 1) :]
        first = rest[1]
        assert isinstance(first, GcnRegisters)
        second = rest[2] if apart else GcnRegisters(first.kind, first.first + bits // 32, bits // 32)
        written, compared = (_numbers(wave, one, bits) for one in (first, second))
        if compared_first:
            written, compared = compared, written
        where = (rest[0], *rest[3 if apart else 2 :])
        _change(wave, i, (family, where, bits), lambda old, n: written[n] if old == compared[n] else old)

    return GcnOp(_atomic_forms(family, f"v{bits}", data), run, family.modifiers)


def _atomic_forms(family: _Family, result: str, data: str) -> tuple[GcnForm, ...]:
    return forms_of(f"{_forms(family, '', behind=data)} | {_forms(family, result + ' =', behind=data)}")


def _given(i: GcnInstruction, family: _Family, data: int) -> int:
    """Return how many results an atomic operation has."""
    return len(i.operands) - data - len(family.addresses[0].split())


def _change(
    wave: GcnWave,
    i: GcnInstruction,
    where: tuple[_Family, Sequence[GcnOperand], int],
    function: Callable[[int, int], int],
) -> None:
    """Change a number for each active lane, and write what was there before where that is asked for."""
    family, operands, bits = where
    size = bits // 8
    raw = np.zeros((wave.width, size), np.uint8)
    places = family.where(wave, operands, i.modifiers)
    for lane, held in wave.memory.places(family.space, places, wave.active, size):
        raw[lane] = held
        made = function(int.from_bytes(held.tobytes(), "little"), lane) & ((1 << bits) - 1)
        held[:] = np.frombuffer(made.to_bytes(size, "little"), np.uint8)
    target = i.operands[0]
    returns = len(i.operands) > len(operands) + (2 if _takes_two(i, family) else 1)
    if returns:
        _put(wave, target, raw, _Datum(size))


def _takes_two(i: GcnInstruction, family: _Family) -> bool:
    return family is _SHARED and ("cmpst" in i.name)


# --- for the whole wave


def _load_scalar(words: int) -> GcnOp:
    def run(wave: GcnWave, i: GcnInstruction) -> None:
        target, base, *offsets = i.operands
        assert isinstance(target, GcnRegisters)
        offset = sum(wave.read_scalar(one, 32) for one in offsets) + _offset(i.modifiers)
        address = (wave.read_scalar(base, 64) + offset) & ~3
        wave.write_scalar(target.first, words, wave.memory.load_scalar(address, 4 * words))

    return GcnOp(forms_of(f"s{32 * words} = s64 s32"), run, ("offset", *_CACHES))


def _shared_names() -> dict[str, GcnOp]:
    made: dict[str, GcnOp] = {}
    for name, datum in _LOADED.items():
        made |= {f"ds_{verb}_{name}": _load(_SHARED, datum) for verb in ("read", "load") if "dword" not in name}
    for name, datum in _STORED.items():
        made |= {f"ds_{verb}_{name}": _store(_SHARED, datum) for verb in ("write", "store") if "dword" not in name}
    for size in (4, 8):
        bits, far = 8 * size, 64 * size
        made |= {f"ds_{name}_b{bits}": _load_two(size, size) for name in ("read2", "load_2addr")}
        made |= {f"ds_{name}_b{bits}": _load_two(size, far) for name in ("read2st64", "load_2addr_stride64")}
        made |= {f"ds_{name}_b{bits}": _store_two(size, size) for name in ("write2", "store_2addr")}
        made |= {f"ds_{name}_b{bits}": _store_two(size, far) for name in ("write2st64", "store_2addr_stride64")}
        for infix in ("", "_rtn"):
            made[f"ds_cmpst{infix}_b{bits}"] = _compare_and_swap(_SHARED, bits, compared_first=True)
            made[f"ds_cmpstore{infix}_b{bits}"] = _compare_and_swap(_SHARED, bits, compared_first=False)
        for name in ("wrxchg_rtn", "storexchg_rtn"):
            made[f"ds_{name}_b{bits}"] = _atomic(_SHARED, "swap", bits)
    for name, (update, bits) in NAMED_BY_TYPE.items():
        made[f"ds_{name}"] = _atomic(_SHARED, update, bits)
        verb, _, type = name.rpartition("_")
        made[f"ds_{verb}_rtn_{type}"] = _atomic(_SHARED, update, bits)
    return made


def _atomic_names(prefix: str, family: _Family) -> dict[str, GcnOp]:
    made: dict[str, GcnOp] = {}
    for name, update in NAMED_BY_WORD.items():
        bits = 64 if name.endswith("f64") else 32
        made[f"{prefix}_atomic_{name}"] = _atomic(family, update, bits)
        made[f"{prefix}_atomic_{name}_x2"] = _atomic(family, update, 64)
    for name, (update, bits) in NAMED_BY_TYPE.items():
        made[f"{prefix}_atomic_{name}"] = _atomic(family, update, bits)
    for name, bits in (("", 32), ("_x2", 64), ("_b32", 32), ("_b64", 64)):
        made[f"{prefix}_atomic_cmpswap{name}"] = _compare_and_swap(family, bits, compared_first=False)
        made[f"{prefix}_atomic_swap{name}"] = _atomic(family, "swap", bits)
    return made


MEMORY: Final[Mapping[str, GcnOp]] = {
    **{f"{p}_load_{name}": _load(f, datum) for p, f in _FAMILIES.items() for name, datum in _LOADED.items()},
    **{f"{p}_store_{name}": _store(f, datum) for p, f in _FAMILIES.items() for name, datum in _STORED.items()},
    **_shared_names(),
    **_atomic_names("global", _GLOBAL),
    **_atomic_names("flat", _FLAT),
    **{f"s_load_{name}": _load_scalar(words) for name, words in (
        *(("dword", 1), ("dwordx2", 2), ("dwordx3", 3), ("dwordx4", 4), ("dwordx8", 8), ("dwordx16", 16)),
        *(("b32", 1), ("b64", 2), ("b96", 3), ("b128", 4), ("b256", 8), ("b512", 16)),
    )},
}  # fmt: skip
