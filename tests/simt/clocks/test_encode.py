"""Arrays for the compiled machine."""

from __future__ import annotations

from tests.simt.clocks.traces import L1, machine
from tests.simt.mask.programs import program, views_for
from warpsmith.simt.clocks.encode import INSTRUCTION_WORDS, encode_parameters, encode_program, encode_views
from warpsmith.simt.clocks.model import ClockLaunch
from warpsmith.simt.mask.resources import place_views
from warpsmith.simt.mask.run import Groups


def test_fields_of_an_instruction_are_in_their_places() -> None:
    made = program("st u0.yx, r3.x, f2(1, -1)\nL:\nbr_push clock, L, L\nret\n")
    rows = encode_program(made.instructions, {("u", 0): 7})
    assert rows.shape == (3, INSTRUCTION_WORDS)
    store, branch = rows[0].tolist(), rows[1].tolist()
    # two sources: a register, and a constant whose words stand behind its components
    assert store[10] == 2 and store[11:15] == [0, 3, 1, 0] and store[22:25] == [1, 0, 2]
    assert store[29:31] == [0x3F800000, 0xBF800000 - (1 << 32)]
    assert store[44:51] == [7, 0, 2, 1, 0, 0, 0] and store[53:55] == [1, 3]
    assert branch[11] == 5 and branch[51:53] == [1, 1]


def test_views_keep_their_words_and_parameters_are_counted() -> None:
    made = program("mov r4.x, u(1)\nret\n")
    views = place_views(made, views_for(4))
    table, numbers = encode_views(views)
    assert table[numbers["t", 1]].tolist()[1:4] == [4 * 40, 8, 5]
    assert table[numbers["u", 0]][0] == views["u", 0].words.ctypes.data
    words = encode_parameters(ClockLaunch(made, machine(l1=L1), {}, Groups(4)), 3, 9).tolist()
    assert (
        len(words) == 32
        and words[3] == 3
        and words[12:15] == [5, 0, 0]
        and words[15:19] == [1, 4, 2, 0]
        and words[-1] == 9
    )
    assert encode_views({})[0].shape == (1, 5)
