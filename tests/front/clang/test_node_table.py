"""Rows as a tree, and the macro uses that they came from."""

from __future__ import annotations

from array import array

from warpsmith.front.clang import kinds
from warpsmith.front.clang.node_table import MacroRange, MacroUses, NodeTable
from warpsmith.front.clang.wire import BEGINS_IN_MACRO, ENDS_IN_MACRO, Dump

# depth kind start end flags type aux
ROWS = (
    (0, kinds.FUNCTION_DECL, 0, 90, 0, -1, 0),
    (1, kinds.PARM_DECL, 5, 9, 0, -1, 1),
    (1, kinds.COMPOUND, 10, 90, 0, -1, -1),
    (2, kinds.DECL_STMT, 11, 20, 0, -1, -1),
    (3, kinds.VAR_DECL, 11, 19, 0, -1, 2),
    (2, kinds.BINARY, 30, 40, BEGINS_IN_MACRO | ENDS_IN_MACRO, -1, 0),
    (3, kinds.DECL_REF, 30, 30, BEGINS_IN_MACRO, -1, 1),
    (0, kinds.VAR_DECL, 95, 99, 0, -1, 3),
)


def table(rows: tuple[tuple[int, ...], ...] = ROWS) -> NodeTable:
    nodes = array("i", [number for row in rows for number in row]).tobytes()
    return NodeTable(Dump([], [], [], nodes, [], [], [], [], [], [], [], False, [], {}, [], None, {}, [], [], []))


def test_children_are_one_deeper_up_to_the_end_of_the_subtree() -> None:
    made = table()
    assert made.after == [7, 2, 7, 5, 5, 7, 7, 8]
    assert made.children(0) == [1, 2] and made.children(2) == [3, 5] and made.children(7) == []
    assert made.expressions(2) == [5] and made.expressions(5) == [6] and made.expressions(3) == []
    assert made.parts(0) == [2] and made.parts(2) == [3, 5]
    assert made.body(0) == 2 and made.body(7) is None
    assert table(()).after == []


def test_a_row_that_ends_in_a_macro_reaches_to_the_end_of_its_use() -> None:
    made, uses = table(), MacroUses([("SUM", 36, 48)])
    assert made.begins_in_macro(5) and not made.begins_in_macro(2)
    assert made.range(5, uses) == (30, 48) and made.range(2, uses) == (10, 90)
    assert made.range(5, MacroUses([])) == (30, 40)


def test_only_the_outermost_use_of_a_place_counts() -> None:
    uses = MacroUses([("INNER", 12, 15), ("OUTER", 10, 20), ("NEXT", 20, 25), ("LAST", 40, 41)])
    outer, following = MacroRange("OUTER", 10, 20), MacroRange("NEXT", 20, 25)
    assert uses.at(10) == uses.at(14) == uses.at(19) == outer
    assert uses.at(20) == following and uses.at(9) is None and uses.at(25) is None
    assert uses.within(10, 20) == [outer] and uses.within(11, 41) == [following, MacroRange("LAST", 40, 41)]
    assert uses.within(25, 40) == []


def test_a_statement_stands_for_its_attributes() -> None:
    behind = [
        (1, kinds.COMPOUND, 10, 90, 0, -1, -1),
        (2, kinds.UNEXPOSED_STMT, 11, 60, 0, -1, -1),
        (3, kinds.UNEXPOSED_STMT, 20, 60, 0, -1, -1),
        (4, kinds.FOR, 30, 60, 0, -1, -1),
        (2, kinds.UNEXPOSED_STMT, 61, 80, 0, -1, -1),
        (3, kinds.NULL_STMT, 62, 63, 0, -1, -1),
    ]
    made = table((ROWS[0], *behind))
    assert made.parts(1) == [4, 5] and made.children(1) == [2, 5]


def test_what_stands_below_parentheses_and_conversions() -> None:
    wrapped = [
        (1, kinds.PAREN, 10, 20, 0, -1, -1),
        (2, kinds.UNEXPOSED_EXPR, 11, 19, 0, -1, -1),
        (3, kinds.DECL_REF, 11, 19, 0, -1, 1),
        (1, kinds.PAREN, 30, 40, 0, -1, -1),
        (2, kinds.DECL_REF, 31, 31, 0, -1, 1),
        (2, kinds.DECL_REF, 32, 39, 0, -1, 2),
    ]
    made = table((ROWS[0], *wrapped))
    assert [made.inner(row) for row in (1, 3, 4)] == [3, 3, 4]
    assert made.is_written(6, MacroUses([])) and not made.is_written(5, MacroUses([]))
