"""Where the values of a kernel live while its code is written: in registers, or in the warp's frame.

Within a block a value is an LLVM value. One that is used elsewhere has a slot as well: LLVM makes registers of the
slots where they are variables of the function; a kernel with barriers keeps them in the warp's frame, since it returns
at each.

Invariant: a slot holds, for each lane that may still read it, what that lane would have in its register. So a slot is
written under the mask where lanes that are not active may still read what they wrote earlier: phis where ways meet.

Where blocks run one behind the other, lanes that left a loop read what they had in it from copies, which are written
where they leave: that is rare, and in the loop nothing has to be kept for them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from llvmlite import ir
from msgspec import Struct

from warpsmith.simt.engine.lanes import I8, I64, Emit, Ir
from warpsmith.ssa.graph import Graph
from warpsmith.ssa.nodes import BasicBlock, Function, Instruction, Operand, Value, terminator_operands

__all__ = ["Homes", "SlotMaker"]

_LINE: Final = 64
"""Frames start at multiples of it."""


class Homes(Struct, frozen=True):
    """Which values need a slot, which of those are written under the mask, and which have copies for those who left
    their loop, with the block that makes each."""

    kept: frozenset[Value]
    blended: frozenset[Value]
    copied: Mapping[Value, str]

    @classmethod
    def of(
        cls,
        function: Function,
        graph: Graph,
        split: frozenset[str],
        operands: Callable[[Instruction], Sequence[Operand]] = lambda instruction: instruction.operands,
        *,
        linear: bool = True,
    ) -> Homes:
        """Return the homes of a function's values; in the blocks of `split` control comes back in the middle. Where
        blocks are not run one behind the other (`linear`), lanes may be anywhere when others write. `operands`: what an
        instruction reads."""
        defined = {value: block.name for block in _live(function, graph) for value in _find_made(block)}
        kept = {phi.result for block in function.blocks for phi in block.phis}
        copied: dict[Value, str] = {}
        given: dict[str, list[Operand]] = defaultdict(list)
        for phi in (phi for block in _live(function, graph) for phi in block.phis):
            for name, operand in phi.incoming:
                given[name].append(operand)
        for block in _live(function, graph):
            for value in _find_used(block, given, operands):
                home = defined[value]
                if home != block.name or home in split:
                    kept.add(value)
                around = graph.cycles_around(home)
                if around and block.name not in around[-1].blocks:
                    copied[value] = home
        if linear:
            return cls(frozenset(kept), frozenset(), copied)
        return cls(frozenset(kept), frozenset(kept), {})


def _live(function: Function, graph: Graph) -> Iterator[BasicBlock]:
    return (block for block in function.blocks if block.name in graph.rank)


def _find_made(block: BasicBlock) -> Iterator[Value]:
    yield from (phi.result for phi in block.phis)
    for instruction in block.instructions:
        yield from instruction.results


def _find_used(
    block: BasicBlock,
    given: Mapping[str, Sequence[Operand]],
    operands: Callable[[Instruction], Sequence[Operand]],
) -> Iterator[Value]:
    """Yield the values that a block uses: in it, and at its end for the phis of its successors."""
    used = [operand for instruction in block.instructions for operand in operands(instruction)]
    used += terminator_operands(block.terminator)
    used += given.get(block.name, ())
    yield from (operand for operand in used if isinstance(operand, Value))


class SlotMaker:
    """Makes slots: variables of the function, or places in the frame of a warp, whose size grows with them."""

    def __init__(self, e: Emit, base: Ir | None) -> None:
        self.e, self.base = e, base
        self.size = 64
        self.slots: dict[object, tuple[int, Ir]] = {}
        self.made: dict[object, Ir] = {}

    def slot(self, key: object, type: Ir) -> Ir:
        """Return the address of the slot of `key`."""
        if self.base is None:
            if key not in self.made:
                self.made[key] = self.e.slot(type)
            return self.made[key]
        if key not in self.slots:
            bytes_ = _bytes(type)
            step = min(_LINE, bytes_)
            self.size = -(-self.size // step) * step
            self.slots[key] = (self.size, type)
            self.size += bytes_
        return self.e.b.gep(self.base, [ir.Constant(I64, self.slots[key][0])], source_etype=I8)

    def load(self, key: object, type: Ir) -> Ir:
        """Return what a slot holds."""
        return self.e.b.load(self.slot(key, type), typ=type, align=self.align(type))

    def store(self, key: object, value: Ir) -> None:
        """Set a slot."""
        self.e.b.store(value, self.slot(key, value.type), align=self.align(value.type))

    def align(self, type: Ir) -> int | None:
        """Return what the address of a slot is a multiple of; None: what LLVM takes for the type, which for vectors of
        many lanes is more than a frame has."""
        return None if self.base is None else min(_LINE, _bytes(type))


def _bytes(type: Ir) -> int:
    """Return the size of a slot, a power of two; that of an array, a multiple of a line."""
    if isinstance(type, ir.ArrayType):
        bytes_: int = type.count * _bytes(type.element)
        return -(-bytes_ // _LINE) * _LINE
    count, scalar = (type.count, type.element) if isinstance(type, ir.VectorType) else (1, type)
    bits = {"float": 32, "double": 64}.get(str(scalar)) or scalar.width
    return 1 << (max(1, -(-bits * count // 8)) - 1).bit_length()
