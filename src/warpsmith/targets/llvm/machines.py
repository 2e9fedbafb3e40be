"""What LLVM's back ends of GPUs call things: address spaces, special registers, barriers, votes, shuffles.

                    AMDGPU                                         NVPTX
    spaces          0 flat 1 global 3 LDS 4 constant 5 scratch     0 generic 1 global 3 shared 4 constant 5 local
    tid, ctaid      workitem.id, workgroup.id                      tid, ctaid
    ntid, nctaid    of the dispatch packet (HSA 1.2, 2.9.6)        ntid, nctaid
    barrier         s.barrier between fences of the workgroup      barrier.cta.sync.aligned.all 0
    lanes           a warp is 32 lanes of a wave: all of wave32,   one warp
                    one half of wave64

Sources: LLVM, User Guide for AMDGPU Backend and User Guide for NVPTX Back-end; HSA Platform System Architecture 1.2.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Final

from llvmlite import ir

from warpsmith.simt.engine.lanes import I8, I32, I64, VOID, Emit, Ir
from warpsmith.targets.llvm.module import pointer_type

__all__ = ["AMD", "NVIDIA", "Amd", "Machine", "Nvidia"]

_WARP: Final = 32
_I16: Final[Ir] = ir.IntType(16)


class Machine(ABC):
    """A GPU that LLVM writes text for. `name`: for messages; `convention`: of its kernels; `spaces`: address spaces;
    `scratch`: the one that LLVM's variables of a function are in."""

    name: str
    triple: str
    convention: str
    spaces: Mapping[str, int] = {"generic": 0, "global": 1, "shared": 3, "constant": 4, "local": 5, "param": 0}
    scratch: int
    flat: tuple[int, ...]
    """Address spaces whose addresses are those of generic memory."""
    scopes: Mapping[str, str | None]
    """Who sees what is ordered: of a block, a device, the system."""
    library: str
    """Where functions of mathematics are."""
    comment: str
    """What begins a comment in its text."""
    expands: bool
    """Whether the back end expands exponentials and logarithms by itself."""

    def pointer_bits(self, space: int) -> int:
        """Return the size of pointers into an address space."""
        return 64

    def symbol(self, name: str) -> str:
        """Return a name of the kernel IR as the machine's assemblers take it."""
        return name

    @abstractmethod
    def place(self, e: Emit, register: str) -> Ir | None:
        """Return `tid.x` and the like as i32; None: there is no such register."""

    @abstractmethod
    def barrier(self, e: Emit) -> None:
        """Write a barrier of the block."""

    @abstractmethod
    def ballot(self, e: Emit, predicate: Ir) -> Ir:
        """Return the lanes of the warp that are active and have a predicate, as i32."""

    @abstractmethod
    def read_lane(self, e: Emit, lane: Ir, value: Ir) -> Ir:
        """Return the i32 that another lane of the warp has."""

    @abstractmethod
    def lane(self, e: Emit) -> Ir:
        """Return the number of the lane in its warp."""

    @abstractmethod
    def warp_barrier(self, e: Emit, lanes: Ir | None) -> None:
        """Write a barrier of lanes of a warp (None: of all)."""

    def features(self, architecture: str) -> str:
        """Return what LLVM shall do otherwise than by default for an architecture."""
        return ""

    def attributes(self, threads: int | None) -> tuple[str, ...]:
        """Return what LLVM is told of a kernel, for blocks of so many threads (None: whatever it is launched with)."""
        return ()


class Amd(Machine):
    """GCN, CDNA and RDNA; `wave`: lanes of a wave."""

    name = "GCN"
    triple = "amdgcn-amd-amdhsa"
    convention = "amdgpu_kernel"
    scratch = 5
    flat = (0, 1, 4)
    scopes: Mapping[str, str | None] = {"block": "workgroup", "device": "agent", "system": None}
    library = "AMD's device library"
    comment = ";"
    expands = True

    def pointer_bits(self, space: int) -> int:
        """Return the size of pointers: 32 bits into LDS and scratch."""
        return 32 if space in (self.spaces["shared"], self.spaces["local"]) else 64

    def __init__(self, wave: int) -> None:
        self.wave = wave

    def features(self, architecture: str) -> str:
        """Return that registers of gfx1100 are named as assemblers before LLVM 20 have them too."""
        return "-real-true16" if architecture == "gfx1100" else ""

    def attributes(self, threads: int | None) -> tuple[str, ...]:
        """Return that a block has so many threads, by default as many as CUDA allows."""
        sizes = f"{threads},{threads}" if threads else "1,1024"
        # what the host hides behind the arguments is not asked for: sizes are in the dispatch packet
        hidden = '"amdgpu-no-implicitarg-ptr"'
        return (f'"amdgpu-flat-work-group-size"="{sizes}"', '"uniform-work-group-size"="true"', hidden)

    def place(self, e: Emit, register: str) -> Ir | None:
        """Return `tid.x` and the like as i32."""
        base, _, axis = register.partition(".")
        if base in ("tid", "ctaid"):
            kind = "workitem" if base == "tid" else "workgroup"
            return e.intrinsic(f"llvm.amdgcn.{kind}.id.{axis}", (), (), I32)
        if base == "ntid":
            return self._block_size(e, "xyz".index(axis))
        if base == "nctaid":
            number = "xyz".index(axis)
            block, threads = self._block_size(e, number), self._packet(e, 12 + 4 * number, I32)
            return e.b.udiv(threads, block)
        return self.lane(e) if register == "laneid" else None

    def _block_size(self, e: Emit, axis: int) -> Ir:
        return e.b.zext(self._packet(e, 4 + 2 * axis, _I16), I32)

    def _packet(self, e: Emit, offset: int, type: Ir) -> Ir:
        """Return what the dispatch packet holds at an offset."""
        packet = e.intrinsic("llvm.amdgcn.dispatch.ptr", (), (), pointer_type(4))
        return e.b.load(e.b.gep(packet, [I64(offset)], source_etype=I8), typ=type, align=min(4, type.width // 8))

    def lane(self, e: Emit) -> Ir:
        """Return the number of the lane in its warp: of the wave's lanes, modulo 32."""
        return e.b.and_(self._lane_of_wave(e), I32(_WARP - 1))

    def _lane_of_wave(self, e: Emit) -> Ir:
        low = e.intrinsic("llvm.amdgcn.mbcnt.lo", (), (I32(-1), I32(0)), I32)
        return low if self.wave == _WARP else e.intrinsic("llvm.amdgcn.mbcnt.hi", (), (I32(-1), low), I32)

    def barrier(self, e: Emit) -> None:
        """Write a barrier of the workgroup: what was written before is seen behind it."""
        e.b.fence("release", "workgroup")
        e.intrinsic("llvm.amdgcn.s.barrier", (), (), VOID)
        e.b.fence("acquire", "workgroup")

    def warp_barrier(self, e: Emit, lanes: Ir | None) -> None:
        """Write a barrier of a wave: its lanes run together, so only the order of accesses matters."""
        e.b.fence("release", "wavefront")
        e.intrinsic("llvm.amdgcn.wave.barrier", (), (), VOID)
        e.b.fence("acquire", "wavefront")

    def ballot(self, e: Emit, predicate: Ir) -> Ir:
        """Return the lanes of the warp that are active and have a predicate: of a wave of 64 lanes one half."""
        type = ir.IntType(self.wave)
        whole = e.intrinsic("llvm.amdgcn.ballot", (type,), (predicate,), type)
        if self.wave == _WARP:
            return whole
        start = e.b.zext(e.b.and_(self._lane_of_wave(e), I32(_WARP)), I64)
        return e.b.trunc(e.b.lshr(whole, start), I32)

    def read_lane(self, e: Emit, lane: Ir, value: Ir) -> Ir:
        """Return the i32 that another lane of the warp has, by way of LDS' crossbar: places are bytes."""
        if self.wave != _WARP:
            lane = e.b.or_(e.b.and_(lane, I32(_WARP - 1)), e.b.and_(self._lane_of_wave(e), I32(_WARP)))
        return e.intrinsic("llvm.amdgcn.ds.bpermute", (), (e.b.shl(lane, I32(2)), value), I32)


class Nvidia(Machine):
    """PTX."""

    name = "PTX"
    triple = "nvptx64-nvidia-cuda"
    convention = "ptx_kernel"
    scratch = 0
    flat = (0, 1)
    scopes: Mapping[str, str | None] = {"block": "block", "device": "device", "system": None}
    library = "NVIDIA's libdevice"
    comment = "//"
    expands = False

    def symbol(self, name: str) -> str:
        """Return a name as PTX takes it: letters, digits, `_` and `$`."""
        return re.sub(r"[^A-Za-z0-9_$]", lambda found: f"${ord(found[0]):x}$", name)

    def place(self, e: Emit, register: str) -> Ir | None:
        """Return `tid.x` and the like as i32."""
        if register.partition(".")[0] in ("tid", "ctaid", "ntid", "nctaid") or register == "laneid":
            return e.intrinsic(f"llvm.nvvm.read.ptx.sreg.{register}", (), (), I32)
        return None

    def barrier(self, e: Emit) -> None:
        """Write a barrier of the block."""
        e.intrinsic("llvm.nvvm.barrier.cta.sync.aligned.all", (), (I32(0),), VOID)

    def lane(self, e: Emit) -> Ir:
        """Return the number of the lane in its warp."""
        return e.intrinsic("llvm.nvvm.read.ptx.sreg.laneid", (), (), I32)

    def warp_barrier(self, e: Emit, lanes: Ir | None) -> None:
        """Write a barrier of lanes of a warp."""
        e.intrinsic("llvm.nvvm.bar.warp.sync", (), (I32(-1) if lanes is None else lanes,), VOID)

    def ballot(self, e: Emit, predicate: Ir) -> Ir:
        """Return the lanes of the warp that are active and have a predicate."""
        here = e.intrinsic("llvm.nvvm.activemask", (), (), I32)
        return e.intrinsic("llvm.nvvm.vote.ballot.sync", (), (here, predicate), I32)

    def read_lane(self, e: Emit, lane: Ir, value: Ir) -> Ir:
        """Return the i32 that another lane of the warp has."""
        here = e.intrinsic("llvm.nvvm.activemask", (), (), I32)
        return e.intrinsic("llvm.nvvm.shfl.sync.idx.i32", (), (here, value, lane, I32(_WARP - 1)), I32)


AMD: Final[Mapping[str, tuple[str, int]]] = {
    "gfx900": ("Vega 10", 64),
    "gfx90a": ("MI200", 64),
    "gfx942": ("MI300", 64),
    "gfx1030": ("RDNA 2", 32),
    "gfx1100": ("RDNA 3", 32),
}
"""Architectures: what has them, and how many lanes their waves have by default."""

NVIDIA: Final = ("sm_80", "sm_70", "sm_75", "sm_86", "sm_89", "sm_90", "sm_100")
