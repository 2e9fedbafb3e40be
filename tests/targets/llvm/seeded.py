"""Bugs that are put into the writers of one thread (`PTX`) and of vectors (`VECTORS`), and into the writer and the
machine of GCN (`GCN`), each with a kernel of kernels.cu that shows it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import pytest
from llvmlite import ir
from msgspec.structs import replace

from warpsmith.simt.engine.kernel import KernelWriter
from warpsmith.simt.engine.lanes import Emit, element
from warpsmith.simt.engine.ops import integers
from warpsmith.simt.gcn import start
from warpsmith.simt.gcn.memory import GcnMemory
from warpsmith.simt.gcn.ops.table import OPERATIONS
from warpsmith.simt.gcn.wave import GcnWave, Symbols
from warpsmith.ssa.nodes import Branch, Constant
from warpsmith.targets.llvm import arithmetic, instructions, scalar, vector, vector_ops
from warpsmith.targets.llvm.addresses import Pointers
from warpsmith.targets.llvm.instructions import ThreadOps
from warpsmith.targets.llvm.machines import Amd, Nvidia
from warpsmith.targets.llvm.vector_ops import VectorOps

__all__ = ["GCN", "PTX", "VECTORS"]

Patch = pytest.MonkeyPatch
Bug = tuple[str, Callable[[Patch], None]]


def _wrap(patch: Patch, owner: Any, name: str, change: Callable[..., Any]) -> None:
    """Put `change(old, *arguments)` in the place of a function."""
    old = getattr(owner, name)
    patch.setattr(owner, name, lambda *given, **named: change(old, *given, **named))


def _set(patch: Patch, table: Mapping[str, Any], key: str, value: Any) -> None:
    patch.setitem(table, key, value)


def _without_offset(patch: Patch) -> None:
    _wrap(patch, Pointers, "pointer", lambda old, self, operand, detail: old(self, operand, replace(detail, offset=0)))


def _other_axis(patch: Patch) -> None:
    _wrap(patch, Nvidia, "place", lambda old, self, e, register: old(self, e, register.replace("nctaid", "ntid")))


def _zeros_into_phis(patch: Patch) -> None:
    def fill(old: Any, self: Any, block: Any, blocks: Any) -> None:
        kept = self.value
        self.value = lambda one: ir.Constant(element(one.type), 0) if isinstance(one, Constant) else kept(one)
        old(self, block, blocks)
        self.value = kept

    _wrap(patch, scalar._Writer, "_fill", fill)


def _swapped_arms(patch: Patch) -> None:
    def end(old: Any, self: Any, block: Any) -> None:
        last = block.terminator
        if isinstance(last, Branch) and last.construct == "?:":
            last = replace(last, then=last.other, other=last.then)
        old(self, replace(block, terminator=last))

    _wrap(patch, scalar._Writer, "_end", end)


def _swapped_lanes(patch: Patch) -> None:
    def source(old: Any, e: Emit, how: str, *given: Any) -> Any:
        return old(e, {"up": "down", "down": "up"}.get(how, how), *given)

    _wrap(patch, instructions, "shuffle_source", source)


def _logical_shift(patch: Patch) -> None:
    _set(patch, integers.INTEGERS, "ashr", integers.INTEGERS["lshr"])


def _no_barrier(patch: Patch) -> None:
    patch.setattr(Nvidia, "barrier", lambda self, e: None)


def _turned_vector(patch: Patch) -> None:
    _set(patch, instructions._SPECIAL, "load", lambda self, i: list(ThreadOps.load(self, i))[::-1])


# --- of vectors


def _store_of_all(patch: Patch) -> None:
    def store(old: Any, self: Any, k: Any, i: Any) -> Any:
        kept, k.mask = k.mask, k.everyone
        made = old(self, k, i)
        k.mask = kept
        return made

    _set(patch, vector_ops._OWN, "store", lambda self, k, i: store(VectorOps.store, self, k, i))


def _unblended(patch: Patch) -> None:
    patch.setattr(KernelWriter, "is_first", lambda self, target: True)


def _not_copied(patch: Patch) -> None:
    patch.setattr(KernelWriter, "leave_loops", lambda self, target, mask: None)


def _one_local_array(patch: Patch) -> None:
    def start(old: Any, k: Any, space: str) -> Any:
        if space != "local":
            return old(k, space)
        return k.e.splat(k.e.read(k.state, vector_ops.VectorWords.LOCALS))

    _wrap(patch, vector_ops, "_start", start)


def _goes_past_barriers(patch: Patch) -> None:
    patch.setattr(vector._Warp, "wait", lambda self, number: None, raising=False)


def _without_lanes_of_others(patch: Patch) -> None:
    def edge(old: Any, self: Any, target: str, mask: Any) -> None:
        self.frame.store(("pending", target), self.e.mask(0))
        old(self, target, mask)

    _wrap(patch, KernelWriter, "edge", edge)


def _offset_of_vectors(patch: Patch) -> None:
    patch.setattr(VectorOps, "_behind", lambda self, k, place, bytes_: place)


def _atomic_of_one_lane(patch: Patch) -> None:
    _wrap(patch, Emit, "remove_lowest", lambda old, self, mask: self.mask(0))


def _always(patch: Patch) -> None:
    def bits(old: Any, self: Any, predicate: Any) -> Any:
        return self.b.or_(old(self, predicate), self.mask(1))

    _wrap(patch, Emit, "bits", bits)


# --- of GCN


def _other_op(patch: Patch, name: str, other: str) -> None:
    """Let an operation be another one with the same operands."""
    patch.setitem(OPERATIONS, name, OPERATIONS[other])


def _write_of_all(patch: Patch) -> None:
    _wrap(
        patch,
        GcnWave,
        "write",
        lambda old, self, operand, values, lanes=None: old(self, operand, values, self.v[0] >= 0),
    )


def _carry_lost(patch: Patch) -> None:
    _wrap(patch, GcnWave, "write_mask", lambda old, self, operand, lanes: old(self, operand, lanes & False))


def _masks_of_inactive_lanes(patch: Patch) -> None:
    def write(self: GcnWave, operand: Any, lanes: Any) -> None:
        self.write_scalar(operand.first, self.width // 32, self.mask_of(lanes | ~self.active))

    patch.setattr(GcnWave, "write_mask", write)


def _one_scratch(patch: Patch) -> None:
    def made(old: Any, self: GcnMemory, addresses: Any, active: Any, size: int) -> Any:
        return replace(old(self, addresses, active, size), offsets=addresses.astype("int64"))

    _wrap(patch, GcnMemory, "_scratch", made)


def _swapped(old: Any, kernel: Any, launch: Any) -> bytes:
    raw = old(kernel, launch)
    return bytes(raw[8:16] + raw[:8] + raw[16:])


def _block_always_0(patch: Patch) -> None:
    _wrap(patch, start, "_coordinates", lambda old, number, sizes: old(0, sizes))


def _packet_of_blocks(patch: Patch) -> None:
    _wrap(
        patch,
        start,
        "_packet",
        lambda old, launch: old(replace(launch, block=(launch.block[0] + 1, *launch.block[1:]))),
    )


def _symbol_moved(patch: Patch) -> None:
    def value(old: Any, self: Symbols, symbol: Any, pc: int) -> Any:
        return old(self, replace(symbol, addend=symbol.addend + 8) if symbol.part.endswith("@lo") else symbol, pc)

    _wrap(patch, Symbols, "value", value)


GCN: Final[Mapping[str, Bug]] = {
    "inactive lanes are written": ("guarded", _write_of_all),
    "carries are lost": ("switched", _carry_lost),
    "masks have bits of inactive lanes": ("counted", _masks_of_inactive_lanes),
    "threads share their scratch memory": ("sorted_of_own", _one_scratch),
    "arguments change places": ("al", lambda patch: _wrap(patch, start, "_arguments", _swapped)),
    "all blocks are block 0": ("reversed", _block_always_0),
    "blocks are said to be larger": ("trips", _packet_of_blocks),
    "data are behind where they are": ("of_constants", _symbol_moved),
    "exec is narrowed the other way": (
        "guarded",
        lambda patch: _other_op(patch, "s_and_saveexec_b64", "s_andn2_saveexec_b64"),
    ),
    "a difference is turned round": ("of_four", lambda patch: _other_op(patch, "v_sub_u32", "v_subrev_u32")),
    "a signed shift is none": ("shifted", lambda patch: _other_op(patch, "v_ashrrev_i32", "v_lshrrev_b32")),
    "exchanges are pushed": ("exchanged", lambda patch: _other_op(patch, "ds_bpermute_b32", "ds_permute_b32")),
    "the writer takes blocks for threads": (
        "guarded",
        lambda patch: _wrap(patch, Amd, "place", lambda old, self, e, r: old(self, e, r.replace("ctaid", "tid"))),
    ),
    "the writer's arms of ?: are swapped": ("guarded", _swapped_arms),
    "the writer loses offsets": ("of_parts", _without_offset),
}


PTX: Final[Mapping[str, Bug]] = {
    "offsets of accesses are lost": ("of_parts", _without_offset),
    "the size of the grid is that of a block": ("shifted", _other_axis),
    "what is constant comes to phis as zero": ("trips", _zeros_into_phis),
    "arms of ?: are swapped": ("guarded", _swapped_arms),
    "shuffles go the other way": ("exchanged", _swapped_lanes),
    "a signed shift is none": ("shifted", _logical_shift),
    "barriers are left out": ("reversed", _no_barrier),
    "vectors are read from their end": ("of_four", _turned_vector),
    "maxima are unsigned": ("counted", lambda patch: _set(patch, instructions.UPDATES, "atomic_smax", "umax")),
    "signs are copied the other way": (
        "of_floats",
        lambda patch: _set(
            patch, arithmetic._OWN, "copysign", lambda e, o: e.intrinsic("llvm.copysign", (o[0].type,), o)
        ),
    ),
}
VECTORS: Final[Mapping[str, Bug]] = {
    "stores are of all lanes": ("sparse", _store_of_all),
    "phis forget lanes that came before": ("switched", _unblended),
    "lanes that left a loop have what others go on with": ("left", _not_copied),
    "threads share their arrays": ("sorted_of_own", _one_local_array),
    "barriers are passed": ("reversed", _goes_past_barriers),
    "lanes that came before are forgotten": ("switched", _without_lanes_of_others),
    "vectors are all their first element": ("of_four", _offset_of_vectors),
    "atomic operations are of one lane": ("counted", _atomic_of_one_lane),
    "lane 0 goes where it should not": ("guarded", _always),
    "minima are unsigned": ("counted", lambda patch: _set(patch, instructions.UPDATES, "atomic_smin", "umin")),
}
