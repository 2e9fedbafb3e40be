"""Loops made from schedules run every instance once, in the order of the schedules; the order itself is not judged
here."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest

from tests.poly.programs import load
from tests.poly.schedule.scan_nests import LogNest, random_nest
from tests.sampling import one_in
from warpsmith.loops.analysis.orders import names_of
from warpsmith.loops.analysis.schedule_text import read_schedule
from warpsmith.loops.fresh import Fresh
from warpsmith.loops.place import with_run
from warpsmith.poly.analyze import Facts
from warpsmith.poly.facts import PolyOptions
from warpsmith.poly.isl.point_sets import Points
from warpsmith.poly.schedule.code_generation import CodeGenerationError, generate_code
from warpsmith.tree.nodes import Block, For, Function, Stmt
from warpsmith.tree.printing.printer import Printer
from warpsmith.tree.program import Program

SIZES = ((0, 0), (1, 1), (2, 5), (6, 4), (-3, 2))


def _statements(stmt: Stmt) -> tuple[Stmt, ...]:
    """Return the innermost blocks: each logs one instance."""
    return tuple(_blocks(stmt))


def _blocks(stmt: Stmt) -> list[Stmt]:
    if isinstance(stmt, Block) and not stmt.statements:
        return []
    if isinstance(stmt, Block) and not any(isinstance(s, Block | For) or hasattr(s, "then") for s in stmt.statements):
        return [stmt]
    inside = getattr(stmt, "statements", None) or [getattr(stmt, "body", None) or getattr(stmt, "then", None)]
    return [statement for part in inside for statement in _blocks(part)]


def _scanned(program: Program, function: Function, nest: LogNest) -> Program:
    run = (function.body.statements[1],)
    statements = _statements(run[0])
    schedules = {
        statement: read_schedule(own.text(), names_of(run, statement))
        for statement, own in zip(statements, nest.statements, strict=True)
    }
    facts = Facts.about(program, PolyOptions())
    made = generate_code(facts, function, run, schedules, Fresh.of(program).variable)
    assert not made.assumptions
    return with_run(program, function, run, made.statements)


def _logged(folder: Path, functions: list[tuple[LogNest, str]]) -> dict[str, list[list[int]]]:
    calls = "".join(
        f'    at = {nest.name}({n}, {m}, log); printf("{nest.name} {n} {m}");'
        ' for (int q = 0; q < at; q++) printf(" %d", log[q]); printf("\\n");\n'
        for nest, _ in functions
        for n, m in SIZES
    )
    text = "#include <stdio.h>\nstatic int log[100000];\n" + "\n".join(text for _, text in functions)
    (folder / "run.c").write_text(f"{text}\nint main(void)\n{{\n    int at;\n{calls}    return 0;\n}}\n")
    build = [
        "gcc",
        "-O0",
        "-fsanitize=undefined",
        "-fno-builtin",
        "-w",
        "-o",
        str(folder / "run"),
        str(folder / "run.c"),
    ]
    subprocess.run(build, check=True, timeout=60)
    lines = subprocess.run([str(folder / "run")], capture_output=True, text=True, check=True, timeout=20)
    assert not lines.stderr, lines.stderr[:2000]
    result: dict[str, list[list[int]]] = {}
    for line in lines.stdout.splitlines():
        name, n, m, *values = line.split()
        entries: list[list[int]] = []
        for value in map(int, values):
            if value <= -1000:
                entries.append([])
            entries[-1].append(value)
        result[f"{name} {n} {m}"] = entries
    return result


@pytest.mark.slow
@pytest.mark.parametrize("seed", one_in(2, range(4)))
def test_random_times_run_in_their_order(seed: int, tmp_path: Path) -> None:
    _check(seed, tmp_path)


@pytest.mark.slow
def test_a_dropped_condition_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Points, "rest", lambda self, known: [[]])
    with pytest.raises(AssertionError):
        _check(0, tmp_path)


@pytest.mark.slow
def test_a_wrong_place_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Points, "before", lambda self, other, level: True)
    with pytest.raises(AssertionError):
        _check(1, tmp_path)


def _check(seed: int, tmp_path: Path) -> None:
    dice = random.Random(seed)
    nests = [random_nest(f"f{k}", dice) for k in range(30)]
    program = load("".join(nest.code() for nest in nests), tmp_path)
    done: list[tuple[LogNest, str]] = []
    for nest in nests:
        function = next(f for _, f in program.functions() if f.symbol.name == nest.name)
        try:
            after = _scanned(program, function, nest)
        except CodeGenerationError:
            continue
        new = next(f for _, f in after.functions() if f.symbol.name == nest.name)
        done.append((nest, Printer().top(new)))
    assert len(done) >= 0.6 * len(nests)
    for key, entries in _logged(tmp_path, done).items():
        name, n, m = key.split()
        nest = next(nest for nest, _ in done if nest.name == name)
        assert entries == nest.instances(int(n), int(m)), (
            f"{key}\n{nest.code()}\n{[statement.text() for statement in nest.statements]}"
        )
