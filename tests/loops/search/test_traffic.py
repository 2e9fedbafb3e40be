from __future__ import annotations

from pathlib import Path

import pytest

from warpsmith.front.load import FrontOptions, load_program
from warpsmith.loops.search.effort import FunctionEffort, effort_of
from warpsmith.machine.devices import device
from warpsmith.project.profile.model import LoopProfile
from warpsmith.survey.gain import BUS_BYTES_S, gain_of

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
    assert 0.9 < gain.alone < gain.kept < 1.0
    assert abs(gain.kept - gain.alone - 0.9 * gain.copied / BUS_BYTES_S) < 1e-9
    assert gain_of(effort, 0, lambda _: None, device("sm_80")) is None


def test_members_are_arrays_of_their_own_and_what_counters_make_moves(tmp_path: Path) -> None:
    text = """
struct grid { int n; double *u, *v; };
void f(struct grid *g, double *row, int n) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            int c = i * n + j, k = 0;
            g->v[c] = 2 * g->u[c] + g->n;
            while (k < 3)
                row[k++] += g->u[i];
        }
}
"""
    place = tmp_path / "b.c"
    place.write_text(text)
    ((_, function),) = load_program([str(place)], FrontOptions()).program.functions()
    _, inner, last = effort_of(function).loops
    assert sorted((t.array.rpartition(".")[2], t.moved) for t in inner.touched) == [
        ("n", ()), ("u", (0, 1)), ("v", (0, 1)),
    ]  # fmt: skip
    assert [(t.moved, t.written) for t in last.touched] == [((2,), True), ((0,), False)]
    counted = {n: LoopProfile("b.c", n, 10**n, 10 ** (n + 1), seconds=1.0, bytes=0) for n in range(3)}
    gain = gain_of(effort_of(function), 0, counted.get, device("sm_80"))
    assert gain is not None
    # g->u and g->v with every iteration of j, g->n once, g->u[i] with those of i, row with those of while
    assert gain.bytes == 100 * 8 * 2 + 4 + 10 * 8 + 1000 * 8 * 2
    # 100 elements of u and v, 10 of row both ways, one number
    assert gain.copied == 100 * 8 * 2 + 10 * 8 * 2 + 4
