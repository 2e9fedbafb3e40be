"""The nodes of the kernel IR. The whole grammar on one screen:

    Module      = symbols, functions
    Symbol      = name space type count align            an array in shared, constant, global or local memory
    Function    = name kernel parameters results blocks limits
    Parameter   = name bytes align                       read by the op `param` at an offset, as in PTX
    Block       = name phis instructions terminator      the first block of a function is its entry
    Phi         = result incoming                        one (block, operand) for each predecessor
    Instruction = results op operands detail             op is a row of the table in ops.py
    Detail      = Memory | Address | Param | Query | Convert | Float | Barrier | Fence | Exchange | Callee | Text
    Terminator  = Jump(target)
                | Branch(condition, then, other, uniform)        uniform: the input says so (bra.uni)
                | Switch(value, cases, other)                    cases: (number, block)
                | Return(operands) | Exit | Unreachable          Exit ends the thread, also inside a called function
    Operand     = Value | Constant | Undefined

A Value is defined once: by one Phi or one Instruction of its function. Values compare by identity; blocks are named.
Every node has the span of the source line that it was made for (None where there is none).
"""

from __future__ import annotations

from collections.abc import Iterator
from operator import attrgetter
from typing import Final, Literal

from msgspec import Struct

from warpsmith.base.records import Partial
from warpsmith.base.source import SourceFile, Span
from warpsmith.ssa.types import Type

__all__ = [
    "ASYNCHRONOUS", "GRID_BARRIER", "Address", "Barrier", "BasicBlock", "Branch", "Callee", "Constant", "Construct",
    "Convert", "Detail", "Exchange", "Exit", "Fence", "Float", "Function", "Instruction", "Jump", "Limits", "Memory",
    "Module", "NoWrap", "Operand", "Param", "Parameter", "Phi", "Query", "Return", "Rounding", "Space", "Switch",
    "Symbol", "Terminator", "Text", "Undefined", "Unreachable", "Value", "successors", "terminator_operands",
]  # fmt: skip

Space = Literal["generic", "global", "shared", "local", "constant", "param"]
Rounding = Literal["", "nearest", "zero", "down", "up", "away"]
Construct = Literal["", "if", "for", "while", "do", "?:", "&&", "||", "assert"]
"""What a branch is in the user's source; "" where the source is not C, or the branch was made by us."""


# --- operands


class Value(Struct, frozen=True, eq=False):
    """What a phi or an instruction defines, in every lane; `name` is for people and need not be unique."""

    type: Type
    name: str = ""


class Constant(Struct, frozen=True):
    """The same number in every lane; `bits` is its pattern, 0 ≤ bits < 2**type.bits."""

    type: Type
    bits: int


class Undefined(Struct, frozen=True):
    """No particular value: a register that was never written."""

    type: Type


Operand = Value | Constant | Undefined


# --- what an op needs to know besides its operands


class Memory(Struct, frozen=True):
    """A load, store or atomic in `space` at operand 0 plus `offset` bytes, `align` bytes aligned as the input promises.

    A vector access has several results or values, at consecutive places. `order`: "" for an ordinary access; `cached`:
    "beside" for a load whose bytes come to shared memory while the thread goes on.
    """

    space: Space
    offset: int = 0
    align: int = 1
    order: Literal["", "volatile", "relaxed", "acquire", "release", "acq_rel"] = ""
    cached: Literal["", "read only", "streaming", "beside"] = ""
    scope: Literal["", "block", "device", "system"] = ""


class Address(Struct, frozen=True):
    """The address of symbol `symbol` in its own space."""

    symbol: str


class Param(Struct, frozen=True):
    """Parameter `parameter` of the function, `offset` bytes into it. `member`: what of a struct lies there, as the
    source writes it: `.grid.x`."""

    parameter: str
    offset: int = 0
    member: str = ""


class Query(Struct, frozen=True):
    """A special register: `tid.x`, `ctaid.y`, `ntid.z`, `nctaid.x`, `laneid`, `warpid`, `lanemask_lt`, `clock64` …"""

    register: str


class Convert(Struct, frozen=True):
    """How a conversion rounds, and whether it saturates."""

    rounding: Rounding = ""
    saturate: bool = False


class Float(Struct, frozen=True):
    """How a floating-point op rounds; `flush`: subnormals are zero; `approximate`: the fast form of the hardware."""

    rounding: Rounding = ""
    flush: bool = False
    saturate: bool = False
    approximate: bool = False


class NoWrap(Struct, frozen=True):
    """Of add, sub and mul: the language says that the result is exact, read as signed or as unsigned numbers. Where it
    is not, the program has no meaning; the machine wraps all the same. Without this detail wrapping is meant."""

    signed: bool = False
    unsigned: bool = False


class Barrier(Struct, frozen=True):
    """A barrier of the block: operand 0 its number, operand 1 (if there is one) how many threads take part.

    `waits`: false for one that only arrives; `reduces`: how it combines what threads bring as the last operand. `and`,
    `or`, `count` of a predicate, and of numbers `add`, `smin`, `umax`, `fadd` … are the same for all; `scan_add` … is
    of those up to the thread, `before_add` … of those before it. `orders`: the memory in which it does, as its language
    has it.
    """

    waits: bool = True
    reduces: str = ""
    orders: Literal["all", "shared", "global", "none", "unknown"] = "all"


class Fence(Struct, frozen=True):
    """Memory order for `scope`."""

    scope: Literal["block", "device", "system"]


class Exchange(Struct, frozen=True):
    """A vote, shuffle, match or reduction between lanes; `how` says which. `masked`: the last operand is the mask."""

    how: str
    masked: bool = True


class Callee(Struct, frozen=True):
    """A call of function `name`."""

    name: str


class Text(Struct, frozen=True):
    """An instruction that we do not model, as its source has it: its results may be anything."""

    text: str


GRID_BARRIER: Final = "a barrier of the grid"
"""The text of an instruction that waits for all threads of a grid: a run does; analyses know that a block waits."""
ASYNCHRONOUS: Final = "when an asynchronous copy is made"
"""The text of an instruction beside the load and the store of a copy that need not be made before it is waited for: a
run makes it at once, and analyses do not know when."""

Detail = Memory | Address | Param | Query | Convert | Float | NoWrap | Barrier | Fence | Exchange | Callee | Text


# --- code


class Phi(Struct, frozen=True, eq=False):
    """`result` is the operand of the block that control came from."""

    result: Value
    incoming: tuple[tuple[str, Operand], ...]
    span: Span | None = None


class Instruction(Struct, frozen=True, eq=False):
    """One op, executed by the lanes that are active."""

    op: str
    operands: tuple[Operand, ...]
    results: tuple[Value, ...]
    detail: Detail | None = None
    span: Span | None = None

    @property
    def result(self) -> Value:
        """Its only result."""
        (value,) = self.results
        return value


class Jump(Struct, frozen=True, eq=False):
    """Go to `target`."""

    target: str
    span: Span | None = None


class Branch(Struct, frozen=True, eq=False):
    """Go to `then` in the lanes where `condition` holds, to `other` in the rest.

    `predicated`: the input has no branch here but an instruction under a predicate. `construct`: what it was in C.
    """

    condition: Operand
    then: str
    other: str
    uniform: bool = False
    predicated: bool = False
    span: Span | None = None
    construct: Construct = ""


class Switch(Struct, frozen=True, eq=False):
    """Go to the block of the case that `value` equals, else to `other`."""

    value: Operand
    cases: tuple[tuple[int, str], ...]
    other: str
    uniform: bool = False
    span: Span | None = None


class Return(Struct, frozen=True, eq=False):
    """Back to the caller; in a kernel the thread ends."""

    operands: tuple[Operand, ...] = ()
    span: Span | None = None


class Exit(Struct, frozen=True, eq=False):
    """The thread ends; `fails`: the launch does (trap)."""

    fails: bool = False
    span: Span | None = None


class Unreachable(Struct, frozen=True, eq=False):
    """Control never gets here."""

    span: Span | None = None


Terminator = Jump | Branch | Switch | Return | Exit | Unreachable


class BasicBlock(Struct, frozen=True, eq=False):
    """A run of instructions with one entry and one terminator. `calls`: where it was inlined, the calls through which
    control came here, outermost first."""

    name: str
    phis: tuple[Phi, ...]
    instructions: tuple[Instruction, ...]
    terminator: Terminator
    calls: tuple[Span, ...] = ()


class Symbol(Partial, frozen=True, eq=False):
    """`count` elements of `type` in `space`; 0: as many as the launch says (dynamic shared memory)."""

    compared = attrgetter("name", "space", "type", "count", "align", "initial")
    name: str
    space: Space
    type: Type
    count: int
    align: int
    initial: tuple[int, ...] = ()
    span: Span | None = None

    @property
    def bytes(self) -> int:
        """Its size, as far as it is known."""
        return self.type.bytes * self.count


class Parameter(Struct, frozen=True):
    """A parameter of `bytes` bytes; `type` where it is one number or address."""

    name: str
    bytes: int
    align: int
    type: Type | None = None


class Limits(Struct, frozen=True):
    """What the kernel promises of its launch: threads a block at most, or exactly (along x, y, z); blocks an SM."""

    most_threads: int | None = None
    exact_block: tuple[int, int, int] | None = None
    least_blocks: int | None = None


class Function(Struct, frozen=True, eq=False):
    """A kernel or device function; without blocks it is only declared. `symbols` are its own (shared, local).
    `listing`: the PTX that it was read from, so that a compiler has been over it; None for what is source."""

    name: str
    kernel: bool
    parameters: tuple[Parameter, ...]
    results: tuple[Type, ...]
    blocks: tuple[BasicBlock, ...]
    symbols: tuple[Symbol, ...] = ()
    limits: Limits = Limits()
    span: Span | None = None
    listing: SourceFile | None = None

    def instructions(self) -> Iterator[tuple[BasicBlock, Instruction]]:
        """Yield every instruction with its block, in order."""
        for block in self.blocks:
            for instruction in block.instructions:
                yield block, instruction


class Module(Struct, frozen=True, eq=False):
    """What one input file holds. `written`: kernels once more, with their reads of memory whose values nobody uses;
    those that have no such reads are not there. `images`: some code writes to images, of which nothing else is here."""

    functions: tuple[Function, ...]
    symbols: tuple[Symbol, ...] = ()
    written: tuple[Function, ...] = ()
    images: bool = False

    def function(self, name: str) -> Function | None:
        """Return the function called `name`."""
        return next((function for function in self.functions if function.name == name), None)


def successors(terminator: Terminator) -> tuple[str, ...]:
    """Return the names of the blocks that may come next, each once, the taken one first."""
    match terminator:
        case Jump():
            return (terminator.target,)
        case Branch():
            return tuple(dict.fromkeys((terminator.then, terminator.other)))
        case Switch():
            return tuple(dict.fromkeys((*(block for _, block in terminator.cases), terminator.other)))
        case Return() | Exit() | Unreachable():
            return ()


def terminator_operands(terminator: Terminator) -> tuple[Operand, ...]:
    """Return what a terminator reads."""
    match terminator:
        case Branch():
            return (terminator.condition,)
        case Switch():
            return (terminator.value,)
        case Return():
            return terminator.operands
        case Jump() | Exit() | Unreachable():
            return ()
