"""What of copies passes beside kernels."""

from __future__ import annotations

import pytest

from warpsmith.machine.time.overlap import Move, hidden_seconds


@pytest.mark.parametrize(
    ("moves", "hidden"),
    [
        ((), 0.0),
        ((Move(True, 2.0, 1.0, 4.0),), 2.0),  # all of it
        ((Move(True, 5.0, 1.0, 4.0),), 3.0),  # as long as the kernels run
        ((Move(True, 2.0, 3.0, 3.0),), 0.0),  # no kernel in between
        ((Move(True, 2.0, 0.0, 3.0), Move(True, 2.0, 0.0, 3.0)), 3.0),  # one behind the other
        ((Move(True, 2.0, 0.0, 3.0), Move(False, 2.0, 0.0, 3.0)), 4.0),  # both directions at once
        ((Move(True, 1.0, 0.0, 3.0), Move(True, 2.0, 2.0, 3.0)), 2.0),
        ((Move(True, 9.0, 0.0, 3.0), Move(True, 2.0, 2.0, 5.0)), 5.0),
    ],
)
def test_hidden_seconds(moves: tuple[Move, ...], hidden: float) -> None:
    assert hidden_seconds(moves) == pytest.approx(hidden)
