"""Work is estimated through loops and calls."""

from __future__ import annotations

from warpsmith.loops.search.effort import FunctionEffort, LoopEffort
from warpsmith.report.port.ranking import UNCOUNTED_TRIPS, UNKNOWN_TRIPS, weigh


def test_trips_depth_and_calls_multiply() -> None:
    main = FunctionEffort("main", 5, (), (LoopEffort(-1, 10, True, 1, ("step",)),))
    outer_loop, inner_loop = LoopEffort(-1, None, True, 3, ()), LoopEffort(0, 64, True, 5, ())
    step = FunctionEffort("step", 2, (), (outer_loop, inner_loop, LoopEffort(-1, None, False, 7, ())))
    found = weigh([main, step])
    outer, inner = UNKNOWN_TRIPS * (3 + 64 * 5), UNKNOWN_TRIPS * 64 * 5
    assert found.inclusive["step", 1] == 10 * inner
    assert found.inclusive["step", 0] == 10 * outer
    assert found.inclusive["step", 2] == 10 * UNCOUNTED_TRIPS * 7
    assert found.inclusive["main", 0] == 10 * (1 + 2 + outer + UNCOUNTED_TRIPS * 7)
    assert found.total == 5 + found.inclusive["main", 0]
    assert found.own["step", 1] == 10 * inner


def test_a_function_that_nobody_calls_runs_once_and_recursion_ends() -> None:
    one = FunctionEffort("one", 1, ("two",), (LoopEffort(-1, 3, True, 1, ("one",)),))
    two = FunctionEffort("two", 1, ("one", "unknown"), ())
    alone = FunctionEffort("alone", 1, (), (LoopEffort(-1, 4, True, 2, ()),))
    found = weigh([one, two, alone])
    assert found.inclusive["alone", 0] == 8
    assert 0 < found.inclusive["one", 0] < 1000
    assert found.total >= max(found.inclusive.values())


def test_a_long_chain_of_calls_is_no_trouble() -> None:
    chain = [FunctionEffort(f"f{n}", 1, (), (LoopEffort(-1, None, True, 1, (f"f{n + 1}",)),)) for n in range(3000)]
    found = weigh(chain)
    assert all(value > 0 for value in found.inclusive.values())


def test_no_loops_at_all() -> None:
    assert weigh([]).total == 1.0
