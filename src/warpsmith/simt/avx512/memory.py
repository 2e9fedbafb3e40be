"""Instructions that reach memory, and what they do to the bytes of a launch.

    vmovdqu32 zmm1 {k1}{z}, [rdi]         vmovdqu32 [rdi] {k1}, zmm1               lanes side by side
    vpgatherdd zmm1 {k1}, [rdi + 4*zmm0]  vpscatterdd [rdi + 4*zmm0] {k1}, zmm1    each at its own place; k1 is 0 then
    mov eax, [rdi]                        mov [rdi], eax                           one word

Of lanes that scatter to one place the last one stays. Lanes that are masked off reach nothing. Source: Intel 64 and
IA-32 Architectures Software Developer's Manual, volume 2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from warpsmith.simt.avx512.nodes import LANES, AvxInstruction, AvxMemory, AvxOperand, AvxRegister
from warpsmith.simt.memory import Fault, LaunchMemory

__all__ = ["ACCESSES", "AvxFault", "access_memory", "wrong_access"]

Array = npt.NDArray[Any]
_WORD: Final = 4
_LINE: Final = 64
_ADDRESS: Final = (1 << 64) - 1
Access = Literal["row", "aligned", "gather", "scatter", "word"]
ACCESSES: Final[Mapping[str, Access]] = {
    **dict.fromkeys(("vmovdqu32", "vmovups"), "row"), **dict.fromkeys(("vmovdqa32", "vmovaps"), "aligned"),
    **dict.fromkeys(("vpgatherdd", "vgatherdps"), "gather"),
    **dict.fromkeys(("vpscatterdd", "vscatterdps"), "scatter"), "mov": "word",
}  # fmt: skip


class AvxFault(Exception):
    """A lane reaches what is not there; `lane` is -1 where all do together."""

    def __init__(self, message: str, lane: int = -1) -> None:
        super().__init__(message)
        self.message, self.lane = message, lane


def wrong_access(name: str, operands: Sequence[AvxOperand]) -> str:
    """Return what the form of an access should be; "" where it is one."""
    kind = ACCESSES[name]
    match kind, tuple(operands):
        case "word", (AvxRegister("r"), AvxMemory(mask=-1) as place) | (AvxMemory(mask=-1) as place, AvxRegister("r")):
            return "" if not _is_spread(place) else "expected one place, [rdi + 4*rcx]"
        case "gather", (AvxRegister("zmm", number, mask, zeroing), AvxMemory(index=index, mask=-1)):
            apart = index is not None and index.kind == "zmm" and index.number != number
            return "" if mask > 0 and not zeroing and apart else f"expected {name} zmm1 {{k1}}, [rdi + 4*zmm2]"
        case "scatter", (AvxMemory(index=AvxRegister("zmm"), mask=mask), AvxRegister("zmm", mask=-1)) if mask > 0:
            return ""
        case "row" | "aligned", (AvxRegister("zmm"), AvxMemory(mask=-1) as place) if not _is_spread(place):
            return ""
        case "row" | "aligned", (AvxMemory() as place, AvxRegister("zmm", mask=-1)) if not _is_spread(place):
            return ""
        case "scatter", _:
            return f"expected {name} [rdi + 4*zmm2] {{k1}}, zmm1"
        case "gather", _:
            return f"expected {name} zmm1 {{k1}}, [rdi + 4*zmm2]"
        case "word", _:
            return "expected mov eax, [rdi], or mov [rdi], eax"
        case _:
            return f"expected {name} zmm1 {{k1}}, [rdi], or {name} [rdi] {{k1}}, zmm1"


def _is_spread(place: AvxMemory) -> bool:
    return place.index is not None and place.index.kind == "zmm"


def access_memory(
    registers: tuple[Array, list[int], list[int]], memory: LaunchMemory | None, i: AvxInstruction
) -> None:
    """Do what an access does to vectors, masks and general registers, and to memory; raises AvxFault."""
    zmm, k, r = registers
    kind = ACCESSES[i.name]
    place = next(one for one in i.operands if isinstance(one, AvxMemory))
    register = next(one for one in i.operands if isinstance(one, AvxRegister))
    loads = isinstance(i.operands[0], AvxRegister)
    addresses = _addresses(zmm, r, place)
    if kind == "word":
        if loads:
            r[register.number] = _read(memory, addresses[0], -1)
        else:
            _write(memory, addresses[0], r[register.number], -1)
        return
    if kind == "aligned" and addresses[0] % _LINE:
        raise AvxFault(f"{i.name} reaches 64 bytes at {addresses[0]:#x}, which is no multiple of 64")
    mask = max(register.mask, place.mask)
    for lane in range(LANES):
        if mask > 0 and not k[mask] >> lane & 1:
            if loads and register.zeroing:
                zmm[register.number, lane] = 0
        elif loads:
            zmm[register.number, lane] = _read(memory, addresses[lane], lane)
        else:
            _write(memory, addresses[lane], int(zmm[register.number, lane]), lane)
    if kind in ("gather", "scatter"):
        k[mask] = 0


def _addresses(zmm: Array, r: Sequence[int], place: AvxMemory) -> list[int]:
    """Return where each lane reaches: with a vector its own place, else side by side."""
    start = place.displacement + (r[place.base] if place.base >= 0 else 0)
    if place.index is None or place.index.kind == "r":
        start += 0 if place.index is None else place.scale * r[place.index.number]
        return [start + _WORD * lane & _ADDRESS for lane in range(LANES)]
    indices = zmm[place.index.number].view(np.int32).tolist()
    return [start + place.scale * index & _ADDRESS for index in indices]


def _read(memory: LaunchMemory | None, address: int, lane: int) -> int:
    data, offset = _find(memory, address, lane)
    return int.from_bytes(data[offset : offset + _WORD], "little")


def _write(memory: LaunchMemory | None, address: int, value: int, lane: int) -> None:
    data, offset = _find(memory, address, lane)
    data[offset : offset + _WORD] = (value & 0xFFFFFFFF).to_bytes(_WORD, "little")


def _find(memory: LaunchMemory | None, address: int, lane: int) -> tuple[bytearray, int]:
    if memory is None:
        raise AvxFault(f"4 bytes at {address:#x}, where there is no memory", lane)
    try:
        buffer, offset = memory.find(address, _WORD, ())
    except Fault as fault:
        raise AvxFault(str(fault), lane) from None
    return buffer.data, offset
