"""Tables cross the border between the processes as they are."""

from __future__ import annotations

from array import array

from warpsmith.front.clang.wire import Dump, decode_dump, encode_dump

ROWS = array("i", [0, 8, 0, 10, 0, -1, 3, 1, 10, 2, 5, 4, 7, -1])


def test_what_is_encoded_is_decoded() -> None:
    dump = Dump(
        [(3, "bad", "a.c", 1, 2)], ["a.c", "b\udcff.h"], [True, False], ROWS.tobytes(), [(0, 0)],
        [(8, "f", 0, 4, 0, 0, 4, "f", 0, False, False)], [("s", 17, (0, 0), "")],
        [("s", 8, False, [("k", 0, 0, 3, True)], 0, 1, 2, True, False, ["k"], 4, False, 0, -1, [(0, True)])],
        [1, 2.5, "text", None], [("N", 0, 1, 2)], [], True, [], {0: ("f", "f", -1, 0)}, ["a.h"], {0: (["device"], "")},
        {1: 2}, [(0, 0, 1, 2, [1, None, 1], [32, 1, 1], None, ([], False), [[7], None])], [], [(0, 3, 4)],
    )  # fmt: skip
    assert decode_dump(encode_dump(dump)) == dump


def test_a_row_has_seven_columns() -> None:
    dump = Dump([], [], [], ROWS.tobytes(), [], [], [], [], [], [], [], False, [], {}, [], None, {}, [], [], [])
    assert dump.columns() == ([0, 1], [8, 10], [0, 2], [10, 5], [0, 4], [-1, 7], [3, -1])
    assert dump.marks is None and decode_dump(encode_dump(dump)).marks is None
