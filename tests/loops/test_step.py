from __future__ import annotations

from operator import attrgetter
from pathlib import Path
from typing import ClassVar

from msgspec import field
from msgspec.structs import replace

from tests.poly.programs import load
from warpsmith.base.records import Partial
from warpsmith.base.verdict import Proved, Verdict
from warpsmith.loops.step import rewrite_program
from warpsmith.poly.analyze import Facts
from warpsmith.tree.program import Program


class Counted(Partial, frozen=True, eq=False):
    """A step that changes nothing, and notes what it is applied to."""

    compared = attrgetter("loop")
    name: ClassVar[str] = "counted"
    loop: str
    seen: list[Program] = field(default_factory=list)

    def check(self, program: Program, facts: Facts) -> Verdict:
        return Proved(())

    def apply(self, program: Program) -> Program:
        self.seen.append(program)
        return replace(program)


def test_a_step_is_applied_once_to_one_program(tmp_path: Path) -> None:
    program = load("void f(int n, double *a) { for (int i = 0; i < n; i++) a[i] = 0; }", tmp_path)
    same, step = replace(program), Counted("f/i")
    first = rewrite_program(step, program)
    assert rewrite_program(step, program) is first and len(step.seen) == 1
    assert rewrite_program(step, same) is not first and step.seen[1] is same
    assert rewrite_program(Counted("f/j"), program) is not first
