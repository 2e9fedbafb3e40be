"""Races that runs show: the two lines of each, how certain it is, and the command that shows it again."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Sequence
from pathlib import Path

import jsonschema
import pytest

from tests.app.cli.runs import typed
from tests.flows.witness.kernels import MEETS, PAIRS, facts_of, lines_of, text_of, unit_of
from warpsmith.analysis.uniformity.facts import RaceFact
from warpsmith.flows.witness import dependence, tell
from warpsmith.flows.witness.budget import RunBudget, with_witnesses
from warpsmith.kernels.shape import Launching
from warpsmith.kernels.units import KernelFile
from warpsmith.report.json_parts import schema

SECONDS = 60


def find(folder: Path, text: str, launching: Launching | None = None) -> list[RaceFact]:
    """Return the races of a kernel that are told unasked."""
    unit = unit_of(folder, text)
    launching = launching or Launching((64, 1, 1), (2 if "blockIdx" in text else 1, 1, 1))
    facts = with_witnesses(unit, KernelFile(str(folder / "k.cu")), facts_of(unit, launching), RunBudget(SECONDS))
    return [race for race in facts.races if race.certainty != "heuristic"]


def search(folder: Path, text: str) -> Sequence[RaceFact]:
    """Return the races that runs of a kernel show, whatever its text tells of them."""
    unit = unit_of(folder, text)
    return tell.search(
        unit, KernelFile(str(folder / "k.cu"), arguments=("-DN=64", "-std=c++17")), facts_of(unit), SECONDS
    ).races


@pytest.mark.parametrize("name", PAIRS)
def test_textbook_races_are_seen_and_their_twins_have_none(name: str, tmp_path: Path) -> None:
    text = text_of(name, races=True)
    marked = {number for number, line in enumerate(text.splitlines(), 1) if MEETS in line}
    found = find(tmp_path, text)
    lines = [lines_of(race) for race in found]
    assert set().union(*lines) == marked and max(map(len, lines)) == min(2, len(marked)), lines
    assert {race.certainty for race in search(tmp_path, text_of(name, races=False))} <= {"heuristic"}


def test_how_certain_they_are(tmp_path: Path) -> None:
    certain = {name: search(tmp_path, text_of(name, races=True))[0] for name in ("one", "tile", "count", "other_block")}
    assert {name: race.certainty for name, race in certain.items()} == {
        "one": "witnessed", "tile": "conditional", "count": "conditional", "other_block": "conditional"
    }  # fmt: skip
    assert certain["tile"].assumptions == ("n is 128",), "one tile has nobody behind it"
    assert certain["count"].assumptions == ("n is 256", "memory holds random numbers")
    assert certain["other_block"].assumptions == ("the grid has 2x1x1 blocks",)
    # who is told of the grid need not make it up
    whole = find(tmp_path, text_of("other_block", races=True), launching=Launching((64, 1, 1), (2, 1, 1)))
    assert {(race.certainty, race.reach) for race in whole} == {("witnessed", "grid")}


def test_the_command_shows_it_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("one", "count"):
        (race, *_) = search(tmp_path, text_of(name, races=True))
        command, *words = shlex.split(race.replay)
        code, out, _ = typed(capsys, *words)
        assert (command, *words[2:4], code) == ("warpsmith", "-DN=64", "--std=c++17", 1) and "race" in out
        assert all(re.search(rf"^ *{line} \|", out, re.MULTILINE) for line in lines_of(race)), out


GUARDED = """__global__ void k(const float *in, float *out, int n) {
    __shared__ float s[64];
    int t = threadIdx.x;
    if (n == 128)
        s[t] = in[t];
    out[t] = s[63 - t];
}"""
JOINED = """__global__ void k(const float *in, float *out, int n) {
    __shared__ float s[64];
    int t = threadIdx.x, o = t;
    if (n > 60)
        o = 63 - t;
    s[t] = in[t];
    out[t] = s[o];
}"""
BEHIND = """__global__ void k(const float *in, float *out, int n) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = in[t];
    if (n < 64)
        __syncthreads();
    out[t] = s[63 - t];
}"""
STRIDE = """__global__ void k(float *a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    a[i % n] = a[i];
}"""
SCATTER = """__global__ void k(const int *order, const float *a, float *b) {
    int t = threadIdx.x;
    b[order[t]] = a[t];
}"""


VARIABLE = """__device__ int start, sink[64];
__global__ void k() {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[(t + start) % 64] = t;
    sink[t] = s[63 - t];
}"""


MOVED = """__global__ void k(const int *order, const float *a, float *b) {
    int t = threadIdx.x;
    b[order[t]] += a[t];
}"""
COUNTED = MOVED.replace("a[t]", "1")


def certainties(folder: Path, text: str) -> set[str]:
    """Return how certain the races are that runs show."""
    return {race.certainty for race in search(folder, text)}


def test_what_hangs_on_numbers_that_were_made_up_is_not_witnessed(tmp_path: Path) -> None:
    assert certainties(tmp_path, GUARDED) == {"heuristic"}, "with other sizes nothing is written"
    assert certainties(tmp_path, JOINED) == certainties(tmp_path, BEHIND) == {"conditional"}
    assert certainties(tmp_path, SCATTER) == {"heuristic"}, "an order has no number twice"
    assert certainties(tmp_path, MOVED) == {"heuristic"}, "whatever is done there"
    assert certainties(tmp_path, COUNTED) == {"conditional"}, "who counts finds several alike"
    assert certainties(tmp_path, VARIABLE) == {"heuristic"}, "the host may set it"
    assert "witnessed" not in certainties(tmp_path, STRIDE)


def test_a_slice_that_forgets_something_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(dependence, "_conditions", lambda block: ())
        assert "witnessed" in certainties(tmp_path, BEHIND)
    search = dependence._Search
    with monkeypatch.context() as patch:
        patch.setattr(search, "_join", lambda self, phi, ways: self.follow(value for _, value in phi.incoming))
        assert "witnessed" in certainties(tmp_path, JOINED)
    with monkeypatch.context() as patch:
        patch.setattr(dependence, "_is_barrier", lambda i: False)
        assert "witnessed" in certainties(tmp_path, BEHIND)


def test_sizes_that_do_not_vary_and_scattered_places_are_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(tell._Search, "_is_everywhere", lambda self, pair, seen: True)
        assert certainties(tmp_path, GUARDED) == {"conditional"}
    with monkeypatch.context() as patch:
        patch.setattr(tell._Search, "_is_scattered", lambda self, pair, found: False)
        assert certainties(tmp_path, SCATTER) == {"conditional"}


PART = """__global__ void k(float *sums, int part) {
    int t = threadIdx.x;
    sums[(part == 0 ? (int)blockIdx.x : part) * 64 + t] = blockIdx.x + t;
}"""
BINS = """__global__ void k(const float *in, int *out, float least, float most) {
    __shared__ int s[1024];
    int t = threadIdx.x, bin = (in[t] - least) / (most - least) * 1024;
    s[bin]++;
    out[t] = bin;
}"""


def test_what_too_much_was_made_up_for_is_not_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert certainties(tmp_path, PART) == {"heuristic"}, "with a part there may be one block"
    told = find(tmp_path, PART, launching=Launching((64, 1, 1), (2, 1, 1)))
    assert {race.certainty for race in told} == {"conditional"}, "there are two"
    rows = "__global__ void k(float *a, int n) { a[blockIdx.x * n / 2 + threadIdx.x] = n; }"
    given = Launching((64, 1, 1), arguments={"n": 64})
    assert not find(tmp_path, rows, launching=given), "with so many elements there may be one block"
    assert find(tmp_path, rows, launching=Launching((64, 1, 1), (2, 1, 1), {"n": 64}))
    assert certainties(tmp_path, BINS) == {"heuristic"}, "the range may be any"
    with monkeypatch.context() as patch:
        patch.setattr(tell._Search, "_is_far_fetched", lambda self, attempt, found, grid: False)
        assert certainties(tmp_path, PART) == certainties(tmp_path, BINS) == {"conditional"}


def test_analyze_tells_what_runs_show(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    launches = "void run(float *f, int *i) { one<<<1, 64>>>(f, f); count<<<1, 64>>>(i, i, 64); }\n"
    texts = [text_of(name, races=True).replace("racy", name) for name in ("one", "count")]
    (tmp_path / "k.cu").write_text("".join(texts) + launches)
    words = ("analyze", str(tmp_path / "k.cu"), "--select", "SYN002", "--isolated")
    found = json.loads(typed(capsys, *words, "--json", "--runs", "0")[1])
    assert not any(one["certainty"] == "witnessed" for one in found.get("findings", ())), "there are to be no runs"
    found = json.loads(typed(capsys, *words, "--json")[1])
    assert any(one["certainty"] == "witnessed" for one in found["findings"]), "that is the default"
    code, out, _ = typed(capsys, *words, "--json", "--runs", "30")
    found = json.loads(out)
    jsonschema.validate(found, schema())
    told = {one["kernel"]: (one["severity"], one["certainty"]) for one in found["findings"]}
    assert code == 1 and told == {"one": ("error", "witnessed"), "count": ("warning", "conditional")}
    assert all("warpsmith simulate" in one["help"][-1] for one in found["findings"])
    # what hangs on numbers that were made up fails no gate
    assert typed(capsys, *words, "--runs", "30", "--kernel", "count")[0] == 0
    code, out, _ = typed(capsys, *words, "--runs", "30", "--min-certainty", "witnessed", "--format", "concise")
    assert code == 1 and "error witnessed" in out and "[count]" not in out
    code, out, err = typed(capsys, *words, "--runs", "0.000001")
    assert "INP012" in err and "no time was left" in err


SAME = """__global__ void k(const float *in, float *out) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t % 8] = in[WHO] * 2;
    __syncthreads();
    out[t] = s[t % 8];
}"""


def test_stores_of_the_same_miss_no_order(tmp_path: Path) -> None:
    assert search(tmp_path, SAME.replace("WHO", "t % 8")) == []
    (race,) = search(tmp_path, SAME.replace("WHO", "t"))
    assert race.certainty == "conditional" or race.certainty == "witnessed"


def test_arrays_of_a_block_that_are_arguments(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = """__kernel void k(__local int *s, __global const int *a, __global int *b) {
        int t = get_local_id(0);
        s[a[t] & 15] = t;
        b[t] = s[t & 15];
    }"""
    unit = unit_of(tmp_path, text, "k.cl")
    found = tell.search(unit, KernelFile(str(tmp_path / "k.cl")), facts_of(unit), SECONDS)
    assert found.why == "" and {race.variable for race in found.races} == {"s"}
    race = next(race for race in found.races if len(race.places) == 2)
    assert race.offset is not None and 0 <= race.offset < 64, "a byte of the array"
    assert "--arg s=local:i32[2048]" in race.replay.replace("'", "") and "--shared" not in race.replay
    assert "race" in typed(capsys, *shlex.split(race.replay)[1:])[1].lower()


def test_an_array_of_a_block_that_is_too_short_meets_no_other(tmp_path: Path) -> None:
    text = """__kernel void k(__local int *s, __local int *f, __global int *b) {
        int t = get_local_id(0);
        s[t + 2048 + 32] = t;
        b[t] = f[63 - t];
    }"""
    unit = unit_of(tmp_path, text, "k.cl")
    assert not tell.search(unit, KernelFile(str(tmp_path / "k.cl")), facts_of(unit), SECONDS).races
