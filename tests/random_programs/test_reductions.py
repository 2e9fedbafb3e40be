"""Random reductions are ported, and the ports compute what the originals do, for sizes around warps and blocks."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.random_programs.reductions import random_loops, render
from warpsmith.flows.port import PortOptions, port
from warpsmith.tree.nodes import Name
from warpsmith.tree.program import Kernel
from warpsmith.tree.walk import walk


def is_atomic(kernel: Kernel) -> bool:
    return any(isinstance(n, Name) and n.symbol.name.startswith("atomic") for n in walk(kernel.body))


@pytest.mark.slow
@pytest.mark.parametrize("count", [13, 72])
def test_random_reductions(count: int, tmp_path: Path) -> None:
    path = tmp_path / "reductions.c"
    path.write_text(render(random_loops(7, count)))
    result = port([str(path)], PortOptions(steps=False))
    assert result.plan is not None and result.verification is not None
    assert not [f.message for f in (*result.diagnostics, *result.findings) if f.severity == "error"]
    assert result.verification.status == "pass", result.verification.reasons
    kernels = [fragment.kernel for fragment in result.plan.fragments]
    combined = [one for kernel in kernels for one in kernel.reductions]
    assert len(combined) >= 0.7 * count and len({one.op for one in combined}) >= 6
    assert any(one.companions for one in combined)
    assert sum(map(is_atomic, kernels)) >= 3
