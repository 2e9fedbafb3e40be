"""Random functions with arrays of structs: rewritten by split-structs they do the same, bit for bit, and touch nothing
that they did not touch.

`WARPSMITH_PROGRAMS=800 pytest -m slow tests/random_programs/test_structs.py -k many` rewrites as many functions.
"""

from __future__ import annotations

import os
import subprocess
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec import Struct, field

from tests.random_programs.acceptance import is_accepted
from tests.random_programs.seeded_structs import BUGS
from tests.random_programs.steps_sequences import SANITIZED, NoWords
from tests.random_programs.struct_programs import StructFunction, random_functions, runner, unit
from warpsmith.base.errors import RefusedError
from warpsmith.base.verdict import Proved
from warpsmith.flows.port import PortOptions, port
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.loops.step import Step
from warpsmith.offload.steps.split_structs import SplitStructs
from warpsmith.poly.analyze import Facts
from warpsmith.poly.facts import PolyOptions
from warpsmith.tree.printing.patch import unit_text

BATCH = 20
MANY = int(os.environ.get("WARPSMITH_PROGRAMS", "120"))


class Split(Struct):
    """Counts over functions: arrays that are split, why others are not, and what was `wrong`."""

    applied: int = 0
    left: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)


def _split_all(functions: Sequence[StructFunction], folder: Path, split: Split) -> list[Step]:
    """Split all arrays of structs that may be, and write the rewritten unit; return the steps."""
    path = folder / "unit.c"
    path.write_text(unit(list(functions)))
    loaded = load_program([str(path)], FrontOptions())
    assert not loaded.findings, loaded.findings
    program, applied = loaded.program, list[Step]()
    facts = Facts.about(program, PolyOptions())
    for one in functions:
        for array in one.arrays:
            step = SplitStructs(one.loop, array)
            try:
                verdict = step.check(program, facts)
            except RefusedError:
                split.left["the loop is not counted"] += 1
                continue
            if isinstance(verdict, Proved) and not verdict.assumptions:
                program = step.apply(program)
                facts = facts.after(program)
                applied.append(step)
            elif not isinstance(verdict, Proved):
                split.left[verdict.reasons[0].text.partition(":")[0]] += 1
    split.applied += len(applied)
    (folder / "rewritten.c").write_text(unit_text(loaded.program.units[0], program.units[0], NoWords()))
    return applied


def _printed(folder: Path, text: str) -> list[str]:
    command = ["gcc", "-w", "-ffp-contract=off", *SANITIZED, text, "main.c", "-o", text.removesuffix(".c")]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    done = subprocess.run([f"./{text.removesuffix('.c')}"], cwd=folder, capture_output=True, text=True, timeout=60)
    return [*done.stdout.splitlines(), *done.stderr.splitlines()[:3]]


def _compare(functions: Sequence[StructFunction], folder: Path, split: Split) -> None:
    if not _split_all(functions, folder, split):
        return
    (folder / "main.c").write_text(runner(list(functions)))
    before, after = _printed(folder, "unit.c"), _printed(folder, "rewritten.c")
    for index, line in enumerate(before):
        said = after[index] if index < len(after) else "nothing"
        if said != line:
            text = next((one.text for one in functions if one.name == line.split()[0]), "")
            split.wrong.append(f"{text}\nexpected {line}\nfound    {said}\n{(folder / 'rewritten.c').read_text()}")
            return


def test_split_arrays_do_the_same(tmp_path: Path) -> None:
    split = Split()
    _compare(random_functions(1, 6), tmp_path, split)
    assert not split.wrong, split.wrong[0]
    assert split.applied >= 2


@pytest.mark.slow
def test_many_split_arrays_do_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    split = Split()
    for number in range(-(-MANY // BATCH)):
        _compare(random_functions(number, BATCH), tmp_path, split)
    with capsys.disabled():
        print(f"\n{split.applied} arrays split; refused: {dict(split.left)}")
    assert not split.wrong, split.wrong[0]
    assert split.applied >= MANY // 2


@pytest.mark.slow
def test_ports_of_split_arrays_pass_the_referee(tmp_path: Path) -> None:
    functions = random_functions(2, 8)
    steps = _split_all(functions, tmp_path, Split())
    (tmp_path / "main.c").write_text(runner(functions))
    files = [str(tmp_path / "unit.c"), str(tmp_path / "main.c")]
    result = port(files, PortOptions(steps=False, chosen=tuple(steps)))
    assert steps and result.plan is not None and len(result.plan.fragments) > len(steps)
    assert is_accepted(result.verification), result.verification


@pytest.mark.slow
@pytest.mark.parametrize("bug", BUGS)
def test_wrong_splits_are_seen(bug: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    BUGS[bug](monkeypatch)
    split = Split()
    for number in range(-(-MANY // BATCH)):
        _compare(random_functions(number, BATCH), tmp_path, split)
        if split.wrong:
            return
    pytest.fail("no function showed the bug")
