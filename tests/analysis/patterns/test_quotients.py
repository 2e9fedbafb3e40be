"""Tables of numbers by thread as sums of parts of thread indices."""

from __future__ import annotations

import pytest

from warpsmith.analysis.affine.symbols import text_of
from warpsmith.analysis.memory.lanes import BlockLanes
from warpsmith.analysis.patterns.quotients import find_quotients
from warpsmith.analysis.uniformity.facts import Dim
from warpsmith.analysis.uniformity.seeds import Threads


@pytest.mark.parametrize(
    ("block", "rule", "names", "text"),
    [
        ((64, 1, 1), lambda x, y: x // 16, ["tid.x/16", "tid.x%16"], "tid.x/16"),
        ((64, 1, 1), lambda x, y: 5 * (x % 16) - 1, ["tid.x/16", "tid.x%16"], "5·tid.x%16 - 1"),
        ((64, 1, 1), lambda x, y: x % 16 // 4, ["tid.x/16", "tid.x%16/4", "tid.x%4"], "tid.x%16/4"),
        ((64, 1, 1), lambda x, y: x ^ 1, ["tid.x/2", "tid.x%2"], "2·tid.x/2 - tid.x%2 + 1"),
        ((12, 1, 1), lambda x, y: x // 3, ["tid.x/3", "tid.x%3"], "tid.x/3"),
        ((16, 16, 1), lambda x, y: (16 * y + x) // 32, ["tid.y/2", "tid.y%2", "tid.x"], "tid.y/2"),
        ((16, 16, 1), lambda x, y: (16 * y + x) % 32, ["tid.y/2", "tid.y%2", "tid.x"], "tid.x + 16·tid.y%2"),
        ((10, 1, 1), lambda x, y: x // 4, ["tid.x"], ""),
        ((16, 1, 1), lambda x, y: x * x, ["tid.x"], ""),
        ((16, 1, 1), lambda x, y: x ^ 5, ["tid.x"], ""),
        ((4, 4, 1), lambda x, y: x ^ y, ["tid.y", "tid.x"], ""),
        ((4, 4, 1), lambda x, y: x // 2 * y, ["tid.y", "tid.x"], ""),
    ],
)
def test_tables(block: Dim, rule: object, names: list[str], text: str) -> None:
    assert callable(rule)
    lanes = BlockLanes(block, 32, Threads("block", block))
    table = lanes.index("table", tuple(rule(t % block[0], t // block[0]) for t in range(lanes.count)))
    found = find_quotients(lanes, [table])
    digits = [digit for axis in reversed(found.digits) for digit in axis if digit.extent > 1]
    assert [digit.name for digit in digits] == names
    form = found.sums.get(table)
    own = next((digit.name for digit in digits if digit.atom is table), "")
    assert (text_of(form) if form is not None else "").replace("table", own) == text
    if form is not None:
        assert lanes.numbers(form) == table.table


def test_lengths_that_do_not_go_together() -> None:
    lanes = BlockLanes((12, 1, 1), 32, Threads("block", (12, 1, 1)))
    tables = [lanes.index(f"by {n}", tuple(t // n for t in range(12))) for n in (2, 3, 4)]
    found = find_quotients(lanes, tables)
    assert [digit.name for digit in found.digits[0]] == ["tid.x/4", "tid.x%4/2", "tid.x%2"]
    assert [atom in found.sums for atom in (lanes.axes[0], *tables)] == [True, True, False, True]
