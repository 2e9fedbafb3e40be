"""A wave of GCN: registers, masks, and what operands are to it.

    s[128]        scalar registers, one for the wave; vcc, m0 and exec are some of them (nodes.py: SPECIAL)
    v[256, lane]  vector registers; a[256, lane] the accumulation registers of CDNA
    exec          bit n: lane n is active. A vector instruction writes active lanes only; scalar ones ignore it.

Invariant: registers are words of 32 bits; 64-bit operands are two of them, the lower one first.
"""

from __future__ import annotations

import struct
from typing import Any, Final

import numpy as np

from warpsmith.simt.gcn.memory import Array, GcnFault, GcnMemory
from warpsmith.simt.gcn.nodes import (
    CODE_STEP,
    EXEC,
    NULL,
    GcnNumber,
    GcnOperand,
    GcnRegisters,
    GcnSymbol,
    GcnWord,
)
from warpsmith.simt.memory import LOCAL_WINDOW, SHARED_WINDOW

__all__ = ["CODE", "DTYPES", "TEMPORARY", "GcnWave", "Symbols", "bits_of_number"]

CODE: Final = 0x0400_0000_0000_0000
"""Where code is, as it sees itself."""
_WORD: Final = 0xFFFF_FFFF
DTYPES: Final[dict[str, Any]] = {
    "u32": np.uint32, "i32": np.int32, "f32": np.float32, "u64": np.uint64, "i64": np.int64, "f64": np.float64,
    "u16": np.uint16, "i16": np.int16, "f16": np.float16,
}  # fmt: skip
"""Types of values in vector registers."""
TEMPORARY: Final = 256
"""Behind the vector registers that have names: some for what is read in parts."""
_INLINE: Final = range(-16, 65)
_APERTURES: Final = {
    "src_shared_base": SHARED_WINDOW, "src_private_base": LOCAL_WINDOW,
    "src_shared_limit": SHARED_WINDOW | _WORD, "src_private_limit": LOCAL_WINDOW | _WORD,
}  # fmt: skip


class Symbols:
    """Addresses behind names of data and code."""

    def __init__(self, addresses: dict[str, int]) -> None:
        self.addresses = addresses

    def value(self, symbol: GcnSymbol, pc: int) -> int:
        """Return 32 bits of an address, those that `symbol` asks for in the instruction at `pc`."""
        through_table = symbol.part.startswith("gotpcrel32")
        address = self.addresses.get(f"{symbol.name}@got" if through_table else symbol.name)
        if address is None:
            raise GcnFault(f"{symbol.name} is defined elsewhere")
        if symbol.part.startswith("rel32") or through_table:
            # a relocation is relative to the constant itself, which stands 4 bytes behind the start
            address += symbol.addend - (CODE + CODE_STEP * pc + 4)
        elif symbol.part.startswith("abs32"):
            address += symbol.addend
        else:
            raise GcnFault(f"@{symbol.part} of a name is not modeled")
        return (address >> 32 if symbol.part.endswith("@hi") else address) & _WORD


def bits_of_number(number: GcnNumber, type: str) -> int:
    """Return the bits of a constant where a type is read. A fraction is written as one of the operation's size; an
    integer that is not inline is the upper half of a double."""
    value = number.value
    size = int(type[1:])
    if isinstance(value, float):
        form = {16: "<e", 32: "<f", 64: "<d"}[size]
        try:
            return int.from_bytes(struct.pack(form, value), "little")
        except OverflowError:
            raise GcnFault(f"{value} does not fit {size} bits") from None
    if type == "f64" and value not in _INLINE:
        value <<= 32
    return value & ((1 << size) - 1)


class GcnWave:
    """Registers of one wave, and where it is. `pc`: the index of the next instruction."""

    def __init__(self, width: int, lanes: int, symbols: Symbols, memory: GcnMemory) -> None:
        self.width, self.symbols, self.memory = width, symbols, memory
        self.s = [0] * 128
        self.v = np.zeros((TEMPORARY + 4, width), np.uint32)
        self.a = np.zeros((256, width), np.uint32)
        self.scc = False
        self.mode = 0xF0
        self.stack_pointer = 0
        self.pc = 0
        self.steps = 0
        self.ended = self.waits = False
        self.keeps_upper_half = False
        self._active: Array | None = None
        self.mask = (1 << lanes) - 1

    # --- masks

    @property
    def mask(self) -> int:
        """Active lanes, bit 0 the first."""
        return self.s[EXEC] | self.s[EXEC + 1] << 32 if self.width > 32 else self.s[EXEC]

    @mask.setter
    def mask(self, mask: int) -> None:
        self.write_scalar(EXEC, self.width // 32, mask)

    @property
    def active(self) -> Array:
        """Active lanes as truth values."""
        if self._active is None:
            self._active = self.lanes_of(self.mask)
        return self._active

    def lanes_of(self, mask: int) -> Array:
        """Return a mask as truth values."""
        raw = np.frombuffer(mask.to_bytes(8, "little"), np.uint8)
        return np.unpackbits(raw, bitorder="little")[: self.width].astype(bool)

    def mask_of(self, lanes: Array) -> int:
        """Return truth values as a mask."""
        return int.from_bytes(np.packbits(lanes, bitorder="little").tobytes(), "little")

    # --- scalars

    def write_scalar(self, first: int, count: int, value: int) -> None:
        """Write scalar registers; `null` takes nothing."""
        if first == NULL:
            return
        for number in range(first, first + count):
            self.s[number] = value & _WORD
            value >>= 32
        if first + count > EXEC:
            self._active = None

    def read_scalar(self, operand: GcnOperand, bits: int) -> int:
        """Return a scalar operand of so many bits."""
        match operand:
            case GcnRegisters(kind="s"):
                words = self.s[operand.first : operand.first + -(-bits // 32)]
                return sum(word << 32 * n for n, word in enumerate(words))
            case GcnRegisters():
                raise GcnFault("a vector register is read as a scalar")
            case GcnNumber():
                return bits_of_number(operand, f"u{max(32, bits)}")
            case GcnSymbol():
                return self.symbols.value(operand, self.pc - 1)
            case GcnWord():
                return self._word(operand.text, bits)

    def _word(self, text: str, bits: int) -> int:
        name = text.removeprefix("src_")
        if name in ("scc", "vccz", "execz"):
            values = {"scc": int(self.scc), "vccz": int(not self.vcc), "execz": int(not self.mask)}
            return values[name]
        for base, address in _APERTURES.items():
            if text.startswith(base):
                # as a word it is the upper half: the lower one is the same everywhere
                return address if bits == 64 else address >> 32 if text.endswith("_hi") or text == base else 0
        raise GcnFault(f"{text} is not modeled as a number")

    @property
    def vcc(self) -> int:
        """Lanes of the condition code."""
        return self.s[106] | self.s[107] << 32 if self.width > 32 else self.s[106]

    # --- vectors

    def file(self, operand: GcnRegisters) -> Array:
        """Return the vector registers that an operand is one of."""
        return self.v if operand.kind == "v" else self.a

    def read(self, operand: GcnOperand, type: str) -> Array:
        """Return an operand in each lane, signs changed as it says."""
        bits = self._bits(operand, type)
        absolute, negative = getattr(operand, "absolute", False), getattr(operand, "negative", False)
        if absolute or negative:
            sign = bits.dtype.type(1 << (int(type[1:]) - 1))
            bits = bits & ~sign if absolute else bits
            bits = bits ^ sign if negative else bits
        return bits.view(DTYPES[type])

    def _bits(self, operand: GcnOperand, type: str) -> Array:
        size = int(type[1:])
        if isinstance(operand, GcnRegisters) and operand.kind != "s":
            rows, first = self.file(operand), operand.first
            low: Array = rows[first]
            if size == 64:
                return np.asarray(np.bitwise_or(low, rows[first + 1].astype(np.uint64) << np.uint64(32)))
            return np.asarray(low if size == 32 else low.astype(np.uint16))
        whole = bits_of_number(operand, type) if isinstance(operand, GcnNumber) else self.read_scalar(operand, size)
        return np.full(self.width, whole & ((1 << size) - 1), DTYPES[f"u{size}"])

    def read_mask(self, operand: GcnOperand) -> Array:
        """Return a mask in scalar registers as truth values."""
        return self.lanes_of(self.read_scalar(operand, self.width) & ((1 << self.width) - 1))

    def write(self, operand: GcnOperand, values: Array, lanes: Array | None = None) -> None:
        """Write a value of any type to vector registers, in active lanes."""
        assert isinstance(operand, GcnRegisters)
        rows, active = self.file(operand), self.active if lanes is None else lanes
        bits = np.ascontiguousarray(values).view(DTYPES[f"u{8 * values.dtype.itemsize}"])
        if values.dtype.itemsize == 8:
            np.copyto(rows[operand.first], bits.astype(np.uint32), where=active)
            np.copyto(rows[operand.first + 1], (bits >> np.uint64(32)).astype(np.uint32), where=active)
            return
        if values.dtype.itemsize == 2:
            upper = rows[operand.first] & np.uint32(0xFFFF0000) if self.keeps_upper_half else np.uint32(0)
            bits = bits.astype(np.uint32) | upper
        np.copyto(rows[operand.first], bits, where=active)

    def write_mask(self, operand: GcnOperand, lanes: Array) -> None:
        """Write truth values to scalar registers: inactive lanes are 0."""
        assert isinstance(operand, GcnRegisters)
        self.write_scalar(operand.first, self.width // 32, self.mask_of(lanes & self.active))
