"""Blocks and warps in turn: `run(state, first, last)` runs blocks `first` to before `last` of the grid.

    for each block: what is its own is zero again
        round: each warp that has not ended runs until it ends or waits at a barrier
        where warps wait, all must wait at the same one, and nobody may have gone past it; it opens, and the next round
        begins

One block after the other, one warp after the other: a run has one order, and repeats. Blocks that wait for each other
are not for this driver (resident.py): they run out of steps."""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir

from warpsmith.simt.engine.lanes import I1, I8, I64, POINTER, VOID, Emit, Ir
from warpsmith.simt.engine.words import LaunchWords, Stop

__all__ = ["Driver", "driver_function"]


def driver_function(e: Emit, warp: Ir, stop: Ir, behind: Sequence[int], *, framed: bool) -> Ir:
    """Return the driver for a warp function; `behind`: for each barrier the bits of the blocks in which nobody may have
    ended when it opens; `framed`: warps come back to the driver, and keep a frame each."""
    return Driver(e, warp, stop, behind, framed=framed).function


class Driver:
    """The driver while it is written."""

    def __init__(self, e: Emit, warp: Ir, stop: Ir, behind: Sequence[int], *, framed: bool) -> None:
        self.e, self.warp, self.stop, self.behind, self.framed = e, warp, stop, behind, framed
        self.function = ir.Function(e.module, ir.FunctionType(VOID, [POINTER, I64, I64]), "run")
        self.state, first, last = self.function.args
        e.at(self.function.append_basic_block("entry"))
        self.ended = e.block("ended")
        self.where = e.slot(I64)
        e.count_up(first, last, self.block)
        e.b.branch(self.ended)
        e.at(self.ended)
        e.b.ret_void()

    def leave_if_stopped(self) -> None:
        """Write: return where something is wrong, or it is asked for."""
        e = self.e
        go = e.block("go")
        e.b.cbranch(e.is_asked(self.state, LaunchWords.LEAVE), self.ended, go)
        e.at(go)

    def table(self, word: LaunchWords) -> Ir:
        """Return a table of the launch."""
        return self.e.pointer(self.e.read(self.state, word))

    def block(self, number: Ir) -> None:
        """Write one block."""
        e = self.e
        self.index(number)
        cleared = self.table(LaunchWords.CLEARED)

        def clear(at: Ir) -> None:
            pair = e.b.gep(cleared, [e.b.mul(at, I64(2))], source_etype=I64)
            self.zero(e.pointer(e.read(pair, 0)), e.read(pair, 1))

        e.count_up(I64(0), e.read(self.state, LaunchWords.CLEARED_COUNT), clear)
        e.count_up(I64(0), e.read(self.state, LaunchWords.WARPS), self.begin)
        self.rounds()

    def rounds(self) -> None:
        """Write: the warps of the block run, from one barrier to the next."""
        e = self.e
        again, opened = e.block("round"), e.block("opened")
        over = e.block("over")
        e.b.branch(again)
        e.at(again)
        self.begin_round()
        e.count_up(I64(0), e.read(self.state, LaunchWords.WARPS), self.turn)
        e.b.cbranch(e.b.icmp_unsigned("!=", e.b.load(self.where, typ=I64), I64(0)), opened, over)
        e.at(opened)
        self.stop_if_passed()
        self.open(over)
        e.write(self.state, LaunchWords.EPOCH, e.b.add(e.read(self.state, LaunchWords.EPOCH), I64(1)))
        sums = self.table(LaunchWords.REDUCED)
        for word in range(2):
            e.write(sums, 2 + word, e.read(sums, word))
            e.write(sums, word, I64(0))
        e.b.branch(again)
        e.at(over)

    def begin_round(self) -> None:
        """Write: nobody waits yet."""
        self.e.b.store(I64(0), self.where)

    def open(self, over: Ir) -> None:
        """Write what comes before a barrier opens: nothing. At `over` the block has had its turn."""

    def stop_if_passed(self) -> None:
        """Write: stop where lanes have gone past the barrier that opens."""
        e = self.e
        most = max(set(self.behind), key=self.behind.count, default=0)
        bits: Ir = I64(most)
        for number, others in enumerate(self.behind, 1):
            if others != most:
                here = e.b.icmp_unsigned("==", e.b.load(self.where, typ=I64), I64(number))
                bits = e.b.select(here, I64(others), bits)
        if any(self.behind):
            passed = e.b.and_(e.read(self.state, LaunchWords.PASSED), bits)
            with e.b.if_then(e.any(passed), likely=False):
                e.b.call(self.stop, [self.state, I64(Stop.BARRIER), I64(0), I64(-1), I64(-1)])
            self.leave_if_stopped()

    def index(self, number: Ir) -> None:
        """Write: what the block is called."""
        e = self.e
        e.write(self.state, LaunchWords.PASSED, I64(0))
        e.write(self.state, LaunchWords.BLOCK, number)
        e.write(self.state, LaunchWords.EPOCH, I64(0))
        x, y = (e.read(self.state, word) for word in (LaunchWords.NCTAID_X, LaunchWords.NCTAID_Y))
        e.write(self.state, LaunchWords.CTAID_X, e.b.urem(number, x))
        rest = e.b.udiv(number, x)
        e.write(self.state, LaunchWords.CTAID_Y, e.b.urem(rest, y))
        e.write(self.state, LaunchWords.CTAID_Z, e.b.udiv(rest, y))

    def zero(self, place: Ir, bytes_: Ir) -> None:
        """Write: bytes are zero."""
        e = self.e
        name = "llvm.memset.p0.i64"
        found = e.module.globals.get(name)
        if found is None:
            found = ir.Function(e.module, ir.FunctionType(VOID, [POINTER, I8, I64, I1]), name)
        e.b.call(found, [place, I8(0), bytes_, I1(0)])

    def begin(self, number: Ir) -> None:
        """Write: a warp starts."""
        e = self.e
        for word, value in ((LaunchWords.STATUS, 1), (LaunchWords.WARP_EPOCHS, 0)):
            e.b.store(I64(value), e.b.gep(self.table(word), [number], source_etype=I64))
        e.write(self.log(number), 0, I64(0))
        if self.framed:
            e.write(self.frame(number), 0, I64(0))

    def log(self, number: Ir) -> Ir:
        """Return the log of a warp."""
        e = self.e
        moved = e.b.mul(number, e.read(self.state, LaunchWords.LOG_BYTES))
        return e.pointer(e.b.add(e.read(self.state, LaunchWords.LOGS), moved))

    def frame(self, number: Ir) -> Ir:
        """Return the frame of a warp."""
        e = self.e
        moved = e.b.mul(number, e.read(self.state, LaunchWords.FRAME_BYTES))
        return e.pointer(e.b.add(e.read(self.state, LaunchWords.FRAMES), moved))

    def turn(self, number: Ir) -> None:
        """Write: a warp runs as far as it can."""
        e, b = self.e, self.e.b
        status = b.gep(self.table(LaunchWords.STATUS), [number], source_etype=I64)
        with b.if_then(b.icmp_unsigned("!=", b.load(status, typ=I64), I64(0))):
            waits = self.call_warp(number)
            e.b.store(e.b.zext(e.b.icmp_unsigned("!=", waits, I64(0)), I64), status)
            self.wait(waits)

    def call_warp(self, number: Ir) -> Ir:
        """Write the call of the warp function; return the number of the barrier where the warp waits."""
        e, b = self.e, self.e.b
        log = self.log(number)
        e.write(self.state, LaunchWords.LOG, b.ptrtoint(log, I64))
        if not self.framed:
            e.write(log, 0, I64(0))
        width = e.read(self.state, LaunchWords.WIDTH)
        start = b.mul(number, width)
        left = b.sub(e.read(self.state, LaunchWords.THREADS), start)
        whole = b.icmp_unsigned(">=", left, width)
        threads = b.select(whole, width, left)
        ones = b.lshr(I64(-1), b.sub(I64(64), threads))
        everyone = ones if e.lanes == 64 else b.trunc(ones, e.mask_type)
        counters = b.select(whole, e.read(self.state, LaunchWords.FULL), e.read(self.state, LaunchWords.PARTIAL))
        given = [self.state, self.frame(number), e.pointer(counters), number, everyone]
        waits = b.call(self.warp, given)
        self.leave_if_stopped()
        return waits

    def wait(self, waits: Ir) -> None:
        """Write: a warp waits, if it does, where the others do."""
        e = self.e
        with e.b.if_then(e.b.icmp_unsigned("!=", waits, I64(0))):
            others = e.b.load(self.where, typ=I64)
            differs = e.b.and_(e.b.icmp_unsigned("!=", others, I64(0)), e.b.icmp_unsigned("!=", others, waits))
            with e.b.if_then(differs):
                e.b.call(self.stop, [self.state, I64(Stop.BARRIER), I64(0), I64(-1), I64(-1)])
            self.leave_if_stopped()
            e.b.store(waits, self.where)
