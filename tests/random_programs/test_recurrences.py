"""Random recurrences, last values and searches are ported, and the ports compute what the originals do."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.random_programs.recurrences import random_recurrences, render_recurrences
from warpsmith.flows.port import PortOptions, port


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "count"), [(5, 12), (6, 80)])
def test_random_recurrences(seed: int, count: int, tmp_path: Path) -> None:
    loops = random_recurrences(seed, count)
    path = tmp_path / "recurrences.c"
    path.write_text(render_recurrences(loops))
    result = port([str(path)], PortOptions())
    assert result.plan is not None and result.verification is not None
    assert not [f.message for f in (*result.diagnostics, *result.findings) if f.severity == "error"]
    assert result.verification.status == "pass", result.verification.reasons
    ported = {fragment.function.symbol.name for fragment in result.plan.fragments}
    misses = {loop.name for loop in loops if loop.misses}
    assert not ported & misses and len(ported) >= 0.8 * (count - len(misses))
