"""Lost lane slots, charged while the kernel runs to the branches where lanes diverged.

A lane that is in the warp and not in the mask of a block loses as many slots as the block has instructions. They are
charged to the branch that ended the last block before it in which that lane was together with a lane that is there now
(simt/tally.py). Lanes part at branches only; so it is enough to keep, newest last, where they did:

    log     (lanes that went one way, lanes that went the other, branch) for every divergence
    charge  for a block with mask P: from the newest entry on, lanes that are away and stand on one side, while a lane
            of P stands on the other, are charged to its branch; it ends when no lane is left

Invariant: an entry whose lanes are all together again says nothing any more. So when lanes part, the last entries that
have no other lanes are taken off first; what stays is about lanes that left a loop. Where lanes that leave wait for
those that stay (`since`), those that leave one activation of a loop at one branch meet where it leads, whatever the
iteration, so they share an entry: (who stays, who left, branch).

An entry that has grown old is of use while two lanes, one on each side, have not parted again since; entries of no use
are taken out when the log has grown. There are no more of use than pairs of lanes, so the log is never full.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from llvmlite import ir

from warpsmith.simt.engine.lanes import I64, POINTER, VOID, Emit, Ir
from warpsmith.simt.engine.words import LaunchWords

__all__ = ["LOG_ENTRIES", "LOG_WORDS", "charge_function", "part_function"]

LOG_ENTRIES: Final = 1 << 11
LOG_WORDS: Final = 8 + 3 * LOG_ENTRIES
"""Of the log of one warp: how many entries it has, then these."""
_WORDS: Final = 3
"""Of an entry: two masks, the number of a branch."""
ROOM: Final = 64
"""Entries that a log may have more than twice those that were of use when it was last looked through."""


def part_function(e: Emit) -> Ir:
    """Return `part(state, one, other, branch, since)`: lanes go different ways at a branch. Where the lanes `other`
    leave a loop there, `since` is how long the log was when it was entered, else -1."""
    forget = _forget_function(e.again())
    made = ir.Function(e.module, ir.FunctionType(VOID, [POINTER, e.mask_type, e.mask_type, I64, I64]), "part")
    state, one, other, branch, _ = made.args
    e.at(made.append_basic_block("entry"))
    head, test, drop, push, full, store = (e.block(n) for n in ("head", "test", "drop", "push", "full", "store"))
    length = e.slot(I64)
    log = e.b.inttoptr(e.read(state, LaunchWords.LOG), POINTER)
    e.b.store(e.read(log, 0), length)
    outside = e.b.not_(e.b.or_(one, other))
    e.b.branch(head)
    e.at(head)
    count = e.b.load(length, typ=I64)
    e.b.cbranch(e.b.icmp_unsigned("!=", count, I64(0)), test, push)
    e.at(test)
    lanes = e.b.or_(*(_entry(e, log, e.b.sub(count, I64(1)), word) for word in range(2)))
    e.b.cbranch(e.any(e.b.and_(e.b.trunc(lanes, e.mask_type) if e.lanes < 64 else lanes, outside)), push, drop)
    e.at(drop)
    e.b.store(e.b.sub(count, I64(1)), length)
    e.b.branch(head)
    e.at(push)
    _join(e, log, count, made.args)
    e.b.cbranch(e.b.icmp_unsigned(">=", count, e.b.add(e.read(log, 1), I64(ROOM))), full, store)
    e.at(full)
    e.write(log, 0, count)
    e.b.call(forget, [log])
    e.b.store(e.read(log, 0), length)
    e.b.branch(store)
    e.at(store)
    end = e.b.load(length, typ=I64)
    for word, value in enumerate((one, other, branch)):
        wide = value if value.type == I64 else e.b.zext(value, I64)
        e.b.store(wide, _place(e, log, end, word))
    e.write(log, 0, e.b.add(end, I64(1)))
    e.b.ret_void()
    return made


def _forget_function(e: Emit) -> Ir:
    """Return `forget(log)`: take out entries of no use."""
    made = ir.Function(e.module, ir.FunctionType(VOID, [POINTER]), "forget")
    (log,) = made.args
    e.at(made.append_basic_block("entry"))
    apart = e.slot(ir.ArrayType(I64, e.lanes))
    e.b.store(ir.Constant(ir.ArrayType(I64, e.lanes), None), apart)
    count = e.read(log, 0)

    def look(step: Ir) -> None:
        entry = e.b.sub(e.b.sub(count, step), I64(1))
        sides = [_entry(e, log, entry, word) for word in range(2)]
        use = e.slot(I64)
        e.b.store(I64(0), use)
        for own, others in (sides, sides[::-1]):

            def add(left: Ir, lane: Ir, others: Ir = others) -> Ir:
                known = e.b.gep(apart, [lane], source_etype=I64)
                before = e.b.load(known, typ=I64)
                fresh = e.b.and_(others, e.b.not_(before))
                e.b.store(e.b.or_(e.b.load(use, typ=I64), fresh), use)
                e.b.store(e.b.or_(before, others), known)
                return e.remove_lowest(left)

            e.while_bits(own, add)
        with e.b.if_then(e.b.icmp_unsigned("==", e.b.load(use, typ=I64), I64(0))):
            e.b.store(I64(0), _place(e, log, entry, 0))

    kept = e.slot(I64)
    e.b.store(I64(0), kept)

    def move(entry: Ir) -> None:
        words = [_entry(e, log, entry, word) for word in range(_WORDS)]
        with e.b.if_then(e.any(words[0])):
            to = e.b.load(kept, typ=I64)
            for word, value in enumerate(words):
                e.b.store(value, _place(e, log, to, word))
            e.b.store(e.b.add(to, I64(1)), kept)

    e.count_up(I64(0), count, look)
    e.count_up(I64(0), count, move)
    left = e.b.load(kept, typ=I64)
    most = I64(LOG_ENTRIES - ROOM)
    twice = e.b.shl(left, I64(1))
    e.write(log, 0, left)
    e.write(log, 1, e.b.select(e.b.icmp_unsigned("<", twice, most), twice, most))
    e.b.ret_void()
    return made


def _join(e: Emit, log: Ir, count: Ir, arguments: Sequence[Ir]) -> None:
    """Write: where the last entry is of lanes that left one loop at one branch, add these to it and return."""
    b = e.b
    _, one, other, branch, since = arguments
    there, join, apart = e.block("there"), e.block("join"), e.block("apart")
    b.cbranch(b.icmp_signed(">", count, b.and_(since, I64((1 << 63) - 1))), there, apart)
    e.at(there)
    last = b.sub(count, I64(1))
    stayed = _mask_of(e, _entry(e, log, last, 0))
    left = _mask_of(e, _entry(e, log, last, 1))
    same = b.icmp_unsigned("==", _entry(e, log, last, 2), branch)
    inside = b.icmp_unsigned("==", e.remove_lanes(b.or_(one, other), stayed), e.mask(0))
    b.cbranch(b.and_(same, inside), join, apart)
    e.at(join)
    for word, value in enumerate((one, b.or_(left, other))):
        b.store(value if value.type == I64 else b.zext(value, I64), _place(e, log, last, word))
    e.write(log, 0, count)
    b.ret_void()
    e.at(apart)


def charge_function(e: Emit) -> Ir:
    """Return `charge(state, here, away, count)`: the lanes `away` lose `count` slots each to those `here`."""
    made = ir.Function(e.module, ir.FunctionType(VOID, [POINTER, e.mask_type, e.mask_type, I64]), "charge")
    state, here, away, count = made.args
    e.at(made.append_basic_block("entry"))
    head, body, done = (e.block(n) for n in ("head", "body", "done"))
    left, number = e.slot(e.mask_type), e.slot(I64)
    log = e.b.inttoptr(e.read(state, LaunchWords.LOG), POINTER)
    lost = e.b.inttoptr(e.read(state, LaunchWords.LOST), POINTER)
    e.b.store(away, left)
    e.b.store(e.read(log, 0), number)
    e.b.branch(head)
    e.at(head)
    there, at = e.b.load(left, typ=e.mask_type), e.b.load(number, typ=I64)
    going = e.b.and_(e.any(there), e.b.icmp_unsigned("!=", at, I64(0)))
    e.b.cbranch(going, body, done)
    e.at(body)
    entry = e.b.sub(at, I64(1))
    e.b.store(entry, number)
    one, other = (_mask_of(e, _entry(e, log, entry, word)) for word in range(2))
    none = e.mask(0)
    hit = e.b.or_(
        e.b.select(e.any(e.b.and_(one, here)), e.b.and_(there, other), none),
        e.b.select(e.any(e.b.and_(other, here)), e.b.and_(there, one), none),
    )
    sum_ = e.b.gep(lost, [_entry(e, log, entry, 2)], source_etype=I64)
    e.add_to(sum_, e.b.mul(e.count(hit), count))
    e.b.store(e.remove_lanes(there, hit), left)
    e.b.branch(head)
    e.at(done)
    e.b.ret_void()
    return made


def _mask_of(e: Emit, word: Ir) -> Ir:
    return word if e.lanes == 64 else e.b.trunc(word, e.mask_type)


def _place(e: Emit, log: Ir, entry: Ir, word: int) -> Ir:
    return e.b.gep(log, [e.b.add(e.b.mul(entry, I64(_WORDS)), I64(8 + word))], source_etype=I64)


def _entry(e: Emit, log: Ir, entry: Ir, word: int) -> Ir:
    return e.b.load(_place(e, log, entry, word), typ=I64)
