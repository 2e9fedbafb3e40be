"""Random nests, ported: the port does what the original does, under every schedule of the referee."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.random_programs.ports import Ports, port_batch
from tests.random_programs.strategies import gather
from tests.random_programs.test_verdicts import MANY

# each nest is built and run three times; WARPSMITH_NESTS asks for more
BATCH, MANY_TOGETHER = 16, 25
PORTED_NESTS = max(BATCH, int(os.environ.get("WARPSMITH_NESTS", "0")) // 2)


@pytest.mark.parametrize(
    ("nests", "steps"),
    [
        pytest.param(PORTED_NESTS, True, id="with steps", marks=pytest.mark.slow),
        pytest.param(PORTED_NESTS, False, id="as written", marks=pytest.mark.slow),
        pytest.param(MANY // 2, True, id="many with steps", marks=pytest.mark.slow),
        pytest.param(MANY // 2, False, id="many as written", marks=pytest.mark.slow),
    ],
)
def test_ports_do_what_the_originals_do(
    nests: int, steps: bool, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    ports = Ports()
    for number, batch in enumerate(gather(nests, BATCH if nests == PORTED_NESTS else MANY_TOGETHER)):
        # of many every other batch is ported with steps, the others as they are written, which takes less
        if nests == PORTED_NESTS or number % 2 == (not steps):
            port_batch(batch, tmp_path, ports, steps=steps)
    with capsys.disabled():
        print(f"\n{ports}")
    assert not ports.wrong, "\n\n".join(ports.wrong[:5])
    assert ports.ported >= 0.5 * ports.nests
    # a few may have none
    assert ports.refused >= 0.08 * ports.nests or nests == PORTED_NESTS
