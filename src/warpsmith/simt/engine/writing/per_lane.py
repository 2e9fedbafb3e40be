"""A program counter for each lane, in the frame of a warp (simt/policies/per_lane.py): sets of lanes take turns.

    standing   for each segment the lanes that stand at it, and a bit for each segment where some do
    went       for each lane when it went on; `now` counts turns
    pick       the set that stands first in the text; but one of a lane that has waited for more than PATIENCE turns
    waiting    for each place where lanes wait for others: those that do. When nobody else can go on, and all that have
               not ended wait at one place, they go on together

Where all lanes that can go on do so together they have equal times, so turns need not be counted: only when they part.
"""

from __future__ import annotations

from typing import Final

from llvmlite import ir

from warpsmith.simt.engine.lanes import I64, POINTER, Emit, Ir
from warpsmith.simt.engine.words import LaunchWords
from warpsmith.simt.engine.writing.blocks import Ways
from warpsmith.simt.engine.writing.turns import Scheduled
from warpsmith.ssa.nodes import Instruction

__all__ = ["PATIENCE", "LaneScheduler"]

PATIENCE: Final = 8
"""Turns of others for which a set of lanes waits."""
_WORD: Final = 64


class LaneScheduler:
    """Writes who stands where in one warp."""

    def __init__(self, writer: Scheduled) -> None:
        self.w, self.e = writer, writer.e
        self.words = -(-len(writer.segments) // _WORD)
        self.find = _find_function(self.e.again(), self.words)
        self.waits: list[Ir] = []

    # --- what the frame holds

    def standing(self) -> Ir:
        """Return where the lanes at each segment are, and behind them a bit for each segment."""
        return self.w.frame.slot("standing", ir.ArrayType(I64, self.words * (_WORD + 1)))

    def held(self, key: str) -> Ir:
        """Return a mask, or the times, of the frame."""
        return self.w.frame.load(key, self.type(key))

    def hold(self, key: str, value: Ir) -> None:
        """Set one."""
        self.w.frame.store(key, value)

    def type(self, key: str) -> Ir:
        """Return what a variable of the frame is."""
        return {"went": self.e.vector(I64), "now": I64}.get(key, self.e.mask_type)

    # --- turns

    def start(self) -> None:
        """Write: all lanes stand at the first block, and have never gone."""
        e, standing = self.e, self.standing()
        count = self.words * (_WORD + 1)
        e.count_up(I64(0), I64(count), lambda at: e.write_at(standing, at, I64(0)))
        self.hold("ready", self.w.everyone)
        self.hold("now", I64(0))
        self.hold("went", e.splat_constant(I64, 0))
        self.clear = e.block("clear")
        e.b.branch(self.clear)
        e.at(self.clear)
        self.stand(self.w.graph.entry, self.w.everyone)

    def pick(self) -> None:
        """Write: the set that stands first goes on, or the one that has waited too long."""
        e, b = self.e, self.e.b
        self.release, turn = e.block("release"), e.block("turn")
        ready = self.held("ready")
        b.cbranch(e.any(ready), turn, self.release)
        e.at(turn)
        now, went = b.add(self.held("now"), I64(1)), self.held("went")
        times = b.select(e.unpack_mask(ready), went, e.splat_constant(I64, (1 << 63) - 1))
        oldest = e.intrinsic("llvm.vector.reduce.umin", (times.type,), (times,), I64)
        late = b.icmp_signed(">", b.sub(now, oldest), I64(PATIENCE))
        hungry = b.and_(ready, e.bits(b.icmp_unsigned("==", times, e.splat(oldest))))
        wanted = b.select(late, hungry, ready)
        place = b.call(self.find, [self.w.state, self.standing(), wanted])
        lanes = self.leave(place)
        self.hold("now", now)
        self.hold("went", b.select(e.unpack_mask(lanes), e.splat(now), went))
        self.w.jump(place, lanes)

    def leave(self, place: Ir) -> Ir:
        """Write: nobody stands at a segment any more; return who did."""
        e, b, standing = self.e, self.e.b, self.standing()
        lanes = _narrow(e, e.read_at(standing, place))
        e.write_at(standing, place, I64(0))
        word = b.add(b.lshr(place, I64(6)), I64(self.words * _WORD))
        bit = b.shl(I64(1), b.and_(place, I64(_WORD - 1)))
        e.write_at(standing, word, e.remove_lanes(e.read_at(standing, word), bit))
        return lanes

    def stand(self, target: str, lanes: Ir) -> None:
        """Write: lanes come to a block."""
        e, b, standing, place = self.e, self.e.b, self.standing(), self.w.first[target]
        wide = lanes if e.lanes == 64 else b.zext(lanes, I64)
        e.write(standing, place, b.or_(e.read(standing, place), wide))
        word = self.words * _WORD + place // _WORD
        bit = b.shl(b.zext(e.any(lanes), I64), I64(place % _WORD))
        e.write(standing, word, b.or_(e.read(standing, word), bit))

    def go(self, ways: Ways) -> None:
        """Write: the lanes of the mask go on: at once, where they are all that can, and go one way."""
        e, b = self.e, self.e.b
        alone, several = e.block("alone"), e.block("several")
        b.cbranch(b.icmp_unsigned("==", self.held("ready"), self.w.mask), alone, several)
        e.at(alone)
        for target, lanes in ways.items():
            all_, others = e.block("all"), e.block("others")
            b.cbranch(b.icmp_unsigned("==", lanes, self.w.mask), all_, others)
            e.at(all_)
            b.store(self.w.mask, self.w.current)
            b.branch(self.w.heads[target])
            e.at(others)
        now = b.add(self.held("now"), I64(1))
        self.hold("now", now)
        self.hold("went", b.select(e.unpack_mask(self.w.mask), e.splat(now), self.held("went")))
        b.branch(several)
        e.at(several)
        for target, lanes in ways.items():
            self.stand(target, lanes)
        b.branch(self.w.again)

    def gone(self) -> None:
        """Write: the lanes of the mask have ended."""
        self.hold("ready", self.e.remove_lanes(self.held("ready"), self.w.mask))
        self.e.b.branch(self.w.again)

    # --- places where lanes wait

    def meet(self, instruction: Instruction) -> None:
        """Write: lanes wait until all are there that have not ended."""
        e, key = self.e, f"waiting {len(self.waits)}"
        again = e.block("met")
        self.waits.append(again)
        self.hold(key, e.b.or_(self.held(key), self.w.mask))
        self.hold("ready", e.remove_lanes(self.held("ready"), self.w.mask))
        e.b.branch(self.w.again)
        e.at(again)
        self.hold(key, e.mask(0))
        self.w.resume()
        self.hold("ready", self.w.mask)

    def finish(self) -> None:
        """Write: when nobody can go on, those do that all wait at one place."""
        e, b = self.e, self.e.b
        e.at(self.release)
        live, some = self.w.live(), e.block("some")
        b.cbranch(e.any(live), some, self.w.done)
        e.at(some)
        for number, again in enumerate(self.waits):
            other = e.block("other")
            b.cbranch(b.icmp_unsigned("==", self.held(f"waiting {number}"), live), again, other)
            e.at(other)
        self.w.refuse()
        b.branch(self.w.done)
        self._clear_waits()

    def _clear_waits(self) -> None:
        """Write, at the start: nobody waits."""
        e = self.e
        with e.b.goto_block(self.clear):
            for number in range(len(self.waits)):
                self.hold(f"waiting {number}", e.mask(0))


def _narrow(e: Emit, word: Ir) -> Ir:
    return word if e.lanes == 64 else e.b.trunc(word, e.mask_type)


def _find_function(e: Emit, words: int) -> Ir:
    """Return `find(state, standing, wanted)`: the first segment at which a lane of the mask stands. It takes note of
    how many sets of lanes stand anywhere."""
    made = ir.Function(e.module, ir.FunctionType(I64, [POINTER, POINTER, e.mask_type]), "find.lanes")
    state, standing, wanted = made.args
    b = e.b
    e.at(made.append_basic_block("entry"))
    sets, found = e.slot(I64), e.slot(I64)
    b.store(I64(-1), sets)
    b.store(I64(-1), found)
    mask = wanted if e.lanes == 64 else b.zext(wanted, I64)

    def look(word: Ir) -> None:
        bits = e.read_at(standing, b.add(word, I64(words * _WORD)))
        b.store(b.add(b.load(sets, typ=I64), e.count(bits)), sets)

        def test(left: Ir, bit: Ir) -> Ir:
            place = b.add(b.mul(word, I64(_WORD)), bit)
            here = e.any(b.and_(e.read_at(standing, place), mask))
            missing = b.icmp_signed("<", b.load(found, typ=I64), I64(0))
            with b.if_then(b.and_(here, missing)):
                b.store(place, found)
            return b.select(b.or_(here, b.not_(missing)), I64(0), e.remove_lowest(left))

        e.while_bits(bits, test)

    e.count_up(I64(0), I64(words), look)
    e.raise_to(state, LaunchWords.WAITING, b.load(sets, typ=I64))
    b.ret(b.load(found, typ=I64))
    return made
