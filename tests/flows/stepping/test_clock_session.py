"""Forwards and back through clocks: what is kept is shown again, what is not is run again."""

from __future__ import annotations

import pytest

from tests.flows.stepping.test_clocks import replies
from warpsmith.flows.stepping import clock_session


def test_back_is_the_clock_before_and_next_comes_there_again() -> None:
    found, _ = replies("next 5", "back", "next", "back 3", "clock 5", "back 100", "continue", "back", "next")
    assert found[1] == found[3] == found[5] and found[1].startswith("clock 5\n")
    assert found[2].startswith("clock 4\n") and found[4].startswith("clock 2\n") and found[6].startswith("clock 0\n")
    last = found[7].removeprefix("the run is over: ").removesuffix(" clocks")
    assert found[8].startswith(f"clock {int(last) - 1}\n")
    assert found[9].startswith("the run is over") and found[9].endswith("'quit' leaves")


def test_clocks_that_are_no_longer_kept_are_run_again(monkeypatch: pytest.MonkeyPatch) -> None:
    said = ("clock 20", "back 18", "next", "continue", "clock 4", "continue", "back")
    whole, _ = replies(*said)
    monkeypatch.setattr(clock_session, "_KEPT", 3)
    assert [one.partition(";")[0] for one in replies(*said)[0]] == [one.partition(";")[0] for one in whole]
    assert whole[2].startswith("clock 2\n") and whole[5].startswith("clock 4\n")


def test_change_stops_where_a_slot_does_something_else() -> None:
    every = [answer.splitlines() for answer in replies(*["next"] * 20)[0][:21]]
    rows = [next((row for row in answer if row.startswith("slot 1")), "") for answer in every]
    rows = [row.partition(";")[0] for row in rows]
    changes = [f"clock {n}" for n in range(1, 21) if rows[n] != rows[n - 1]]
    found, _ = replies(*["change 1"] * len(changes))
    assert [answer.splitlines()[0] for answer in found[1 : len(changes) + 1]] == changes and len(changes) > 3
    assert replies("clock 4", "change")[0][2].startswith("clock ")


def test_what_is_no_command_is_said() -> None:
    found, _ = replies("foo", "until 7", "clock", "print", "help", "")
    assert found[1] == "'foo' is no command; 'help' lists them"
    assert found[2] == "line 7 has no instruction"
    assert found[3].endswith("is no command; 'help' lists them") and found[4].endswith("'help' lists them")
    assert found[5].startswith("next [N]") and found[6] == ""
