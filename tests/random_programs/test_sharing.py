"""Random functions with loops that threads share: the ports do what the functions do.

`WARPSMITH_PROGRAMS=400 pytest -m slow tests/random_programs/test_sharing.py -k many` runs as many functions.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec import Struct, field

from tests.poly.programs import load
from tests.random_programs.acceptance import is_accepted
from tests.random_programs.seeded_sharing import BUGS
from tests.random_programs.sharing_programs import SharingFunction, program, random_functions
from warpsmith.base.errors import RefusedError
from warpsmith.base.verdict import Proved
from warpsmith.flows.port import PortOptions, port
from warpsmith.offload.steps.share_loop import ShareLoop
from warpsmith.poly.analyze import Facts
from warpsmith.poly.facts import PolyOptions

BATCH = 8
MANY = int(os.environ.get("WARPSMITH_PROGRAMS", "80"))


class Compared(Struct):
    """Counts over functions: loops that threads share, why others are refused, and what was `wrong`."""

    shared: int = 0
    left: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)


def _find_legal(functions: Sequence[SharingFunction], folder: Path, compared: Compared) -> tuple[ShareLoop, ...]:
    """Return steps for the loops that threads may share: all of a function that they may share beside one another."""
    read = load(program(list(functions)), folder)
    facts = Facts.about(read, PolyOptions())
    found: list[ShareLoop] = []
    for number, one in enumerate(functions):
        for loop in one.loops:
            step = ShareLoop(loop, ("warp", "block")[number % 2])
            verdict = step.check(read, facts)
            if isinstance(verdict, Proved):
                found.append(step)
                read = step.apply(read)
            else:
                compared.left[verdict.reasons[0].text.replace(f"{one.name}/", "f/")] += 1
    return tuple(found)


def _compare(functions: list[SharingFunction], folder: Path, compared: Compared) -> None:
    path = folder / "functions.c"
    path.write_text(program(functions))
    chosen = _find_legal(functions, folder, compared)
    try:
        result = port([str(path)], PortOptions(steps=False, chosen=chosen))
    except RefusedError as error:
        compared.wrong.append(f"{error}\n{path.read_text()}")
        return
    errors = [f.message for f in (*result.diagnostics, *result.findings) if f.severity == "error"]
    assert result.plan is not None
    shared = {loop for fragment in result.plan.fragments for loop in fragment.shared}
    errors += [f"{step.loop} is not shared" for step in chosen if step.loop not in shared]
    compared.shared += len(shared)
    if errors or not is_accepted(result.verification):
        said = [] if result.verification is None else [f.message for f in result.verification.reasons[:3]]
        compared.wrong.append("\n".join([*errors, *said, path.read_text()]))


def test_a_few_shared_loops_do_what_functions_do(tmp_path: Path) -> None:
    compared = Compared()
    _compare(random_functions(0, 4), tmp_path, compared)
    assert not compared.wrong and compared.shared >= 2


@pytest.mark.slow
def test_many_shared_loops_do_what_functions_do(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    compared = Compared()
    for number in range(MANY // BATCH):
        _compare(random_functions(number, BATCH), tmp_path, compared)
    with capsys.disabled():
        print(f"\n{compared.shared} loops that threads share; refused: {dict(compared.left)}")
    assert not compared.wrong, "\n\n".join(compared.wrong[:2])
    assert compared.shared >= MANY // 2
    assert sum(compared.left.values()) >= MANY // 20


@pytest.mark.slow
@pytest.mark.parametrize("bug", BUGS)
def test_wrong_shares_are_seen(bug: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    BUGS[bug](monkeypatch)
    compared = Compared()
    for number in range(MANY // BATCH):
        _compare(random_functions(number, BATCH), tmp_path, compared)
        if compared.wrong:
            return
    pytest.fail("no function showed the bug")
