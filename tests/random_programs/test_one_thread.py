"""Random functions with loops that one GPU thread runs: the ports do what the functions do.

`WARPSMITH_PROGRAMS=400 pytest -m slow tests/random_programs/test_one_thread.py -k many` runs as many functions.
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
from tests.random_programs.one_thread_programs import OneThreadFunction, program, random_functions
from tests.random_programs.seeded_one_thread import BUGS
from warpsmith.base.errors import RefusedError
from warpsmith.base.verdict import Proved
from warpsmith.flows.port import PortOptions, port
from warpsmith.poly.analyze import Facts
from warpsmith.poly.facts import PolyOptions
from warpsmith.tree.nodes import For, While

BATCH = 10
MANY = int(os.environ.get("WARPSMITH_PROGRAMS", "80"))


class Compared(Struct):
    """Counts over functions: loops that one thread runs, why others are refused, and what was `wrong`."""

    taken: int = 0
    left: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)


def _is_taken(one: OneThreadFunction, folder: Path, compared: Compared) -> bool:
    read = load(program([one]), folder)
    verdict = one.step.check(read, Facts.about(read, PolyOptions()))
    if not isinstance(verdict, Proved):
        compared.left[verdict.reasons[0].text.replace(f"{one.name}/", "f/")] += 1
    return isinstance(verdict, Proved)


def _compare(functions: Sequence[OneThreadFunction], folder: Path, compared: Compared) -> None:
    taken = [one for one in functions if _is_taken(one, folder, compared)]
    if not taken:
        return
    path = folder / "functions.c"
    path.write_text(program(taken))
    chosen = tuple(one.step for one in taken)
    try:
        result = port([str(path)], PortOptions(steps=False, chosen=chosen))
    except RefusedError as error:
        compared.wrong.append(f"{error}\n{path.read_text()}")
        return
    errors = [f.message for f in (*result.diagnostics, *result.findings) if f.severity == "error"]
    assert result.plan is not None
    whole = [f for f in result.plan.fragments if f.kind == "single" and isinstance(f.statements[-1], For | While)]
    errors += [] if len(whole) == len(taken) else [f"{len(whole)} loops of one thread, not {len(taken)}"]
    compared.taken += len(whole)
    if errors or not is_accepted(result.verification):
        said = [] if result.verification is None else [f.message for f in result.verification.reasons[:3]]
        compared.wrong.append("\n".join([*errors, *said, path.read_text()]))


@pytest.mark.slow
def test_many_loops_of_one_thread_do_what_functions_do(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    compared = Compared()
    for number in range(MANY // BATCH):
        _compare(random_functions(number, BATCH), tmp_path, compared)
    with capsys.disabled():
        print(f"\n{compared.taken} loops of one thread; refused: {dict(compared.left)}")
    assert not compared.wrong, "\n\n".join(compared.wrong[:2])
    assert compared.taken >= MANY // 3
    assert sum(compared.left.values()) >= MANY // 20


@pytest.mark.slow
@pytest.mark.parametrize("bug", BUGS)
def test_wrong_kernels_of_one_thread_are_seen(bug: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    BUGS[bug](monkeypatch)
    compared = Compared()
    for number in range(MANY // BATCH):
        try:
            _compare(random_functions(number, BATCH), tmp_path, compared)
        except RuntimeError as error:
            # the plan's own check of its copies
            compared.wrong.append(str(error))
        if compared.wrong:
            return
    pytest.fail("no function showed the bug")
