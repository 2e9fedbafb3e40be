"""A page for each step: when it is legal, its parameters, and a program before and after it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from generated.markdown import cell, code, fence, literal, prose, table, tree
from warpsmith.catalogue import STEPS, Page, StepParameter, describe

__all__ = ["pages"]


def pages() -> Mapping[str, str]:
    """Return a page for each step, and their table."""
    found = sorted((describe(cls) for cls in STEPS), key=lambda page: page.name)
    rows = [(f"[{page.name}](steps/{page.name})", prose(page.title)) for page in found]
    index = [
        "# Steps",
        "",
        "`warpsmith port FILE --transform NAME=LOOP,PARAMETER=VALUE` applies one; a recipe holds any",
    ]
    index += ["number of them. `warpsmith steps NAME` prints the page of a step.", ""]
    index += [table(("step", "what it does"), rows), ""]
    index += [tree(f"steps/{page.name}" for page in found).replace(":maxdepth", ":hidden:\n:maxdepth"), ""]
    return {"steps.md": "\n".join(index)} | {f"steps/{page.name}.md": _page(page) for page in found}


def _page(page: Page) -> str:
    shown = ",".join(f"{key}={value}" for key, value in page.example.items()).removeprefix("loop=")
    rows = [(code(parameter.name), cell(_kind(parameter)), _default(parameter)) for parameter in page.parameters]
    lines = [f"# {page.name}", "", prose(page.title), "", literal(page.doc), ""]
    lines += ["## Parameters", "", table(("name", "kind", "default"), rows), "", "## Example", ""]
    lines += [f"{code('--transform ' + shlex.quote(f'{page.name}={shown}'))} makes of", "", fence(page.before, "c"), ""]
    return "\n".join([*lines, "this:", "", fence(page.after, "c"), ""])


def _kind(parameter: StepParameter) -> str:
    return " or ".join(parameter.choices) if parameter.choices else parameter.kind


def _default(parameter: StepParameter) -> str:
    match parameter.default:
        case None:
            return "must be given"
        case bool() as flag:
            return code(str(flag).lower())
        case tuple() as items:
            return cell(",".join(map(str, items))) or "empty"
        case other:
            return cell(str(other)) or "empty"
