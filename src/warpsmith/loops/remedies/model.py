"""A remedy as data, and the hint that is made of one or several of them.

    GrantAssumption   a fact that the user asserts           --assume 'injective(p)'
    ApplySteps        steps, in their order                      --transform wavefront=f/i,depth=2
    EditCode          another text of the user's program         a diff
    UseOption         an option of the command line              --effects FILE
    Hint              remedies, one after the other, and the category of the loop after the last of them

Invariant: a Hint was tried. Its text is made from the data at the very end, by whoever prints it.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import assert_never

from msgspec import Struct

from warpsmith.base.source import Edit, apply_edits, readable
from warpsmith.poly.facts import Category

__all__ = [
    "ApplySteps",
    "EditCode",
    "GrantAssumption",
    "Hint",
    "Remedy",
    "StepTrial",
    "UseOption",
    "diff_text",
    "remedy_text",
]


class GrantAssumption(Struct, frozen=True):
    """A fact that nothing in the program refutes and that only its user can know, as `--assume` takes it."""

    text: str


class ApplySteps(Struct, frozen=True):
    """Steps as `--transform` takes them; `gain`: what becomes of the loop, where that is not all of it."""

    steps: tuple[str, ...]
    gain: str = ""


class EditCode(Struct, frozen=True):
    """Edits of the user's files. `title` says what the new text does, `effect` what becomes of the results ("" where
    they are the same, bit for bit), and `requires` what must hold for that, which the program does not show."""

    title: str
    edits: tuple[Edit, ...]
    effect: str = ""
    requires: tuple[str, ...] = ()


class UseOption(Struct, frozen=True):
    """An option with its value; `text` is the content of the file that it names."""

    option: str
    text: str


Remedy = GrantAssumption | ApplySteps | EditCode | UseOption


class Hint(Struct, frozen=True):
    """Remedies that were applied to a copy of the program, one after the other: `then` is the category that the loop,
    or the worst of those that take its place, had after the last one; `ported`: it, or a loop inside it, was planned as
    a kernel then."""

    remedies: tuple[Remedy, ...]
    then: Category
    ported: bool = False


def remedy_text(remedy: Remedy) -> str:
    """Return what the user is advised to do."""
    match remedy:
        case GrantAssumption(text):
            return f"if it is true: --assume '{text}'"
        case ApplySteps(steps, gain):
            return " ".join(f"--transform {step}" for step in steps) + (f" {gain}" if gain else "")
        case EditCode(title, edits, effect, requires):
            said = effect or "the results stay the same, bit for bit"
            where = f", if {' and '.join(requires)}" if requires else ""
            return f"{title}; {said}{where}\n{diff_text(edits)}"
        case UseOption(option, text):
            return f"if that is all that it does, in a file for {option}:\n{text}"
        case _:
            assert_never(remedy)


def diff_text(edits: Iterable[Edit]) -> str:
    """Return edits as a unified diff of the user's files."""
    every = tuple(edits)
    files = dict.fromkeys(edit.span.file for edit in every)
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
        for file in files
        for line in difflib.unified_diff(
            readable(file.text).splitlines(keepends=True),
            readable(apply_edits(file, [e for e in every if e.span.file is file])).splitlines(keepends=True),
            file.path,
            file.path,
        )
    ).rstrip("\n")


class StepTrial(Struct, frozen=True):
    """What came of trying steps on a loop: the first that helps, and the names of those tried."""

    found: ApplySteps | None
    tried: tuple[str, ...]

    @property
    def text(self) -> str:
        """The outcome in one sentence."""
        if self.found is not None:
            return " ".join((*self.found.steps, self.found.gain))
        names = ", ".join(sorted(self.tried))
        return f"no single step makes it parallel; tried: {names}" if names else "there is no step to try on it"
