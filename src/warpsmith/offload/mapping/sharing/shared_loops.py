"""Which loops of a kernel several threads go through together, and a thread's body then.

    rows       neighboring iterations of the loop read neighbors in memory, neighboring threads do not: the lanes of a
               warp share it
    columns    the other way round: threads of a block above one another do, where a launch has few threads

Without a step that says so, all loops of a thread must be such, since the threads that share them do the rest of its
work all over again. A launch whose loops are short leaves a thread to each iteration.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Literal

from msgspec import Struct

from warpsmith.base.verdict import Reason
from warpsmith.offload.decisions import Decided
from warpsmith.offload.expressions import binary, number, wide
from warpsmith.offload.fragments import Draft, OffloadRegion, OffloadRequest
from warpsmith.offload.mapping.mapping import ThreadMapping, large_axes
from warpsmith.offload.mapping.own_variables import OwnVariables
from warpsmith.offload.mapping.ranges import launch_ranges, trip_count
from warpsmith.offload.mapping.sharing.block_waits import find_parting
from warpsmith.offload.mapping.sharing.judged_loops import (
    JudgedLoop,
    SharingQuestion,
    find_stores,
    judge_loop,
    own_variables,
)
from warpsmith.offload.mapping.sharing.shared_text import SharingVariables, write_shared
from warpsmith.offload.mapping.tiling import TilesRefusedError
from warpsmith.offload.values.reductions import Accumulator, is_parallel, is_reduction
from warpsmith.offload.values.tested import find_tested
from warpsmith.poly.effects.summaries import Summaries
from warpsmith.poly.isl.bound_values import constant
from warpsmith.tree.nodes import Binary, Expr, For, Loop, Node, Stmt
from warpsmith.tree.printing.printer import print_expr
from warpsmith.tree.program import WARP, SharingThreads
from warpsmith.tree.types import INT, LONG_LONG, Scalar, Symbol, is_float
from warpsmith.tree.walk import children, loop_names, loops, names, walk

__all__ = ["COLUMN", "SharedLoops", "SharingRequest", "share_loops"]

COLUMN: Final = 16
"""Threads of a block above one another that share a loop."""
_LONG: Final = 2 * WARP
"""Iterations of a loop that give each lane two: fewer are sooner done by one thread."""
_FEW: Final = 32_768
"""Iterations that are few threads for a device, where each has one."""
_NEAR: Final = 4
"""Elements apart that a warp reads with few sectors."""
_FARTHEST: Final = 2**31 - 1


class SharingRequest(Struct, frozen=True):
    """A kernel whose warps may share loops: its thread's body until now, and the variables of the host that its launch
    passes on as they are."""

    request: OffloadRequest
    region: OffloadRegion
    draft: Draft
    heads: tuple[For, ...]
    mapping: ThreadMapping
    text: Stmt
    own: OwnVariables
    passed: frozenset[Symbol]

    @property
    def decided(self) -> Decided:
        """What steps have decided in the function."""
        return Decided.of(self.request.program, self.request.facts.function)

    def is_independent(self, loop: For) -> bool:
        """Whether iterations of a loop of the body are known to be independent, but for values that they combine in
        variables, by what is tested before the launch."""
        original = next((one for one, _ in loops(self.heads[-1].body) if _is_made_from(loop, one)), None)
        facts = None if original is None else self.request.facts.of(original)
        if facts is None or find_tested((facts,), (*self.draft.assumptions, *self.region.guards)):
            return False
        scalar = all(isinstance(one.variable.type, Scalar) for one in facts.reductions)
        return is_parallel(facts) or (is_reduction(facts) and scalar)


class SharedLoops(Struct, frozen=True):
    """The body in which `threads`, in the host's names, share the loops of these addresses; `inside`: the variable that
    says whether a thread is one of the launch, where all of a block run the body; `notes`: in what way results may
    depend on the order in which threads combine them."""

    body: Stmt
    threads: SharingThreads
    inside: Symbol | None
    loops: tuple[str, ...]
    notes: tuple[str, ...]
    reordered: bool


def share_loops(request: SharingRequest) -> SharedLoops | None:
    """Return the kernel's body with loops that threads share; None where every thread goes through its own. Raises
    TilesRefusedError where a step wants what cannot be."""
    decided = request.decided.shares
    asked = [(loop, decided[loop].width) for loop, _ in loops(request.heads[-1].body) if loop in decided]
    wanted = [loop for loop, width in asked if width > 1]
    found = _find(request, wanted)
    if not wanted:
        return None if asked or isinstance(found, Reason) else _share_by_itself(request, found)
    widths = {width for _, width in asked}
    if isinstance(found, Reason):
        raise TilesRefusedError(found)
    if len(widths) > 1:
        text = "the loops of one kernel are shared by the same threads"
        raise TilesRefusedError(Reason("STP003", text, wanted[-1].header))
    column = widths == {COLUMN}
    tested = [condition for one in found for condition in _find_long(request, one.loop) or ()]
    made = _write(request, found, tested, column=column)
    parting = _parting(request, made)
    if parting is not None:
        raise TilesRefusedError(parting)
    return made


def _share_by_itself(request: SharingRequest, found: Sequence[JudgedLoop]) -> SharedLoops | None:
    """Return the body with shared loops where that is worth while, and a launch can tell."""
    way = _find_way(request, found)
    conditions = [_find_long(request, one.loop) for one in found]
    if way is None or any(one is None for one in conditions):
        return None
    tested = [condition for one in conditions for condition in one or ()]
    if way == "rows":
        return _write(request, found, tested, column=False)
    ranges = launch_ranges(request.heads)
    if ranges is None:
        return None
    ((_, count),) = ranges
    fewest = constant(count)
    if fewest is None:
        tested.append(binary("<", count, number(_FEW, request.heads[0].span), INT))
    elif fewest >= _FEW:
        return None
    made = _write(request, found, tested, column=True)
    return made if _parting(request, made) is None else None


def _find(request: SharingRequest, wanted: Sequence[Loop]) -> tuple[JudgedLoop, ...] | Reason:
    """Return the outermost loops of a thread that others may share; all those that are `wanted`, if some are."""
    header, mapping = request.heads[-1].header, request.mapping
    if mapping.axes != ("x",) or mapping.block[0] % WARP or large_axes(request.heads, mapping):
        text = "threads share loops of kernels that have one loop as threads, in blocks of whole warps"
        return Reason("STP002", text, header)
    if request.draft.accumulators or request.draft.scan is not None or request.draft.passes is not None:
        return Reason("STP002", "the threads of this kernel combine values already", header)
    own = own_variables(request.text, request.draft.locals)
    summaries = request.request.summaries or Summaries.of(request.request.program)
    stores = find_stores(request.text, own, summaries)
    if isinstance(stores, Reason):
        return stores
    question = SharingQuestion(request.text, own, stores, request.is_independent, request.request.options.precise_fp)
    found: list[JudgedLoop] = []
    reasons: list[Reason] = []
    for loop in _outermost((request.text,), found):
        if wanted and not any(_is_made_from(loop, one) for one in wanted):
            continue
        one = judge_loop(loop, question)
        if isinstance(one, JudgedLoop):
            found.append(one)
        else:
            reasons.append(one)
    lacking = [one for one in wanted if not any(_is_made_from(each.loop, one) for each in found)]
    if lacking or not found:
        nothing = Reason("STP002", "the kernel's threads go through no counted loop of this kind", header)
        return reasons[0] if reasons else nothing
    return tuple(found)


def _outermost(parts: Iterable[Node], found: Sequence[JudgedLoop]) -> Iterator[For]:
    """Yield the counted loops of some nodes, and those inside one unless it was put into `found` meanwhile."""
    for part in parts:
        if isinstance(part, For):
            yield part
            if any(one.loop is part for one in found):
                continue
        yield from _outermost(children(part), found)


def _is_made_from(loop: Loop, original: Loop) -> bool:
    """Whether a loop of a thread's body is the user's, which may have values in registers now."""
    alike = isinstance(loop, For) and isinstance(original, For) and loop.variable == original.variable
    return alike and loop.header == original.header


# --- whether it is worth while, and when


def _find_way(request: SharingRequest, found: Sequence[JudgedLoop]) -> Literal["rows", "columns"] | None:
    """Return how threads that share loops read memory at least as well as others, and do no work twice that is worth
    mention; None: they do not."""
    decision = request.decided.threads(request.draft.loops[0].loop)
    if decision is not None and decision.block:
        return None
    shared = {id(one.loop) for one in found}
    for loop, around in loops(request.text):
        inside = any(id(part) in shared for part in (loop, *around))
        if not inside and not any(id(part) in shared for part in walk(loop)):
            return None
    ways = {_reads(request, one.loop) for one in found}
    return ways.pop() if len(ways) == 1 else None


def _reads(request: SharingRequest, loop: For) -> Literal["rows", "columns"] | None:
    """Return whether arrays are read one element after the other in the loop, and apart by neighboring threads, or the
    other way round; None where some are so and some so, or neither."""
    inside = {id(part) for part in walk(loop)}
    head = request.heads[-1].variable
    strides = [
        (access.strides.get(loop.variable, 0), access.strides.get(head, 0))
        for access in request.draft.loops[0].accesses
        if id(access.expr) in inside
    ]
    rows = any(_is_near(along) and not _is_near(across) and across != 0 for along, across in strides)
    columns = any(_is_near(across) and not _is_near(along) and along != 0 for along, across in strides)
    if rows == columns:
        return None
    return "rows" if rows else "columns"


def _is_near(stride: int | None) -> bool:
    """Whether steps of so many elements lead to neighbors in memory."""
    return stride is not None and 0 < abs(stride) <= _NEAR


def _find_long(request: SharingRequest, loop: For) -> tuple[Expr, ...] | None:
    """Return what a launch must hold for the loop to be long, and for no counter to run over its end; None where that
    cannot be tested before it."""
    trips = trip_count(loop, {})
    if trips is not None:
        return () if trips >= _LONG else None
    head = request.heads[-1]
    used = {use.symbol for part in (loop.lower, loop.bound) for use in names(part)}
    # half of a triangle's rows are that long
    tested, least = (head, 2 * _LONG) if head.variable in used else (loop, _LONG)
    used |= {use.symbol for part in (tested.lower, tested.bound) for use in names(part)}
    if not used <= {*request.passed, head.variable}:
        return None
    span, first, least = tested.span, constant(tested.lower), least * abs(tested.step)
    if first is not None and tested.step > 0:
        return (binary(">=", tested.bound, number(first + least, span), INT),)
    up, down = (tested.bound, tested.lower) if tested.step > 0 else (tested.lower, tested.bound)
    return (binary(">=", binary("-", wide(up), wide(down)), number(least, span), INT),)


def _parting(request: SharingRequest, made: SharedLoops) -> Reason | None:
    """Return why not all threads of a block may come to where they wait for one another."""
    parting = find_parting(made.body, request.passed)
    if parting is None:
        return None
    text = "threads of a block wait for one another behind a shared loop, and here they may part before"
    return Reason("STP002", text, parting.span, legal_if=("by=warp",))


def _has_room(loop: For) -> bool:
    """Whether the counter of a loop cannot run over the end of its type when threads move on by a warp's width."""
    type, ends = loop.variable.type, (constant(loop.lower), constant(loop.bound))
    wide_enough = isinstance(type, Scalar) and type.bits > 32
    return wide_enough or all(end is not None and end + WARP * loop.step <= _FARTHEST for end in ends)


# --- the body


def _write(
    request: SharingRequest, found: Sequence[JudgedLoop], tested: Sequence[Expr], *, column: bool
) -> SharedLoops:
    own = own_variables(request.text, request.draft.locals)
    summaries = request.request.summaries or Summaries.of(request.request.program)
    stores = find_stores(request.text, own, summaries)
    assert not isinstance(stores, Reason), "asked before"
    span = request.heads[-1].span
    near: list[Expr] = []
    ahead: dict[For, Symbol] = {}
    for one in found:
        if _has_room(one.loop):
            continue
        ends = [end for end in (one.loop.lower, one.loop.bound) if constant(end) is None]
        if {use.symbol for end in ends for use in names(end)} <= request.passed:
            last = number(_FARTHEST - WARP * one.loop.step, one.loop.span)
            near += [binary("<=", end, last, INT) for end in ends]
        else:
            ahead[one.loop] = request.own.make(f"{one.loop.variable.name}_at", LONG_LONG, span)
    rank = request.own.make("row" if column else "lane", INT, span)
    count = request.own.make("Rows" if column else "Lanes", INT, span)
    inside = request.own.make("inside", INT, span) if column else None
    body = write_shared(request.text, found, stores, SharingVariables(rank, count, ahead, inside))
    addresses = loop_names(request.request.facts.function)
    originals = [loop for loop, _ in loops(request.heads[-1].body)]
    named = [next(addresses[o] for o in originals if _is_made_from(one.loop, o)) for one in found]
    together = [each for one in found for each in one.together]
    notes = tuple(note for one, loop in zip(found, named, strict=True) for note in _order_notes(loop, one.together))
    rounded = any(each.is_rounded for each in together)
    threads = SharingThreads(rank, count, COLUMN if column else WARP, column, _join(*tested, *near))
    return SharedLoops(body, threads, inside, tuple(named), notes, rounded)


def _join(*conditions: Expr) -> tuple[Expr, ...]:
    """Return conditions without those that others say: `m >= 64` beside `m >= 65`."""
    kept: dict[str, Expr] = {}
    for one in conditions:
        assert isinstance(one, Binary), "a comparison with a number"
        key, limit = f"{print_expr(one.left)} {one.op}", constant(one.right)
        before = kept.get(key)
        last = constant(before.right) if isinstance(before, Binary) else None
        stronger = last is None or limit is None or (limit > last) == (one.op == ">=")
        kept[key] = one if stronger else kept[key]
    return tuple(kept.values())


def _order_notes(loop: str, together: Sequence[Accumulator]) -> Iterator[str]:
    """Yield in what way results may depend on the order in which lanes combine them."""
    if any(one.is_rounded for one in together):
        yield f"the floating-point numbers that {loop} sums up are combined in another order, the same in every run"
    if any(is_float(one.type) and not one.is_rounded for one in together):
        yield f"where a value is NaN, the extreme that {loop} finds depends on the order of iterations, which changes"
