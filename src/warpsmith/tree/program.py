"""Programs: the units that the user gave, the kernels made from them, and what the port rests on.

Program = units, kernels, assumptions
Unit    = one translation unit: its file, its items in source order, what its headers declare
Kernel  = one device function with its launch, not yet in the words of any target
"""

from __future__ import annotations

from collections.abc import Iterator
from operator import attrgetter
from typing import Literal

from msgspec import Struct, field
from msgspec.structs import replace

from warpsmith.base.records import Partial
from warpsmith.base.source import SourceFile, Span
from warpsmith.tree.effects.effects import EffectsTable
from warpsmith.tree.effects.file import house_effects
from warpsmith.tree.nodes import Expr, For, Function, Loop, Stmt, Top
from warpsmith.tree.types import Symbol

__all__ = [
    "WARP",
    "Assumption",
    "Axis",
    "Combine",
    "Decision",
    "DeviceConstant",
    "Kernel",
    "KernelParameter",
    "Language",
    "MappedLoop",
    "Program",
    "Scan",
    "TypeText",
    "Unit",
]

Language = Literal["c", "c++", "cuda", "opencl"]
Axis = Literal["x", "y", "z"]


class Assumption(Partial, frozen=True, eq=False):
    """What a verdict rests on.

    Guarded: `condition` is a host expression of O(1) cost tested where the region is entered; if it is false the
    original code runs. Granted: the user asserted it (`--assume`); `condition` is None where it cannot be tested.
    `declared`: where it fails, the program leaves an array's declared extent, or its loop makes no iteration (but
    where unsigned numbers wrap around): that says nothing of how long the loops can run where it holds.
    """

    compared = attrgetter("text", "kind")
    text: str
    kind: Literal["guarded", "granted"]
    condition: Expr | None = None
    span: Span | None = None
    declared: bool = False


class TypeText(Struct, frozen=True):
    """A type, enum or macro definition of the unit that device code may need, as the user wrote it.

    `name` is the typedef, tag or macro name; `needs` the names that its text mentions; `text` is complete
    (`typedef …;`, `struct … { … };`, `#define …`). `span` is None for what a header defines. `scope`: the block of a
    function that it is declared in. A macro that is undefined or redefined on the way has an empty text.
    """

    name: str
    text: str
    needs: tuple[str, ...]
    macro: bool = False
    span: Span | None = None
    scope: Span | None = None


class Unit(Struct, frozen=True):
    """One translation unit.

    `items` are the top-level constructs of the main file in source order; `functions` also has the definitions that
    headers of the project bring in (static inline ones). `arguments` are the compiler-like options (-I -D -U --std).
    `pragmas` are the region markers found (`#pragma scop`, `#pragma target`): the spans that they enclose or precede.
    `left_out` is what conditionals of the preprocessor leave out of the build at hand, in files that have functions.
    `sources` are source files that this one alone includes: their text is its own, and `items` has what is in them,
    each file's together, before those of the main file.
    """

    file: SourceFile
    language: Language
    items: tuple[Top, ...]
    functions: tuple[Function, ...]
    type_texts: tuple[TypeText, ...]
    arguments: tuple[str, ...]
    pragmas: tuple[Span, ...] = ()
    headers: tuple[str, ...] = ()
    left_out: tuple[Span, ...] = ()
    sources: tuple[SourceFile, ...] = ()

    def has_text(self, file: SourceFile) -> bool:
        """Whether a file's text is this unit's alone."""
        return file is self.file or any(file is source for source in self.sources)

    def about(self, file: SourceFile) -> Unit:
        """Return the unit with one of its `sources` as its main file, and what is in that file as its items."""
        return replace(self, file=file, items=tuple(item for item in self.items if item.span.file is file))


class MappedLoop(Struct, frozen=True):
    """A parallel loop whose iterations are threads along `axis`; `loop` is in the kernel's names, `id` the user's."""

    loop: For
    axis: Axis
    id: str


class KernelParameter(Struct, frozen=True):
    """One kernel parameter: `symbol` as kernel text names it (A_gpu), `host` the user's variable that it stands for.

    value   an external scalar that is not written: passed by value under the user's name
    cell    an external scalar that is written: a device cell, `*n_gpu`
    buffer  an array or what a pointer points to: a device copy. Its type is what kernel text subscripts: a pointer to
            the element, or to a row where the inner extents are constants. The pointer passed is the buffer start less
            the first element that it stands for, so that kernel text keeps the user's subscripts
    `written`: the kernel may write it, or use the pointer in a way that a const one would not allow.
    """

    symbol: Symbol
    host: Symbol
    kind: Literal["value", "cell", "buffer"]
    written: bool = False


class Combine(Struct, frozen=True):
    """One accumulator of a kernel whose threads each combine a part of the iterations.

    Every thread has a `variable` of its own that starts as `start` and that the body updates; then the variables of all
    threads are combined by `op` (+ * min max & | ^ && ||) and the result goes to `target`, the place that the user's
    loop updates: combined by `op` with what it holds, or, where `start` is what it holds (`keeps`), instead of it.
    All in the kernel's names; `target` and `start` read nothing but parameters.
    `companions`: variables that the body sets with a new minimum or maximum, each with its place; then `when` is the
    number of the iteration that the body sets with them, -1 before, and of equal values the earliest counts (`strict`)
    or the latest. Such a kernel maps one loop.
    """

    op: str
    variable: Symbol
    target: Expr
    start: Expr
    keeps: bool = False
    companions: tuple[tuple[Symbol, Expr], ...] = ()
    when: Symbol | None = None
    strict: bool = True


class Scan(Struct, frozen=True):
    """The running value of a kernel whose iterations need what those before them have combined.

    Iteration t of the one mapped loop runs the body with `variable` = `initial op element(0) op … op element(t - 1)`.
    `element` is the same wherever in its iteration, before the body's writes, it is evaluated. `target` is the place
    that gets the value behind the last iteration (None: it has one already, in the array itself). `neutral` changes
    nothing when it is combined (None: combining a value with itself is harmless). `compares`: the user's text compares
    for min and max (a NaN that is there stays) and does not call fmin or fmax. `factor` (op linear): the value is
    multiplied by it before `element` is added, in the type of `element`. `source` (op latest): where it is -1, the
    value becomes `element`, else what that one of `group`, numbers of the kernel's running values, was before. All
    in the kernel's names.
    """

    op: str
    variable: Symbol
    element: Expr
    initial: Expr
    target: Expr | None
    neutral: Expr | None
    compares: bool = True
    factor: Expr | None = None
    source: Expr | None = None
    group: tuple[int, ...] = ()


WARP = 32
"""Threads of a warp."""


class SharingThreads(Struct, frozen=True):
    """How threads share an iteration along x and loops of it: the variable that says which of them a thread is, `rank`,
    and of how many, `count`, a parameter of the kernel's template: `width` where all of `long` (kernel's names) hold at
    the launch, and indices of 32 bits are enough where the kernel asks that; else 1. They are the lanes of a warp, or
    (`column`) threads of a block above one another, along y, of which each row is a warp."""

    rank: Symbol
    count: Symbol
    width: int
    column: bool = False
    long: tuple[Expr, ...] = ()


class Kernel(Struct, frozen=True):
    """One kernel: the threads of `mapped` loops (outermost first; none: one thread) run `body`.

    `launch` has (lower, count) for each mapped loop, expressions over the kernel's value parameters which cover every
    value that the counter takes (an inner bound may depend on an outer mapped counter: then they are its extremes).
    Thread t of the axis has counter = lower + step * t; it runs the body if the loop's own condition holds for it.
    `body` is in the kernel's names: parameters' symbols in place of host ones. `locals` are variables declared outside
    the region which every thread owns. `functions` are the helper functions that it calls.
    `guards`: for each mapped loop the condition (kernel's names) under which a thread runs the body; it has the loop's
    own condition, and its lower bound where that depends on an outer counter (then the launch starts at an extreme).
    `sliced`: axes that may need more blocks than a grid may have: there is a launch for each so many of them.
    `strided`: axes along which the thread walks on in steps of the grid:
        for (long long t = blockIdx.y * blockDim.y + threadIdx.y; t < count; t += gridDim.y * blockDim.y) { … }
    and the launcher cuts that axis of the grid off at what a grid may have. A `continue` of a mapped loop is already
    written as the body needs it: `return` where no axis is strided, else `continue` (of the innermost walking loop).
    `scans`: the body needs running values, and three kernels run for it (emit/device/scan.py).
    `reductions`: what the threads combine after the body; then every axis is strided, so that all threads get there.
    `elements`: how many iterations along x, y and z a thread has: along x each a block's width behind the last one,
    else next to each other; `mapped` counts to the first of them, the body tests which of them the launch has.
    `inside`: every thread of a block runs the body, which asks this variable whether it is one of the launch: no thread
    may be missing where the block waits. `shared`: variables that a block has together; `positions`: variables that say
    where a thread is in its block, along which axis.
    `few`: a launch of fewer threads has blocks of one warp, so that more multiprocessors have some of them; 0: none.
    `constants`: parameters of the launcher that the kernel does not have, each with a variable in constant memory, to
    which the launcher copies what the parameter points to before each launch; `body` has the variable's name.
    `turn`: the kernel is launched `turns` times, one after the other, and this parameter of its own counts from 0.
    `reordered`: floating-point numbers are summed in another order than the user's.
    `index`: the kernel is a template over the type of this name, in which it computes indices: int where all of
    `narrow` (kernel's names) hold at the launch, else long long. Empty: there is no such type.
    `sharing`: several threads may share an iteration along x, and loops of the body; None: each has one of its own.
    """

    name: str
    function: str
    region: str
    span: Span
    mapped: tuple[MappedLoop, ...]
    launch: tuple[tuple[Expr, Expr], ...]
    block: tuple[int, int, int]
    parameters: tuple[KernelParameter, ...]
    locals: tuple[Symbol, ...]
    body: Stmt
    functions: tuple[Symbol, ...]
    guards: tuple[Expr, ...] = ()
    strided: tuple[Axis, ...] = ()
    sliced: tuple[Axis, ...] = ()
    reductions: tuple[Combine, ...] = ()
    reordered: bool = False
    scans: tuple[Scan, ...] = ()
    index: str = ""
    narrow: tuple[Expr, ...] = ()
    inside: Symbol | None = None
    shared: tuple[Symbol, ...] = ()
    positions: tuple[tuple[Symbol, Axis], ...] = ()
    elements: tuple[int, int, int] = (1, 1, 1)
    turn: Symbol | None = None
    turns: int = 1
    few: int = 0
    constants: tuple[tuple[Symbol, Symbol], ...] = ()
    sharing: SharingThreads | None = None

    def block_of(self, threads: int) -> tuple[int, int, int]:
        """Return the block of a launch with so many threads along x."""
        return (WARP, 1, 1) if threads < self.few else self.block

    def shared_block_of(self, iterations: int) -> tuple[int, int, int]:
        """Return the block of a launch in which threads share so many iterations along x."""
        assert self.sharing is not None, "a kernel whose threads share loops"
        if self.sharing.column:
            return WARP, self.sharing.width, 1
        return self.block_of(iterations * self.sharing.width)

    @property
    def covered(self) -> tuple[int, int, int]:
        """How many iterations a block has along x, y and z."""
        return self.covered_by(self.block)

    def covered_by(self, block: tuple[int, int, int]) -> tuple[int, int, int]:
        """Return how many iterations a block of this shape has."""
        (x, y, z), (across, down, deep) = block, self.elements
        return x * across, y * down, z * deep

    @property
    def line(self) -> int:
        """The line of the user's loop, below its pragmas; of the first statement where no loop is mapped."""
        return self.mapped[0].loop.span.line if self.mapped else self.span.line


class DeviceConstant(Struct, frozen=True):
    """A file-scope constant that device code reads, with its definition."""

    symbol: Symbol
    init: Expr


class Decision(Partial, frozen=True, eq=False):
    """Where a loop runs, decided by a step and not by the planner.

    device   the loop becomes a kernel           threads  it and the loops directly inside it lie on `axes`
    one thread  it becomes a kernel whose only thread runs it as it stands
    host     it stays on the host, with every loop inside it for which nothing else is decided
    tiles    each thread goes through it tile by tile, `width` iterations a tile, and reads `arrays` (empty: all that
             may be) from shared memory; width 0: it reads global memory; `padding`: how many elements more a row of a
             tile has (-1: chosen)
    halo     it is a loop of threads, and a block loads what they read of `arrays` (empty: all that may be) around
             their own elements into shared memory
    passes   its iterations are passes of kernels, each of which does `width` of them in tiles
    constant arrays that the kernel only reads, `arrays`, lie in constant memory
    elements each thread of the kernel that has it runs so many rows and columns of iterations, `elements`, for itself
    buffers  its tiles are two for each read, of which one is filled while the other is used
    vectors  a thread loads `width` neighbors in a row of its tiles at once
    shares   `width` threads go through it together: the lanes of a warp, or 16 of a block above one another
    `loop` is the address that it had when this was decided, `node` the loop; steps that come later rebuild nodes and
    rename addresses: see offload/decisions.py. `axes` from the outermost loop, `block` along x, y, z (empty: chosen).
    """

    compared = attrgetter("loop", "function", "kind", "axes", "block", "width", "arrays", "elements", "padding")
    loop: str
    function: str
    kind: Literal[
        "device", "one thread", "host", "threads", "tiles", "halo", "passes", "elements", "constant", "buffers",
        "vectors", "shares",
    ]  # fmt: skip
    node: Loop
    axes: tuple[Axis, ...] = ()
    block: tuple[int, ...] = ()
    width: int = 0
    arrays: tuple[str, ...] = ()
    elements: tuple[int, int] = (1, 1)
    padding: int = -1


class Program(Partial, frozen=True, eq=False):
    """Everything that is ported together; `effects`: what functions do whose text is not given; `outside`: what is
    known of the other files, where these are a part of a program (poly/effects/outside.py makes it). `pinned`: what is
    copied between host and device is page-locked, as far as it can be."""

    compared = attrgetter("units", "kernels", "assumptions", "decisions", "effects", "pinned")
    units: tuple[Unit, ...]
    kernels: tuple[Kernel, ...] = ()
    assumptions: tuple[Assumption, ...] = ()
    decisions: tuple[Decision, ...] = ()
    effects: EffectsTable = field(default_factory=house_effects)
    outside: object | None = None
    pinned: bool = False

    def functions(self) -> Iterator[tuple[Unit, Function]]:
        """Yield every function definition with its unit, in source order."""
        for unit in self.units:
            for function in unit.functions:
                yield unit, function

    def with_function(self, old: Function, new: Function) -> Program:
        """Return the program with function `old` replaced."""
        return replace(self, units=tuple(_replace_function(u, old, new) for u in self.units))


def _replace_function(unit: Unit, old: Function, new: Function) -> Unit:
    if not any(f is old for f in unit.functions):
        return unit
    return replace(
        unit,
        items=tuple(new if i is old else i for i in unit.items),
        functions=tuple(new if f is old else f for f in unit.functions),
    )
