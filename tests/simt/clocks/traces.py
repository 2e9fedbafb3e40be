"""Traces that were worked by hand from the rules (docs/reference/mask-isa.md), a letter a clock for each slot:

    #  active: an instruction is issued, or still taken in      m  waits for memory or the sampler
    d  waits for the result of an ALU                           r  ready, and not issued       .  no wave

The machine has one of everything and no caches unless a trace says otherwise; memory takes 10 clocks, 64 bytes each.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from msgspec import Struct

from tests.simt.mask.programs import program
from warpsmith.machine.simt.parameters import CacheShape, ClockMachine, MemoryShape
from warpsmith.simt.clocks.model import ClockLaunch, ClockRun
from warpsmith.simt.mask.resources import image, words_of
from warpsmith.simt.mask.run import Groups

LETTERS = {"empty": ".", "active": "#", "memory": "m", "dependency": "d", "ready": "r"}
L1 = CacheShape(256, 4, 2)


def machine(**given: Any) -> ClockMachine:
    """Return a machine of one of everything, with what is given."""
    plain: dict[str, Any] = {"title": "test", "width": 4, "lanes_per_alu": 4, "waves": 1, "alus": 1, "issue": 1}
    return ClockMachine(**{**plain, "dram": MemoryShape(10, 64), **given})


class Trace(Struct, frozen=True):
    """A program, what the machine has, and the letters of its slots, core by core; `waves`: how many run; `lanes`: the
    mask of each slot in each clock, a hexadecimal digit, () where they are not told."""

    name: str
    text: str
    slots: tuple[str, ...]
    given: dict[str, Any] = {}
    waves: int = 1
    lanes: tuple[str, ...] = ()

    def launch(self) -> ClockLaunch:
        """Return the launch of the trace."""
        made = machine(**self.given)
        words = words_of(np.arange(64, dtype=np.uint32))
        views = {("t", 0): words, ("u", 0): words, ("t", 1): image(np.zeros((4, 4, 4), np.uint8))}
        used = {key: view for key, view in views.items() if f"{key[0]}{key[1]}" in self.text}
        return ClockLaunch(program(self.text), made, used, Groups(made.width, self.waves))  # type: ignore[arg-type]


def letters(run: ClockRun) -> tuple[str, ...]:
    """Return the history of a run, a string for each slot."""
    places = sorted({(one.core, one.slot) for one in run.stretches})
    return tuple(
        "".join(LETTERS[one.state] * (one.end - one.start) for one in run.stretches if (one.core, one.slot) == place)
        for place in places
    )


def lanes(run: ClockRun) -> tuple[str, ...]:
    """Return the masks of a run of four lanes, a string for each slot; a dot where there is no wave."""
    places = sorted({(one.core, one.slot) for one in run.stretches})
    return tuple(
        "".join((f"{one.mask:x}" if one.wave >= 0 else ".") * (one.end - one.start) for one in run.stretches
                if (one.core, one.slot) == place)
        for place in places
    )  # fmt: skip


MOVES = "mov r0.x, u(1)\nmov r1.x, u(2)\nret\n"
CHAIN = "mov r0.x, u(1)\nadd.u32 r1.x, r0.x, u(1)\nret\n"
SHORT = "mov r0.x, u(1)\nret\n"
LOAD = "ld r0.x, t0, u(0)\nret\n"

TRACES = (
    # a result is read one clock after its instruction
    Trace("back to back", MOVES, ("###",)),
    # 0 mov, there at 0 + 1 + 2 = 3; 3 add, there at 6; ret waits for it
    Trace("pipe of three", CHAIN, ("#dd#dd#",), {"pipe": 3}),
    # 0 mul holds the ALU up to 2; 2 mov; 3 ret
    Trace("an ALU that is held", "mul.u32 r0.x, u(3), u(3)\nmov r1.x, u(1)\nret\n", ("#r##",)),
    # the second ALU takes the mov at 1; both are there at 2
    Trace("a second ALU", "mul.u32 r0.x, u(3), u(3)\nmov r1.x, u(1)\nret\n", ("###",), {"alus": 2}),
    # four groups of one lane: 0 to 3, 4 to 7; 8 ret
    Trace("chime of four", MOVES, ("#########",), {"lanes_per_alu": 1}),
    # 0 and 1 mov, there at 2 + 2 = 4; 4 and 5 add, there at 8
    Trace("chime of two, pipe of three", CHAIN, ("##dd##dd#",), {"lanes_per_alu": 2, "pipe": 3}),
    # 0 mul takes 2 * 2 clocks of the ALU, the wave 2; 4 mov up to 6; 6 ret
    Trace("chime times clocks", "mul.u32 r0.x, u(3), u(3)\nmov r1.x, u(1)\nret\n", ("##rr###",), {"lanes_per_alu": 2}),
    # 0 push, 3 pop, 6 ret, which frees its slot at once
    Trace("control takes three clocks", "push_mask L\npop_mask\nL:\nret\n", ("#######",), {"control": 3}),
    # 0 mov, there at 3; r0 is locked for the second mov too
    Trace("write after write", "mov r0.x, u(1)\nmov r0.x, u(2)\nret\n", ("#dd#dd#",), {"pipe": 3}),
    # 0 div holds the ALU up to 4; the mov overwrites what div has read, and waits for the ALU only
    Trace("write after read, one ALU", "div.u32 r1.x, r0.x, u(3)\nmov r0.x, u(2)\nret\n", ("#rrr##",)),
    # 1 mov on the other ALU; ret waits for div, there at 4
    Trace("write after read, two ALUs", "div.u32 r1.x, r0.x, u(3)\nmov r0.x, u(2)\nret\n", ("##dd#",), {"alus": 2}),
    # the four words of a register are locked together
    Trace("words share a lock", "mov r0.x, u(1)\nmov r0.y, u(2)\nret\n", ("#dd#dd#",), {"pipe": 3}),
    # 1 mov in lanes 1 to 3, there at 5; 3 mov in lane 0, where r0 is free, there at 7; 7 ret
    Trace(
        "locks of lanes",
        "br_push lane_id, E, C\nmov r0.x, u(1)\npop_mask\nE:\nmov r0.x, u(2)\npop_mask\nC:\nret\n",
        ("#####dd#",),
        {"pipe": 4},
    ),
    # 0 ld: the line ends at 1, is there at 11
    Trace("a load", LOAD, ("#mmmmmmmmmm#",)),
    # 64 bytes in 4 clocks: there at 14
    Trace("a narrow memory", LOAD, ("#mmmmmmmmmmmmm#",), {"dram": MemoryShape(10, 16)}),
    # 0 miss, asked of memory at 2, there at 3 + 10 = 13; 13 mov; 14 hit, there at 16
    Trace(
        "a miss and a hit",
        "ld r0.x, t0, u(0)\nmov r1.x, r0.x\nld r2.x, t0, u(4)\nret\n",
        ("#mmmmmmmmmmmm##m#",),
        {"l1": L1},
    ),
    # 1 finds the line that 0 asked for on its way: both are there at 13
    Trace("a line on its way", "ld r0.x, t0, u(0)\nld r2.x, t0, u(4)\nret\n", ("##mmmmmmmmmmm#",), {"l1": L1}),
    # 2 ld: lines at 2 and 3, there at 13 and 14; the unit is free at 4; 4 ld: lines at 4 and 5, there at 15 and 16
    Trace(
        "two lines a load",
        "mul.u32 r0.x, lane_id, u(32)\nld r1.x, t0, r0.x\nld r2.x, t0, r0.x\nret\n",
        ("#d#r#mmmmmmmmmmm#",),
    ),
    # lanes 0 and 1 are in line 0, there at 13, lanes 2 and 3 in line 1, there at 14; 3 push; 4 lanes 0 and 1 stay,
    # and issue the add at 13, there at 14; 14 pop; 15 ret
    Trace(
        "lanes whose line comes first go on",
        "mul.u32 r0.x, lane_id, u(32)\nld r1.x, t0, r0.x\npush_mask L\nlt.u32 r2.x, lane_id, u(2)\nmask_nz r2.x\n"
        "add.u32 r3.x, r1.x, u(1)\npop_mask\nL:\nret\n",
        ("#d####mmmmmmm###",),
    ),
    # 0 st, for which nobody waits
    Trace("a store", "st u0, u(0), u(1)\nret\n", ("##",)),
    # 0 st takes memory up to 4; 1 ld: 4 to 8, there at 18
    Trace(
        "a load behind a store",
        "st u0, u(0), u(1)\nld r0.x, t0, u(0)\nret\n",
        ("##mmmmmmmmmmmmmmmm#",),
        {"dram": MemoryShape(10, 16)},
    ),
    # 0 sample, 3 asked of memory, there at 4 + 10 = 14; 1 ld by the other unit, behind it in memory: 5 + 10 = 15
    Trace(
        "the sampler beside memory",
        "sample r0, t1, s0, f2(0.5, 0.5)\nld r1.x, t0, u(0)\nret\n",
        ("##mmmmmmmmmmmmm#",),
        {"sampler": CacheShape(256, 2, 3)},
    ),
    # l1 at 0, l2 at 2, memory at 7: 8 + 10 = 18
    Trace("two levels", LOAD, ("#mmmmmmmmmmmmmmmmm#",), {"l1": L1, "l2": CacheShape(256, 4, 5)}),
    # the other core finds the line on its way in l2: there at 18 as well
    Trace(
        "two cores share l2",
        LOAD,
        ("#mmmmmmmmmmmmmmmmm#", "#mmmmmmmmmmmmmmmmm#"),
        {"l1": L1, "l2": CacheShape(256, 4, 5), "cores": 2},
        2,
    ),
    # greedy stays with wave 0 to its end
    Trace("greedy", MOVES, ("###...", "rrr###"), {"waves": 2}, 2),
    Trace("round robin", MOVES, ("#r#r#.", "r#r#r#"), {"waves": 2, "scheduler": "round-robin"}, 2),
    # wave 0 waits at 1 and 2: wave 1 has its turn at 1; both wait at 2; 3 wave 0, 4 wave 1; 6 and 7
    Trace("greedy leaves who waits", CHAIN, ("#dd#dd#.", "r#dd#dd#"), {"waves": 2, "pipe": 3}, 2),
    # two instructions a clock, of two waves, to two ALUs
    Trace("two issued", MOVES, ("###", "###"), {"waves": 2, "issue": 2, "alus": 2}, 2),
    # both issue slots want the one ALU: the first has it until its wave needs none
    Trace("two issued, one ALU", MOVES, ("###..", "rr###"), {"waves": 2, "issue": 2}, 2),
    # round robin hands the ALU on: 0 wave 0, 1 wave 1, 2 wave 0, 3 wave 1, and the first ret beside it
    Trace(
        "two issued, one ALU, handed on",
        MOVES,
        ("#r##.", "r#r##"),
        {"waves": 2, "issue": 2, "scheduler": "round-robin"},
        2,
    ),
    # wave 2 takes the place of wave 0 at 2, and waits for wave 1, which is older
    Trace("oldest first", SHORT, ("##rr##", "rr##.."), {"waves": 2, "scheduler": "oldest"}, 3),
    # a new wave in the slot that greedy stays with is asked before an older one in another
    Trace("greedy goes on in its slot", SHORT, ("####..", "rrrr##"), {"waves": 2}, 3),
    # 0 two movs of the wave, 1 the third, 2 ret
    Trace(
        "interleaved, independent",
        "mov r0.x, u(1)\nmov r1.x, u(1)\nmov r2.x, u(1)\nret\n",
        ("###",),
        {"threading": "interleaved", "issue": 2, "alus": 2},
    ),
    # one wave a clock, although there is a second issue slot and ALU; 0 both movs of wave 0, 1 its ret, 2 wave 1
    Trace(
        "interleaved, two waves",
        MOVES,
        ("##..", "rr##"),
        {"threading": "interleaved", "issue": 2, "alus": 2, "waves": 2},
        2,
    ),
    # what follows reads the result: one instruction a clock
    Trace("interleaved, a chain", CHAIN, ("###",), {"threading": "interleaved", "issue": 2, "alus": 2}),
    # 4 registers, 2 a wave: two of the four slots can be used; wave 2 follows wave 0 in the slot that greedy stays with
    Trace("registers bound waves", MOVES, ("######...", "rrrrrr###"), {"waves": 4, "registers": 4}, 3),
    # wave 2 begins where a slot is free first
    Trace("two cores", "ret\n", ("##", "#."), {"cores": 2}, 3),
    # 0 ld of wave 0: l1 missed, memory at 2, there at 3 + 4 = 7; 1 ld of wave 1: on its way. 7 add of wave 0, taken in
    # up to 9, there at 9 + 1 = 10; 9 add of wave 1, there at 12
    Trace(
        "all together",
        "ld r0.x, t0, u(0)\nadd.u32 r1.x, r0.x, u(1)\nret\n",
        ("##mmmmm##d#..", "r##mmmmrr##d#"),
        {"lanes_per_alu": 2, "pipe": 2, "waves": 2, "scheduler": "round-robin", "l1": L1, "dram": MemoryShape(4, 64)},
        2,
    ),
)
