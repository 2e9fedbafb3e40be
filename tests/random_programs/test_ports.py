"""Random nests, ported: the port does what the original does, under every schedule of the referee."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.random_programs.ports import Ports, port_batch
from tests.random_programs.strategies import gather
from tests.random_programs.test_verdicts import BATCH, NESTS

# every n-th batch is ported with steps, the others as they are written, which takes less
WITH_STEPS = 4
HALVES = 2
# each nest is built and run three times
PORTED_NESTS = max(75, NESTS // 2)


@pytest.mark.parametrize("half", range(HALVES))
def test_ports_do_what_the_originals_do(half: int, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    ports = Ports()
    for number, batch in enumerate(gather(PORTED_NESTS, BATCH)):
        if number % HALVES == half:
            port_batch(batch, tmp_path, ports, steps=number % WITH_STEPS == half)
    with capsys.disabled():
        print(f"\n{ports}")
    assert not ports.wrong, "\n\n".join(ports.wrong[:5])
    assert ports.ported >= 0.5 * ports.nests
    assert ports.refused >= 0.08 * ports.nests
