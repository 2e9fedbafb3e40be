"""Random compactions are ported, their near misses are not, and the ports compute what the originals do."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.random_programs.compactions import random_compactions, render_compactions
from warpsmith.flows.port import PortOptions, port
from warpsmith.poly.dependences import packed


def _ported(seed: int, count: int, folder: Path) -> tuple[str, set[str], set[str], set[str]]:
    """Return the referee's answer, the functions with a scan, those that may have one, and the near misses."""
    loops = random_compactions(seed, count)
    path = folder / "compactions.c"
    path.write_text(render_compactions(loops))
    result = port([str(path)], PortOptions())
    assert result.plan is not None and result.verification is not None
    assert not [f.message for f in (*result.diagnostics, *result.findings) if f.severity == "error"]
    scanned = {fragment.function.symbol.name for fragment in result.plan.fragments if fragment.kernel.scans}
    misses = {loop.name for loop in loops if loop.misses}
    return result.verification.status, scanned, {loop.name for loop in loops} - misses, misses


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "count"), [(3, 12), (4, 90)])
def test_random_compactions(seed: int, count: int, tmp_path: Path) -> None:
    status, scanned, wanted, misses = _ported(seed, count, tmp_path)
    assert status == "pass"
    assert not scanned & misses and len(scanned) >= 0.8 * len(wanted) > 0.4 * count


@pytest.mark.slow
def test_places_that_meet_are_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed, "is_packed", lambda places: all(place is not None for place in places))
    status, scanned, _, misses = _ported(3, 24, tmp_path)
    assert scanned & misses and status == "fail"
