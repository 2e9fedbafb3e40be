"""A stack of masks in the frame of a warp (simt/policies/stack.py): where lanes part, one arm goes on, others wait.

    entry   lanes, the block at which they go on, the block where they meet others (-1: behind the end), joined or not
    pick    the top: where its lanes have ended, or stand where they meet others, it is taken off
    part    the top's lanes go different ways: it waits where they meet (or goes, where what is beneath it waits there
            already), and the arms are put above it, the one that goes first at last

Lanes of the top that do not part go on to the next block at once. All entries but those that wait to be joined have
lanes of their own, and of those that do one has fewer lanes than the other: there are at most twice as many as lanes.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import Final, Literal

from llvmlite import ir

from warpsmith.simt.engine.lanes import I64, POINTER, VOID, Emit, Ir
from warpsmith.simt.engine.words import LaunchWords
from warpsmith.simt.engine.writing.blocks import Ways
from warpsmith.simt.engine.writing.turns import Scheduled
from warpsmith.ssa.graph import EXIT
from warpsmith.ssa.nodes import BasicBlock, Branch, Instruction, Switch

__all__ = ["Order", "StackScheduler"]

Order = Literal["text", "true", "smaller"]


class _Words(IntEnum):
    """Words of an entry. The stack starts with how many entries it has, and how many of them do not wait to be
    joined."""

    LANES = 0
    BLOCK = 1
    MEETING = 2
    JOINED = 3


_HEAD: Final = 2
_END: Final = -1


class StackScheduler:
    """Writes the stack of one warp; `order`: which arm goes first."""

    def __init__(self, writer: Scheduled, order: Order) -> None:
        self.w, self.e, self.order = writer, writer.e, order
        self.size = _HEAD + len(_Words) * (2 * self.e.lanes + 2)
        self.part = _part_function(self.e.again(), smaller=order == "smaller")
        self.pop = self.e.block("pop")

    def stack(self) -> Ir:
        """Return where the stack is."""
        return self.w.frame.slot("stack", ir.ArrayType(I64, self.size))

    def start(self) -> None:
        """Write: all lanes stand at the first block."""
        e, stack = self.e, self.stack()
        e.write(stack, 0, I64(1))
        e.write(stack, 1, I64(1))
        _push(e, stack, I64(0), (_wide(e, self.w.everyone), I64(self.w.first[self.w.graph.entry]), I64(_END)))

    def pick(self) -> None:
        """Write: the top goes on, if it has lanes."""
        e, stack = self.e, self.stack()
        some, run = e.block("some"), e.block("run")
        depth = e.read(stack, 0)
        e.b.cbranch(e.b.icmp_unsigned("!=", depth, I64(0)), some, self.w.done)
        e.at(some)
        top = _entry(e, stack, e.b.sub(depth, I64(1)))
        lanes = e.b.and_(_narrow(e, e.read(top, _Words.LANES)), self.w.live())
        e.b.cbranch(e.any(lanes), run, self.pop)
        e.at(run)
        self.w.jump(e.read(top, _Words.BLOCK), lanes)

    def finish(self) -> None:
        """Write: the top is taken off."""
        e = self.e
        e.at(self.pop)
        stack = self.stack()
        depth, going = (e.b.sub(e.read(stack, word), I64(1)) for word in range(2))
        e.write(stack, 0, depth)
        beneath = e.block("beneath")
        e.write(stack, 1, going)
        e.b.cbranch(e.b.icmp_unsigned("!=", depth, I64(0)), beneath, self.w.done)
        e.at(beneath)
        top = _entry(e, stack, e.b.sub(depth, I64(1)))
        e.write(stack, 1, e.b.add(going, e.read(top, _Words.JOINED)))
        e.write(top, _Words.JOINED, I64(0))
        e.b.branch(self.w.again)

    def go(self, ways: Ways) -> None:
        """Write: the lanes of the mask go on: at once, where all go one way."""
        e = self.e
        for target, lanes in ways.items():
            if len(ways) == 1:
                self.onward(target)
                return
            all_, others = e.block("all"), e.block("others")
            e.b.cbranch(e.b.icmp_unsigned("==", lanes, self.w.mask), all_, others)
            e.at(all_)
            self.onward(target)
            e.at(others)
        self.diverge(ways)

    def onward(self, target: str) -> None:
        """Write: the lanes of the top come to a block, perhaps the one where they meet others."""
        e, stack = self.e, self.stack()
        top = _entry(e, stack, e.b.sub(e.read(stack, 0), I64(1)))
        there = e.b.icmp_unsigned("==", e.read(top, _Words.MEETING), I64(self.w.first[target]))
        e.b.store(self.w.mask, self.w.current)
        e.b.cbranch(there, self.pop, self.w.heads[target])

    def diverge(self, ways: Ways) -> None:
        """Write: the lanes of the top part."""
        e, count = self.e, len(ways)
        arms = e.slot(ir.ArrayType(I64, 2 * count))
        for number, target in enumerate(self.ordered(ways)):
            e.write(arms, 2 * number, _wide(e, ways[target]))
            e.write(arms, 2 * number + 1, I64(self.w.first[target]))
        behind = self.w.graph.post_dominator.get(self.w.block.name, EXIT)
        meeting = I64(_END if behind == EXIT else self.w.first[behind])
        e.b.call(self.part, [self.w.state, self.stack(), meeting, arms, I64(count)])
        e.b.branch(self.w.again)

    def ordered(self, ways: Ways) -> Sequence[str]:
        """Return the ways in the order in which they go, as far as it is known beforehand."""
        if self.order == "true":
            known = _in_terminator(self.w.block)
            return sorted(ways, key=known.index)
        return sorted(ways, key=self.w.graph.rank.__getitem__)

    def gone(self) -> None:
        """Write: the lanes of the top have ended."""
        self.e.b.branch(self.pop)

    def meet(self, instruction: Instruction) -> None:
        """Write nothing: where others are on their way, they cannot go on."""


def _in_terminator(block: BasicBlock) -> list[str]:
    match block.terminator:
        case Branch(then=then, other=other):
            return [then, other]
        case Switch(cases=cases, other=other):
            return [*(target for _, target in cases), other]
        case _:
            return []


def _wide(e: Emit, mask: Ir) -> Ir:
    return mask if e.lanes == 64 else e.b.zext(mask, I64)


def _narrow(e: Emit, word: Ir) -> Ir:
    return word if e.lanes == 64 else e.b.trunc(word, e.mask_type)


def _entry(e: Emit, stack: Ir, number: Ir) -> Ir:
    return e.b.gep(stack, [e.b.add(e.b.mul(number, I64(len(_Words))), I64(_HEAD))], source_etype=I64)


def _push(e: Emit, stack: Ir, number: Ir, words: Sequence[Ir]) -> None:
    entry = _entry(e, stack, number)
    for word, value in enumerate((*words, I64(0))):
        e.write(entry, word, value)


def _part_function(e: Emit, *, smaller: bool) -> Ir:
    """Return `part(state, stack, meeting, arms, count)`: the lanes of the top go different ways. `arms` are (lanes,
    block), first those that go first, unless it is the `smaller` arm of several that does."""
    made = ir.Function(e.module, ir.FunctionType(VOID, [POINTER, POINTER, I64, POINTER, I64]), "part.stack")
    state, stack, meeting, arms, count = made.args
    b = e.b
    e.at(made.append_basic_block("entry"))
    depth, going = e.slot(I64), e.slot(I64)
    b.store(e.read(stack, 0), depth)
    b.store(b.sub(e.read(stack, 1), I64(1)), going)
    top = _entry(e, stack, b.sub(e.read(stack, 0), I64(1)))
    with b.if_else(b.icmp_unsigned("==", e.read(top, _Words.MEETING), meeting)) as (same, other):
        with same:
            b.store(b.sub(b.load(depth, typ=I64), I64(1)), depth)
        with other:
            e.write(top, _Words.BLOCK, meeting)
            e.write(top, _Words.JOINED, I64(1))

    def push(number: Ir) -> None:
        at = _largest(e, arms, count) if smaller else b.sub(b.sub(count, I64(1)), number)
        arm = b.gep(arms, [b.mul(at, I64(2))], source_etype=I64)
        lanes, block = e.read(arm, 0), e.read(arm, 1)
        e.write(arm, 0, I64(0))
        with b.if_then(b.and_(e.any(lanes), b.icmp_unsigned("!=", block, meeting))):
            _push(e, stack, b.load(depth, typ=I64), (lanes, block, meeting))
            for slot in (depth, going):
                b.store(b.add(b.load(slot, typ=I64), I64(1)), slot)

    e.count_up(I64(0), count, push)
    e.write(stack, 0, b.load(depth, typ=I64))
    e.write(stack, 1, b.load(going, typ=I64))
    e.raise_to(state, LaunchWords.WAITING, b.sub(b.load(going, typ=I64), I64(1)))
    b.ret_void()
    return made


def _largest(e: Emit, arms: Ir, count: Ir) -> Ir:
    """Return the number of the arm with most lanes; of several, the one whose lowest lane is highest."""
    b = e.b
    best, found = e.slot(I64), e.slot(I64)
    b.store(I64(-1), best)
    b.store(I64(0), found)

    def look(number: Ir) -> None:
        lanes = e.read(b.gep(arms, [b.mul(number, I64(2))], source_etype=I64), 0)
        lowest = e.intrinsic("llvm.cttz", (I64,), (lanes, ir.Constant(ir.IntType(1), 0)))
        size = b.add(b.mul(e.count(lanes), I64(128)), lowest)
        with b.if_then(b.and_(e.any(lanes), b.icmp_signed(">", size, b.load(best, typ=I64)))):
            b.store(size, best)
            b.store(number, found)

    e.count_up(I64(0), count, look)
    return b.load(found, typ=I64)
