"""Every step's docstring is true: the example is legal, and applying it gives the text that is shown."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from warpsmith.base.verdict import Proved
from warpsmith.catalogue import STEPS, Step, describe
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.poly.analyze import Facts
from warpsmith.poly.facts import PolyOptions
from warpsmith.recipes.transforms import example_step
from warpsmith.tree.nodes import Expr
from warpsmith.tree.printing.patch import unit_text
from warpsmith.tree.printing.printer import DeviceStmt
from warpsmith.tree.program import Program


class NoWords:
    """A target for programs without device statements."""

    def lines(self, node: DeviceStmt, expr: Callable[[Expr], str]) -> tuple[str, ...]:
        raise AssertionError(f"a step made {node} with {expr}")


def _compiles(text: str, path: Path) -> None:
    path.write_text(text)
    command = ["gcc", "-fsyntax-only", "-x", "c++" if path.suffix == ".cpp" else "c", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def _applied(cls: type[Step], program: Program) -> Program:
    step = example_step(cls.name, describe(cls).example)
    verdict = step.check(program, Facts.about(program, PolyOptions()))
    assert isinstance(verdict, Proved), verdict
    return step.apply(program)


@pytest.mark.parametrize("cls", STEPS, ids=lambda cls: cls.name)
def test_before_becomes_after(cls: type[Step], tmp_path: Path) -> None:
    page = describe(cls)
    suffix = "cpp" if "std::" in page.before else "c"
    path = tmp_path / f"example.{suffix}"
    _compiles(page.before, path)
    loaded = load_program([str(path)], FrontOptions())
    assert not loaded.findings
    after = _applied(cls, loaded.program)
    text = unit_text(loaded.program.units[0], after.units[0], NoWords())
    assert text == page.after
    _compiles(text, tmp_path / f"after.{suffix}")
    assert _applied(cls, loaded.program).units[0].functions, "check and apply are pure: they can be asked again"
