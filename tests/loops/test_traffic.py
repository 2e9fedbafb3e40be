from __future__ import annotations

import pytest

from warpsmith.front.load import FrontOptions, load_program
from warpsmith.loops.effort import FunctionEffort, effort_of
from warpsmith.machine.devices import device
from warpsmith.project.profile import LoopProfile
from warpsmith.survey.gain import gain_of

TEXT = """
void f(int n, double *x, float a[][64], double *y, int *at) {
    for (int i = 0; i < n; i++) {
        double s = 0;
        for (int j = 0; j < 64; j++)
            s += a[i][j] * x[at[j]];
        y[i] = s;
        y[i + 1] += 1;
    }
}
"""


@pytest.fixture(scope="module")
def effort(tmp_path_factory: pytest.TempPathFactory) -> FunctionEffort:
    place = tmp_path_factory.mktemp("traffic") / "a.c"
    place.write_text(TEXT)
    ((_, function),) = load_program([str(place)], FrontOptions()).program.functions()
    return effort_of(function)


def test_what_iterations_touch(effort: FunctionEffort) -> None:
    outer, inner = effort.loops
    assert [(t.bytes, t.read, t.written, t.moved) for t in outer.touched] == [
        (8, False, True, (0,)), (8, True, True, (0,)),
    ]  # fmt: skip
    found = sorted((t.bytes, t.read, t.written, t.moved) for t in inner.touched)
    assert found == [(4, True, False, (0, 1)), (4, True, False, (1,)), (8, True, False, (1,))]


def test_what_a_loop_would_gain(effort: FunctionEffort) -> None:
    counted = {
        0: LoopProfile("a.c", 3, entries=10, iterations=1000, seconds=1.0, bytes=0),
        1: LoopProfile("a.c", 5, entries=1000, iterations=64000, seconds=0.9, bytes=0),
    }
    gain = gain_of(effort, 0, counted.get, device("sm_80"))
    assert gain is not None
    assert gain.bytes == 1000 * (8 + 16) + 64000 * (4 + 4 + 8)
    # each entry: 100 rows of a, 64 of x and at, and y both ways
    assert gain.copied == 10 * ((100 * 64 * 4) + 64 * 8 + 64 * 4 + 100 * 8 + 100 * 8)
    assert 0.9 < gain.seconds < 1.0
    assert gain_of(effort, 0, lambda _: None, device("sm_80")) is None
