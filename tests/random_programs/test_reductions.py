"""Random reductions are ported, and the ports compute what the originals do, for sizes around warps and blocks."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.random_programs.reductions import random_loops, render
from warpsmith.flows.port import PortOptions, port


@pytest.mark.parametrize("seed", [1, 2])
def test_random_reductions(seed: int, tmp_path: Path) -> None:
    path = tmp_path / "reductions.c"
    path.write_text(render(random_loops(seed, 40)))
    result = port([str(path)], PortOptions(steps=False))
    assert result.plan is not None and result.verification is not None
    errors = [f.message for f in (*result.diagnostics, *result.findings) if f.severity == "error"]
    assert not errors
    assert result.verification.status == "pass", result.verification.reasons
    reducing = [f for f in result.plan.fragments if f.kernel.reductions]
    atomic = [f for f in result.plan.fragments if "atomic" in str(f.kernel.body)]
    assert len(reducing) >= 25
    del atomic
