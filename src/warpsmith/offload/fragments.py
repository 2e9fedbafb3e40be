"""Which regions of a function become kernels.

    for (k …)                 sequential: stays on the host
        piv = A[k*N+k];       kind "single": one thread, so that A need not come back
        for (i …)             kind "nest": iterations become threads
            A[i*N+k] /= piv;

How the pieces of a port meet (offload/port.py is the only caller):

    choice.choose(request, failed) → Choice: drafts (original statements, no data yet) and refusals
    residency.place(request, drafts)
                                   → Placement(offload regions: tuple[Offload region, ...], failures: tuple[tuple[Draft,
                                   Reason], ...]);
                                     every draft is in exactly one offload region or has a failure
    kernels.build(request, offload region, draft, name)
                                   → Built: the fragment with its kernel, and the host statements that replace it
    transfers.insert(request, offload region, launches)
                                   → Moved(statements: tuple[Stmt, ...], transfers: tuple[Transfer, ...]): the scope's
                                     statements rewritten (allocations, launches, copies, frees). `launches:
                                     Mapping[Draft, tuple[Stmt, ...]]`: a Launch, then the draft's finals
    versions.version(scope, …)     → `if (guards) { rewritten scope } else { original scope }`
    captures.with_captures(...)    → (reference, candidate)

Everything up to transfers speaks of *original* statements: a draft owns consecutive statements of one block of the
original function (or the one statement that is the unbraced body of a loop or branch), and nothing else is moved.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct, field

from warpsmith.loops.prepared import RunChange
from warpsmith.offload.memory.presence import Resident
from warpsmith.offload.names import Names
from warpsmith.offload.plan import DeviceBuffer, OffloadOptions, Refusal
from warpsmith.offload.values.reductions import Accumulator
from warpsmith.offload.values.running import RunningKernel
from warpsmith.poly.effects.summaries import Summaries
from warpsmith.poly.facts import FunctionFacts, LoopFacts, PolyOptions
from warpsmith.poly.isl.space import Effort
from warpsmith.tree.nodes import For, Stmt
from warpsmith.tree.program import Assumption, Program
from warpsmith.tree.types import Symbol

__all__ = ["Draft", "DraftChoice", "HostUse", "OffloadRegion", "OffloadRequest", "Passes"]


class HostUse(Struct, frozen=True):
    """How a fragment uses one variable of the host.

    value   scalar that no fragment of the function writes on the device: host value passed at each launch
    cell    scalar that some fragment of the function writes: lives in a one-element buffer, treated like an array whose
            host address is `&symbol` (section [0, 1))
    buffer  array, or what a pointer points to
    A `value` is read on the host at the launch, so it counts as a host use there. `covers`: the cell is certainly
    written.
    `device_only`: a cell whose variable is declared by a statement that moved to the device, with all its uses: it
    needs a buffer, but has no host object any more and is never copied (nor captured).
    """

    symbol: Symbol
    kind: Literal["value", "cell", "buffer"]
    read: bool
    written: bool
    covers: bool = False
    device_only: bool = False


class Passes(Struct, frozen=True, eq=False):
    """A loop over two nests whose iterations are passes of one kernel, `turns` of them, an even number: each does so
    many `iterations` in tiles. `nests`: the two, with the loops of each that become threads."""

    nests: tuple[tuple[For, tuple[LoopFacts, ...]], tuple[For, tuple[LoopFacts, ...]]]
    iterations: int
    turns: int


class Draft(Struct, frozen=True, eq=False):
    """A fragment whose data have no offload region yet. Compares by identity.

    `statements` are what it replaces: consecutive statements of one block of the original function (a nest: the pragmas
    in front of the loop and the loop). `loops` are the loops that become threads, outermost first (none for "single").
    `locals` are variables declared outside that every thread owns. `finals` are host statements that stand directly
    after the launch: they give the user's live counters the value that the loop leaves in them (plain host writes of
    scalars that no buffer holds). `assumptions`: those of the loops' verdicts; its offload region must be versioned by
    the guarded ones. `accumulators`: what the threads of `loops` update together; `scan`: the
    running values that the one loop of `loops` has. `passes`: it is a loop of such, and `loops` are those of its first
    nest.
    """

    region: str
    kind: Literal["nest", "single"]
    statements: tuple[Stmt, ...]
    loops: tuple[LoopFacts, ...]
    uses: tuple[HostUse, ...]
    locals: tuple[Symbol, ...]
    finals: tuple[Stmt, ...]
    assumptions: tuple[Assumption, ...]
    accumulators: tuple[Accumulator, ...] = ()
    scan: RunningKernel | None = None
    passes: Passes | None = None


class DraftChoice(Struct, frozen=True):
    """The drafts of one function in source order, and the parallel loops that stay on the host."""

    drafts: tuple[Draft, ...]
    refusals: tuple[Refusal, ...]


class OffloadRequest(Struct, frozen=True):
    """What every part of offload needs to know about the function at hand.

    `facts` has the original function; new names come from `names` (names.py: `names.fresh("A_gpu")`);
    `summaries` is what `effects` may be given to save work; `changes` are the runs of the function that steps rewrote,
    `written` is the program as the user wrote it. `effort`: what all plans of the function share.
    """

    program: Program
    facts: FunctionFacts
    options: OffloadOptions
    poly: PolyOptions
    names: Names
    summaries: Summaries | None = None
    changes: tuple[RunChange, ...] = ()
    resident: Resident | None = None
    written: Program | None = None
    effort: Effort = field(default_factory=Effort)


class OffloadRegion(Struct, frozen=True, eq=False):
    """One scope with the fragments and buffers that live in it. Scopes of two offload regions never overlap.

    `scope`: consecutive statements of one block of the original function; either it reaches the end of its block or
    nothing that it declares is used after it (it may be wrapped in braces). `buffers`: at most one a host symbol; the
    buffer's symbol has storage "device" and type pointer to element (not const). `guards` are all conditions under
    which the offload region is right: those of its drafts, those of the sections, and the disjointness of the buffers;
    each must be usable at the scope's entry (versions.usable). `covers`: the drafts that certainly write a symbol's
    whole buffer, and read no older element of it. `holds_at`: sizes for which the guards hold, and the loops of the
    scope run long.
    """

    scope: tuple[Stmt, ...]
    drafts: tuple[Draft, ...]
    buffers: tuple[DeviceBuffer, ...]
    guards: tuple[Assumption, ...]
    covers: frozenset[tuple[Draft, Symbol]] = frozenset()
    resident: bool = False
    holds_at: Mapping[str, int] = field(default_factory=dict)
