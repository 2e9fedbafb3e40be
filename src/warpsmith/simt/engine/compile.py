"""A kernel becomes machine code of this host: LLVM IR by the writers of this folder, LLVM's own passes, its JIT.

Gathers are left to LLVM where processors have fast ones; elsewhere LLVM would make a branch for each lane, so lanes
read in turn (access.py), or inactive ones read a place that is there (indexed.py). What LLVM makes of it is kept on
disk (host/machine_code.py)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from llvmlite import ir
from msgspec import Struct
from msgspec.structs import replace

from warpsmith.simt.engine.access import Runtime
from warpsmith.simt.engine.drivers.driver import driver_function
from warpsmith.simt.engine.drivers.resident import resident_driver
from warpsmith.simt.engine.drivers.sliced import sliced_driver
from warpsmith.simt.engine.host.machine_code import LinkedCode, has_fast_gathers, link
from warpsmith.simt.engine.host.parts import split_module
from warpsmith.simt.engine.indexed import takes_indices
from warpsmith.simt.engine.instructions import Ops, access_of
from warpsmith.simt.engine.kernel import KernelWriter
from warpsmith.simt.engine.lanes import lanes_of
from warpsmith.simt.engine.observers.checks import Checks
from warpsmith.simt.engine.observers.lost import LOG_WORDS
from warpsmith.simt.engine.ops.seen import values_seen
from warpsmith.simt.engine.reading.affine import IndexedAddress, indexed_addresses
from warpsmith.simt.engine.reading.unused import unused_instructions
from warpsmith.simt.engine.writing.calls import number_functions
from warpsmith.simt.engine.writing.scheduled import ScheduledWriter
from warpsmith.simt.engine.writing.segments import Segment
from warpsmith.simt.layout import own_variables
from warpsmith.simt.meeting.waiting import is_grid_barrier
from warpsmith.ssa.nodes import Address, BasicBlock, Function, Instruction, Memory

__all__ = ["CompiledKernel", "compile_kernel", "number_parts", "write_kernel"]


class CompiledKernel(Struct, frozen=True, eq=False):
    """Machine code for warps of at most `lanes` lanes, and more than half as many: `linked` has the function
    `run(state, first, last)`. `sites`: its accesses in order, `sizes` their bytes a lane; `granule`: the bytes of a
    cell; `frame`: bytes of a warp's frame, 0 without barriers; `log`: of its log; `segments`: what is counted, in
    order; `callees`: the functions that it calls, and that they call."""

    function: Function
    lanes: int
    checks: Checks
    linked: LinkedCode
    sites: tuple[Instruction, ...]
    sizes: Mapping[Instruction, int]
    granule: int
    frame: int
    log: int
    segments: tuple[Segment, ...]
    ops: Ops
    callees: tuple[Function, ...] = ()

    @property
    def blocks(self) -> tuple[BasicBlock, ...]:
        """The blocks by their numbers: of the kernel, and of what it calls."""
        return tuple(block for one in (self.function, *self.callees) for block in one.blocks)


def compile_kernel(
    function: Function, width: int, checks: Checks, callees: tuple[Function, ...] = ()
) -> CompiledKernel:
    """Return the machine code of a kernel for warps of `width` lanes, and of its `callees` (reading/calls.py). It is
    compiled once for all launches, and for all widths whose vectors are as long; raises ValueError where its control
    flow has no order (linear.py)."""
    return _compile_uncached(function, lanes_of(width), checks, callees)


@lru_cache(maxsize=64)
def _compile_uncached(
    function: Function, lanes: int, checks: Checks, callees: tuple[Function, ...] = ()
) -> CompiledKernel:
    parts, writer, ops, granule = _write_once(function, lanes, replace(checks, quick=False), callees)
    linked = link(*parts, quick=checks.quick)
    frame = -(-writer.frame.size // 64) * 64 if writer.frame.base is not None else 0
    log = 8 * (LOG_WORDS if writer.part is not None else 1)
    sizes = {i: access_of(i).size for i in ops.sites}
    sites, segments = tuple(ops.sites), writer.segments
    return CompiledKernel(function, lanes, checks, linked, sites, sizes, granule, frame, log, segments, ops, callees)


@lru_cache(maxsize=2)
def _write_once(
    function: Function, lanes: int, checks: Checks, callees: tuple[Function, ...]
) -> tuple[tuple[str, ...], KernelWriter | ScheduledWriter, Ops, int]:
    """Return what `write_kernel` does, for this host: what is compiled quickly at first is often compiled well next."""
    return write_kernel(function, lanes, checks, callees, gathers=has_fast_gathers())


def write_kernel(
    function: Function, lanes: int, checks: Checks, callees: Sequence[Function] = (), *, gathers: bool
) -> tuple[tuple[str, ...], KernelWriter | ScheduledWriter, Ops, int]:
    """Return the LLVM IR of a kernel in parts, for vectors of `lanes`, and what was numbered in it."""
    module = ir.Module("kernel")
    accesses = [i for one in (function, *callees) for _, i in one.instructions() if isinstance(i.detail, Memory)]
    granule = min((access_of(i).aligned for i in accesses), default=4)
    granule = min([granule, *(access_of(i).size & -access_of(i).size for i in accesses)])
    ops = number_parts(function, accesses, callees)
    runtime = Runtime(module, lanes, checks, granule, gathers=gathers)
    linear, called = checks.turns == "linear", number_functions(function, callees)
    writer = KernelWriter(runtime, function, ops, called) if linear else ScheduledWriter(runtime, function, ops)
    writer.write()
    behind = [writer.ends.behind.get(barrier, 0) for barrier in ops.barriers]
    if checks.resident:
        grid = [number for number, barrier in enumerate(ops.barriers, 1) if is_grid_barrier(barrier)]
        make = sliced_driver if checks.sliced else resident_driver
        make(runtime.emit(), writer.warp, runtime.stop, behind, grid)
    else:
        driver_function(runtime.emit(), writer.warp, runtime.stop, behind, framed=writer.frame.base is not None)
    return split_module(module), writer, ops, granule


def number_parts(function: Function, accesses: list[Instruction], callees: Sequence[Function] = ()) -> Ops:
    """Return what instructions refer to, numbered; `accesses` are those of the kernel and of what it calls."""
    offsets: dict[str, int] = {}
    end = 0
    for parameter in function.parameters:
        end = -(-end // 16) * 16
        offsets[parameter.name] = end
        end += parameter.bytes
    functions = (function, *callees)
    everything = (i for one in functions for _, i in one.instructions())
    named = dict.fromkeys(i.detail.symbol for i in everything if isinstance(i.detail, Address))
    places = {name: number for number, name in enumerate(named)}
    # what a function is given, and where its own arrays are, differs between its calls
    found = [*indexed_addresses(function).items()]
    own = {one.name: own_variables(one) for one in callees}
    found += [pair for one in callees for pair in indexed_addresses(one).items() if _is_fixed(pair[1], own[one.name])]
    indexed = {i: address for i, address in found if takes_indices(access_of(i), address.indexing)}
    sites = {i: number for number, i in enumerate(accesses)}
    seen = frozenset(value for one in functions for value in values_seen(one))
    ops = Ops(sites, offsets, places, seen, indexed)
    unused = (i for one in functions for i in unused_instructions(one, ops.operands))
    return replace(ops, unused=frozenset(unused))


def _is_fixed(address: IndexedAddress, own: frozenset[str]) -> bool:
    """Whether the parts of an address are the same in all calls of a function with these `own` variables."""
    return all(isinstance(part.detail, Address) and part.detail.symbol not in own for part in address.parts)
