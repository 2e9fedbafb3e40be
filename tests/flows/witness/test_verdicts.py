"""Verdicts on races and runs say one thing: no run shows a race of a kernel that is proven to have none."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.analysis.sync.pairs import CORPUS, Pair, load_pairs, take_text
from tests.flows.witness.kernels import unit_of
from warpsmith.analysis.kernel import examine
from warpsmith.analysis.uniformity.facts import LaunchShape, RaceVerdict
from warpsmith.flows.witness import tell
from warpsmith.kernels.names import shown_names
from warpsmith.kernels.units import KernelFile
from warpsmith.machine.devices import device

SECONDS = 60


def disagreements(path: Path, folder: Path, *, racy: bool) -> tuple[list[str], Counter[str]]:
    """Return the kernels of a file that are proven free of races and race in a run, and how many there are of each
    kind."""
    unit = unit_of(folder, take_text(path.read_text(), racy=racy))
    names = shown_names([function.name for function in unit.module.functions if function.kernel])
    pairs = {pair.name: pair for pair in load_pairs() if pair.path == path}
    wrong, met = [], Counter[str]()
    for symbol, name in names.items():
        pair: Pair = pairs[name]
        facts = examine(unit.module, symbol, LaunchShape(pair.block, pair.grid), device("h100"))
        seen = tell.search(unit, KernelFile(str(folder / "k.cu")), facts, SECONDS).races
        met[f"{facts.freedom.kind} {bool(seen)}"] += 1
        if seen and facts.freedom.kind == "none":
            wrong.append(f"{name}: {facts.freedom.assumptions}, {seen[0].assumptions}")
    return wrong, met


def _paths() -> list[Path]:
    return sorted(CORPUS.glob("*.cu"))


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, marks=() if path.stem == "trees" else pytest.mark.slow, id=path.stem) for path in _paths()],
)
def test_no_run_shows_a_race_where_none_is_proven(path: Path, tmp_path: Path) -> None:
    wrong, met = disagreements(path, tmp_path, racy=False)
    assert not wrong and met["none False"]
    wrong, met = disagreements(path, tmp_path, racy=True)
    assert not wrong and not met["none False"] and met["unknown True"], met


@pytest.mark.slow
def test_a_wrong_verdict_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (path,) = (path for path in _paths() if path.stem == "choices")
    original = examine

    def said(*given: object) -> object:
        return replace(original(*given), freedom=RaceVerdict("none"))  # type: ignore[arg-type]

    monkeypatch.setattr("tests.flows.witness.test_verdicts.examine", said)
    assert disagreements(path, tmp_path, racy=True)[0]
