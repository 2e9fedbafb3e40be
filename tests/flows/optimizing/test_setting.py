"""A port from steps: what they place, and why not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.flows.optimizing.begun import PAIR, begin
from warpsmith.base.errors import RefusedError
from warpsmith.flows.optimizing.setting import nests_of
from warpsmith.loops.steps.order.interchange import Interchange
from warpsmith.offload.steps.keep import Keep
from warpsmith.offload.steps.map import Map


def test_steps_say_where_each_nest_lies_and_nothing_else_is_moved(tmp_path: Path) -> None:
    begun = begin(PAIR, tmp_path)
    setting = begun.shared.setting
    planned = setting.place(begun.made.prepared, (Map("turn/i", ("x", "y"), (32, 4)),))
    (nest,) = nests_of(planned.port)
    assert (nest.region, nest.kernel.block, nest.mapping) == ("turn/i", (32, 4, 1), {"i": "x", "j": "y"})
    assert len(nests_of(setting.plan(begun.made.prepared, decided=False).port)) == 3


def test_a_step_that_is_not_proved_is_refused(tmp_path: Path) -> None:
    begun = begin(PAIR, tmp_path)
    with pytest.raises(RefusedError, match="axes"):
        begun.shared.setting.place(begun.made.prepared, (Map("scale/i", ("x", "y"), (32, 4)),))
    chain = "void f(int n, double *x) { for (int i = 1; i < n; i++) x[i] = x[i - 1] * x[i - 1]; }\n"
    serial = begin(chain + PAIR, tmp_path)
    with pytest.raises(RefusedError):
        serial.shared.setting.apply(serial.made.prepared, (Interchange("f/i"),))
    with pytest.raises(RefusedError, match="dependence"):
        serial.shared.setting.place(serial.made.prepared, (Map("f/i", ("x",), (64,)),))


def test_a_nest_that_stays_all_the_same_is_refused(tmp_path: Path) -> None:
    begun = begin(PAIR, tmp_path)
    with pytest.raises(RefusedError, match="turn/i stays on the host"):
        begun.shared.setting.place(begun.made.prepared, (Map("turn/i", ("y", "x"), (32, 4)), Keep("turn/i")))
