"""The interface of a step: a frozen record whose fields are its parameters, with two pure methods."""

from __future__ import annotations

import functools
from collections.abc import Hashable
from typing import ClassVar, Protocol, cast

from warpsmith.base.identity import Identity
from warpsmith.base.records import default_of, field_names
from warpsmith.base.verdict import Proved, Unknown, Verdict
from warpsmith.loops.local_types import find_moved_type
from warpsmith.poly.analyze import Facts
from warpsmith.tree.program import Program

__all__ = ["Step", "check_step", "rewrite_program", "step_text"]


class Step(Protocol):
    """A rewriting of a program that does not change what the program does."""

    __struct_fields__: ClassVar[tuple[str, ...]]
    name: ClassVar[str]

    def check(self, program: Program, facts: Facts) -> Verdict:
        """Say whether the step may be applied, under which assumptions, or why not."""
        ...

    def apply(self, program: Program) -> Program:
        """Return the rewritten program; only where `check` is Proved."""
        ...


def check_step(step: Step, program: Program, facts: Facts) -> Verdict:
    """Say whether the step may be applied: by its own check, and because no block that declares a type is changed."""
    verdict = step.check(program, facts)
    if not isinstance(verdict, Proved):
        return verdict
    moved = find_moved_type(program, rewrite_program(step, program))
    return verdict if moved is None else Unknown((moved,))


def rewrite_program(step: Step, program: Program) -> Program:
    """Return the program after a step whose check is Proved: what the check has made of it, if that looked at it."""
    return _rewrite_checked(cast(Hashable, step), Identity(program))


@functools.lru_cache(maxsize=2)
def _rewrite_checked(step: Hashable, program: Identity[Program]) -> Program:
    return cast(Step, step).apply(program.value)


def step_text(step: Step) -> str:
    """Return the step as `--transform` takes it: `tile=f/i,sizes=8:8`; parameters that have their default are left
    out."""
    parts: list[str] = []
    for name in field_names(step):
        value = getattr(step, name)
        if name == "loop":
            parts.insert(0, str(value))
        elif value != default_of(step, name):
            parts.append(f"{name}={_text(value)}")
    return f"{step.name}={','.join(parts)}"


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return ":".join(str(item) for item in value) if isinstance(value, tuple) else str(value)
