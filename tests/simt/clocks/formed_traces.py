"""Traces of waves that are formed anew, worked by hand from the rules (docs/reference/mask-isa.md).

A letter a clock for each row (traces.py says which), and the mask of the wave that is there, a hexadecimal digit.
Lane 0 goes the other way than lanes 1 to 3 (mask e) in BRANCH; in HALVES lanes 0 and 1 of the first wave and lanes 2
and 3 of the second one do, so that both arms are full when they meet.
"""

from __future__ import annotations

from tests.simt.clocks.traces import Trace

HOMES = {"formation": "homes", "forming": 0}
TURNS = {**HOMES, "scheduler": "round-robin"}
BRANCH = "br_push lane_id, E, C\nmov r0.x, u(1)\npop_mask\nE:\nmov r0.x, u(2)\npop_mask\nC:\nret\n"
HALVES = (
    "add.u32 r0.x, thread_id, u(2)\nand r0.x, r0.x, u(4)\nbr_push r0.x, E, C\nmov r1.x, u(1)\npop_mask\n"
    "E:\nmov r1.x, u(2)\npop_mask\nC:\nret\n"
)
CALLS = (
    "br_push lane_id, E, C\npush_mask B\njmp F\nB:\npop_mask\nE:\npush_mask D\njmp F\nD:\npop_mask\nC:\nret\n"
    "F:\nmov r0.x, u(1)\npop_mask\n"
)
LOADS = "br_push lane_id, E, C\nld r0.x, t0, u(0)\npop_mask\nE:\npop_mask\nC:\nmov r1.x, r0.x\nret\n"
FEW = (
    "lt.u32 r1.x, lane_id, u(1)\nbr_push r1.x, E, C\nmov r0.x, u(1)\npop_mask\nE:\nmov r0.x, u(2)\npop_mask\nC:\nret\n"
)

FORMED_TRACES = (
    # 0 br_push; 1 lanes 1 to 3 stay in row 0, lane 0 has row 1; greedy stays with row 0: mov, pop, ret; then row 1
    Trace("a branch parts a wave", BRANCH, ("####...", ".rrr###"), HOMES, 1, ("feee...", ".111111")),
    # 1 row 1 is asked first, behind row 0: mov; 2 row 0 mov; 3 row 1 pop; 4 row 0 pop; 5 row 0 joins row 1 at ret
    Trace("both arms meet behind it", BRANCH, ("#r#r#.", ".#r#r#"), TURNS, 1, ("feeee.", ".1111f")),
    # 0 to 2 wave 0; 3 row 0 keeps lanes 2 and 3, row 2 has 0 and 1; 6 to 8 wave 1, in row 1; 9 it keeps lanes 0 and 1,
    # lanes 2 and 3 get row 0, which is free, and join row 2 at once; 12 row 2 goes through the other arm full
    Trace(
        "two waves meet in an arm", HALVES, ("######.........", "rrrrrr######...", "...rrrrrrrrr###"),
        {**HOMES, "waves": 2}, 2, ("fffccc.........", "fffffffff333...", "...333333ffffff"),
    ),
    # in both waves lane 0 goes the other way. What is written is there 2 clocks later: 1 mov, 3 ret waits up to 4;
    # 4 lane 0 of wave 1 gets row 3, and goes to lane 1 of row 2 at once; 7 a thread of row 1 goes to lane 0 of row 0,
    # which is full then; 9 both threads of row 2 go to row 1, which is full then
    Trace(
        "any lane through a crossbar", BRANCH, ("###drrrr#.", "rrr###drr#", ".rrrrr##d.", ".........."),
        {"formation": "crossbar", "forming": 0, "waves": 2}, 2,
        ("feeeeeeff.", "ffffeeeccf", ".11133333.", ".........."),
    ),
    # with homes the two threads of lane 0 never meet: each has a row up to its end. 3 row 0 ends; 4 row 1 begins;
    # 5 lane 0 of wave 1 gets row 0; 8 row 2 is asked behind row 1, 11 row 0 behind that
    Trace(
        "two threads of one home", BRANCH, ("####.rrrrrr###", "rrrr####......", ".rrrrrrr###..."),
        {**HOMES, "waves": 2}, 2, ("feee.111111111", "fffffeee......", ".1111111111..."),
    ),
    # control takes 1 + 2: br_push up to 3; 3 mov, 4 pop up to 7; 5 row 1 mov, 6 pop up to 9; 7 and 9 ret
    Trace(
        "forming takes two clocks", BRANCH, ("########..", "...rr#####"), {**HOMES, "forming": 2}, 1,
        ("fffeeeee..", "...1111111"),
    ),
    # the slot has its next threads when the last of those before has ended: at 7
    Trace(
        "threads of a slot end apart", BRANCH, ("####...####...", ".rrr###.rrr###"), HOMES, 2,
        ("feee...feee...", ".111111.111111"),
    ),
    # from 5 on both are in F, but one goes back to B and the other to D: they meet at ret only, at 11
    Trace(
        "a function called from two places", CALLS, ("#r#r#r#r#r#.", ".#r#r#r#r#r#"), TURNS, 1,
        ("feeeeeeeeee.", ".1111111111f"),
    ),
    # 1 ld, there at 12; 3 row 0 waits at the mov; 4 lane 0 comes there, does not wait, and goes on alone
    Trace(
        "who waits for memory meets nobody", LOADS, ("###mmmmmmmmm##", ".rr###........"), HOMES, 1,
        ("feeeeeeeeeeeee", ".11111........"),
    ),
    # 2 three lanes are in row 1, one is in row 0
    Trace(
        "majority first", FEW, ("##rrr###", "..###..."), {**HOMES, "scheduler": "majority"}, 1,
        ("ff111111", "..eee..."),
    ),
)  # fmt: skip
