"""Random functions around one construct each: verdicts against the oracle, ports with steps against the referee."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.random_programs.construct_survey import ConstructPorts, Survey, batches, judge_batch, port_batch
from tests.random_programs.constructs import KINDS
from tests.random_programs.seeded import STATIC
from tests.sampling import one_in

SEED, BATCH = 20261121, 24
FUNCTIONS = [72, pytest.param(480, marks=pytest.mark.slow)]
# in one build: that is most of what a port takes
PORTED_TOGETHER = 20
PORTED = [pytest.param(n * PORTED_TOGETHER, marks=pytest.mark.slow) for n in (1, 3)]


@pytest.mark.parametrize("functions", FUNCTIONS)
def test_verdicts_agree_with_the_oracle(functions: int, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    survey = Survey()
    for batch in batches(SEED, functions, BATCH):
        judge_batch(batch, tmp_path, survey)
    with capsys.disabled():
        print(f"\n{survey}")
    assert not survey.wrong, "\n\n".join(survey.wrong[:5])
    assert survey.found >= 0.95 * survey.parallel, "\n\n".join(survey.missed[:20])
    assert survey.combined >= 0.95 * survey.reductions
    # a mix in which all of it can go wrong
    assert survey.parallel >= 0.35 * survey.loops
    assert survey.never >= 0.1 * survey.loops
    for category in ("parallel", "reduction", "sequential", "unanalyzable"):
        assert survey.categories[category] >= 5, survey.categories
    for kind in KINDS:
        assert survey.kinds[kind] >= min(5, functions // 48), survey.kinds


def _writes_forgotten(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("warpsmith.poly.effects.origin.find_changed_in", lambda function, known: frozenset())


BUGS = {
    "writes of sizes forgotten": _writes_forgotten,
    **{
        name: STATIC[name]
        for name in ("flow dependences dropped", "output dependences dropped", "private though not written first")
    },
}


@pytest.mark.slow
@pytest.mark.parametrize("name", one_in(4, BUGS))
def test_wrong_verdicts_are_seen(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    BUGS[name](monkeypatch)
    survey = Survey()
    judge_batch(next(batches(SEED, 60, 60)), tmp_path, survey)
    assert survey.wrong


@pytest.mark.parametrize("functions", PORTED)
def test_ports_with_steps_do_what_the_originals_do(
    functions: int, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    ports = ConstructPorts()
    for batch in batches(SEED + 1, functions, PORTED_TOGETHER):
        port_batch(batch, tmp_path, ports)
    with capsys.disabled():
        print(f"\n{ports}")
    assert not ports.wrong, "\n\n".join(ports.wrong[:5])
    assert ports.ported >= 0.6 * ports.functions
    assert ports.functions - ports.ported >= 0.05 * ports.functions
    assert ports.after >= min(5, functions // 5) and len(ports.thanks) >= 2
    for category in ("parallel", "parallel-after", "reduction", "sequential", "unanalyzable"):
        assert ports.categories[category] >= 2, ports.categories
