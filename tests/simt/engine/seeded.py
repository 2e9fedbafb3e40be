"""Bugs that are put into the code generator, one at a time, and a kernel that shows each.

A bug replaces one function of the generator while a kernel is compiled. `case`: a random kernel, or one written for it,
with which the compiled machine and the interpreter then differ.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from msgspec import Struct
from msgspec.structs import replace

from tests.simt.engine.agree import Case, Differs, agree
from tests.simt.engine.cooperative import KERNELS, grid_case, module_of
from tests.simt.engine.kernels import random_case
from tests.simt.engine.ops.test_asked import fetch_case
from tests.simt.engine.ops.test_exchange import tile_case
from tests.simt.engine.ops.test_halves import fused_case, ties_case
from tests.simt.engine.ops.test_seen import nan_case
from tests.simt.engine.recursive import ENDS, FORGOTTEN, LEFT, RECURSIVE, Recursive, case_of, text_case
from tests.simt.engine.spinning import KERNELS as SPINNING
from tests.simt.engine.spinning import agree_spinning, spin_case
from tests.simt.engine.test_instructions import SHAPES, op_case
from tests.simt.test_interpreter import kernel as kernel_of
from warpsmith.simt.engine import engine, indexed, instructions
from warpsmith.simt.engine import kernel as kernel_module
from warpsmith.simt.engine.access import AccessWriter
from warpsmith.simt.engine.drivers.resident import ResidentDriver
from warpsmith.simt.engine.drivers.sliced import _Sliced
from warpsmith.simt.engine.host.answers import Answers
from warpsmith.simt.engine.instructions import Ops
from warpsmith.simt.engine.kernel import FunctionWriter, KernelWriter
from warpsmith.simt.engine.lanes import I1, I32, I64, Emit
from warpsmith.simt.engine.observers import different, races
from warpsmith.simt.engine.observers.charges import Charges
from warpsmith.simt.engine.observers.requests import _Counted
from warpsmith.simt.engine.ops import directed, exchange, halves, integers
from warpsmith.simt.engine.reading.levels import _Search
from warpsmith.simt.engine.resident import Rooms
from warpsmith.simt.engine.tables import LaunchTables
from warpsmith.simt.engine.values import Homes
from warpsmith.simt.engine.words import GIVES_WAY, LaunchWords, RequestWords, SiteWords
from warpsmith.simt.engine.writing.blocks import COUNTERS, BlockWriter
from warpsmith.simt.engine.writing.calls import to_bits
from warpsmith.simt.engine.writing.ends import Ends
from warpsmith.simt.launch import Launch
from warpsmith.ssa.nodes import Convert, Return
from warpsmith.ssa.types import F16, Type

__all__ = ["BUGS", "Bug", "planted", "shown"]


class Bug(Struct, frozen=True):
    """`name` of `owner` (a class, a module, a table) is replaced by what `make` makes of it."""

    what: str
    owner: Any
    name: str
    make: Callable[[Any], Any]
    case: Callable[[], Case]
    against: Callable[[Case], str] = agree


@contextmanager
def planted(bug: Bug) -> Iterator[None]:
    """Put a bug into the code generator for a while."""
    if isinstance(bug.owner, dict):
        right = bug.owner[bug.name]
        bug.owner[bug.name] = bug.make(right)
        try:
            yield
        finally:
            bug.owner[bug.name] = right
        return
    right = bug.owner.__dict__[bug.name]
    plain = right.__func__ if isinstance(right, classmethod) else right
    wrong = bug.make(plain)
    setattr(bug.owner, bug.name, classmethod(wrong) if isinstance(right, classmethod) else wrong)
    try:
        yield
    finally:
        setattr(bug.owner, bug.name, right)


def shown(bug: Bug) -> bool:
    """Whether its kernel shows a bug."""
    with planted(bug):
        try:
            bug.against(bug.case())
        except Differs:
            return True
    return False


# --- kernels


def _random(seed: int) -> Callable[[], Case]:
    return lambda: random_case(seed)


def _op(name: str) -> Callable[[], Case]:
    """Return a kernel of one op on awkward numbers."""
    shape = next(shape for shape in SHAPES if shape[0] == name)
    return lambda: op_case(shape, 0)


def _op_of(name: str, type: Type) -> Callable[[], Case]:
    """Return a kernel of one op, in a type."""
    shape = next(shape for shape in SHAPES if shape[0] == name and shape[1][0] == type)
    return lambda: op_case(shape, 0)


def _directed(name: str) -> Callable[[], Case]:
    """Return a kernel of one op that rounds up."""
    shape = next(shape for shape in SHAPES if shape[0] == name and getattr(shape[3], "rounding", "") == "up")
    return lambda: op_case(shape, 0)


def _ptx(body: str, threads: int = 32) -> Callable[[], Case]:
    arrays = {"out": (struct.pack("<64I", *range(64)), True)}
    launch = Launch(block=(threads, 1, 1), arguments={"n": bytes(4)})
    return lambda: Case(kernel_of(body), "k", launch, arrays)


_SHUFFLE = """
    shfl.sync.down.b32 %r2|%p1, %r1, 3, 31, -1; selp.u32 %r2, %r2, 99, %p1; st.global.u32 [%rd3], %r2; ret;"""
_GAPS = """
    and.b32 %r2, %r1, 1; setp.eq.u32 %p1, %r2, 0; @%p1 bra $end;
    st.global.u32 [%rd3], %r1;
$end: ret;"""
_READERS = """
    .shared .align 4 .b8 s[4];
    setp.eq.u32 %p1, %r1, 0; @!%p1 bra $a; st.shared.u32 [s], 1;
$a: bar.sync 0; setp.lt.u32 %p1, %r1, 2; @!%p1 bra $b; ld.shared.u32 %r2, [s];
$b: setp.eq.u32 %p1, %r1, 1; @!%p1 bra $c; st.shared.u32 [s], 2;
$c: ret;"""
_TWICE = """
    mov.u32 %r2, 0;
$outer: mov.u32 %r3, 0;
$inner: setp.eq.u32 %p1, %r1, %r2;
    @%p1 bra $found;
    add.u32 %r3, %r3, 1; setp.lt.u32 %p2, %r3, 2;
    @%p2 bra $inner;
    bra $tail;
$found: setp.lt.u32 %p1, %r1, 2;
    @%p1 bra $done;
$tail: add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, 3;
    @%p2 bra $outer;
$done: st.global.u32 [%rd3], %r2; ret;"""
_AROUND = """
    mov.u32 %r2, 0; mov.u32 %r3, 0;
$top: add.u32 %r2, %r2, 1; xor.b32 %r4, %r2, %r1; and.b32 %r4, %r4, 3; setp.eq.u32 %p1, %r4, 0;
    @%p1 bra $top;
    add.u32 %r3, %r3, %r4; setp.gt.u32 %p2, %r3, 9; @%p2 bra $done;
    bra $top;
$done: st.global.u32 [%rd3], %r3; ret;"""
_NEIGHBORS = """
    mov.u32 %r4, 0; mov.u32 %r5, 0; xor.b32 %r2, %r1, 1; mul.wide.u32 %rd5, %r2, 4; add.s64 %rd6, %rd1, %rd5;
$top: ld.global.u32 %r3, [%rd6]; add.u32 %r4, %r4, %r3; add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, 3; @%p1 bra $top;
    st.global.u32 [%rd3+128], %r4; ret;"""
_BANKS = """
    .shared .align 4 .b8 s[4096];
    shl.b32 %r2, %r1, 7; mov.u32 %r3, s; add.u32 %r4, %r3, %r2; st.shared.u32 [%r4], 1; ret;"""


# --- the bugs


def _no_copies(right: Any) -> Any:
    """Values that leave a loop are overwritten in lanes that have left it."""
    return lambda cls, *given, **more: replace(right(cls, *given, **more), copied={})


def _always(right: Any) -> Any:
    """A question is always answered by yes."""
    return lambda self, *given: True


def _nothing(right: Any) -> Any:
    """Nothing is written."""
    return lambda self, *given: None


def _no_indices(right: Any) -> Any:
    """What accesses read in place of their addresses is not kept for other blocks."""
    return lambda cls, function, graph, split, operands, **more: right(cls, function, graph, split, **more)


def _no_index(right: Any) -> Any:
    """What accesses read in place of their addresses counts as unused."""
    return lambda self, i: i.operands[1:] if i in self.indexed else right(self, i)


def _always_together(right: Any) -> Any:
    """Lanes that are anywhere are taken for lanes side by side."""

    def look_together(self: Any) -> None:
        right(self)
        self.together = I1(1)

    return look_together


def _swapped(right: Any) -> Any:
    """Sectors are counted as pieces, and pieces as sectors."""

    def counts(e: Any, least: Any, numbers: Any, shift: int) -> Any:
        both = right(e, least, numbers, shift)
        first, second = (e.b.extract_value(both, at) for at in range(2))
        return e.b.insert_value(e.b.insert_value(both, second, 0), first, 1)

    return counts


def _edge(self: KernelWriter, target: str, mask: Any) -> None:
    """The way that comes last is the only one."""
    e, before = self.e, self.block.name
    for phi in self.blocks[target].phis:
        made = self.value(dict(phi.incoming)[before])
        old = self.frame.load(phi.result, made.type)
        self.frame.store(phi.result, e.b.select(e.unpack_mask(mask), made, old))
    self.frame.store(("pending", target), mask)


def _phis_in_turn(self: KernelWriter, target: str, mask: Any) -> None:
    """Phis are written in all lanes, not only in those that come."""
    e, before = self.e, self.block.name
    for phi in self.blocks[target].phis:
        self.frame.store(phi.result, self.value(dict(phi.incoming)[before]))
    self.frame.store(("pending", target), e.b.or_(self.pending(target), mask))


def _wrapping_shift(name: str) -> Callable[[Any], Any]:
    def emit(e: Emit, i: Any, o: list[Any], active: Any) -> Any:
        n = e.b.and_(o[1], e.splat_constant(I32, 31))
        return getattr(e.b, name)(o[0], integers.resize_lanes(e, n, o[0].type.element))

    return lambda right: emit


def _without_zero(right: Any) -> Any:
    def emit(e: Emit, i: Any, o: list[Any], active: Any) -> Any:
        one = e.splat_constant(I32, 1)
        return right(e, i, [o[0], e.b.or_(o[1], one)], active)

    return emit


def _count(self: BlockWriter, which: int) -> Any:
    """Visits and lanes are counted for the block that comes next in the table."""
    return self.e.word(self.counters, COUNTERS * self.segment + (which + 1) % 2)


def _runs(self: _Counted) -> Any:
    """Lanes that are missing in between are not noticed."""
    return I1(1)


def _tight(right: Any) -> Any:
    """Sums of a request are kept where its last region is."""

    def count_once(self: AccessWriter, there: Any) -> None:
        e = self.e
        sums = e.pointer(e.read(self.site, SiteWords.SUMS))
        with e.b.if_then(e.b.icmp_unsigned("==", there, self.mask)):
            e.b.call(self.request, [sums, self.addresses, self.mask])

    return count_once


def _no_conflict(right: Any) -> Any:
    return lambda self: I1(0)


def _forgets_several(right: Any) -> Any:
    """Of several readers only the last is kept."""
    return lambda self: self.b.or_(
        self.b.and_(self.word, I64(~(((1 << 21) - 1) << self.shift) & (2**64 - 1))),
        self.b.shl(self._make_word(1), I64(self.shift)),
    )


def _same_local(right: Any) -> Any:
    """All threads have one local memory."""

    def region(self: LaunchTables, place: Any, words: Any, *steps: Any) -> None:
        right(self, place, {word: number for word, number in words.items() if word.name != "STRIDE"}, *steps)

    return region


def _never_cleared(right: Any) -> Any:
    return lambda self, address, size: None


def _always_inside(right: Any) -> Any:
    def source(e: Any, how: str, lane: Any, other: Any, clamp: Any) -> Any:
        found, inside = right(e, how, lane, other, clamp)
        return found, e.b.or_(inside, e.b.not_(inside))

    return source


def _no_join(right: Any) -> Any:
    """Lanes that leave a loop at one branch share an entry, whenever they entered the loop."""

    def joined(self: KernelWriter, branch: Any) -> Any:
        flag, since = right(self, branch)
        return flag, I64(0) if self.graph.cycles_around(self.block.name) else since

    return joined


def _one_phase(right: Any) -> Any:
    """The banks serve 64 lanes at once."""

    def banks(self: _Counted) -> None:
        e = self.e
        worst = e.slot(I64)
        e.b.store(I64(0), worst)
        self.phase(e.b.and_(self.mask, e.mask((1 << (e.lanes // 2)) - 1)), worst)
        self.add(RequestWords.CONFLICTS, e.b.load(worst, typ=I64))

    return banks


def _keeps_epoch(right: Any) -> Any:
    """A barrier of the warp is no barrier for who looks for races."""
    return lambda k, operands: None


def _unsettled(self: instructions.Ops, k: Any, i: Any, made: Any) -> Any:
    return made


def _towards_zero(right: Any) -> Any:
    return lambda form, how, nan, flush: right(form, "zero", nan, flush)


def _rounded_twice(e: Emit, a: Any, b: Any, c: Any) -> Any:
    return e.intrinsic("llvm.fma", (a.type,), (a, b, c))


def _reversed(right: Any) -> Any:
    return lambda self, i, operands: right(self, i, operands[::-1])


def _nearest_only(right: Any) -> Any:
    return dict.fromkeys(right, 1)


def _without_subnormals(right: Any) -> Any:
    return lambda own, flush: right(own, True)


def _one_group(right: Any) -> Any:
    """Lanes exchange with all that are there, whomever they name."""

    def together(k: Any, masks: Any) -> Any:
        right(k, masks)
        return k.e.splat(exchange._bits32(k, k.mask))

    return together


def _no_ends(right: Any) -> Any:
    """Nobody looks who has gone past a barrier."""
    return lambda cls, function, graph: cls({}, {})


def _all_come_back(right: Any) -> Any:
    """Lanes that end in a call go on behind it."""
    return lambda self, back: right(self, self.mask)


def _one_level(right: Any) -> Any:
    """All calls of a function have the same arrays."""
    return lambda self: None


def _remembered(right: Any) -> Any:
    """Sites remember the arrays of calls that are over."""
    return lambda runtime, sites: right(runtime, 0)


def _of_kernels(right: Any) -> Any:
    """Who left a loop is looked up as in a kernel, which is in one activation of it at a time."""
    return lambda self, branch: KernelWriter.leaves(self, branch)


def _all_return(right: Any) -> Any:
    """The lanes that return last give all of them their results."""

    def end(self: FunctionWriter, block: Any) -> None:
        right(self, block)
        if isinstance(block.terminator, Return):
            for slot, operand in zip(self.made, block.terminator.operands, strict=True):
                self.e.b.store(to_bits(self.e, self.value(operand), operand.type.bytes), slot)

    return end


def _one_for_all(*words: LaunchWords) -> Callable[[Any], Any]:
    """All blocks that are resident together have one and the same of something."""
    return lambda right: lambda self, word, first, step: right(self, word, first, 0 if word in words else step)


def _no_steps(right: Any) -> Any:
    """What blocks own is in one place for all."""
    return lambda self, place, words, steps=None: right(self, place, words)


def _same_epoch(right: Any) -> Any:
    """A barrier of the grid is none for who looks for races."""

    def open_(self: Rooms) -> bool:
        before = int(self.state[LaunchWords.GRID])
        opened: bool = right(self)
        self.state[LaunchWords.GRID] = before
        return opened

    return open_


def _goes_away(right: Any) -> Any:
    """Blocks that give way have ended."""
    return lambda self: not (self.waits == GIVES_WAY).any() and right(self)


def _opens_early(right: Any) -> Any:
    """Barriers open while warps are to come that gave way."""
    return lambda self: ResidentDriver.stays(self)


def _spin(name: str) -> Callable[[], Case]:
    return lambda: _new(spin_case, SPINNING[name])


def _new(make: Callable[[str], Case], body: str) -> Case:
    """Return the case of a kernel that has not been compiled."""
    module_of.cache_clear()
    return make(body)


def _agree_impatiently(case: Case) -> str:
    """Compare, and do not wait long for blocks that wait."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "PATIENCE", 200_000)
        return agree_spinning(case)


def _grid(name: str) -> Callable[[], Case]:
    return lambda: _new(grid_case, KERNELS[name])


_PAST = "setp.lt.u32 %p1, %r1, 32; @%p1 bar.sync 0; st.global.u32 [%rd3], %r1; ret;"


BUGS = (
    Bug("values that leave loops are not kept", Homes, "of", _no_copies, _random(3)),
    Bug("indices are not kept for other blocks", Homes, "of", _no_indices, _ptx(_NEIGHBORS)),
    Bug("indices are not read", Ops, "operands", _no_index, _ptx(_NEIGHBORS)),
    Bug("lanes anywhere are read as a run", indexed._Indexed, "look_together", _always_together, _ptx(_NEIGHBORS)),
    Bug("sectors and pieces change places", different, "_counts", _swapped, _ptx(_NEIGHBORS)),
    Bug("where ways meet the last wins", KernelWriter, "edge", lambda right: _edge, _random(0)),
    Bug("phis are written in all lanes", KernelWriter, "edge", lambda right: _phis_in_turn, _random(0)),
    Bug("shl wraps its amount", integers.INTEGERS, "shl", _wrapping_shift("shl"), _op("shl")),
    Bug("ashr wraps its amount", integers.INTEGERS, "ashr", _wrapping_shift("ashr"), _op("ashr")),
    Bug("sdiv never divides by an even number", integers.INTEGERS, "sdiv", _without_zero, _op("sdiv")),
    Bug("visits and lanes change places", BlockWriter, "counter", lambda right: _count, _random(0)),
    Bug("requests with gaps are runs", _Counted, "one_run", lambda right: _runs, _ptx(_GAPS)),
    Bug("requests are all of the first region", AccessWriter, "count_once", _tight, _random(0)),
    Bug("no access conflicts with another", races._Field, "is_unordered", _no_conflict, _random(6)),
    Bug("of several readers one is kept", races._Field, "add_access", _forgets_several, _ptx(_READERS)),
    Bug("threads share local memory", LaunchTables, "region", _same_local, _random(3)),
    Bug("what a block owns is not cleared", LaunchTables, "clear", _never_cleared, _random(0)),
    Bug(
        "a shuffle is always in range",
        exchange,
        "shuffle_source",
        _always_inside,
        _ptx(_SHUFFLE),
    ),
    Bug("lanes of two runs of a loop leave together", KernelWriter, "leaves", _no_join, _ptx(_TWICE)),
    Bug("banks serve half of the lanes", _Counted, "banks", _one_phase, _ptx(_BANKS)),
    Bug("NaN are those of the processor", instructions.Ops, "settle", lambda right: _unsettled, nan_case),
    Bug("halves are rounded towards zero", halves, "_narrow", _towards_zero, lambda: ties_case(F16, Convert(), 0)),
    Bug("a fused sum of halves is rounded twice", halves, "_fma_to_odd", lambda right: _rounded_twice, fused_case),
    Bug("sums are rounded to the nearest number", directed, "_MODES", _nearest_only, _directed("fadd")),
    Bug("subnormal halves are zero", halves, "_wide", _without_subnormals, _op_of("fmul", F16)),
    Bug("functions get their operands the other way round", Answers, "find", _reversed, fetch_case),
    Bug("a barrier of the warp orders nothing", instructions, "warp_barrier", _keeps_epoch, _random(0)),
    Bug("tiles of a warp exchange with all of it", exchange, "_together", _one_group, lambda: tile_case(0)),
    Bug("lanes that leave a loop from an arm leave from a level", _Search, "leaves_well", _always, _ptx(_AROUND)),
    Bug("where ways meet all lanes meet", _Search, "all_come", _always, _random(2)),
    Bug("what arms execute is not charged", Charges, "pass_block", _nothing, _random(0)),
    Bug("lanes that left a loop are still away when it begins again", Charges, "enter_loop", _nothing, _random(0)),
    Bug("phis are of those who come last", KernelWriter, "is_first", _always, _random(0)),
    Bug("nobody looks who goes past a barrier", Ends, "of", _no_ends, _ptx(_PAST, 64)),
    Bug("who ends in a call comes back", KernelWriter, "come_back", _all_come_back, lambda: text_case(ENDS, 32)),
    Bug("calls share their arrays", FunctionWriter, "begin_level", _one_level, lambda: case_of(RECURSIVE["arrays"])),
    Bug(
        "arrays outlive their calls",
        kernel_module,
        "end_function",
        _remembered,
        lambda: case_of(Recursive(FORGOTTEN, 1), blocks=1),
    ),
    Bug("loops of several calls are one", FunctionWriter, "leaves", _of_kernels, lambda: text_case(LEFT, 32)),
    Bug("who returns last returns for all", FunctionWriter, "end", _all_return, lambda: case_of(RECURSIVE["switch"])),
    Bug("blocks that give way have ended", Rooms, "open", _goes_away, _spin("all lanes wait"), _agree_impatiently),
    Bug(
        "barriers open while warps are to come",
        _Sliced,
        "stays",
        _opens_early,
        _spin("a scan that looks back at later blocks"),
        _agree_impatiently,
    ),
    Bug("barriers of the grid order nothing", Rooms, "open", _same_epoch, _grid("two arrays in turn")),
    Bug("resident blocks share what each owns", LaunchTables, "region", _no_steps, _grid("shared memory stays")),
    Bug("resident blocks share local memory", LaunchTables, "region", _no_steps, _grid("local arrays stay")),
    Bug(
        "resident blocks share frames", Rooms, "give", _one_for_all(LaunchWords.FRAMES), _grid("loops that part lanes")
    ),
    Bug(
        "resident blocks share who waits",
        Rooms,
        "give",
        _one_for_all(LaunchWords.STATUS),
        _grid("warps that end by block"),
    ),
)
