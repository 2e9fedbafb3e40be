"""What moves of the search are worth: programs of which they make better ports, by the model and by counted runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.flows.optimizing.begun import Begun, begin
from tests.flows.optimizing.counted import Ran, run_port
from tests.flows.optimizing.test_nests import nest_of
from warpsmith.flows.optimizing import placements
from warpsmith.flows.optimizing.nests import outcome_of
from warpsmith.flows.optimizing.scored import predict_kernels
from warpsmith.flows.optimizing.setting import PlannedPort
from warpsmith.flows.optimizing.shared import SearchEffort
from warpsmith.loops.step import Step, step_text
from warpsmith.recipes.transforms import transforms

# rows of 96 floats: all begin at multiples of 16 bytes
PRODUCT = """
static float A[64][288], B[288][96], C[64][96];
void product(void) {
    for (int i = 0; i < 64; i++)
        for (int j = 0; j < 96; j++)
            for (int k = 0; k < 288; k++)
                C[i][j] += A[i][k] * B[k][j];
}
"""
ELEMENTS = 288 * 96
PLACED = ("map=product/i,axes=y:x,block=32:8", "register-tile=product/i/j/k,rows=1,columns=1")
TILES = "shared-tile=product/i/j/k,width=32"


# each thread reads two members of eight; what the second loop reads elsewhere keeps the two apart
DRIFT = """
#include <stdlib.h>
struct particle { float x, y, z, vx, vy, vz, mass, charge; };
static struct particle p[40001];
void drift(float dt) {
    for (int s = 0; s < 100; s++) {
        for (int i = 0; i < 40000; i++)
            p[i].x += dt * p[i].vx;
        for (int i = 0; i < 40000; i++)
            p[i].vx -= dt * (p[i + 1].x - p[40000 - i].x);
    }
}
"""
# the first loop goes on from one iteration to the next: on the host, a is copied back and forth
SHORT = """
static double a[20000], b[20000];
void turns(void) {
    for (int t = 0; t < 100; t++) {
        for (int i = 1; i < 16; i++)
            a[i] = a[i - 1] * a[19999 - i] * a[i] + 1;
        for (int j = 0; j < 20000; j++)
            a[j] += b[j];
    }
}
"""
# 30 steps of two nests: three times eight in two passes and one as it is, and three that are left
ROD = """
static double A[2000], B[2000];
void rod(void) {
    for (int t = 0; t < 30; t++) {
        for (int i = 1; i < 1999; i++)
            B[i] = 0.33333 * (A[i - 1] + A[i] + A[i + 1]);
        for (int i = 1; i < 1999; i++)
            A[i] = 0.33333 * (B[i - 1] + B[i] + B[i + 1]);
    }
}
"""
BLUR = """
static float c[49], in[N + 48], out[N];
void blur(void) {
    for (int i = 0; i < N; i++) {
        float s = 0;
        for (int k = 0; k < 49; k++)
            s += c[k] * in[i + k];
        out[i] = s;
    }
}
"""


def placed_by(begun: Begun, texts: Sequence[str]) -> PlannedPort:
    return place(begun, [listed.step for listed in transforms((*PLACED[:1], *texts, *PLACED[1:]))])


def counted(begun: Begun, folder: Path, *texts: str) -> tuple[float, Ran]:
    """Return the predicted seconds of the kernel of a port, whose counters are those of its run."""
    planned = placed_by(begun, texts)
    ((prediction, _),) = predict_kernels(planned, begun.shared.times).values()
    outcome, ran = outcome_of(prediction), run_port(planned, folder, ELEMENTS)
    assert outcome.seconds is not None and prediction.time is not None and prediction.time.work is not None
    assert (outcome.sectors, prediction.time.work.passes) == (ran.sectors, ran.passes)
    return outcome.seconds, ran


def test_two_tiles_a_read_are_counted_as_they_run_and_a_warp_waits_less(tmp_path: Path) -> None:
    begun = begin(PRODUCT, tmp_path)
    before, one = counted(begun, tmp_path, TILES)
    after, two = counted(begun, tmp_path, TILES, "double-buffer=product/i/j/k")
    # nothing is asked of memory more often
    assert after < before and (two.sectors, two.passes) == (one.sectors, one.passes)


def test_neighbors_loaded_at_once_are_fewer_requests(tmp_path: Path) -> None:
    begun = begin(PRODUCT, tmp_path)
    before, one = counted(begun, tmp_path, TILES)
    after, four = counted(begun, tmp_path, TILES, "vector-load=product/i/j/k,elements=4")
    assert after < before and four.requests < one.requests and four.sectors == one.sectors


def test_longer_rows_are_fewer_passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.flows.optimizing.test_gains.PLACED", (PLACED[0].replace("32:8", "16:16"), PLACED[1]))
    begun = begin(PRODUCT, tmp_path)
    before, one = counted(begun, tmp_path, TILES)
    after, longer = counted(begun, tmp_path, f"{TILES},padding=1")
    assert after < before and longer.passes < one.passes and longer.sectors == one.sectors


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (DRIFT, "split-structs=drift/s,variable=p"),
        (SHORT, "one-thread=turns/t/i"),
        (ROD, "time-tile=rod/t,iterations=4,passes=2"),
    ],
)
def test_other_ports_are_better_as_they_run(text: str, wanted: str, tmp_path: Path) -> None:
    begun = begin(text, tmp_path, SearchEffort(width=1, depth=1, mappings_only=True))
    first, best = begun.search().run(begun.root, frozenset(), keeps=False)
    assert [step_text(step) for step in best.structure.steps] == [wanted]
    assert best.outcome.seconds is not None and first.outcome.seconds is not None
    assert 1.2 * best.outcome.seconds < first.outcome.seconds
    planned = begun.shared.setting.place(best.structure.prepared, best.placing)
    before, after = (run_port(one, tmp_path, 40001) for one in (begun.root.planned, planned))
    better = {name for name in Ran.__struct_fields__ if getattr(after, name) < getattr(before, name)}
    assert better >= {DRIFT: {"sectors", "copied"}, SHORT: {"copied"}, ROD: {"sectors", "launches"}}[text]


@pytest.mark.slow
def test_tables_in_constant_memory_are_better_as_they_run(tmp_path: Path) -> None:
    (tmp_path / "small").mkdir()
    large, small = (begin(BLUR.replace("N", n), f) for n, f in (("4000000", tmp_path), ("5000", tmp_path / "small")))
    search, nest = nest_of(large, "blur/i")
    steps, outcome = search.best(nest)
    assert any(step_text(step) == "constant-memory=blur/i,arrays=c" for step in steps)
    assert outcome.seconds is not None and outcome.seconds < (nest.prediction.seconds or 0.0)
    # a copy to constant memory takes a launch, which is not worth while where there is little to do
    search, less = nest_of(begin(BLUR.replace("N", "400000"), tmp_path, SearchEffort(least=1.0)), "blur/i")
    assert "constant" not in " ".join(map(step_text, search.best(less)[0]))
    _, nest = nest_of(small, "blur/i")
    placed = (place(small, nest.placing), place(small, steps))
    before, after = (run_port(one, tmp_path, 5048) for one in placed)
    assert after.sectors < before.sectors and after.constant > 0


def place(begun: Begun, steps: Sequence[Step]) -> PlannedPort:
    return begun.shared.setting.place(begun.root.prepared, steps)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("block", "wanted"), [((16, 16), "padding=1"), ((32, 8), "double-buffer="), ((32, 8), "vector-load=")]
)
def test_the_search_takes_them(
    block: tuple[int, int], wanted: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(placements, "_TILE_BLOCKS", (block,))
    monkeypatch.setattr(placements, "_WIDTHS", (32,))
    monkeypatch.setattr(placements, "_VOLUMES", ())
    monkeypatch.setattr(placements, "_ELEMENTS", ())
    monkeypatch.setattr(placements, "filled_otherwise" if "padding" in wanted else "padded", lambda _: ())
    begun = begin(PRODUCT, tmp_path, SearchEffort(least=1.0, tiles=1))
    search, nest = nest_of(begun, "product/i")
    steps, _ = search.best(nest)
    assert any(wanted in step_text(step) for step in steps)
